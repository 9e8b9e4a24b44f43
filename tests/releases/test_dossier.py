"""The dossier: every question has an answer or is named as open, and no answer says more than was released."""

from __future__ import annotations

import re

import pytest

from dpviz.releases.playing import Played
from dpviz.releases.release_texts import Who, make_dossier, make_dossier_page
from dpviz.tables.declarations import OWNER_QUESTIONS
from tests.cases import about
from tests.releases.made_played import people, played

_ANSWERED = dict.fromkeys(OWNER_QUESTIONS, "So says the owner <b>.")
# Questions that no release answers.
_OPEN = (
    *("How much does clipping distort?", "Is timing covered?", "Was the program tested and audited?", "Inference"),
    *("Would a motivated intruder succeed?", "What remains for the controller?"),
)


def _answers(made: Played):
    return {one.question: one for one in make_dossier(made)}


def test_what_the_owner_does_not_say_is_named_and_what_the_owner_says_is_verbatim() -> None:
    silent, spoken = _answers(played()), _answers(played(said=_ANSWERED))
    for question in OWNER_QUESTIONS.values():
        with about(question):
            assert (silent[question].who, silent[question].said) == (Who.NOBODY, "The owner has not said.")
            assert (spoken[question].who, spoken[question].said) == (Who.OWNER, "So says the owner <b>.")
    left = {name for name, one in spoken.items() if one.who is Who.NOBODY}
    assert left == set(_OPEN)
    assert {name for name, one in silent.items() if one.who is Who.NOBODY} == {*_OPEN, *OWNER_QUESTIONS.values()}


@pytest.mark.parametrize("make", [played, people, lambda: played(said=_ANSWERED)], ids=["small", "whole", "said"])
def test_the_page_holds_every_answer_and_draws_no_legal_conclusion(make) -> None:
    made = make()
    page = make_dossier_page(made)
    text = re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", page.split("</style>")[1]))
    assert "<b>." not in page and "<script" not in page
    answers = make_dossier(made)
    assert f"{len(answers)} questions" in text and f"{sum(one.who is Who.NOBODY for one in answers)} of them" in text
    assert "anonym" not in text.lower() and "nan" not in text and "None " not in text.replace("None in this", "")
    assert len({one.question for one in answers}) == len(answers) == page.count("<dt>")
