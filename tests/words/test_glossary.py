"""The glossary: short, exact, and the only place that says what a word means."""

from __future__ import annotations

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


def test_each_sentence_stands_in_the_glossary_and_nowhere_else():
    files = [path for kind in ("py", "js", "toml") for path in (ROOT / "dpviz").rglob(f"*.{kind}")]
    files += (ROOT / "pages").glob("*.py")
    # Strings of two lines in code are one text.
    code = {path: re.sub(r'"\s*\n\s*f?"', "", path.read_text(encoding="utf-8")) for path in files}
    again = [
        f"{path.relative_to(ROOT)}: {sentence}"
        for path, text in code.items()
        for term in TERMS
        for sentence in glossary.split_sentences(term.says)
        if sentence.rstrip(".") in text and path.name != "glossary.py"
    ]
    assert not again, "say it with explained()"


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


GUIDANCE = "NIST SP 800-226 (March 2025"


@for_each("one", read_questions())
def test_an_answer_is_short_and_plain(one: CommonQuestion) -> None:
    assert one.asks.endswith("?") and one.says.endswith(".") and len(one.says.split()) <= 75
    assert not re.search(r"[\[\]*_`$<>]", one.asks + one.says + one.source), "read as Markdown, it would be formatted"


@for_each("one", [one for one in read_questions() if one.numbers])
def test_a_number_in_an_answer_is_what_its_formula_gives(one: CommonQuestion) -> None:
    for number, formula in one.numbers.items():
        assert float(number) == pytest.approx(eval(formula, {"exp": math.exp, "__builtins__": {}}), rel=0.004)
        assert number in one.says


def test_guidance_is_cited_as_final_wherever_it_is() -> None:
    endings = {".py", ".md", ".yaml", ".j2"}
    texts = {path: path.read_text("utf-8") for path in (ROOT / "dpviz").rglob("*") if path.suffix in endings}
    texts |= {path: path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md")}
    citing = {path: text for path, text in texts.items() if "800-226" in text}
    assert len(citing) >= 3
    assert all(text.count("800-226") == text.count(GUIDANCE) for text in citing.values()), sorted(citing)
