"""The picture of all findings: each on its side of the line, in its own colour, with its interval."""

import numpy as np

from dpviz.app.charts.studies.claim_figure import INKS, count_answers, list_lanes
from dpviz.app.charts.studies.stored_verdicts import ClaimVerdict, Outcome
from dpviz.words.theme import choose_palette
from tests.app.charts.studies.special import NO, OPEN, VERDICTS, YES
from tests.words.test_theme import contrast


def test_papers_stand_apart_and_no_two_findings_on_one_lane():
    heights = [lane.height for lane in list_lanes(VERDICTS)]
    gaps = -np.diff(heights)
    assert gaps[0] == 1.0 and gaps[1] > 2.0


def test_words_and_counts():
    assert count_answers([ClaimVerdict((YES, NO)), ClaimVerdict((OPEN,))]) == "1 yes, 1 no, 1 open"


def test_answers_can_be_read_on_both_grounds():
    for dark, theme in enumerate(("light", "dark")):
        assert all(contrast(inks[dark], choose_palette(theme).surface) >= 4.5 for inks in INKS.values())
    assert set(INKS) == set(Outcome)
