"""Questions about a release: eight, short, with numbers that are right and guidance as it was published."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from dpviz.words.questions import CommonQuestion, read_questions
from tests.cases import for_each

ROOT = Path(__file__).resolve().parents[2]
GUIDANCE = "NIST SP 800-226 (March 2025"


def test_there_are_eight_and_no_two_are_the_same() -> None:
    assert len({one.asks for one in read_questions()}) == len({one.id for one in read_questions()}) == 8


@for_each("one", read_questions())
def test_an_answer_is_short_and_plain(one: CommonQuestion) -> None:
    assert one.asks.endswith("?") and one.says.endswith(".") and len(one.says.split()) <= 75
    assert not re.search(r"[\[\]*_`$<>]", one.asks + one.says + one.source), "read as Markdown, it would be formatted"


@for_each("one", [one for one in read_questions() if one.numbers])
def test_a_number_is_what_its_formula_gives(one: CommonQuestion) -> None:
    for number, formula in one.numbers.items():
        assert float(number) == pytest.approx(eval(formula, {"exp": math.exp, "__builtins__": {}}), rel=0.004)
        assert number in one.says


def test_a_factor_that_is_told_has_a_formula() -> None:
    told = {number for one in read_questions() for number in re.findall(r"\d+\.\d+|\d{3}(?=[ .,])", one.says)}
    assert told - {"100"} == {number for one in read_questions() for number in one.numbers}


def test_guidance_is_cited_as_final_wherever_it_is() -> None:
    endings = {".py", ".md", ".yaml", ".j2"}
    texts = {path: path.read_text("utf-8") for path in (ROOT / "dpviz").rglob("*") if path.suffix in endings}
    texts |= {path: path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md")}
    citing = {path: text for path, text in texts.items() if "800-226" in text}
    assert len(citing) >= 3
    assert all(text.count("800-226") == text.count(GUIDANCE) for text in citing.values()), sorted(citing)
