"""Sizes by all that was released: nearer to the truth than the last count, and no surer than they may be."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dpviz.algorithms.auto.auto import estimate_sizes, measure_extents
from dpviz.algorithms.auto.polishing import PolishStep, SplitStep
from dpviz.algorithms.auto.view_synopsis import SynopsisStep
from dpviz.algorithms.size_estimates import NINE_IN_TEN
from dpviz.core.domain import Region
from dpviz.core.partitions import Grid, Voronoi
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.one_run import run
from tests.app.charts.gallery import exhibit

BOX = Region(np.ones(1), 1.0)
CENTERS = np.array([[-0.75], [0.25]])


def synopsis(weights: list[float], *, sd: float = 2.0) -> SynopsisStep:
    """Cells of a line, a half wide."""
    grid, codes = Grid(np.ones(1), np.array([4])), np.arange(4)
    counts, nowhere = np.array(weights), np.zeros((0, 1))
    more = {"kept": np.flatnonzero(counts), "weights": counts[counts > 0], "outside": nowhere}
    return SynopsisStep(
        title="", grid=grid, codes=codes, noisy_counts=counts, sd=sd, frame=None, outside_weights=np.zeros(0), **more
    )


def polished(counts: list[float], sd: float) -> PolishStep:
    return PolishStep(title="", centers=CENTERS, noisy_counts=np.array(counts), count_noise_sd=sd, clipping_radius=1.0)


def test_cells_go_to_the_nearest_centre_and_those_on_a_border_may_go_to_either():
    found = measure_extents(synopsis([100.0, 20.0, 50.0, 0.0]), CENTERS)
    assert found.rows.tolist() == [100.0, 70.0]
    # The second cell lies as far from either centre; a cell's own noise, and one that may hide.
    assert found.variance == pytest.approx([4.0 * 2, 4.0 * 3 + 20.0**2 / 12])
    within = 0.5**2 / 12
    assert found.radii2 == pytest.approx([within, within + 20 * 0.5**2 / 70])


def test_sources_are_weighed_by_the_inverse_of_their_variance():
    counts = [100.0, 70.0]
    sizes = estimate_sizes([synopsis([100.0, 20.0, 50.0, 0.0]), polished(counts, 6.0), polished(counts, 3.0)], BOX)
    assert sizes is not None and sizes.rows == pytest.approx(counts)
    alone = estimate_sizes([polished(counts, 3.0)], BOX)
    assert alone is not None and (sizes.sd < alone.sd).all()
    precision = 1 / 9 + 1 / 36 + 1 / np.array([8.0, 12.0 + 400 / 12])
    assert sizes.sd / alone.sd == pytest.approx(np.sqrt(1 / 9 / precision))


def test_a_source_that_lies_far_off_counts_for_less():
    near, off = (
        [synopsis(cells), polished([100.0, 70.0], 3.0)] for cells in ([100.0, 0, 70.0, 0], [400.0, 0, 900.0, 0])
    )
    assert estimate_sizes(off, BOX).rows == pytest.approx([100.0, 70.0], abs=3.0)
    assert (estimate_sizes(off, BOX).sd > estimate_sizes(near, BOX).sd).all()


def test_counts_before_the_last_split_do_not_count():
    nothing = np.zeros(0)
    split = SplitStep(
        title="",
        centers=CENTERS,
        **{"split": nothing, "dropped": nothing, "gains": nothing, "costs": nothing},
        **{"gain_of_each": nothing, "cost_of_each": nothing},
    )
    last = polished([100.0, 70.0], 3.0)
    assert estimate_sizes([polished([5.0, 165.0], 3.0), split, last], BOX).rows.tolist() == [100.0, 70.0]
    assert (
        estimate_sizes([split], BOX) is None
        and estimate_sizes([dataclasses.replace(last, noisy_counts=None)], BOX) is None
    )


def test_on_a_map_sizes_are_nearer_and_intervals_hold():
    shown = exhibit(2, 8, n=6000)
    points = clip_rows(shown.table.reveal(note="test"), shown.table.domain.region).points
    nearer, held = [], []
    for seed in range(12):
        done = run("auto", shown.table, k=8, epsilon=0.3, delta=1e-6, seed=seed)
        true = np.bincount(Voronoi(done.unit_centers).assign(points), minlength=8)
        sizes, last = done.sizes, done.frames[-1].step.noisy_counts
        assert done.noisy_weights is sizes.rows
        nearer.append(np.median(np.abs(sizes.rows - true)) < np.median(np.abs(last - true)))
        held.append(np.abs(sizes.rows - true) <= NINE_IN_TEN * sizes.sd)
    assert np.mean(nearer) >= 0.7 and np.mean(held) >= 0.8
