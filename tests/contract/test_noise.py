"""Through every door of the session comes the noise that the ledger wrote down, and no other."""

from math import log, sinh, tanh

import numpy as np
import pytest
from scipy import stats

from dpviz.core import mechanisms
from dpviz.core.accounting import Accounting, Budget
from dpviz.core.kernel_draw import DistanceWeights, KernelDraw
from dpviz.core.losses import Loss, SwapLoss
from dpviz.core.partitions import CubeTree, Everything, Grid, HashCodes, Voronoi
from dpviz.core.private_session import PrivateSession
from dpviz.core.quantiles import ExponentialQuantile, Medians, Quantiles, SmoothMedian, compute_laplace_smoothness
from dpviz.core.queries import Count, Relation, SparseCount, Sum
from tests.contract.laws import check_frequencies, check_independent, check_rate, check_scale
from tests.contract.sessions import ask_often, open_seeded
from tests.contract.tables import make_blobs, make_small_table, named

PURE, GDP, ZCDP = Accounting.PURE, Accounting.GDP, Accounting.ZCDP
MANY = 20_000


def _session(accounting, *, seed=0, relation=Relation.ADD_REMOVE, rows=None, epsilon=3.0) -> PrivateSession:
    table = make_small_table(make_blobs(200) if rows is None else rows, relation=relation)
    return open_seeded(table, accounting, epsilon=epsilon, delta=1e-6, seed=seed)


def _truth(session, query):
    return session._compute_true_answers([query])[0]


