"""Releases of which nothing is drawn by chance: noise follows from what it is added to, whatever is drawn first."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from dpviz.core import exact_noise
from dpviz.core.arrays import Codes
from dpviz.core.exact_noise import ExactNoise
from dpviz.releases import releasing
from dpviz.releases.noise_check import NoiseEvidence, NoiseVerdict

# Of the machine, the day and the program that drew: it leaves as it was noted, and makes no other file.
PINNED = {
    "version": "0.1",
    "noise": "OpenDP 0.1",
    "platform": "Python 3.11, NumPy 2.0, Linux",
    "code": "0" * 64,
    "date": "2026-11-24",
}


def _draws(truth: Codes) -> np.random.Generator:
    return np.random.default_rng(np.frombuffer(truth.tobytes() or b"\0", dtype=np.uint8))


def _laplace(truth: Codes, *, scale: float, **_: Any) -> Codes:
    return truth + np.rint(_draws(truth).laplace(0.0, scale, truth.shape)).astype(np.int64)


def _gaussian(truth: Codes, *, scale: float, **_: Any) -> Codes:
    return truth + np.rint(_draws(truth).normal(0.0, scale, truth.shape)).astype(np.int64)


def _least(losses: Codes, *, scale: float, **_: Any) -> int:
    return int((losses - _draws(losses).gumbel(0.0, scale, losses.shape)).argmin())


@contextmanager
def noise_of_a_seed(seed: int) -> Iterator[None]:
    """Whatever is released inside has noise that follows from the seed, each draw another one, as genuine noise is."""
    rng = np.random.default_rng(seed)
    with (
        patch(f"{__name__}._draws", lambda _: rng),
        patch.object(exact_noise, "draw_discrete_laplace", _laplace),
        patch.object(exact_noise, "draw_discrete_gaussian", _gaussian),
        patch.object(exact_noise, "draw_noisy_least", _least),
    ):
        yield


@contextmanager
def noise_of_its_truth() -> Iterator[None]:
    """Whatever is released inside has the same noise every time."""
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
        yield
