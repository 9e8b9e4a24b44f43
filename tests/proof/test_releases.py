"""Every file of the releases whose bytes are proved not to depend on rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from dpviz.core import exact_noise
from dpviz.core.arrays import Codes
from dpviz.core.exact_noise import ExactNoise
from dpviz.releases import releasing
from dpviz.releases.noise_check import NoiseEvidence, NoiseVerdict
from dpviz.releases.render import render
from dpviz.releases.transcript import read_transcript
from tests.proof.kept import Item, compare
from tests.releases.test_release_bytes import CASES, KINDS, pressed, write_rows

# Of the machine, the day and the program that drew: it leaves as it was noted, and makes no other file.
PINNED = {
    "version": "0.1",
    "noise": "OpenDP 0.1",
    "platform": "Python 3.11, NumPy 2.0, Linux",
    "code": "0" * 64,
    "date": "2026-11-24",
}


def _draws(truth: Codes) -> np.random.Generator:
    """Noise that follows from what it is added to: the same in whatever order draws are made."""
    return np.random.default_rng(np.frombuffer(truth.tobytes() or b"\0", dtype=np.uint8))


def _laplace(truth: Codes, *, scale: float, **_: Any) -> Codes:
    return truth + np.rint(_draws(truth).laplace(0.0, scale, truth.shape)).astype(np.int64)


def _gaussian(truth: Codes, *, scale: float, **_: Any) -> Codes:
    return truth + np.rint(_draws(truth).normal(0.0, scale, truth.shape)).astype(np.int64)


def _least(losses: Codes, *, scale: float, **_: Any) -> int:
    return int((losses - _draws(losses).gumbel(0.0, scale, losses.shape)).argmin())


def release(folder: Path, algorithm: str = "auto", kind: str = "all parts") -> Mapping[str, bytes]:
    """The files of a release of which nothing is drawn by chance, as it would leave any machine on one day."""
    declared, shares = KINDS[kind]
    data = write_rows(folder, "rows", 0, 900)
    with (
        patch.object(exact_noise, "draw_discrete_laplace", _laplace),
        patch.object(exact_noise, "draw_discrete_gaussian", _gaussian),
        patch.object(exact_noise, "draw_noisy_least", _least),
        # Where the same is counted twice, this noise is the same, which is what no genuine release has.
        patch.object(NoiseEvidence, "judge", lambda _: NoiseVerdict(told=True)),
        patch.object(
            releasing, "make_fresh_noise", lambda parts: {part: ExactNoise(i) for i, part in enumerate(parts)}
        ),
    ):
        made = pressed(folder / "made", data, {**declared, "title": "Visitors"}, algorithm, shares).files
    whole = read_transcript(made["transcript.npz"]).whole
    account = {**whole.asked["account"], "sha256": "b" * 64, "previous_sha256": "a" * 64}  # of the version, too
    return render(replace(whole, asked={**whole.asked, **PINNED, "account": account}))


def list_files(folder: Path) -> Iterator[Item]:
    for case in CASES:
        algorithm, kind = case.values
        (own := folder / str(case.id)).mkdir()
        for name, data in release(own, algorithm, kind).items():
            yield f"{algorithm}, {kind}: {name}", data


@pytest.mark.slow
def test_files_of_releases_are_what_they_were(tmp_path: Path) -> None:
    compare("releases", list_files(tmp_path))
