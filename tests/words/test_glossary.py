"""The glossary: short, exact, and the only place that says what a word means."""

import math
import re
from collections import Counter
from pathlib import Path

import pytest

from dpviz.core.check import choose_usual_delta
from dpviz.words import glossary
from dpviz.words.questions import CommonQuestion, read_questions
from tests.cases import for_each

ROOT = Path(__file__).resolve().parents[2]
TERMS = list(glossary.read_glossary().values())
# All that a formula may call.
_KNOWN = {"exp": math.exp, "log": math.log, "sqrt": math.sqrt, "usual_delta": choose_usual_delta, "__builtins__": {}}
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def test_there_are_at_most_forty_words_and_no_two_share_a_form():
    assert 30 <= len(TERMS) <= glossary.MOST_TERMS == 40
    twice = [form for form, times in Counter(f.casefold() for term in TERMS for f in term.forms).items() if times > 1]
    assert not twice


@for_each("term", TERMS)
def test_a_word_takes_two_plain_sentences(term: glossary.Term):
    said = glossary.split_sentences(term.says)
    assert len(said) == 2 and all(sentence[0].isupper() or sentence[0] == "k" for sentence in said)
    assert term.says.endswith(".") and len(term.says.split()) <= glossary.MOST_WORDS
    assert not re.search(r"[\[\]*_`$<>]", term.says + term.number), "read as Markdown, it would be formatted"


@for_each("term", [term for term in TERMS if term.number or term.worked_out])
def test_a_number_is_what_its_formula_gives(term: glossary.Term):
    value = eval(term.worked_out, _KNOWN)
    said = [float(found.replace(",", "")) for found in _NUMBER.findall(term.number)]
    assert float(f"{value:.3g}") in said, f"{term.number} ({value})"


def test_words_are_found_whole_in_any_form_and_the_longest_wins():
    found = {
        "the noise is Laplace noise": ["noise", "laplace"],
        "a partition tree of CUBES": ["tree", "cube"],
        "k-means++ with k = 3": ["kmeans", "cluster"],
        "noises, unclipped, subcubes": [],
        "it looks round": [],
    }
    assert {text: [term.id for term in glossary.find_terms(text)] for text in found} == found


# Questions about a release: eight, short, with numbers that are right and guidance as it was published.


@for_each("one", read_questions())
def test_an_answer_is_short_and_plain(one: CommonQuestion) -> None:
    assert one.asks.endswith("?") and one.says.endswith(".") and len(one.says.split()) <= 75
    assert not re.search(r"[\[\]*_`$<>]", one.asks + one.says + one.source), "read as Markdown, it would be formatted"


@for_each("one", [one for one in read_questions() if one.numbers])
def test_a_number_in_an_answer_is_what_its_formula_gives(one: CommonQuestion) -> None:
    for number, formula in one.numbers.items():
        worked_out = eval(formula, {"exp": math.exp, "__builtins__": {}})
        assert worked_out <= float(number) == pytest.approx(worked_out, rel=0.004), "no bound may be said too low"
        assert number in one.says
