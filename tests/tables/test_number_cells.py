"""Numbers with marks between their digits: read at once as one cell after the other is read."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from dpviz.tables import file_format
from dpviz.tables.file_format import ColumnCells, NumberStyle, guess_styles, read_numbers, read_values

written = st.text(alphabet="0123456789.,+-' ()e\u00a0", max_size=10)


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
