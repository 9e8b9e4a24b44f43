"""CSV files that leave: no cell of text is a formula, every number is the number it was, and there is one writer."""

import csv
import io

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from dpviz.tables.file_format import format_cell, format_csv, format_frame
from tests.house_rules import PACKAGE

STARTS = "=+-@\t\r\n"
CELLS = st.one_of(
    st.text(max_size=6),
    st.builds(str.__add__, st.sampled_from([*STARTS]), st.text('1=x,"\n', max_size=4)),
    st.floats(allow_nan=False),
    st.integers(),
)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=4))
def test_text_is_no_formula_and_numbers_come_back(lines: list[list[object]]) -> None:
    read = list(csv.reader(io.StringIO(format_csv(lines), newline="")))
    frame = pd.DataFrame([map(str, line) for line in lines], columns=["=a", "b"])
    (head, *rows) = csv.reader(io.StringIO(format_frame(frame), newline=""))
    assert head == ["'=a", "b"]
    for given_line, one, other in zip(lines, read, rows, strict=True):
        for cell, found, in_frame in zip(given_line, one, other, strict=True):
            if not isinstance(cell, str):
                assert type(cell)(found) == cell
                continue
            assert found == in_frame == format_cell(cell) and found.removeprefix("'") == cell.removeprefix("'")
            if found.startswith(tuple(STARTS)):
                float(found)
    assert [format_cell(cell) for cell in ("-1.5", "+2e-3", "-1.5-1", "=2")] == ["-1.5", "+2e-3", "'-1.5-1", "'=2"]


def test_nothing_else_writes_csv_files() -> None:
    writers = ("csv.writer(", "DictWriter(", ".to_csv(")  # a release that was read writes its numbers by ours
    others = [one for one in PACKAGE if one.inside != "tables/file_format.py"]
    assert len(others) > 250
    of_ours = "release.to_csv("
    assert [one.name for one in others if any(w in one.text.replace(of_ours, "") for w in writers)] == []
