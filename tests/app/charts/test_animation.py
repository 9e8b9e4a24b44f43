"""What an animation says of its own words: each is in the glossary, and says there what it says here."""

from __future__ import annotations

import pytest

from dpviz.app.charts.animation import Animation, TitleNumber
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.view import make_view
from dpviz.runs import Contender, Request, run, run_steps
from dpviz.words import choose_palette
from tests.cases import for_each
from tests.pages.tables import open_blobs

LIGHT = choose_palette("light")


@for_each("algorithm", ["balcan", "auto"])
def test_a_still_is_the_step_of_the_animation_with_everything_in_it(algorithm: str) -> None:
    table = open_blobs()
    done = run(algorithm, table.private, k=3, epsilon=1.0, seed=1)
    animation = Animation.of_run(done, RenderContext(make_view(table.domain), LIGHT))
    whole = animation.to_data()
    for place, step in enumerate(whole["steps"]):
        still = animation.draw_still(place)
        traces = [
            {name: whole["shared"][v["same"]] if isinstance(v, dict) and "same" in v else v for name, v in one.items()}
            for one in step["data"]
        ]
        assert still == {**{name: value for name, value in step.items() if name != "sides"}, "data": traces}


def test_a_number_says_what_its_words_mean() -> None:
    number = TitleNumber("released", "ε 1", "spent in 5 charges").to_data()
    assert (number["value"], number["of"], number["kind"]) == ("ε 1", "spent in 5 charges", "released")
    assert [line.split(":")[0] for line in number["about"].splitlines()] == ["ε", "charge"]


@pytest.mark.some(1)
@pytest.mark.parametrize("algorithm", ["eugkm", "auto", "balcan"])
def test_of_a_run_under_way_no_step_speaks_for_the_run(algorithm: str) -> None:
    table = open_blobs()
    *growing, done = run_steps(Request(Contender(algorithm), 3, 1.0, 1e-6, seed=1), table.private)
    context = RenderContext(make_view(table.domain), LIGHT, epsilon=1.0, ratio=lambda _: 1.5)
    whole = Animation.of_run(done, context).to_data()["steps"]
    for so_far in growing:
        steps = Animation.of_run(so_far, context).to_data()["steps"]
        assert [step["name"] for step in steps] == [step["name"] for step in whole][: len(steps)]
        assert [step["spent"] for step in steps] == [step["spent"] for step in whole][: len(steps)]
        assert "1.5" not in " ".join(step["title"] for step in steps)
    assert "1.5" in whole[-1]["title"]
