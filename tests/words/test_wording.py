import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.app.charts import canvas, picture
from dpviz.app.charts.pictures import centers, columns, prefixes
from dpviz.app.charts.studies import curves
from dpviz.words import theme, wording
from dpviz.words.wording import format_number


def test_examples_in_the_docstrings() -> None:
    for module in (wording, canvas, picture, theme, curves, centers, columns, prefixes):
        tried = doctest.testmod(module)
        assert tried.attempted > 0 and tried.failed == 0, module.__name__


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=1e-12, max_value=1e15))
def test_a_number_keeps_three_digits(value: float) -> None:
    shown = format_number(value)
    assert float(shown.replace(",", "").replace("−", "-")) == pytest.approx(value, rel=0.006)
    assert format_number(-value) == "−" + shown
