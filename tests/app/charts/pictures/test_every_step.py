"""Every step of every kind of table, in both themes, with and without a look at the rows."""

import dataclasses
from functools import cache

import numpy as np
import pytest

from dpviz.algorithms.baselines.kmeans_plus_plus import ReferenceStep
from dpviz.algorithms.steps import CentersStep, GridStep, Step
from dpviz.app.charts.registry import draw_picture, find_picture
from dpviz.app.charts.view import View, make_view
from dpviz.runs.one_run import run
from dpviz.words.theme import choose_palette
from tests.app.charts.gallery import Exhibit, draw, exhibit, look, steps_of
from tests.app.charts.laws import is_sound, keeps_its_ranges, shows_kinds
from tests.cases import about

Show = tuple[int, int, str]
TABLES: list[Show] = [(1, 3, "unit"), (2, 15, "common"), (6, 5, "unit")]
FLAT = TABLES[1]
CELLS = {1: 200, 2: 40, 6: 5}
THEMES = ("light", "dark")
EACH_TABLE = pytest.mark.parametrize("table", TABLES, ids=[f"{dim}d-{scaling}" for dim, _, scaling in TABLES])
_NO_PLANE = {"StartsStep", "MedianLawStep", "HashTreeStep", "MessageStep", "ServerTreeStep", "CoordinatesStep"}
_NO_PLANE |= {"PlanStep", "ProjectionStep"}


@cache
def shown(dim: int, k: int, scaling: str) -> Exhibit:
    return exhibit(dim, k, n=1500, scaling=scaling)


@cache
def steps(dim: int, k: int, scaling: str) -> dict[str, Step]:
    return dict(steps_of(shown(dim, k, scaling), cells=CELLS[dim]))


def dealt(table: Show, *, fast: bool) -> dict[str, Step]:
    """Every kind of step is fast in one of these tables, dealt in turn, and slow in the others."""
    turn = TABLES.index(table)
    every = enumerate(steps(*table).items())
    return {kind: step for place, (kind, step) in every if (place % len(TABLES) == turn) == fast}


def on_a_plane(step: Step) -> bool:
    return type(step).__name__ not in _NO_PLANE


def has_its_truth_beside(step: Step, view: View) -> bool:
    """True counts of a grid on the plane have a figure of their own."""
    return isinstance(step, GridStep) and not draw_picture(step, look(view)).context.view.flat


def keeps_all_laws(step: Step, this: Exhibit, theme: str) -> None:
    """What is released alone, what an owner sees, and the words and the table behind the figure."""
    domain = this.table.domain
    view = make_view(domain)
    slanted = make_view(domain, projection_seed=0) if domain.dim > 2 else view
    allowed = {"revealed"} if isinstance(step, ReferenceStep) else {"public", "released"}
    released = draw(step, view=view, theme=theme)
    looked = draw(step, view=slanted, theme=theme, reveal=this.reveal, reference=this.reference, epsilon=1.0)
    for figure, plane, kinds in ((released, view, allowed), (looked, slanted, {"public", "released", "revealed"})):
        is_sound(figure)
        shows_kinds(figure, choose_palette(theme), kinds)
        if on_a_plane(step):
            keeps_its_ranges(figure, draw_picture(step, look(plane)).context.view)
    if on_a_plane(step):
        assert any(trace.meta == "revealed" for trace in looked.data) != has_its_truth_beside(step, slanted)
    chart = draw_picture(step, look(view))
    numbers, words = chart.table().select_dtypes("number"), chart.words
    assert len(numbers) > 0 and np.isfinite(numbers.to_numpy(np.float64)).all()
    assert len(words) > 20 and "nan" not in words and (words[0].isupper() or words[0].isdigit())


@pytest.mark.parametrize("fast", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["dealt", "others"])
@EACH_TABLE
def test_every_kind_of_step_keeps_all_laws(table: Show, fast: bool) -> None:
    for place, (kind, step) in enumerate(dealt(table, fast=fast).items()):
        with about(kind):
            keeps_all_laws(step, shown(*table), THEMES[(place + TABLES.index(table)) % len(THEMES)])


def test_centres_are_told_in_data_units() -> None:
    domain = shown(*FLAT).table.domain
    step = steps(*FLAT)["centers-last"]
    assert isinstance(step, CentersStep)
    table = draw_picture(step, look(make_view(domain))).table()
    np.testing.assert_allclose(table[["longitude", "latitude"]].to_numpy(), domain.from_unit(step.centers))


@pytest.mark.some(2)
@pytest.mark.parametrize("algorithm", ["dplloyd", "auto", "eugkm", "balcan", "pgkm", "kvariates", "lsh-coreset"])
def test_nothing_moves_while_a_run_unfolds(algorithm: str) -> None:
    this = shown(*FLAT)
    view = make_view(this.table.domain)
    frames = run(algorithm, this.table, k=this.k, epsilon=2.0, delta=1e-6, seed=1).frames
    drawn = [draw(f.step, view=view, epsilon=2.0) for f in frames if on_a_plane(f.step)]
    for figure in drawn:
        is_sound(figure)
        keeps_its_ranges(figure, view)
    same = {(f.layout.height, f.layout.margin.t, f.layout.margin.l, f.layout.margin.r) for f in drawn}
    assert len(same) == 1


def test_a_step_from_before_a_hot_reload_is_drawn_and_a_kind_without_a_chart_is_a_defect_that_says_so() -> None:
    old = steps(*FLAT)["centers-last"]
    names = [*(f.name for f in dataclasses.fields(old)), "public"]
    reborn = type("CentersStep", (), {name: getattr(old, name) for name in names})()
    assert draw(reborn, view=make_view(shown(*FLAT).table.domain)).data

    @dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
    class StrangeStep(Step):
        pass

    with pytest.raises(TypeError, match="no picture for a StrangeStep"):
        find_picture(StrangeStep(title="?"))
