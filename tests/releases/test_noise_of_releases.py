"""What a release adds to the truth is as wide as its ledger says, draw by draw: not only what it was bought as."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from dpviz.core.accounting import Accounting
from dpviz.core.exact_noise import ExactNoise, WholeTruth
from dpviz.releases import releasing
from dpviz.releases.releasing import draw
from tests.releases.people import ready_in

# The mean of |noise| in noise scales, and of how many draws in standard deviations it may be away from that.
_USUAL, _AWAY = {"laplace": 1.0, "gaussian": sqrt(2 / pi)}, 5.0
# Draws that tell half the noise from all of it.
_ENOUGH = 200


class Watched(ExactNoise):
    """Noise that also keeps what was added, answer by answer; None where nothing was added to numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.added_noise: list[Any] = []

    def answer(self, mechanism: Any, truth: WholeTruth, accounting: Accounting) -> Any:
        released = super().answer(mechanism, truth, accounting)
        is_sum = isinstance(truth.total, np.ndarray) and np.shape(released) == np.shape(truth.total)
        self.added_noise.append(released - truth.total * truth.quantum if is_sum else None)
        return released


@pytest.mark.parametrize("algorithm", ["eugkm", "dplloyd:preset=gaussian", "auto"])
def test_noise_is_as_wide_as_the_ledger_says(tmp_path, algorithm: str) -> None:
    prepared = ready_in(tmp_path, algorithm=algorithm, segments=0.3)
    watched: dict[str, Watched] = {}
    scaled: dict[str, list[np.ndarray]] = {}

    def fresh_noise(parts) -> dict[str, Watched]:
        watched.update({part: Watched() for part in parts})
        return watched

    while not scaled or min(map(_number, scaled.values())) < _ENOUGH:
        with patch.object(releasing, "make_fresh_noise", fresh_noise):
            drawn = draw(prepared)
        for part, entries in drawn.parts.entries.items():
            for entry, noise in zip(entries, watched[part].added_noise, strict=True):
                if noise is not None:
                    scaled.setdefault(entry.mechanism, []).append(np.abs(noise).ravel() / entry.scale)
    for mechanism, found in scaled.items():
        sizes, usual = np.concatenate(found), _USUAL[mechanism]
        assert abs(sizes.mean() - usual) < _AWAY * usual / sqrt(len(sizes)), (mechanism, len(sizes))


def _number(found: list[np.ndarray]) -> int:
    return sum(map(len, found))
