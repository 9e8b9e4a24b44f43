"""The released sign of ``auto``: did a run go well? Told by its synopsis and its last round, without a row.

A run goes wrong where noise hid a group of rows: then another centre has hardly any rows of its own, or the rows that
noise could hide would carry much of the loss if they lay far from every centre. Both are seen in released values. All
this is post-processing: nothing is spent on it.

Constants were chosen on the families of ``benchmarks/families.py``; ``benchmarks/released_sign.py`` says what they are
worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from dpviz.algorithms.auto.first_look import LookStep
from dpviz.algorithms.auto.view_synopsis import SynopsisStep
from dpviz.algorithms.sign import Sign
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.algorithms.tools.public_points import random_points
from dpviz.arrays import Array
from dpviz.table.domain import Region

# A centre is idle whose rows are below so many standard deviations of their noise.
_IDLE = 2.0
# Of the rows that a cell needs to stand out, so many may be missed unseen; they matter from this part of the loss on.
_UNSEEN, _MATTERS = 0.5, 0.45
# How far the estimate may be off, down and up, beside what cells are wide and what noise may hide.
_DOWN, _UP, _WIDTH_UP = 6.0, 4.0, 0.3
_PLACES = 512
_TINY = 1e-12


class _Seen(NamedTuple):
    """Mean squared distances, unit coordinates: of rows to their nearest centre, to one centre in the middle of all;
    what the cells are wide; what rows would add that cells may hide, far from every centre. ``rows`` are these rows."""

    loss: float
    of_one: float
    width: float
    hidden: float
    rows: float


def released_sign(steps: Sequence[Step], region: Region) -> Sign | None:
    """The sign of a finished run, by its ``steps`` over ``region``; None where it has no synopsis or no counts.

    **Guarantee.** Post-processing of released values.
    """
    synopsis = next((step for step in steps if isinstance(step, SynopsisStep)), None)
    look = next((step for step in steps if isinstance(step, LookStep)), None)
    last = steps[-1] if steps else None
    if synopsis is None or not isinstance(last, CentersStep):
        return None
    if last.noisy_counts is None or last.count_noise_sd is None:
        return None
    seen = _seen(synopsis, look, last.centers, region)
    off = (seen.width + seen.hidden) / seen.loss
    share = seen.loss / seen.of_one
    high = share * (1 + _UP * (_WIDTH_UP * seen.width + seen.hidden) / seen.loss)
    return Sign(share, share / (1 + _DOWN * off), high, _doubts(seen, _clearness(synopsis, last)))


def _seen(synopsis: SynopsisStep, look: LookStep | None, centers: Array, region: Region) -> _Seen:
    grid, (around_middle, weights, _, middle) = synopsis.grid, synopsis.cloud()
    points, frame = around_middle + middle, synopsis.frame
    inside = centers if frame is None else centers @ frame.T
    total = max(float(weights.sum()), 1.0)
    loss = float(weights @ cdist(points, inside, "sqeuclidean").min(axis=1)) / total
    of_one = float(weights @ ((points - weights @ points / total) ** 2).sum(axis=1)) / total
    beside = 0.0
    if look is not None and frame is not None:
        used = (look.look.basis @ frame.T).argmax(axis=0)
        beside = max(look.look.spread - float(look.look.captured[used].sum()), 0.0)
    width = float(((2 * grid.half / grid.cells_per_axis) ** 2).sum()) / 12
    anywhere = cdist(random_points(_PLACES, region, np.random.default_rng(0)), centers, "sqeuclidean").min(axis=1)
    rows = _rows_to_stand_out(synopsis)
    loss, of_one = max(loss + beside, _TINY), max(of_one + beside, _TINY)
    return _Seen(loss, of_one, width, rows * float(anywhere.mean()) / total, rows)


def _rows_to_stand_out(synopsis: SynopsisStep) -> float:
    """What a lone cell has to hold to be told from noise, which chance exceeds in about one cell of all."""
    if synopsis.cutoff is not None:
        return synopsis.cutoff
    apart = log(max(len(synopsis.codes), 2))
    return max(sqrt(2 * apart), apart / sqrt(2)) * synopsis.sd


def _clearness(synopsis: SynopsisStep, last: CentersStep) -> Array:
    """The rows of each centre (k,) over the standard deviation of their noise: by the last round and, where no cell is
    left unlisted, by all cells that are nearest to it, each in proportion to what it can tell."""
    assert last.noisy_counts is not None and last.count_noise_sd is not None
    counts, variance = last.noisy_counts, max(last.count_noise_sd, _TINY) ** 2
    if synopsis.cutoff is not None:
        return np.asarray(counts / sqrt(variance))
    inside = last.centers if synopsis.frame is None else last.centers @ synopsis.frame.T
    nearest = cdist(synopsis.grid.centers(synopsis.codes), inside, "sqeuclidean").argmin(axis=1)
    held = np.bincount(nearest, synopsis.noisy_counts, minlength=len(counts))
    noise = np.maximum(np.bincount(nearest, minlength=len(counts)), 1) * max(synopsis.sd, _TINY) ** 2
    weight = 1 / variance + 1 / noise
    return np.asarray((counts / variance + held / noise) / np.sqrt(weight))


def _doubts(seen: _Seen, clearness: Array) -> tuple[str, ...]:
    doubts = []
    least = int(clearness.argmin())
    if clearness[least] < _IDLE:
        doubts.append(
            f"Centre {least + 1} has hardly more rows of its own than noise would show, as one has where a group was "
            "missed."
        )
    if _UNSEEN * seen.hidden > _MATTERS * seen.loss:
        doubts.append(
            f"A group of {_UNSEEN * seen.rows:,.0f} rows could hide in the noise, and would carry half of the loss if "
            "it lay far from every centre."
        )
    return tuple(doubts)
