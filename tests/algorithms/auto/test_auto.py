"""auto: its plan is public, each of its parts does what it says, and the whole loses next to nothing."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from dpviz.algorithms import PolishStep
from dpviz.algorithms.auto import private_projection
from dpviz.algorithms.auto.auto import Seeds, choose_by_rows, estimate_sizes, measure_extents
from dpviz.algorithms.auto.auto_plan import Round, StagePart, Swap, make_plan
from dpviz.algorithms.auto.polishing import _shrink, run_residual_rounds, split_and_drop
from dpviz.algorithms.auto.view_synopsis import SynopsisStep
from dpviz.algorithms.auto.zooming import ZoomStep
from dpviz.algorithms.card import Setting
from dpviz.algorithms.tools.solvers import StartsStep
from dpviz.core.accounting import Accounting
from dpviz.core.arrays import Array
from dpviz.core.domain import Domain, Scaling
from dpviz.core.exact_noise import ExactNoise
from dpviz.core.partitions import Grid
from dpviz.core.private_session import PrivateSession, PrivateTable
from dpviz.core.queries import Relation
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import find_reference, nicv
from dpviz.runs.one_run import run
from tests.cases import for_each
from tests.contract.sessions import open_seeded

SETTING = Setting(dim=2, k=5, epsilon=1.0, delta=1e-6, n=10_000)


def plan_of(*, n_public=True, **changes):
    return make_plan(dataclasses.replace(SETTING, **changes), n_public=n_public)


def over(rows, *, n_public=True, radius=1.0):
    """A table of these rows, on one scale."""
    domain = Domain.of([f"x{j}" for j in range(rows.shape[1])], -1.0, 1.0, radius=radius, scaling=Scaling.COMMON)
    return PrivateTable(rows, domain, n_public=len(rows) if n_public else None)


def mixture(n, dim, k, *, seed=0, spread=0.03, radius=1.0):
    """Rows around ``k`` centres of a ball, and the table over them."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(k, dim))
    centers *= 0.8 * radius / np.linalg.norm(centers, axis=1, keepdims=True)
    return over(centers[rng.integers(0, k, n)] + rng.normal(0, spread, (n, dim)), radius=radius), centers


@pytest.mark.some(2)
@pytest.mark.parametrize(("dim", "delta"), [(1, 0.0), (2, 1e-6), (3, 0.0), (8, 0.0), (100, 1e-6)])
def test_the_loss_is_nearly_that_of_k_means(dim, delta):
    table, _ = mixture(20_000, dim, 4)
    revealed = clip_rows(table.reveal(note="test"), table.domain.region)
    done = run("auto", table, k=4, epsilon=2.0, delta=delta, seed=0)
    assert nicv(revealed.points, done.unit_centers) <= 1.06 * find_reference(revealed, 4).nicv


def test_finer_cells_are_tried_where_that_is_of_use():
    def tests(**changes):
        cells = plan_of(**changes).cells
        return [cells.finer_test is not None, cells.finest_test is not None]

    assert tests(n=4000, k=20) == [True, False] and tests(n=4000, k=50) == [True, True]
    # Too few rows a cluster for any of it: cells are smoothed as ever.
    few = plan_of(n=1000, k=50).cells
    assert tests(n=1000, k=50) == [False, False] and not few.trees
    # So many rows that the coarsest grid has all the cells there may be.
    assert tests(n=1_000_000, k=2) == [False, False]
    # What is bought may not follow from a number of rows that is a release.
    for n in (300, 1_000_000):
        assert tests(n=n, k=50, n_public=False) == [True, True]


def test_rows_choose_where_the_noise_of_a_choice_is_small():
    def chooses(**changes):
        return plan_of(**{"dim": 6, "k": 4, "n": 12_000, **changes}).choice is not None

    for delta in (0.0, 1e-6):
        assert chooses(delta=delta) and not chooses(delta=delta, n=3000)
        assert not chooses(delta=delta, n=11_000, relation=Relation.REPLACE)
        assert chooses(delta=delta, n=4000, epsilon=3.0)
        # Over few columns, and where there are many clusters, the histogram alone decides.
        assert not chooses(delta=delta, dim=3) and not chooses(delta=delta, k=13)
    # What is no Gaussian noise may not follow from a number of rows that is a release.
    assert not any(chooses(n=n, n_public=False) for n in (300, 1_000_000))
    assert chooses(delta=0.0, n_public=False)


