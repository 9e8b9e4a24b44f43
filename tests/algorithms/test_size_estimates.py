"""Sizes of clusters by the last rounds of a run, or by the grid that it was solved on: intervals hold the true ones."""

import numpy as np
import pytest

from dpviz.algorithms.size_estimates import Sizes, combine_sizes, estimate_sizes
from dpviz.algorithms.steps import CentersStep
from dpviz.core.partitions import Voronoi
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.one_run import run
from tests.app.charts.gallery import exhibit

CENTERS = np.array([[-0.75], [0.25]])


def counted(counts: list[float], sd: float | None = 3.0, *, centers: np.ndarray = CENTERS) -> CentersStep:
    return CentersStep(title="", centers=centers, noisy_counts=np.array(counts), count_noise_sd=sd)


def test_rounds_count_together_as_long_as_their_centres_stay() -> None:
    alone = estimate_sizes([counted([100.0, 70.0])])
    assert alone is not None and alone.rows.tolist() == [100.0, 70.0] and alone.sd.tolist() == [3.0, 3.0]
    both = estimate_sizes([counted([104.0, 70.0]), counted([100.0, 70.0])])
    assert both is not None and both.rows.tolist() == [102.0, 70.0]
    # Two counts are surer than one, as far as two clusters can tell.
    assert both.sd == pytest.approx(1.3 * 3 / np.sqrt(2) * np.ones(2)) and (both.sd < alone.sd).all()
    gone = estimate_sizes([counted([5.0, 165.0], centers=CENTERS + 0.8), counted([100.0, 70.0])])
    assert gone is not None and gone.rows.tolist() == [100.0, 70.0]
    far = combine_sizes([np.array([100.0, 70.0]), np.array([400.0, 900.0])], [np.full(2, 9.0)] * 2)
    assert far.rows == pytest.approx([100.0, 70.0], abs=0.1)


def test_what_may_be_noise_and_how_much_more_a_mean_may_be_off() -> None:
    sizes = Sizes(np.array([1000.0, 60.0, 20.0]), np.full(3, 10.0))
    assert sizes.unclear.tolist() == [False, False, True]
    assert sizes.widen(np.ones(3)).tolist() == pytest.approx([1000 / 970, 2.0, np.inf])
    assert sizes.widen(np.zeros((3, 2)))[:, 1].tolist() == [0.0, 0.0, np.inf]
    assert sizes.low[2] == pytest.approx(20 - 17.507) and sizes.high[2] == pytest.approx(37.507)
    assert sizes.words == ["1,000 ± 18", "60 ± 18", "20 ± 18"] and sizes.total.words == ["1,080 ± 30"]
    unknown = sizes._replace(sd=np.full(3, np.nan))
    assert not unknown.known and not unknown.unclear.any() and unknown.words == ["1,000", "60", "20"]
    assert unknown.widen(np.ones(3)).tolist() == [1.0, 1.0, 1.0]


def test_a_size_that_noise_took_below_nought_is_not_surely_nought() -> None:
    for value in (-900.0, -5.0, 0.0):
        published = Sizes.publish(np.array([value]), np.array([100.0]))
        assert (published.rows[0], published.low[0], published.high[0]) == (0.0, 0.0, published.reach[0])


@pytest.mark.parametrize(("algorithm", "epsilon", "least"), [("dplloyd", 0.3, 0.75), ("eugkm", 0.1, 0.88)])
def test_intervals_of_rounds_and_of_a_grid_hold(algorithm: str, epsilon: float, least: float) -> None:
    shown = exhibit(2, 4, n=4000)
    points = clip_rows(shown.table.reveal(note="test"), shown.table.domain.region).points
    inside = []
    for seed in range(10):
        done = run(algorithm, shown.table, k=4, epsilon=epsilon, seed=seed)
        true, sizes = np.bincount(Voronoi(done.unit_centers).assign(points), minlength=4), done.sizes
        assert sizes is not None and (sizes.low >= 0).all()
        inside.append(np.abs(sizes.rows - true) <= sizes.reach)
    assert np.mean(inside) >= least
