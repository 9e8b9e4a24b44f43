"""Numbers with marks between their digits: read at once as one cell after the other is read."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.tables import file_format
from dpviz.tables.file_format import ColumnCells, NumberStyle, guess_styles, read_numbers, read_values
from tests.cases import about
from tests.examples import examples

STYLES = (NumberStyle(",", "."), NumberStyle(".", ","), NumberStyle(",", " "), NumberStyle(".", "'", "", "()"))
written = st.text(alphabet="0123456789.,+-' ()e\u00a0", max_size=10)


def read(cells: list[str], style: NumberStyle) -> np.ndarray:
    return read_numbers(pa.array([cell.encode() for cell in cells], pa.binary()), style, "utf-8")


@settings(max_examples=examples(200))
@given(st.lists(written, min_size=1, max_size=8), st.sampled_from(STYLES))
def test_groups_that_are_read_at_once_are_read_as_by_the_pattern(cells: list[str], style: NumberStyle) -> None:
    found = read(cells, style)
    for cell, value in zip(cells, found, strict=True):
        (alone,) = file_format._cast(
            file_format._strip_marks(pa.array([cell.encode()], pa.binary()), style, "utf-8"), file_format.PLAIN_STYLE
        )
        with about(cell, style):
            assert np.array_equal(value, alone if np.isfinite(alone) else np.nan, equal_nan=True)


def test_columns_that_are_written_alike_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of thousands of columns is looked at in a moment: what is read grows with its ways to write, not it."""
    written = (["1.5", "2", ""], ["1,5", "2"], ["1.234,5", "7"], ["5 %", "7 %", "1"], ["(5)", "6"], ["a", "1"], [])
    columns = {f"c{place}": written[place % len(written)] for place in range(700)}
    asked: list[int] = []

    def note(cells: pa.BinaryArray, style: NumberStyle, encoding: str) -> np.ndarray:
        asked.append(len(cells))
        return read_numbers(cells, style, encoding)

    monkeypatch.setattr(file_format, "read_numbers", note)
    found = guess_styles(columns, ";")
    assert len(asked) < 60 and max(asked) <= len({cell for cells in written for cell in cells})
    monkeypatch.undo()
    for name, values in ColumnCells(columns).read(found.by_column).items():
        np.testing.assert_array_equal(values, read_values(columns[name], found.by_column[name]))
    alone = guess_styles({f"c{place}": cells for place, cells in enumerate(written)}, ";").by_column
    assert all(found.by_column.get(f"c{place}") == alone.get(f"c{place % len(written)}") for place in range(700))


def test_what_groups_thousands_and_what_only_looks_so() -> None:
    right = {
        **{"1.234": 1234, "-1.234.567,25": -1234567.25, "12.345,": 12345, "999": 999, "+1.000": 1000},
        **{"1234.567": None, "1.23": None, "1.2345": None, ".123": None, "1..234": None, "1,234.567": None},
        **{"1.234,5,6": None, "1.234-": None, "--1.234": None, "": None, "1.234,567.890": None},
    }
    found = read(list(right), NumberStyle(",", "."))
    assert [None if np.isnan(value) else value for value in found.tolist()] == list(right.values())
