import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.app.charts import canvas, picture
from dpviz.app.charts.pictures import centers, coordinates, hashes
from dpviz.app.charts.studies import contenders
from dpviz.words import theme, wording
from dpviz.words.wording import format_number, wrap_lines


def test_examples_in_the_docstrings() -> None:
    for module in (wording, canvas, picture, theme, contenders, centers, coordinates, hashes):
        tried = doctest.testmod(module)
        assert tried.attempted > 0 and tried.failed == 0, module.__name__


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=1e-12, max_value=1e15))
def test_a_number_keeps_three_digits(value: float) -> None:
    shown = format_number(value)
    assert float(shown.replace(",", "").replace("−", "-")) == pytest.approx(value, rel=0.006)
    assert format_number(-value) == "−" + shown


@given(st.lists(st.text("abc", min_size=1, max_size=12), min_size=1, max_size=30), st.integers(200, 1200))
def test_lines_lose_no_word(words: list[str], width: int) -> None:
    text = " ".join(words)
    broken, even = (wrap_lines(text, size=14, width=width, even=even) for even in (False, True))
    assert " ".join(broken).split() == " ".join(even).split() == words
    assert all(len(line) * 0.53 * 14 <= width for line in (*broken, *even))
    assert len(even) == len(broken) and max(map(len, even)) <= max(map(len, broken))


def test_a_number_stays_with_its_name_and_its_sign_and_k_with_its_means() -> None:
    for width in range(90, 300, 7):
        broken = wrap_lines("the noise of Δ = 1,400 is 65.7 % of the width by k-means++", size=10, width=width)
        assert any("Δ = 1,400" in line for line in broken) and any("65.7 %" in line for line in broken), width
        assert not any(line.endswith("k-") for line in broken), width