@pytest.mark.parametrize(
    ("accounting", "law", "relation"),
    [
        (PURE, stats.laplace, Relation.REPLACE),
        (GDP, stats.norm, Relation.REPLACE),
        (ZCDP, stats.norm, Relation.ADD_REMOVE),
    ],
    ids=["pure", "gdp", "zcdp"],
)
def test_release(accounting, law, relation):
    session = _session(accounting, relation=relation)
    query = Count(Grid(session.region.half, np.array([MANY // 100, 100])))
    released = session.release(query, session.budget.fraction(0.4), note="x")
    (entry,) = session.ledger.entries
    noise = released.value - _truth(session, query)
    check_scale(noise, law, entry.scale)
    check_independent((noise / noise.std()).reshape(-1, 4))
    assert released.sd == pytest.approx(law(scale=entry.scale).std())
    # What was paid is what the noise is worth, by the sensitivity of the question and not by the mechanism's word.
    norm = session.sensitivity(query).l1 if accounting is PURE else session.sensitivity(query).l2
    price = {PURE: norm / entry.scale, GDP: (norm / entry.scale) ** 2, ZCDP: (norm / entry.scale) ** 2 / 2}
    assert entry.amount == pytest.approx(price[accounting], rel=1e-12)


@pytest.mark.parametrize("dim", [1, 2, 7])
def test_spherical(dim):
    session = _session(PURE, rows=make_blobs(200, dim))
    per_axis = max(2, round(4000 ** (1 / dim)))
    query = Sum(Grid(session.region.half, np.full(dim, per_axis)))
    released = session.release(query, session.budget.fraction(0.5), note="x", spherical=True)
    (entry,) = session.ledger.entries
    noise = released.value - _truth(session, query)
    norm = np.linalg.norm(noise, axis=1)
    if len(norm) >= 1000:
        check_scale(norm, stats.gamma, entry.scale, dim)
    if dim > 1:
        # A uniform direction: each coordinate of it is a scaled Beta variable, and all orthants are alike.
        direction = noise / norm[:, None]
        cosine = stats.beta((dim - 1) / 2, (dim - 1) / 2, loc=-1, scale=2)
        for axis in range(dim):
            assert stats.kstest(direction[:, axis], cosine.cdf).pvalue > 1e-3
        covariance = np.cov(direction.T) * dim
        assert np.abs(covariance - np.eye(dim)).max() < 6 / np.sqrt(len(norm))
    assert released.sd == pytest.approx(noise.std(), rel=0.1)
    assert entry.amount == pytest.approx(session.sensitivity(query).block / entry.scale, rel=1e-12)


@pytest.mark.slow
def test_a_bought_number_of_rows():
    noise = []
    for seed in range(1200):
        session = _session(PURE, seed=seed, epsilon=1.0)
        session.buy_n(session.ledger.budget.fraction(0.02))
        noise.append(session.n - 200)
    assert session.ledger.entries[0].scale == pytest.approx(50)
    # Rounded, and at least 1 (in a fiftieth part of the cases): the rest of the law is what is left to test.
    inside = np.asarray(noise, dtype=float)
    assert stats.kstest(np.abs(inside[np.abs(inside) < 190]), stats.truncexpon(190 / 50, scale=50).cdf).pvalue > 1e-3
    for wrong in (0.8, 1.25):
        law = stats.truncexpon(190 / 50 / wrong, scale=50 * wrong)
        assert stats.kstest(np.abs(inside[np.abs(inside) < 190]), law.cdf).pvalue < 1e-4
    assert min(noise) >= 1 - 200


SELECTIONS = {
    "Loss": Loss(np.array([[[0.5, 0.5]], [[-0.5, 0.5]], [[0.0, 0.0]], [[0.9, -0.9]], [[0.2, 0.1]]])),
    "SwapLoss": SwapLoss(np.array([[0.3, 0.3], [-0.5, 0.1]]), np.array([[0.1, 0.1], [-0.9, 0.9], [0.4, -0.3]])),
}


# From the corner across: to the only centre at (.9, -.9); from (1, -1) to the second nearest, (-.5, .1).
RANGES = {"Loss": 2 * 1.9**2, "SwapLoss": 1.5**2 + 1.1**2}


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("question", "accounting", "prior"), [("Loss", PURE, False), ("SwapLoss", ZCDP, True)], ids=named
)
def test_select(question, accounting, prior):
    query = SELECTIONS[question]
    session = _session(accounting, rows=make_blobs(6), epsilon=100.0)
    loss = _truth(session, query).ravel()
    weights = np.linspace(1, 3, len(loss)) if prior else np.ones(len(loss))
    share = Budget(accounting, 2.0 if accounting is PURE else log(sinh(1.0)) + 1 / tanh(1.0) - 1)
    more = {"log_prior": np.log(weights)} if prior else {}
    picks, entry = ask_often(session, 1500, query, mechanisms.Exponential, share, **more)
    # Dwork & Roth write ε / (2 sensitivity): here the range of the change takes the place of 2 sensitivity.
    epsilon = 2.0
    assert entry.sensitivity / entry.scale == pytest.approx(epsilon)
    assert entry.sensitivity == pytest.approx(RANGES[question], rel=0.01)
    law = weights * np.exp(-(loss - loss.min()) * epsilon / entry.sensitivity)
    counts = np.bincount(picks, minlength=len(loss))
    check_frequencies(counts, law / law.sum())
    for wrong in (0.5, 2.0):
        law = weights * np.exp(-(loss - loss.min()) * epsilon * wrong / entry.sensitivity)
        assert stats.chisquare(counts, law / law.sum() * counts.sum()).pvalue < 1e-4
    assert entry.amount == pytest.approx(epsilon if accounting is PURE else log(sinh(1.0)) + 1 / tanh(1.0) - 1)


@pytest.mark.some(1)
@pytest.mark.parametrize(("accounting", "law"), [(PURE, stats.laplace), (ZCDP, stats.norm)], ids=["pure", "zcdp"])
def test_activate(accounting, law):
    # A square of 4 cells, of which two are empty, one holds 3 rows and one 7.
    rows = np.repeat([[-0.5, -0.5], [0.5, 0.5]], [3, 7], axis=0)
    session = _session(accounting, rows=rows)
    tree, repeats, threshold = CubeTree(np.full(2, -1.0), 2.0), 1500, 4.0
    share = session.budget.fraction(0.1)
    found, entry = ask_often(session, repeats, SparseCount(tree), mechanisms.NoisyThreshold, share, threshold=threshold)
    assert all((np.diff(keys) > 0).all() for keys in found)
    woke = np.array([np.isin(np.arange(4), keys) for keys in found])
    for cell, count in enumerate((3, 0, 0, 7)):
        check_rate(int(woke[:, cell].sum()), repeats, law(scale=entry.scale).sf(threshold - count))
    for wrong in (0.5, 2.0):
        rate = law(scale=entry.scale * wrong).sf(threshold)
        assert stats.binomtest(int(woke[:, 1:3].sum()), 2 * repeats, rate).pvalue < 1e-6
    gap = np.abs(np.corrcoef(woke.T.astype(float)) - np.eye(4)).max()
    assert gap < 5 / np.sqrt(repeats)


def test_empty_cubes_wake_up_one_by_one_in_a_huge_universe():
    session = _session(PURE, rows=np.full((50, 20), 0.3))
    tree = CubeTree(np.full(20, -1.0), 2.0)
    share = session.budget.fraction(0.2)
    noise = session.mechanism(SparseCount(tree), mechanisms.choose_noise_kind(PURE), share)
    assert isinstance(noise, mechanisms.Laplace)
    threshold = noise.scale * np.log(2**20 / 2 / 30)  # thirty of a million on average
    found, _ = ask_often(session, 200, SparseCount(tree), mechanisms.NoisyThreshold, share, threshold=threshold)
    codes = [keys[keys != 2**20 - 1] for keys in found]
    numbers = [*map(len, codes)]
    assert abs(np.mean(numbers) - 30) < 5 * np.sqrt(30 / 200) and 0.7 < np.var(numbers) / np.mean(numbers) < 1.4
    assert stats.kstest(np.concatenate(codes) / 2**20, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("accounting", [PURE], ids=["pure"])
def test_release_sparse(accounting):
    session = _session(accounting)
    grid, cutoff = Grid(session.region.half, np.array([400, 400])), 1.5
    share = session.budget.fraction(0.5)
    released = session.ask(SparseCount(grid), mechanisms.SparseLaplace, share, note="x", cutoff_in_scales=cutoff).value
    (entry,) = session.ledger.entries
    truth = _truth(session, SparseCount(grid))
    assert (np.diff(released.codes) > 0).all()
    empty = released.values[truth.get_counts(released.codes) == 0]
    check_scale(np.abs(empty) - cutoff * entry.scale, stats.expon, entry.scale)
    check_rate(int((empty > 0).sum()), len(empty), 0.5)
    check_rate(len(empty), grid.n_cells - len(truth.codes), np.exp(-cutoff))
    # Cells that hold rows are noised and cut like all others.
    kept = released.get_counts(truth.codes)
    laplace = stats.laplace(scale=entry.scale)
    rates = laplace.sf(cutoff * entry.scale - truth.values) + laplace.cdf(-cutoff * entry.scale - truth.values)
    shown = int((kept != 0).sum())
    assert abs(shown - rates.sum()) < 5 * np.sqrt((rates * (1 - rates)).sum())


def test_quantiles():
    # One column of few values: which gap is released, how far into it, and that columns do not know of each other.
    rows = np.array([-0.5, -0.2, -0.2, 0.1, 0.7])
    session = _session(PURE, rows=np.repeat(rows[:, None], 40, axis=1), relation=Relation.REPLACE, epsilon=1e6)
    query, share = Quantiles(-session.region.half, session.region.half, (0.3,)), Budget(PURE, 40 * 3.0)
    released, entry = ask_often(session, 200, query, ExponentialQuantile, share)
    assert entry.amount == pytest.approx(40 * 3.0)
    assert entry.sensitivity / entry.scale == pytest.approx(40 * 3.0)
    places, edges = np.array(released)[:, 0], np.r_[-1, rows, 1]
    counts = np.histogram(places, np.unique(edges))[0]

    def law(epsilon):
        weights = np.diff(edges) * np.exp(-epsilon / 2 * np.abs(np.arange(6) - 0.3 * 5))
        return weights[np.diff(edges) > 0] / weights.sum()

    check_frequencies(counts, law(3.0))
    for wrong in (0.8, 1.25):
        assert stats.chisquare(counts, law(3.0 * wrong) * counts.sum()).pvalue < 1e-6
    inside = places[(places > -0.2) & (places < 0.1)]
    assert stats.kstest(inside, stats.uniform(-0.2, 0.3).cdf).pvalue > 1e-3
    check_independent((places - places.mean()) / places.std())


@pytest.mark.some(1)
@pytest.mark.parametrize(("accounting", "law"), [(PURE, stats.cauchy), (Accounting.BASIC, stats.laplace)])
def test_smooth_medians(accounting, law):
    dim = 20
    rows = np.repeat(np.random.default_rng(0).normal(0, 0.3, (9, 1)), dim, axis=1)
    session = _session(accounting, rows=rows, relation=Relation.REPLACE, epsilon=1e6)
    query = Medians(-session.region.half, session.region.half)
    share = Budget(accounting, 2.0 * dim, 0.0 if accounting is PURE else 1e-6)
    released, entry = ask_often(session, 200, query, SmoothMedian, share)
    assert (entry.amount, entry.delta) == (pytest.approx(2.0 * dim), share.delta)
    # One of the columns has ε = 2 and δ = 1e-6 / 20; what a single value can move is in no entry.
    beta = 2.0 / 6 if accounting is PURE else compute_laplace_smoothness(2.0, 1e-6 / dim)
    edges = np.r_[-1, np.sort(np.clip(rows[:, 0], -1, 1)), 1]
    bound = max(np.exp(-beta * (j - i - 1)) * (edges[j] - edges[i]) for i in range(6) for j in range(5, 11) if i < j)
    scale = bound / (2.0 - beta) if accounting is PURE else bound
    noise = np.array(released) - np.median(rows)
    check_scale(noise.ravel(), law, scale)
    if law is stats.laplace:
        check_independent(noise / noise.std())


@pytest.mark.slow
def test_a_kernel_draw_without_a_floor():
    # All rows in one place: what is released is that place and the noise.
    session = _session(PURE, seed=3, rows=np.full((5, 2), 0.25), epsilon=4.0)
    query, options = DistanceWeights(np.zeros((1, 2))), {"public_points": np.zeros((1, 2)), "public_weight": 0.0}
    drawn, entry = ask_often(session, 1500, query, KernelDraw, session.budget.fraction(0.5), **options)
    check_scale(np.linalg.norm(np.array(drawn) - 0.25, axis=1), stats.gamma, entry.scale, 2)
    # The whole diameter hides a row: ε is the diameter over the scale.
    assert entry.amount == pytest.approx(session.region.diameter / entry.scale, rel=1e-6)
    assert not drawn[0].flags.writeable


def test_a_release_cannot_be_changed_afterwards():
    session = _session(PURE)
    grid = Grid(np.ones(2), np.array([30, 30]))
    noisy = session.release(Count(Everything()), session.budget.fraction(0.1), note="x").value
    sparse = session.ask(
        SparseCount(grid), mechanisms.SparseLaplace, session.budget.fraction(0.1), note="x", cutoff_in_scales=1
    ).value
    one = mechanisms.Question(Count(Voronoi(np.zeros((1, 2)))), mechanisms.Laplace, session.budget.fraction(0.1))
    noisy_counts, noisy_sums = session.ask_together(one, one._replace(query=Sum(Everything())), note="x")
    for array in (noisy, sparse.codes, sparse.values, noisy_counts.value, noisy_sums.value):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


LAWS = [(Accounting.PURE, stats.laplace), (Accounting.GDP, stats.norm), (Accounting.ZCDP, stats.norm)]
HASHES = HashCodes(np.random.default_rng(3).normal(size=(6, 2)), np.zeros(6))


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("accounting", "law", "relation"),
    [(*law, relation) for law, relation in zip(LAWS, (*Relation, Relation.REPLACE), strict=True)],
    ids=["pure", "gdp", "zcdp"],
)
def test_every_count_on_every_level_carries_the_same_noise(accounting, law, relation):
    session, query = _session(accounting, relation=relation), SparseCount(HASHES)
    (truth,) = session._compute_true_answers([query])
    half = session.budget.fraction(0.5)
    released, entry = ask_often(session, 60, query, mechanisms.PathCounts, half, levels=6, min_branch=-1e9)
    noises = [found.values - mechanisms.count_below(found.codes, truth) for found in released]
    # With every node split, the whole tree is asked: empty nodes like all others.
    np.testing.assert_array_equal(released[0].codes, np.arange(2, 2**7))
    check_scale(np.concatenate(noises), law, entry.scale)
    check_independent(np.array(noises)[:, [0, 1, 2, 6, 60, 120]] / np.std(noises))
    empty = mechanisms.count_below(released[0].codes, truth) == 0
    check_scale(np.array(noises)[:, empty].ravel(), law, entry.scale)


@pytest.mark.some(1)
@pytest.mark.parametrize(("accounting", "law"), LAWS[:2], ids=["pure", "gdp"])
def test_a_node_is_split_by_its_noisy_count_alone(accounting, law):
    session, query = _session(accounting), SparseCount(HASHES)
    (truth,) = session._compute_true_answers([query])
    branch = mechanisms.count_below(np.array([2]), truth)[0]
    split = np.zeros(2)
    fifth = session.budget.fraction(0.2)
    grown, entry = ask_often(session, 500, query, mechanisms.PathCounts, fifth, levels=2, min_branch=branch)
    for found in grown:
        heavy = found.codes[:2][found.values[:2] >= branch]
        np.testing.assert_array_equal(found.codes[2:], (2 * heavy[:, None] + [0, 1]).ravel())
        split += np.isin([2, 3], heavy)
    for node in (0, 1):
        rate = law(scale=entry.scale).sf(branch - mechanisms.count_below(np.array([2 + node]), truth)[0])
        check_rate(int(split[node]), 500, rate)
