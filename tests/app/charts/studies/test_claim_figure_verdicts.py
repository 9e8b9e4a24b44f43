"""The picture of all findings: each on its side of the line, in its own colour, with its interval."""

import numpy as np
import pytest

from dpviz.app.charts.studies.claim_figure import INKS, count_answers, draw_verdicts, list_lanes
from dpviz.app.charts.studies.stored_verdicts import ClaimFinding, ClaimResult, ClaimVerdict, MarginInterval, Outcome
from dpviz.words.theme import choose_palette
from tests.words.test_theme import contrast

YES = ClaimFinding("a", True, "", 3.0, interval=MarginInterval(2.0, 4.0, 5))
NO = ClaimFinding("b", False, "", 0.0)
OPEN = ClaimFinding("c", True, "", 1.1, interval=MarginInterval(0.5, float("inf"), 5))


def result(claim_id, paper, *findings):
    return ClaimResult(claim_id, paper, "", "", (), "", (), (), (), ClaimVerdict(findings))


RESULTS = [result("su-epsilon", "Su et al. 2016, Fig. 1", YES, OPEN), result("naive", "Cohen", NO)]
PICTURE = draw_verdicts(RESULTS, "t", dark=False)


def test_marks_stand_on_their_side_with_their_answer():
    figure = PICTURE.paint(choose_palette("light")).figure()
    marks = {trace.name: trace for trace in figure.data if trace.meta == "margin"}
    assert set(marks) == {"yes (1)", "no (1)", "open (1)"}
    assert marks["yes (1)"].x[0] == pytest.approx(np.log10(3.0)) and marks["no (1)"].x[0] < -1
    assert list(marks["no (1)"].customdata) == ["naive"]
    assert {mark.marker.symbol for mark in marks.values()} == {"circle", "x", "circle-open"}, "not by colour alone"
    low, high = figure.layout.xaxis.range
    drawn = [x for trace in figure.data for x in trace.x if x is not None]
    assert low < min(drawn) and max(drawn) < high, "what is infinite or 0 stands at the rim"


def test_papers_stand_apart_and_no_two_findings_on_one_lane():
    heights = [lane.height for lane in list_lanes(RESULTS)]
    gaps = -np.diff(heights)
    assert gaps[0] == 1.0 and gaps[1] > 2.0


def test_words_and_counts():
    assert count_answers([ClaimVerdict((YES, NO)), ClaimVerdict((OPEN,))]) == "1 yes, 1 no, 1 open"
    assert "Su et al. 2016, Fig. 1: 1 yes, 1 open" in PICTURE.words


def test_answers_can_be_read_on_both_grounds():
    for dark, theme in enumerate(("light", "dark")):
        assert all(contrast(inks[dark], choose_palette(theme).surface) >= 4.5 for inks in INKS.values())
    assert set(INKS) == set(Outcome)
