"""The smallest ε in the frontier: on the target, in the colour of its line; out of reach it is not drawn."""

from __future__ import annotations

from math import inf

import pytest

from dpviz.charts.studies.curves import Curves
from dpviz.charts.studies.smallest import Smallest
from dpviz.charts.theme import palette
from dpviz.runs.smallest_epsilon import SmallestEpsilon
from tests.charts.laws import is_sound
from tests.charts.test_studies import NAMES, study

LIGHT = palette("light")
REACHED = SmallestEpsilon(NAMES[0], 0.4, 0.3, inf, 0.1, 10.0, 21)
NEVER = SmallestEpsilon(NAMES[1], inf, inf, inf, 0.1, 10.0, 21)
CURVES = Curves(study(NAMES[:2], [0.1, 1.0, 10.0]))


@pytest.mark.parametrize("answers", [[REACHED, NEVER], [NEVER]])
def test_answers_stand_on_the_target(answers: list[SmallestEpsilon]) -> None:
    figure = Smallest(CURVES, answers, 1.1, 0.5).draw(LIGHT)
    is_sound(figure)
    (marked,) = [trace for trace in figure.data if trace.meta == "answer"]
    assert list(marked.x) == [answer.epsilon for answer in answers if answer.reached]
    assert set(marked.y) <= {1.1}
    assert any("target: 10 %" in note.text for note in figure.layout.annotations)


def test_the_answer_is_said_with_its_uncertainty() -> None:
    assert "ε = 0.4, likely between 0.3 and beyond 10" in Smallest(CURVES, [REACHED, NEVER], 1.1, 0.9).finding
    assert "9 of 10 runs" in Smallest(CURVES, [REACHED], 1.1, 0.9).finding
    assert Smallest(CURVES, [NEVER], 1.1, 0.5).finding.startswith("No algorithm")
    assert Smallest(CURVES, [], 1.1, 0.5).finding == "No run yet"
    table = Smallest(CURVES, [REACHED, NEVER], 1.1, 0.5).table()
    assert table["smallest ε"].isna().tolist() == [False, True]
    assert Smallest(CURVES, [], 1.1, 0.5).table().empty
