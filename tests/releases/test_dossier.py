"""The dossier: every question has an answer or is named as open, and no answer says more than was released."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from dpviz.core.ledger import Entry
from dpviz.core.loss_distributions import LossKind
from dpviz.releases.dossier import Who, make_dossier, make_dossier_page
from dpviz.releases.playing import Played
from dpviz.releases.segments_report import TOO_SMALL
from dpviz.tables.owner_words import NOT_STATED, OWNER_QUESTIONS
from tests.cases import about
from tests.releases.made_played import numbers, people, played, reported, segment, shares

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


def test_words_that_stand_for_nothing_are_no_answer() -> None:
    made = _answers(played(said={"intended_use": NOT_STATED, "justification": NOT_STATED, "chosen_after_looking": " "}))
    for question in ("What is it meant for?", "Why these bounds, this ε and this k?", "What was chosen because of it?"):
        assert made[question].who is Who.NOBODY and NOT_STATED not in made[question].said


def test_answers_follow_from_what_was_released() -> None:
    whole = played(profile={"center_sd": 1.1 + 0 * played().profile.centers})
    made = _answers(whole)
    strength = made["How strong is the guarantee, and at another δ?"].said
    assert re.search(r"ε = [\d.]+ at δ = 10⁻⁵, ε = [\d.]+ at δ = 10⁻⁶, ε = [\d.]+ at δ = 10⁻⁸; ρ = [\d.]+", strength)
    assert (
        "Three units together: odds within 20.1×, and δ = 1.12 × 10⁻⁵ beyond them." in made["What of households?"].said
    )
    assert made["Can it fail altogether?"].said.startswith("No: every draw")
    assert "age 1.9 years, income 1.9 k$" in made["How large is the error of each number?"].said
    untold = _answers(played(profile={"center_sd": float("nan") * whole.profile.centers, "sizes": None}))
    assert "cannot tell the noise" in untold["How large is the error of each number?"].said


def test_what_may_fail_altogether_is_said_to() -> None:
    whole = played()
    entry: Entry = whole.run.entries[0]
    vars(failing := replace(entry))["loss"] = LossKind.APPROXIMATE
    made = _answers(played(run={"entries": (failing,)}))
    assert "fail with a chance of at most 10⁻⁶" in made["Can it fail altogether?"].said
    assert "composed together" not in made["How strong is the guarantee, and at another δ?"].said


def test_segments_that_noise_drowns_are_listed_with_the_size_that_it_takes() -> None:
    told = reported(segment(1, numbers("age", 20, 30, 40)), segment(2, numbers("age"), name=TOO_SMALL))
    made = _answers(played(report=told))
    assert made["What of small groups?"].said.startswith(
        "Segments of fewer than about 5 rows are not described. Here these are segment 2."
    )
    assert "Nothing was released about the segments" in _answers(played())["What of small groups?"].said
    assert "How many intervals miss?" not in _answers(played())
    wide = reported(*(segment(i, numbers("age", 20, 30, 40), shares("town", N=0.5, S=0.5)) for i in range(1, 8)))
    assert "Of 42 intervals" in _answers(played(report=wide))["How many intervals miss?"].said
    assert "expect about four to miss" in _answers(played(report=wide))["How many intervals miss?"].said


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
