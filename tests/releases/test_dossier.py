"""The dossier: every question has an answer or is named as open, and no answer says more than the facts do."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from dpviz.releases.card_facts import NOT_STATED, OWNER_QUESTIONS, CardWords, find_words
from dpviz.releases.dossier import Who, make_dossier, make_dossier_page
from dpviz.releases.segments_report import TOO_SMALL
from dpviz.tables.declarations import RELEASE_WORDS, Declaration, apply_declaration, to_json
from tests.cases import about
from tests.releases.made_facts import facts, people_facts, words

_ANSWERED = dict.fromkeys(OWNER_QUESTIONS, "So says the owner <b>.")
# Questions that no release answers.
_OPEN = (
    *("How much does clipping distort?", "Is timing covered?", "Was the program tested and audited?", "Inference"),
    *("Would a motivated intruder succeed?", "What remains for the controller?"),
)


def _answers(made):
    return {one.question: one for one in make_dossier(made)}


def test_what_the_owner_does_not_say_is_named_and_what_the_owner_says_is_verbatim() -> None:
    silent, spoken = _answers(facts()), _answers(facts(words=words(**_ANSWERED)))
    for question in OWNER_QUESTIONS.values():
        with about(question):
            assert (silent[question].who, silent[question].said) == (Who.NOBODY, "The owner has not said.")
            assert (spoken[question].who, spoken[question].said) == (Who.OWNER, "So says the owner <b>.")
    left = {name for name, one in spoken.items() if one.who is Who.NOBODY}
    assert left == set(_OPEN)
    assert {name for name, one in silent.items() if one.who is Who.NOBODY} == {*_OPEN, *OWNER_QUESTIONS.values()}


def test_words_that_stand_for_nothing_are_no_answer() -> None:
    made = _answers(facts(words=words(intended_use=NOT_STATED, justification=NOT_STATED, chosen_after_looking=" ")))
    for question in ("What is it meant for?", "Why these bounds, this ε and this k?", "What was chosen because of it?"):
        assert made[question].who is Who.NOBODY and NOT_STATED not in made[question].said


def test_answers_follow_from_the_facts() -> None:
    made = _answers(facts(recomposed=((1e-5, 0.7828), (1e-6, 0.8711), (1e-8, 1.0221)), rho=0.03741))
    strength = made["How strong is the guarantee, and at another δ?"].said
    assert "ε = 0.783 at δ = 10⁻⁵, ε = 0.872 at δ = 10⁻⁶, ε = 1.03 at δ = 10⁻⁸; ρ = 0.0375" in strength
    assert (
        "Three units together: odds within 20.1×, and δ = 1.12 × 10⁻⁵ beyond them." in made["What of households?"].said
    )
    assert made["Can it fail altogether?"].said.startswith("No: every draw")
    failing = replace(facts(), entries=({**facts().entries[0], "loss": "approximate"},))
    assert "fail with a chance of at most 10⁻⁶" in _answers(failing)["Can it fail altogether?"].said
    assert "age 1.1 years, income 1,100 k$" in made["How large is the error of each number?"].said
    untold = _answers(facts(center_sd=None, center_step=None, sizes=None, size_sd=None))
    assert "cannot tell the noise" in untold["How large is the error of each number?"].said


def test_segments_that_noise_drowns_are_listed_with_the_size_that_it_takes() -> None:
    told = [{"number": 1, "name": "", "columns": []}, {"number": 2, "name": TOO_SMALL, "columns": []}]
    made = _answers(facts(segments={"least_size": 1077.2, "segments": told}))
    assert made["What of small groups?"].said == (
        "Segments of fewer than about 1,077 rows are not described. Here these are segment 2."
    )
    assert "Nothing was released about the segments" in _answers(facts())["What of small groups?"].said


@pytest.mark.parametrize(
    "made", [facts(), people_facts(), facts(words=words(**_ANSWERED))], ids=["small", "whole", "said"]
)
def test_the_page_holds_every_answer_and_draws_no_legal_conclusion(made) -> None:
    page = make_dossier_page(made)
    text = re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", page.split("</style>")[1]))
    assert "<b>." not in page and "<script" not in page
    answers = make_dossier(made)
    assert f"{len(answers)} questions" in text and f"{sum(one.who is Who.NOBODY for one in answers)} of them" in text
    assert "anonym" not in text.lower() and "nan" not in text and "None " not in text.replace("None in this", "")
    assert len({one.question for one in answers}) == len(answers) == page.count("<dt>")


def test_every_word_of_a_card_can_be_declared_and_comes_back() -> None:
    assert set(RELEASE_WORDS) == set(CardWords.__dataclass_fields__) and set(OWNER_QUESTIONS) <= set(RELEASE_WORDS)
    said = apply_declaration(to_json(replace(Declaration(columns=("a",), lower=(0.0,), upper=(1.0,)), words=_ANSWERED)))
    assert {name: getattr(find_words(said, today="2026-07-20"), name) for name in _ANSWERED} == _ANSWERED
