"""Which ε to choose, in the picture: the target, answers on it in the colours of their lines, a title that is true."""

from __future__ import annotations

import re
from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest

from dpviz.algorithms.card import Setting
from dpviz.app.charts.canvas import Diagram
from dpviz.app.charts.studies.curves import Curves, Forecast, draw_smallest
from dpviz.runs.advice.advice import EPSILONS, foresee
from dpviz.runs.advice.recommendation import Recommendation
from dpviz.runs.advice.target import Target
from dpviz.runs.smallest_epsilon import SmallestEpsilon
from dpviz.words.theme import choose_palette
from tests.app.charts.laws import is_sound
from tests.app.charts.studies.test_studies import NAMES, study

LIGHT = choose_palette("light")
REACHED = SmallestEpsilon(NAMES[0], 0.4, 0.3, inf, 0.1, 10.0, 21, 1.05)
NEVER = SmallestEpsilon(NAMES[1], inf, inf, inf, 0.1, 10.0, 21, nan)
CURVES = Curves(study(NAMES[:2], [0.1, 1.0, 10.0]))
USUAL = Target()


def smallest(answers: list[SmallestEpsilon], target: Target = USUAL) -> Diagram:
    return draw_smallest(CURVES, answers, Recommendation.of(target, None, answers))


def test_answers_stand_on_the_target() -> None:
    for answers in ([REACHED, NEVER], [NEVER]):
        figure = smallest(answers).draw(LIGHT).headed(LIGHT)
        is_sound(figure)
        (marked,) = [trace for trace in figure.data if trace.meta == "answer"]
        assert list(marked.x) == [answer.epsilon for answer in answers if answer.reached]
        assert set(marked.y) <= {1.1}
        assert any("target: 1.1×" in note.text for note in figure.layout.annotations)


def test_the_answer_is_said_and_its_uncertainty_stands_in_the_table() -> None:
    found = smallest([REACHED, NEVER], Target(1.1, 0.9))
    assert "ε = 0.4" in found.finding and "9 of 10 runs" in found.finding
    assert "ε = 0.4, likely between 0.3 and beyond 10" in list(found.table()["in words"])
    assert smallest([NEVER]).finding.startswith("No ε up to 10")
    assert found.table()["smallest ε"].isna().tolist() == [False, True]
    forbidden = draw_smallest(CURVES, [REACHED], replace(Recommendation.of(USUAL, None, [REACHED]), allowed=0.3))
    assert forbidden.finding == "No ε keeps both: 0.4 needed, 0.3 allowed"
    assert (
        forbidden.draw(LIGHT).headed(LIGHT).layout.title.text.startswith("No ε keeps both")
        and "No ε" in forbidden.words
    )
    assert smallest([]).table().empty


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_its_title_is_what_the_runs_say(share: float) -> None:
    """Recomputed from the runs: enough of them keep to the target at every ε from there on, and not just below."""
    target, runs = Target(1.1, share), study(NAMES[:2], [0.1, 0.3, 0.7, 1.0, 3.0, 10.0], 20)
    picture = draw_smallest(
        Curves(runs), answers := SmallestEpsilon.find_all(runs, target), Recommendation.of(target, None, answers)
    )
    said = re.match(
        r"Choose ε = (.+) or more with (.+): about (.+)× the loss of k-means\+\+, at most 1.1×", picture.finding
    )
    assert said is not None
    epsilon, who, typical = float(said[1]), said[2], float(said[3])
    own = runs[runs["contender"] == who]
    kept = (own["ratio"] <= 1.1).groupby(own["epsilon"]).mean()
    assert (kept[kept.index >= epsilon] >= share).all() and kept[kept.index < epsilon].iloc[-1] < share
    assert typical == pytest.approx(own["ratio"][own["epsilon"] == epsilon].median(), rel=5e-3)
    figure = picture.draw(LIGHT).headed(LIGHT)
    (upper,) = [trace for trace in figure.data if trace.meta == "upper"]
    bands = [line.name for band, line in zip(figure.data, figure.data[1:], strict=False) if band.meta == "band"]
    assert bands == [who] and not any(trace.meta == "hull" for trace in figure.data)
    np.testing.assert_array_equal(np.asarray(upper.y) <= 1.1, kept.to_numpy() >= share)


def test_the_title_of_a_forecast_is_what_the_stored_study_says() -> None:
    prospects = foresee(Setting(2, 15, 1.0, 1e-6, n=5_000))
    advice = prospects.advise(USUAL)
    curves = Forecast(prospects.tabulate(("auto", "eugkm", "sulq"), EPSILONS), places=EPSILONS)
    picture = draw_smallest(curves, curves.list_answers(prospects, USUAL), Recommendation.of(USUAL, advice))
    is_sound(picture.draw(LIGHT).headed(LIGHT))
    said = re.match(r"Choose ε = (.+) or more with Auto: about (.+?)× .* 8 of 10 made-up tables", picture.finding)
    assert said is not None
    epsilon, typical = float(said[1]), float(said[2])
    own = curves.runs[curves.runs["contender"] == "Auto"]
    kept = own["weight"].where(own["ratio"] <= 1.1, 0.0).groupby(own["epsilon"]).sum()
    assert (kept[kept.index >= epsilon] >= 0.8 - 1e-9).all() and kept[kept.index < epsilon].iloc[-1] < 0.8
    assert typical == pytest.approx(curves.lines["Auto"].set_index("at")["median"][epsilon], rel=5e-3)
    assert curves.basis == "18 made-up tables"
