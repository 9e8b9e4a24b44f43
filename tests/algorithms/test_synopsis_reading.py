"""k read from a released synopsis: right where groups are plain, silent where there are none, and free."""

import numpy as np
import pytest

from dpviz.algorithms.steps import GridStep
from dpviz.algorithms.synopsis_reading import MOST_K, SuggestedK, measure_stability, suggest_k
from dpviz.core.check import RequestError
from dpviz.core.partitions import Grid
from dpviz.runs.one_run import run
from dpviz.runs.open_table import declare
from dpviz.tables.named import sample


def histogram(centers: np.ndarray, *, sd: float = 2.0, seed: int = 0) -> GridStep:
    """A noisy histogram of 1,000 rows around each centre."""
    rng = np.random.default_rng(seed)
    rows = np.concatenate([rng.normal(center, 0.04, (1000, 2)) for center in centers])
    grid = Grid(np.ones(2), np.array([40, 40]))
    counts = np.bincount(grid.assign(np.clip(rows, -1, 1)), minlength=1600)
    noisy = counts + rng.laplace(0, sd / np.sqrt(2), 1600)
    return GridStep(title="cells", grid=grid, codes=np.arange(1600), noisy_counts=noisy, sd=sd)


def read_k(step: GridStep, most: int, rng: np.random.Generator) -> SuggestedK:
    return suggest_k([step], most, rng)


@pytest.mark.some(1)
@pytest.mark.parametrize("k", [2, 4, 7])
def test_plain_groups_are_counted_and_the_curve_never_rises_and_lies_in_its_band(k):
    angle = 2 * np.pi * np.arange(k) / k
    read = read_k(histogram(0.7 * np.stack([np.cos(angle), np.sin(angle)], 1)), 10, np.random.default_rng(0))
    assert read.suggested == k and read.agreeing >= 10
    assert f"bends at k = {k}" in read.words and f"{read.agreeing} of 12" in read.words
    assert read.ks.tolist() == list(range(1, 11)) and (np.diff(read.losses) <= 0).all()
    assert (read.lows <= read.losses).all() and (read.losses <= read.highs).all() and (read.highs > read.lows).any()


@pytest.mark.slow
def test_of_one_cloud_no_number_stands_out():
    rng = np.random.default_rng(1)
    read = read_k(histogram(rng.uniform(-1, 1, (400, 2))), 10, rng)
    assert read.suggested is None and f"at most {read.bends.max():.1f} times as fast" in read.words


@pytest.mark.some(1)
@pytest.mark.parametrize("seed", range(2))
def test_segments_of_plain_groups_come_out_again_in_any_order_and_those_of_one_cloud_do_not(seed):
    rng = np.random.default_rng(seed)
    apart, together = 0.7 * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1.0]]), rng.uniform(-1, 1, (400, 2))
    groups, cloud = (histogram(middles, seed=seed) for middles in (apart, together))
    plain, other_way, chance = (
        measure_stability([groups], apart),
        measure_stability([groups], apart[::-1]),
        measure_stability([cloud], together[:9]),
    )
    assert plain.holds and plain.kept.min() > 0.95 and "hardly hang" in plain.words
    assert np.allclose(other_way.kept, plain.kept[::-1]) and other_way.rows == pytest.approx(plain.rows)
    assert not chance.holds and f"segment {chance.kept.argmin() + 1} changes most" in chance.words
    assert measure_stability([groups], apart[:1]) is None and measure_stability([], apart) is None


def test_what_has_no_synopsis_is_refused():
    table = sample("fifteen").load()
    done = run("dplloyd", declare(table.table, table.declaration).private, k=3, epsilon=1.0, seed=0)
    with pytest.raises(RequestError, match="no grid to read k from: run auto or eugkm"):
        suggest_k(done.steps, 5, np.random.default_rng(0))
    with pytest.raises(RequestError, match="most"):
        read_k(histogram(np.zeros((1, 2))), MOST_K + 1, np.random.default_rng(0))
