"""The smallest ε in the frontier: on the target, in the colour of its line; out of reach it is not drawn."""

from __future__ import annotations

from math import inf

import pytest

from dpviz.charts.studies.target import answer_table, finding_of, mark_smallest
from dpviz.charts.studies.tradeoff import draw_tradeoff
from dpviz.charts.theme import palette
from dpviz.runs.smallest_epsilon import SmallestEpsilon
from tests.charts.laws import is_sound
from tests.charts.test_studies import NAMES, study

LIGHT = palette("light")
REACHED = SmallestEpsilon(NAMES[0], 0.4, 0.3, inf, 0.1, 10.0, 21)
NEVER = SmallestEpsilon(NAMES[1], inf, inf, inf, 0.1, 10.0, 21)


@pytest.mark.parametrize("answers", [[REACHED, NEVER], [NEVER]])
def test_answers_stand_on_the_target(answers: list[SmallestEpsilon]) -> None:
    figure = draw_tradeoff(study(NAMES[:2], [0.1, 1.0, 10.0]), palette=LIGHT)
    is_sound(mark_smallest(figure, answers, 1.1, names=NAMES[:2], palette=LIGHT))
    (marked,) = [trace for trace in figure.data if trace.meta == "answer"]
    assert list(marked.x) == [answer.epsilon for answer in answers if answer.reached]
    assert set(marked.y) <= {1.1}
    assert any("target: 10 %" in note.text for note in figure.layout.annotations)


def test_the_answer_is_said_with_its_uncertainty() -> None:
    assert "ε = 0.4, likely between 0.3 and beyond 10" in finding_of([REACHED, NEVER], 1.1, share=0.9)
    assert "9 of 10 runs" in finding_of([REACHED], 1.1, share=0.9)
    assert finding_of([NEVER], 1.1, share=0.5).startswith("No algorithm")
    assert finding_of([], 1.1, share=0.5) == "No run yet"
    table = answer_table([REACHED, NEVER])
    assert table["smallest ε"].isna().tolist() == [False, True]
    assert answer_table([]).empty
