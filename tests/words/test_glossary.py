"""The glossary: short, exact, and the only place that says what a word means."""

from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

import dpviz.words.glossary as module
from dpviz.core.check import choose_usual_delta
from dpviz.words.glossary import (
    MOST_TERMS,
    MOST_WORDS,
    Term,
    explain_term,
    explain_words,
    find_term,
    find_terms,
    read_glossary,
    split_sentences,
)
from tests.cases import for_each

ROOT = Path(__file__).resolve().parents[2]
TERMS = list(read_glossary().values())
# All that a formula may call.
_KNOWN = {"exp": math.exp, "log": math.log, "sqrt": math.sqrt, "usual_delta": choose_usual_delta, "__builtins__": {}}
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def test_there_are_at_most_forty_words_and_no_two_share_a_form():
    assert 30 <= len(TERMS) <= MOST_TERMS == 40
    twice = [form for form, times in Counter(f.casefold() for term in TERMS for f in term.forms).items() if times > 1]
    assert not twice


@for_each("term", TERMS)
def test_a_word_takes_two_plain_sentences(term: Term):
    said = split_sentences(term.says)
    assert len(said) == 2 and all(sentence[0].isupper() or sentence[0] == "k" for sentence in said)
    assert term.says.endswith(".") and len(term.says.split()) <= MOST_WORDS
    assert not re.search(r"[\[\]*_`$<>]", term.says + term.number), "read as Markdown, it would be formatted"


@for_each("term", [term for term in TERMS if term.number])
def test_a_number_is_what_its_formula_gives(term: Term):
    value = eval(term.worked_out, _KNOWN)
    said = [float(found.replace(",", "")) for found in _NUMBER.findall(term.number)]
    assert float(f"{value:.3g}") in said, f"{term.number} ({value})"


def test_only_a_number_has_a_formula():
    assert all(bool(term.number) == bool(term.worked_out) for term in TERMS)


def test_each_sentence_stands_in_the_glossary_and_nowhere_else():
    files = [path for kind in ("py", "js", "toml") for path in (ROOT / "dpviz").rglob(f"*.{kind}")]
    files += (ROOT / "pages").glob("*.py")
    # Strings of two lines in code are one text.
    code = {path: re.sub(r'"\s*\n\s*f?"', "", path.read_text(encoding="utf-8")) for path in files}
    again = [
        f"{path.relative_to(ROOT)}: {sentence}"
        for path, text in code.items()
        for term in TERMS
        for sentence in split_sentences(term.says)
        if sentence.rstrip(".") in text and path.name != "glossary.py"
    ]
    assert not again, "say it with explained()"


def test_it_is_read_as_it_stands_in_the_file():
    said = yaml.safe_load((ROOT / "dpviz" / "words" / "glossary.yaml").read_text(encoding="utf-8"))
    assert [key for terms in said.values() for key in terms] == list(read_glossary())
    assert explain_term("epsilon") == said["The promise"]["epsilon"]["says"]
    assert explain_term("epsilon", "Here it is 1.").endswith("weak. Here it is 1.")


def test_an_unknown_part_or_word_is_refused():
    with pytest.raises(ValueError, match="meaning: colour"):
        module._read_term("x", "g", {"term": "x", "says": "A. B.", "colour": "red"})
    with pytest.raises(KeyError):
        explain_term("nonsense")


def test_words_are_found_whole_in_any_form_and_the_longest_wins():
    found = {
        "the noise is Laplace noise": ["noise", "laplace"],
        "a partition tree of CUBES": ["tree", "cube"],
        "k-means++ with k = 3": ["kmeans", "cluster"],
        "noises, unclipped, subcubes": [],
        "it looks round": [],
    }
    assert {text: [term.id for term in find_terms(text)] for text in found} == found


def test_a_label_is_a_word_alone_or_before_a_comma():
    named = {"Looks": "look", "Draw": "draw", "δ, slack": "delta", "ε of a run": None, "": None}
    assert {label: getattr(find_term(label), "id", None) for label in named} == named


def test_words_of_a_text_are_its_first_sentences_each_once():
    said = explain_words("noise and a grid cell, noise") or ""
    assert said.split("\n\n") == [
        f"**{read_glossary()[key].name}**: {read_glossary()[key].first}" for key in ("noise", "grid")
    ]
    assert explain_words("noise, k-means++, loss", most=1) == f"**noise**: {read_glossary()['noise'].first}"
    assert explain_words("Nothing here.") is None
