"""Every step of every kind of table, in both themes, with and without a look at the rows."""

import dataclasses
from functools import cache

import numpy as np
import pytest

from dpviz.algorithms.baselines.kmeans_plus_plus import ReferenceStep
from dpviz.algorithms.steps import CentersStep, GridStep, Step
from dpviz.charts.registry import picture_of
from dpviz.charts.theme import palette
from dpviz.charts.view import View, view_of
from dpviz.runs.run import run
from tests.cases import about
from tests.charts.gallery import Exhibit, draw, exhibit, steps_of
from tests.charts.laws import is_sound, keeps_its_ranges, shows_kinds

TABLES = [(1, 3, "unit"), (2, 5, "unit"), (2, 15, "common"), (6, 5, "unit")]
CELLS = {1: 200, 2: 40, 6: 5}


@cache
def shown(dim: int, k: int, scaling: str) -> Exhibit:
    return exhibit(dim, k, n=1500, scaling=scaling)


@cache
def steps(dim: int, k: int, scaling: str) -> dict[str, Step]:
    return dict(steps_of(shown(dim, k, scaling), cells=CELLS[dim]))


# Those of the gallery, by name: no algorithm has to run before the tests are collected.
KINDS = [
    "centers-first", "centers-last", "grid", "grid-sparse", "starts", "tree-early", "tree-last", "candidates",
    "swap", "swap-idle", "pool-first", "pool-last", "seed-first", "seed-last", "blocks", "ranges",
    "centers-averaged", "ranges-domain", "median-law", "centers-medians", "tuples", "tuples-bottom", "mixture",
    "mixture-tiny", "coordinates", "plan", "zoom", "look", "look-public", "synopsis", "polish", "split",
    "split-none", "hash-tree", "coreset", "message", "server", "reference",
]  # fmt: skip
EACH = pytest.mark.parametrize("kind", KINDS)


THEMES = ("light", "dark")
Show = tuple[int, int, str]


def _dealt(shift: int) -> pytest.MarkDecorator:
    """Every kind of step in all of these tables: one of them, dealt in turn and shifted, is fast."""
    hands = []
    for turn, kind in enumerate(KINDS):
        first = (turn + shift) % len(TABLES)
        hands.append(pytest.param(kind, TABLES[first : first + 1]))
        hands.append(pytest.param(kind, TABLES[:first] + TABLES[first + 1 :], marks=pytest.mark.slow))
    return pytest.mark.parametrize(("kind", "tables"), hands, ids=_named)


def _named(value: object) -> str:
    return "+".join(f"{dim}d-{scaling}" for dim, _, scaling in value) if isinstance(value, list) else str(value)


def _theme(kind: str, table: Show) -> str:
    """Dealt: every kind is drawn in both themes, and every table, too."""
    return THEMES[(KINDS.index(kind) + TABLES.index(table)) % len(THEMES)]


def test_every_kind_of_the_gallery_is_drawn() -> None:
    assert list(steps(*TABLES[0])) == KINDS


def on_a_plane(step: Step) -> bool:
    beside = {"StartsStep", "MedianLawStep", "HashTreeStep", "MessageStep", "ServerTreeStep", "CoordinatesStep"}
    return type(step).__name__ not in beside | {"PlanStep", "LookStep"}


def has_its_truth_beside(step: Step, view: View) -> bool:
    """True counts of a grid on the plane have a figure of their own."""
    return isinstance(step, GridStep) and not picture_of(step).view(view).flat


@_dealt(0)
def test_released_only(kind: str, tables: list[Show]) -> None:
    for table in tables:
        with about(table):
            _released_only(kind, table)


def _released_only(kind: str, table: Show) -> None:
    step, view, theme = steps(*table)[kind], view_of(shown(*table).table.domain), _theme(kind, table)
    figure = draw(step, view=view, theme=theme)
    is_sound(figure)
    if on_a_plane(step):
        keeps_its_ranges(figure, picture_of(step).view(view))
    allowed = {"revealed"} if isinstance(step, ReferenceStep) else {"public", "released"}
    shows_kinds(figure, palette(theme), allowed)


@_dealt(1)
def test_with_a_look_at_the_rows(kind: str, tables: list[Show]) -> None:
    for table in tables:
        with about(table):
            _with_a_look(kind, table)


def _with_a_look(kind: str, table: Show) -> None:
    step, this, theme = steps(*table)[kind], shown(*table), _theme(kind, table)
    view = view_of(this.table.domain)
    figure = draw(step, view=view, theme=theme, reveal=this.reveal, reference=this.reference, epsilon=1.0)
    is_sound(figure)
    shows_kinds(figure, palette(theme), {"public", "released", "revealed"})
    if on_a_plane(step):
        keeps_its_ranges(figure, picture_of(step).view(view))
        assert any(trace.meta == "revealed" for trace in figure.data) != has_its_truth_beside(step, view)


@pytest.mark.some(13)
@EACH
def test_on_a_slanted_plane(kind: str) -> None:
    this = shown(6, 5, "unit")
    step, view = steps(6, 5, "unit")[kind], view_of(this.table.domain, projection_seed=0)
    figure = draw(step, view=view, reveal=this.reveal, reference=this.reference)
    is_sound(figure)
    if on_a_plane(step):
        keeps_its_ranges(figure, picture_of(step).view(view))


@_dealt(2)
def test_a_table_and_words_stand_behind_every_figure(kind: str, tables: list[Show]) -> None:
    for table in tables:
        with about(table):
            step, domain = steps(*table)[kind], shown(*table).table.domain
            numbers = picture_of(step).table(domain).select_dtypes("number")
            assert len(numbers) > 0 and np.isfinite(numbers.to_numpy(np.float64)).all()
            words = picture_of(step).words(domain)
            assert len(words) > 20 and "nan" not in words and (words[0].isupper() or words[0].isdigit())


def test_centres_are_told_in_data_units() -> None:
    domain = shown(2, 5, "unit").table.domain
    step = steps(2, 5, "unit")["centers-last"]
    assert isinstance(step, CentersStep)
    table = picture_of(step).table(domain)
    np.testing.assert_allclose(table[["longitude", "latitude"]].to_numpy(), domain.from_unit(step.centers))


@pytest.mark.some(3)
@pytest.mark.parametrize("algorithm", ["auto", "dplloyd", "eugkm", "balcan", "pgkm", "kvariates", "lsh-coreset"])
def test_nothing_moves_while_a_run_unfolds(algorithm: str) -> None:
    this = shown(2, 5, "unit")
    view = view_of(this.table.domain)
    frames = run(algorithm, this.table, k=5, epsilon=2.0, delta=1e-6, seed=1).frames
    drawn = [draw(f.step, view=view, epsilon=2.0) for f in frames if on_a_plane(f.step)]
    for figure in drawn:
        is_sound(figure)
        keeps_its_ranges(figure, view)
    same = {(f.layout.height, f.layout.margin.t, f.layout.margin.l, f.layout.margin.r) for f in drawn}
    assert len(same) == 1


def test_a_step_from_before_a_hot_reload_is_still_drawn() -> None:
    old = steps(2, 5, "unit")["centers-last"]
    reborn = type("CentersStep", (), {f.name: getattr(old, f.name) for f in dataclasses.fields(old)})()
    view = view_of(shown(2, 5, "unit").table.domain)
    assert draw(reborn, view=view).data


def test_a_kind_of_step_without_a_chart_is_a_defect_that_says_so() -> None:
    @dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
    class StrangeStep(Step):
        pass

    with pytest.raises(TypeError, match="no picture for a StrangeStep"):
        picture_of(StrangeStep(title="?"))