def test_the_finest_grid_is_taken_in_which_rows_stand_out():
    def synopsis(spread):
        table, _ = mixture(4000, 2, 50, spread=spread)
        done = run("auto", table, k=50, epsilon=1.0, delta=1e-6, seed=0)
        asked = [entry.note for entry in done.entries]
        assert asked.count("would finer cells do?") == 2
        return next(frame.step for frame in done.frames if isinstance(frame.step, SynopsisStep))

    tight, wide = synopsis(0.002), synopsis(0.2)
    assert tight.grid.n_cells > 3 * wide.grid.n_cells and tight.details is not None
    assert tight.weights.sum() == pytest.approx(4000)


@for_each("dim", [2, 6])
def test_a_bought_n_moves_nothing_but_gaussian_shares(dim):
    plans = [plan_of(dim=dim, n=n, n_public=False) for n in (500, 100_000)]
    pure = [[part for part in plan.parts if part.noise != "Gaussian"] for plan in plans]
    assert pure[0] == pure[1]
    totals = [sum(part.weight for part in plan.parts if part.noise == "Gaussian") for plan in plans]
    assert totals[0] == pytest.approx(totals[1])
    assert plans[0].rounds != plans[1].rounds or dim > 3


def tailed(n=10_000, dim=6, *, sigma=1.2, n_public=True):
    """Rows whose first column is log-normal: it has nearly all of the spread, most of it far out."""
    rng = np.random.default_rng(0)
    long = np.minimum(0.03 * np.exp(sigma * rng.normal(size=n)), 1.0)
    return over(np.c_[long, rng.normal(0, 0.006, (n, dim - 1))], n_public=n_public)


def assert_bought_alike(one, other):
    """The same questions under the same noise."""
    for entry, twin in zip(one.entries, other.entries, strict=True):
        assert (entry.mechanism, entry.note) == (twin.mechanism, twin.note)
        assert entry.scale / entry.sensitivity == pytest.approx(twin.scale / twin.sensitivity)


@for_each(
    ("k", "n_public", "delta"), [(4, True, 0.0), (4, True, 1e-6), (4, False, 0.0), (4, False, 1e-6), (14, True, 1e-6)]
)
def test_what_is_bought_does_not_hang_on_whether_there_is_a_tail(k, n_public, delta):
    """A number of rows that was bought may move Gaussian shares, and is the same here by its seed."""
    compact = mixture(10_000, 6, 4)[0] if n_public and k == 4 else tailed(sigma=0.1, n_public=n_public)
    both = [run("auto", table, k=k, epsilon=4.0, delta=delta, seed=0) for table in (tailed(n_public=n_public), compact)]
    assert [done.frames[1].step.tail is not None for done in both] == [True, False]
    assert all((done.frames[2].step.grid.cells_per_axis > 1).all() for done in both), "an axis that tells nothing"
    assert_bought_alike(*both)
    # Over the whole first axis, and beside it over one more where a cluster is small, narrowest where most rows lie.
    look, seen = (both[0].frames[at].step for at in (1, 2))
    borders = seen.grid.middle[0] + seen.grid.borders(0)
    assert len(seen.frame) == 1 + (k > 4) and borders[[0, -1]] == pytest.approx([-1, 1])
    narrowest, middle = np.diff(borders).argmin(), seen.frame[0] @ look.tail.middle
    assert borders[narrowest] < middle < borders[narrowest + 1]


def test_a_view_is_widened_but_where_it_follows_a_tail_and_nothing_else_is_bought(monkeypatch):
    for table, widened in ((tailed(), False), (mixture(10_000, 6, 4)[0], True)):
        both = []
        for widen in (lambda radius, *look: radius, lambda radius, *look: 0.9 * radius):
            monkeypatch.setattr(private_projection, "_widen", widen)
            both.append(run("auto", table, k=4, epsilon=4.0, delta=1e-6, seed=0))
        assert_bought_alike(*both)
        radii = [done.frames[1].step.projection.clipping_radius for done in both]
        assert radii[1] == pytest.approx((0.9 if widened else 1.0) * radii[0])


