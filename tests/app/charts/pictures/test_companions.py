"""What can stand beside a step: every figure is sound, and nothing true is offered without rows."""

from __future__ import annotations

import pytest

from dpviz.algorithms.steps import Step
from dpviz.app.charts.view import make_view
from dpviz.runs.one_run import run
from dpviz.words.theme import choose_palette
from tests.app.charts.gallery import Exhibit, beside, boxed_synopsis, exhibit, look_step, split_step, title_of
from tests.app.charts.laws import is_sound, shows_kinds

LIGHT = choose_palette("light")
TOLD = ["Details", "Tree of details"]


@pytest.fixture(scope="module")
def shown() -> Exhibit:
    return exhibit(6, 3, n=1500)


@pytest.fixture(scope="module")
def steps(shown: Exhibit) -> list[Step]:
    return [frame.step for frame in run("auto", shown.table, k=3, epsilon=5.0, seed=0).frames]


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


@pytest.mark.parametrize("truth", [True, False])
def test_every_step_of_a_run(steps: list[Step], shown: Exhibit, truth: bool) -> None:
    names = {
        type(step).__name__: offered(steps, place, shown, truth=truth)
        for place, step in enumerate(steps)
        if place < 5 or place == len(steps) - 1
    }
    assert names["PlanStep"] == [] and names["StartsStep"] == ["Losses"]
    assert names["ProjectionStep"] == ["Axes"]
    assert names["SynopsisStep"] == ["What is kept", "All counts", *(["True counts"] if truth else [])]
    assert names["PolishStep"] == ["Sizes", "Rounds"]


def test_bought_axes_have_the_distances_beside_them(shown: Exhibit) -> None:
    assert offered([look_step(shown)], 0, shown, truth=True) == ["Axes", "Distances"]


def test_a_split_has_its_gains_and_a_box_its_closer_look(shown: Exhibit) -> None:
    assert offered([split_step(shown)], 0, shown, truth=True) == ["Gains and costs", "Sizes"]
    _, synopsis, domain = boxed_synopsis(2)
    companions = beside([synopsis], view=make_view(domain))
    assert list(companions) == ["What is kept", *TOLD, "In the box", "All counts"]
    is_sound(companions["In the box"].draw().headed(LIGHT))


def test_k_means_keeps_its_place_beside_centres_while_it_is_computed(steps: list[Step], shown: Exhibit) -> None:
    view = make_view(shown.table.domain)
    for look in ({"reference": shown.reference}, {"reference_coming": True}):
        companions = beside(steps, len(steps) - 1, view=view, **look)
        paired = ["Distances"] if "reference" in look else []
        assert list(companions) == [*paired, "Sizes", "k-means++", "Rounds"]
        assert companions["k-means++"].kind == "revealed"
        figure = companions["k-means++"].draw().headed(LIGHT)
        is_sound(figure)
        assert ("being computed" in title_of(figure)) == ("reference" not in look)
        assert bool(figure.data) == ("reference" in look)


def test_rounds_run_up_to_the_step_that_is_shown_over_the_range_of_all(steps: list[Step], shown: Exhibit) -> None:
    rounds = [place for place, step in enumerate(steps) if type(step).__name__ == "PolishStep"]
    assert len(rounds) > 1
    for number, place in enumerate(rounds, start=1):
        figure = beside(steps, place, view=make_view(shown.table.domain))["Rounds"].draw().headed(LIGHT)
        assert len(figure.data[0].x) == number and figure.layout.xaxis.range[1] == len(rounds) + 0.5


def test_what_is_not_in_the_table_of_the_step_has_a_table_of_its_own(shown: Exhibit) -> None:
    domain = shown.table.domain

    def tabled(step: Step) -> set[str]:
        charts = beside([step], view=make_view(domain))
        return {name for name, chart in charts.items() if len(chart.table().columns)}

    assert tabled(look_step(shown)) == {"Axes", "Distances"}
    assert tabled(look_step(shown, bought=False)) == {"Axes"}
    assert tabled(split_step(shown)) == set()
