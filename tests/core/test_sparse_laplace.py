"""The sparse histogram has the law of dense noise followed by a cut, and loses what the ledger says."""

import itertools

import numpy as np
import pytest
from scipy import stats

from dpviz.core.accounting import Accounting, Budget
from dpviz.core.domain import Region
from dpviz.core.mechanisms import Laplace, SparseLaplace
from dpviz.core.noise import StudyNoise
from dpviz.core.partitions import Grid
from dpviz.core.queries import Relation, SparseCount, SparseCounts

SCALE, CUT, UNIVERSE = 2.0, 3.0, 60
HELD = np.array([1.0, 3.0, 5.0, 40.0])
REPEATS = 2000
ACCEPT = 1e-4


def _noise(seed: int = 0) -> StudyNoise:
    return StudyNoise(np.random.default_rng(seed))


def _dense_then_cut(truth: SparseCounts) -> np.ndarray:
    """Dense noise on every cell, cut: shape (REPEATS, UNIVERSE), 0 where nothing is shown."""
    counts = np.zeros(truth.universe)
    counts[truth.codes] = truth.values
    noisy = counts + np.random.default_rng(99).laplace(0, SCALE, (REPEATS, truth.universe))
    return np.where(np.abs(noisy) > CUT, noisy, 0.0)


def test_the_law_is_that_of_dense_noise_and_a_cut():
    """Cell by cell, value by value and cell number by cell number, the release is dense noise after the cut."""
    mechanism, noise = SparseLaplace(Laplace(1.0, SCALE), CUT), _noise()
    truth = SparseCounts(np.array([0, 7, 8, 59]), HELD, UNIVERSE)
    shown = np.zeros((REPEATS, UNIVERSE))
    for row in shown:
        released = mechanism.draw(truth, noise)
        assert (np.diff(released.codes) > 0).all()
        row[released.codes] = released.values
    dense = _dense_then_cut(truth)
    empty = np.setdiff1d(np.arange(UNIVERSE), truth.codes)
    for cell in [*truth.codes, None]:
        cells = [cell] if cell is not None else empty
        here, there = shown[:, cells].ravel(), dense[:, cells].ravel()
        hits = [[np.count_nonzero(x), np.count_nonzero(x == 0)] for x in (here, there)]
        if min(map(min, hits)) > 0 or hits[0] != hits[1]:
            assert stats.fisher_exact(hits).pvalue > ACCEPT, "shown too often or too rarely"
        assert stats.ks_2samp(here[here != 0], there[there != 0]).pvalue > ACCEPT, "values of another law"
    # How many empty cells are shown at a time: binomial, so independent of each other; and which: all alike.
    spurious = (shown[:, empty] != 0).sum(axis=1)
    rate = np.exp(-CUT / SCALE)
    assert abs(spurious.mean() - len(empty) * rate) < 5 * np.sqrt(len(empty) * rate / REPEATS)
    assert 0.9 < spurious.var() / (len(empty) * rate * (1 - rate)) < 1.1
    assert stats.chisquare((shown[:, empty] != 0).sum(axis=0)).pvalue > ACCEPT, "some empty cells are favoured"
    # Two-sided: nothing is added to an empty region on average.
    assert abs(shown[:, empty].mean()) < 5 * shown[:, empty].std() / np.sqrt(shown[:, empty].size)


def test_a_universe_of_2_to_the_62_costs_what_it_shows():
    truth = SparseCounts(np.array([5, 2**62 - 1]), np.array([1e6, 1e6]), 2**62)
    mechanism = SparseLaplace(Laplace(1.0, 1.0), float(np.log(2**62 / 1000)))
    released = mechanism.draw(truth, _noise())
    assert 800 < len(released.codes) < 1200 and {5, 2**62 - 1} <= set(released.codes.tolist())


def _truths(cells: int, most: int) -> list[SparseCounts]:
    made = []
    for counts in itertools.product(range(most + 1), repeat=cells):
        held = np.flatnonzero(counts)
        made.append(SparseCounts(held, np.array(counts, dtype=float)[held], cells))
    return made


def largest_loss(mechanism: SparseLaplace, relation: Relation) -> float:
    """The largest log density ratio over neighbours and outcomes in a universe of three cells with up to 2 rows each.

    In each shown value the ratio is monotone between the counts and flat beyond, so the ends are enough.
    """
    cells, most, cut = 3, 2, mechanism.cutoff
    truths = _truths(cells, most)
    counts = np.array([truth.get_counts(np.arange(cells)) for truth in truths])
    ends = [v for v in (-cut - 1e-9, cut + 1e-9, *range(most + 1), 50.0) if abs(v) > cut]
    outcomes = []
    for shown in itertools.product([False, True], repeat=cells):
        codes = np.flatnonzero(shown)
        outcomes += [SparseCounts(codes, np.array(v), cells) for v in itertools.product(ends, repeat=len(codes))]
    density = np.array([[mechanism.log_density(outcome, truth) for outcome in outcomes] for truth in truths])
    move = np.abs(counts[:, None] - counts[None]).sum(axis=2)
    same_size = counts.sum(axis=1)[:, None] == counts.sum(axis=1)[None]
    pairs = np.argwhere(move == 1 if relation is Relation.ADD_REMOVE else (move == 2) & same_size)
    return float(max(np.max(density[a] - density[b]) for a, b in pairs))


@pytest.mark.slow
@pytest.mark.parametrize(("relation", "cutoff_in_scales"), [(Relation.ADD_REMOVE, 0.3), (Relation.REPLACE, 1.5)])
def test_no_outcome_tells_neighbours_apart_by_more_than_epsilon(relation, cutoff_in_scales):
    epsilon = 0.8
    region = Region(np.ones(1), 1.0)
    sensitivity = SparseCount(Grid(region.half, np.array([3]))).sensitivity(relation, region)
    share = Budget(Accounting.PURE, epsilon)
    mechanism = SparseLaplace.calibrated(share, sensitivity, cutoff_in_scales=cutoff_in_scales)
    assert mechanism.cost(Accounting.PURE) == pytest.approx(epsilon)
    assert 0.99 * epsilon < largest_loss(mechanism, relation) <= epsilon * (1 + 1e-9)
    too_sharp = SparseLaplace(Laplace(sensitivity.l1, mechanism.scale / 1.25), mechanism.cutoff)
    assert largest_loss(too_sharp, relation) > epsilon