def long_column(n=2000, *, spread=0.01, middle=(-0.5, 0.3), n_public=True):
    """Rows close together but for some that lie far along the first column, or with a wide ``spread`` none of that."""
    rng = np.random.default_rng(3)
    rows = np.asarray(middle) + spread * rng.normal(size=(n, 2))
    rows[: n // 10, 0] = rng.uniform(middle[0] + 0.1, 0.9, n // 10)
    return over(rows, n_public=n_public, radius=None)


@for_each("n_public", [True, False])
def test_what_is_bought_does_not_hang_on_where_most_rows_lie(n_public):
    tables = (long_column(spread=spread, n_public=n_public) for spread in (0.01, 0.4))
    both = [run("auto", table, k=4, epsilon=1.0, delta=1e-6, seed=0) for table in tables]
    zooms = (next(frame.step for frame in done.frames if isinstance(frame.step, ZoomStep)) for done in both)
    assert [zoom.core is not None for zoom in zooms] == [True, False]
    assert_bought_alike(*both)


def test_a_little_more_goes_into_zooming_where_that_shows_where_most_rows_lie():
    def zoom_part(**changes):
        plan = plan_of(**changes)
        found = [part for part in plan.parts if part.stage in ("zoom", "grid")]
        return found[0].weight / sum(part.weight for part in found)

    assert zoom_part(n=1000, epsilon=0.3) == pytest.approx(0.061, abs=0.002)
    # With more rows it is clear anyway, with fewer not even so; a number that was bought decides nothing.
    for changes in ({"n": 10_000}, {"n": 1000, "epsilon": 0.1}, {"n": 1100, "epsilon": 0.3, "n_public": False}):
        assert zoom_part(**changes) == pytest.approx(0.04)


def test_rows_that_no_fine_cell_shows_take_part_where_cells_are_fewer_than_clusters():
    """Four narrow clusters fill a cell each; nine wide ones fill none, and hold a third of the rows."""
    parts = (mixture(12_000, 6, 4, spread=0.001)[0], mixture(6000, 6, 9, seed=1, spread=0.15)[0])
    rows = np.concatenate([clip_rows(part.reveal(note="test"), part.domain.region).points for part in parts])
    synopsis = run("auto", over(rows), k=13, epsilon=1.0, delta=1e-6, seed=0).frames[2].step
    assert synopsis.cells_kept == len(synopsis.kept) < 13 < len(synopsis.cloud().points)
    assert synopsis.outside_weights.sum() == pytest.approx(len(rows) - synopsis.weights.sum())
    most = synopsis.outside[synopsis.outside_weights.argmax()]
    assert np.linalg.norm(most - synopsis.grid.middle) < np.linalg.norm(synopsis.grid.half) / 2


def run_without_some(dim: int, left_out: float) -> tuple[Array, dict[str, object]]:
    """The complete ones of 8,000 rows, off the middle of their bounds, and the steps of a run by their names."""
    rng = np.random.default_rng(1)
    middles, some = rng.uniform(0.15, 0.6, (3, dim)) / np.sqrt(max(dim, 4) / 4), rng.random(8000) < left_out
    rows = middles[rng.integers(0, 3, 8000)] + 0.06 * rng.normal(size=(8000, dim))
    done = run("auto", over(np.where(some[:, None], np.nan, rows)), k=3, epsilon=1.0, delta=1e-6, seed=0)
    return rows[~some], {type(frame.step).__name__: frame.step for frame in done.frames}


@for_each("dim", [1, 2])
def test_a_box_holds_nearly_all_rows_that_are_there(dim):
    rows, steps = run_without_some(dim, 0.4)
    seen = steps["SynopsisStep"]
    assert steps["ZoomStep"].box is not None and abs(seen.rows_kept / len(rows) - 1) < 0.05
    # What smoothing keeps of one column are counts as they were bought, all moved alike to come to the rows.
    assert (seen.details is None) == (dim == 1) == (np.ptp(seen.noisy_counts[seen.kept] - seen.weights) < 1e-9)


@for_each("left_out", [0.2, 0.5])
def test_a_look_tells_the_middle_and_the_spread_of_the_rows_that_are_there(left_out):
    rows, steps = run_without_some(5, left_out)
    seen, middle = steps["ProjectionStep"].projection, rows.mean(axis=0)
    assert np.linalg.norm(seen.middle - middle) < 0.05
    assert abs(seen.spread / ((rows - middle) ** 2).sum(axis=1).mean() - 1) < 0.2
    assert abs(steps["SynopsisStep"].rows_kept / len(rows) - 1) < 0.05


def test_a_cluster_that_is_two_is_split_and_the_cheapest_centre_gives_way():
    """One centre lies between two clusters, and two lie on the third."""
    spots, rng = np.array([[-0.6, -0.5], [-0.6, 0.5], [0.7, 0.0]]), np.random.default_rng(0)
    rows = np.repeat(spots, 2000, axis=0) + rng.normal(0, 0.02, (6000, 2))
    session = open_seeded(over(rows, radius=None), Accounting.ZCDP, epsilon=2.0, delta=1e-6)
    stage = Swap(*(StagePart("swap", what, "Gaussian", 0.4, 1) for what in ("counts", "spread")))
    shares = {part: session.budget.fraction(0.4) for part in stage}
    step = split_and_drop(session, np.array([[-0.6, 0.0], [0.69, 0.0], [0.71, 0.0]]), 1.0, None, stage, shares)
    assert step.split.tolist() == [0] and step.dropped[0] in (1, 2) and step.gains[0] > 1.3 * step.costs[0]
    assert np.linalg.norm(step.centers[:, None] - spots, axis=2).min(axis=0).max() < 0.2


def test_the_reach_is_cut_to_where_clear_bins_lie():
    lengths = np.array([100.0, 100, 0, 0, 14, 14, 14, 14])
    assert _shrink(SimpleNamespace(value=lengths, sd=10.0), 250) == 2.5 / 8, "what noise may have filled is empty"
    assert _shrink(SimpleNamespace(value=lengths, sd=9.0), 256) == 7.5 / 8
    assert _shrink(SimpleNamespace(value=lengths, sd=100.0), 256) == 1.0, "where no bin is clear, nothing is cut"
    assert _shrink(SimpleNamespace(value=lengths, sd=10.0), 256) == 1.0, "nor where clear bins hold too few of the rows"


def test_sizes_without_cells_are_the_counts_of_the_rounds():
    counts, region = np.array([100.0, 70.0]), over(np.zeros((1, 1))).domain.region
    made = PolishStep(title="", centers=np.eye(2, 1), clipping_radius=1.0, noisy_counts=counts, count_noise_sd=3.0)
    assert estimate_sizes([made], region).rows.tolist() == [100.0, 70.0]
    assert estimate_sizes([dataclasses.replace(made, noisy_counts=None)], region) is None


GRID = Grid(np.ones(1), np.array([20]))


def synopsis_of(noisy: Array, sd: float) -> SynopsisStep:
    """Of cells of one column, two of which are full."""
    return SynopsisStep(
        **{"title": "cells", "grid": GRID, "codes": np.arange(20), "noisy_counts": noisy, "sd": sd, "frame": np.eye(1)},
        **{"kept": np.arange(20), "weights": noisy, "outside": np.zeros((0, 1)), "outside_weights": np.zeros(0)},
    )


def test_cells_around_a_box_hold_rows_too():
    inner = synopsis_of(np.ones(20), 1.0)
    both = dataclasses.replace(inner, around=inner, outside=np.zeros((2, 1)), outside_weights=np.array([3.0, 4.0]))
    assert (both.cells_kept, both.rows_kept) == (22, 27.0)


def test_cells_go_to_the_nearest_centre_and_those_on_a_border_may_go_to_either():
    weights, within = np.zeros(20), 0.1**2 / 12
    weights[[3, 9, 15]] = 100.0, 20.0, 50.0
    centers = np.add(GRID.centers(np.array([3, 15])), [[0.02], [0.0]])
    rows, radii2, variance = measure_extents(synopsis_of(weights, 2.0), centers)
    assert rows.tolist() == [120.0, 50.0] and variance == pytest.approx([4 * 11 + 20**2 / 12, 4 * 11])
    assert radii2 == pytest.approx([within + (100 * 0.02**2 + 20 * 0.58**2) / 120, within])


def seeds_at(synopsis: SynopsisStep, *every: tuple[int, ...]) -> Seeds:
    """Solutions with centres in these cells."""
    centers = np.stack([GRID.centers(np.array(places)) for places in every])
    solved = StartsStep(title="", losses=np.ones(len(every)), chosen=0, centers=centers[0])
    return Seeds(synopsis, solved, centers, np.arange(1.0, len(every) + 1) / 100, 0)


def room_of(epsilon: float, accounting: Accounting, seed: int) -> PrivateSession:
    """Rows in two places, most of them in one."""
    rows = np.repeat(GRID.centers(np.array([3, 16])), [300, 100], axis=0)
    table = PrivateTable(rows, Domain.of(["x"], -1.0, 1.0), n_public=len(rows))
    return open_seeded(table, accounting, epsilon=epsilon, delta=1e-6, seed=seed)


STAGE = StagePart("choice", "losses", "exponential", 1.0)


@pytest.mark.parametrize("accounting", [Accounting.PURE, Accounting.PLD])
def test_rows_choose_what_the_histogram_got_wrong(accounting):
    found = seeds_at(synopsis_of(np.ones(20), 1.0), (3, 5), (3, 16))
    session = room_of(2.0, accounting, 0)
    share = session.budget if accounting is Accounting.PURE else session.calibrate(losses=STAGE.draws())["losses"]
    seeds, words = choose_by_rows(session, [found], STAGE, {STAGE: share})
    assert seeds.taken == 1 and words == "Of 2 solutions that differ the rows choose one: the seeds"
    assert [(entry.mechanism, entry.query) for entry in session.ledger.entries] == [("exponential", "CappedLosses")]
    # A row counts up to twelve squared radii.
    assert session.ledger.entries[0].sensitivity == pytest.approx(12 * found.radius2)
    assert session.ledger.spent_epsilon == pytest.approx(2.0, rel=1e-3)


def test_cells_without_any_spread_leave_a_question_that_can_be_drawn_exactly():
    """A synopsis of noise alone can put every cell onto a centre: then radii are nothing, and so would noise be."""
    found = seeds_at(synopsis_of(np.ones(20), 1.0), (3, 5), (3, 16))._replace(radii2=np.full(2, 1e-14))
    table = PrivateTable(np.zeros((0, 1)), Domain.of(["x"], -1.0, 1.0))
    session = table.open(epsilon=1.0, delta=1e-6, accounting=Accounting.PURE, noise=ExactNoise())
    choose_by_rows(session, [found], STAGE, {STAGE: session.budget})
    assert session.ledger.spent_epsilon == pytest.approx(1.0)


def test_with_many_clusters_centres_go_beyond_their_means_but_in_the_last_round():
    many, rng = plan_of(dim=6, k=20), np.random.default_rng(0)
    rows = 0.3 + rng.normal(0, 0.02, (5000, 6))
    session = open_seeded(over(rows, radius=None), Accounting.ZCDP, epsilon=1e6, delta=1e-6, seed=rng)
    parts = [[StagePart("round", what, "Gaussian", 0.25, t) for what in ("counts", "sums")] for t in (1, 2)]
    shares = {part: session.budget.fraction(0.25) for both in parts for part in both}
    planned = dataclasses.replace(many, polishing=tuple(Round(None, *both) for both in parts))
    first, last = run_residual_rounds(session, 5000, np.full((1, 6), 0.2), 2.0, None, planned, shares, None)
    mean = rows.mean(axis=0)
    assert many.stride > 1
    np.testing.assert_allclose(first.centers[0], 0.2 + many.stride * (mean - 0.2), atol=1e-3)
    np.testing.assert_allclose(last.centers[0], mean, atol=1e-3)
