import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.charts import canvas, centers, contenders, wording
from dpviz.charts.wording import lines, number


@pytest.mark.parametrize("module", [wording, canvas, contenders, centers])
def test_examples_in_the_docstrings(module: object) -> None:
    tried = doctest.testmod(module)  # type: ignore[arg-type]
    assert tried.attempted > 0 and tried.failed == 0


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=1e-12, max_value=1e15))
def test_a_number_keeps_three_digits(value: float) -> None:
    shown = number(value)
    assert float(shown.replace(",", "").replace("−", "-")) == pytest.approx(value, rel=0.006)
    assert number(-value) == "−" + shown


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=12), min_size=1, max_size=30), st.integers(200, 1200))
def test_lines_lose_no_word(words: list[str], width: int) -> None:
    broken = list(lines(" ".join(words), size=14, width=width))
    assert " ".join(broken).split() == words
    assert all(len(line) * 0.53 * 14 <= width for line in broken)
