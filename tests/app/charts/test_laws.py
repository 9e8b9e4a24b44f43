"""Every kind of step, on every kind of table, in both themes, with and without a look at the rows; its companions, too.

Every figure is sound, nothing true is offered without rows, and nothing moves while a run unfolds.
"""

from functools import cache

import numpy as np
import pytest

from dpviz.algorithms import GridStep, ReferenceStep, Step
from dpviz.app.charts.registry import draw_picture
from dpviz.app.charts.view import View, make_view
from dpviz.runs import run
from dpviz.words import choose_palette
from tests.app.charts import gallery
from tests.app.charts.gallery import Exhibit, beside, boxed_synopsis, draw, exhibit, look, look_step, split_step
from tests.app.charts.laws import is_sound, keeps_its_ranges, shows_kinds
from tests.cases import about, for_each

Show = tuple[int, int, str]
TABLES: list[Show] = [(1, 3, "unit"), (2, 15, "common"), (6, 5, "unit")]
FLAT = TABLES[1]
CELLS = {1: 200, 2: 40, 6: 5}
THEMES, LIGHT = ("light", "dark"), choose_palette("light")
_NO_PLANE = {"StartsStep", "MedianLawStep", "HashTreeStep", "MessageStep", "ServerTreeStep", "CoordinatesStep"}
_NO_PLANE |= {"PlanStep", "ProjectionStep"}


@cache
def shown(dim: int, k: int, scaling: str) -> Exhibit:
    return exhibit(dim, k, n=1500, scaling=scaling)


@cache
def steps(dim: int, k: int, scaling: str) -> dict[str, Step]:
    return dict(gallery.steps_of(shown(dim, k, scaling), cells=CELLS[dim]))


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
@pytest.mark.parametrize("table", TABLES, ids=[f"{dim}d-{scaling}" for dim, _, scaling in TABLES])
def test_every_kind_of_step_keeps_all_laws(table: Show, fast: bool) -> None:
    """Every kind is fast in one of these tables, dealt in turn, and slow in the others."""
    turn = TABLES.index(table)
    for place, (kind, step) in enumerate(steps(*table).items()):
        if (place % len(TABLES) == turn) == fast:
            with about(kind):
                keeps_all_laws(step, shown(*table), THEMES[(place + turn) % len(THEMES)])


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
    assert len({(f.layout.height, f.layout.margin.t, f.layout.margin.l, f.layout.margin.r) for f in drawn}) == 1


@pytest.fixture(scope="module")
def wide() -> Exhibit:
    return exhibit(6, 3, n=1500)


@pytest.fixture(scope="module")
def unfolding(wide: Exhibit) -> list[Step]:
    return [frame.step for frame in run("auto", wide.table, k=3, epsilon=5.0, seed=0).frames]


def offered(steps: list[Step], place: int, shown: Exhibit, *, truth: bool) -> list[str]:
    view, reveal = make_view(shown.table.domain), shown.reveal if truth else None
    companions = beside(steps, place, view=view, reveal=reveal)
    for chart in companions.values():
        figure, kind = chart.draw().headed(LIGHT), chart.kind
        is_sound(figure)
        shows_kinds(figure, LIGHT, {"public", "released", "revealed"} if truth else {"public", "released"})
        assert len(chart.words) > 20
        assert truth or kind != "revealed"
        assert {trace.meta for trace in figure.data} - {None, "revealed"} <= {kind, "public"}
    return list(companions)


@for_each("truth", [True, False])
def test_every_step_of_a_run_has_beside_it_what_was_released_and_what_is_true_only_with_rows(
    unfolding: list[Step], wide: Exhibit, truth: bool
) -> None:
    places = [*range(5), len(unfolding) - 1]
    names = {type(unfolding[place]).__name__: offered(unfolding, place, wide, truth=truth) for place in places}
    assert names["PlanStep"] == [] and names["StartsStep"] == ["Losses"] and names["ProjectionStep"] == ["Axes"]
    assert names["SynopsisStep"] == ["What is kept", "All counts", *(["True counts"] if truth else [])]
    assert names["PolishStep"] == ["Sizes", "Rounds"]
    assert offered([look_step(wide)], 0, wide, truth=truth) == ["Axes", "Distances"], "where axes are bought"
    assert offered([split_step(wide)], 0, wide, truth=truth) == ["Gains and costs", "Sizes"]
    _, synopsis, domain = boxed_synopsis(2)
    told = ["What is kept", "Details", "Tree of details", "In the box", "All counts"]
    assert list(beside([synopsis], view=make_view(domain))) == told
