"""Who is whom follows from the cell alone."""

from datetime import date, datetime
from decimal import Decimal

import pandas as pd
import pytest

from dpviz.tables.loaded_table import list_texts
from dpviz.words import quote_name


@pytest.mark.parametrize("others", [[], ["anna"]])
def test_what_a_cell_is_called_depends_on_that_cell_only(others: list[str]) -> None:
    cells = pd.Series(["007", "7", " 7 ", "7.0", "0", *others], dtype="str")
    assert list_texts(cells).tolist() == ["007", "7", "7", "7", "0", *others]


def test_whole_numbers_that_one_float_holds_alone_and_days_of_the_whole_calendar_have_a_name():
    last, late = 2**53 - 1, datetime.fromisoformat("9999-12-31T23:00-09:00")
    cells = [last, float(last), Decimal(last), last + 1, float(last + 1), late, date(1, 1, 1)]
    assert list_texts(pd.Series(cells, dtype=object)).tolist() == [*[str(last)] * 3, *[None] * 3, "0001-01-01"]


def test_a_name_is_told_on_one_line_as_it_is_written():
    assert quote_name("Größe in m\n\x1b[0m") == '"Größe in m\\n\\x1b[0m"'
    assert quote_name("x" * 60) == f'"{"x" * 60}"' and quote_name("x" * 61) == f'"{"x" * 57}..."'
