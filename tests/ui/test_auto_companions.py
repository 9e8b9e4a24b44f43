"""What can stand beside the steps of auto: every figure is sound, and nothing true is offered without rows."""

from __future__ import annotations

import pytest

from dpviz.algorithms.steps import Step
from dpviz.charts.theme import palette
from dpviz.charts.view import view_of
from dpviz.runs.run import run
from dpviz.ui.explore.auto_companions import companions, more_tables
from tests.charts.gallery import Exhibit, boxed_synopsis, exhibit, look_step, split_step
from tests.charts.laws import is_sound, shows_kinds

LIGHT = palette("light")


@pytest.fixture(scope="module")
def shown() -> Exhibit:
    return exhibit(6, 3, n=1500)


@pytest.fixture(scope="module")
def steps(shown: Exhibit) -> list[Step]:
    return [frame.step for frame in run("auto", shown.table, k=3, epsilon=5.0, seed=0).frames]


def offered(steps: list[Step], place: int, shown: Exhibit, *, truth: bool) -> list[str]:
    reveal = shown.reveal if truth else None
    found = companions(steps, place, view=view_of(shown.table.domain), palette=LIGHT, reveal=reveal)
    for companion in found.values():
        figure = companion.make()
        is_sound(figure)
        shows_kinds(figure, LIGHT, {"public", "released", "revealed"} if truth else {"public", "released"})
        assert len(companion.words) > 20
    return list(found)


@pytest.mark.parametrize("truth", [True, False])
def test_every_step_of_a_run(steps: list[Step], shown: Exhibit, truth: bool) -> None:
    beside = {
        type(step).__name__: offered(steps, place, shown, truth=truth)
        for place, step in enumerate(steps)
        if place < 5 or place == len(steps) - 1
    }
    assert beside["PlanStep"] == beside["StartsStep"] == []
    assert beside["LookStep"] == ["Axes"]
    assert beside["SynopsisStep"] == (["What is kept", "True counts"] if truth else ["What is kept"])
    assert beside["PolishStep"] == ["Rounds"]


def test_bought_axes_have_the_distances_beside_them(shown: Exhibit) -> None:
    assert offered([look_step(shown)], 0, shown, truth=True) == ["Axes", "Distances"]


def test_a_split_has_its_gains_and_a_box_its_closer_look(shown: Exhibit) -> None:
    assert offered([split_step(shown)], 0, shown, truth=True) == ["Gains and costs"]
    _, synopsis, domain = boxed_synopsis(2)
    found = companions([synopsis], 0, view=view_of(domain), palette=LIGHT, reveal=None)
    assert list(found) == ["What is kept", "In the box"]
    is_sound(found["In the box"].make())


def test_rounds_run_up_to_the_step_that_is_shown_over_the_range_of_all(steps: list[Step], shown: Exhibit) -> None:
    rounds = [place for place, step in enumerate(steps) if type(step).__name__ == "PolishStep"]
    assert len(rounds) > 1
    for number, place in enumerate(rounds, start=1):
        found = companions(steps, place, view=view_of(shown.table.domain), palette=LIGHT, reveal=None)
        figure = found["Rounds"].make()
        assert len(figure.data[0].x) == number and figure.layout.xaxis.range[1] == len(rounds) + 0.5


def test_companions_without_a_table_of_their_own_have_it_under_that_of_the_step(shown: Exhibit) -> None:
    domain = shown.table.domain
    assert list(more_tables(look_step(shown), domain=domain)) == ["the distances"]
    assert list(more_tables(look_step(shown, bought=False), domain=domain)) == ["the axes"]
    assert more_tables(split_step(shown), domain=domain) == {}
