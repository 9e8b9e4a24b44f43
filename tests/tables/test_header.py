"""The first line: names and a delimiter, or a refusal; whatever stands below it changes nothing."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.tables.csv_intake import CsvFile, clean_names, read_header, reads_like_a_row
from dpviz.tables.file_format import FileFormat
from dpviz.tables.loaded_table import IntakeError
from tests.cases import about
from tests.tables.told import compare_cases

PLAIN = FileFormat()


def tell(case: str) -> str:
    """The delimiter and the names of a first line, whatever stands below it; or why it has none."""
    raw = ast.literal_eval(case)
    try:
        header = CsvFile("t", raw).header(PLAIN)
    except IntakeError as refused:
        return str(refused)
    for body in (b"\n1,2,3,4\n", b"\nu;v;w\n"):
        file = CsvFile("t", raw + body)
        assert (file.header(PLAIN).names, file.header(PLAIN).delimiter) == (header.names, header.delimiter)
        assert file.lines(PLAIN)[file.header(PLAIN).body :] == body[1:]
    return f"{header.delimiter!r} {header.names}"


def test_names_come_from_the_first_line_alone_or_a_sentence_says_why_not():
    compare_cases("first_lines.txt", tell)
    for line, said in ((b"a" * 1_000_001, "longer than a million"), (b"c," * 2_000 + b"c", "2,000 columns")):
        with pytest.raises(IntakeError, match=said):
            CsvFile("t", line + b"\n").header(PLAIN)


VALUES = """1 | -1.5 | +3 | −5 | 1e5 | .5 | 1,234.5 | 1 234 | 1'234 | (12) | 12% | 55 % | $73519.44 | € 5 | 5 € | USD 12
12 EUR | -$3 | 1987-03-12 | 12.3.1987 | 3/12/87 | 1987-03-12T10:11:12Z | 2024-01-02 03:04 | 12 March 1987 | Mar 12, 1987
10:30 | 10:30:15 | 9:05 pm | inf | nan | -Infinity | NaN"""
NAMES = ["age", "x1", "col2", "q3", "1st", "2nd half", "may", "march_sales", "income (USD)", "kr.", "a.b"]


def test_a_line_with_a_value_is_no_header_until_it_is_declared():
    for cell in VALUES.replace("\n", " | ").split(" | "):
        with about(cell):
            assert reads_like_a_row(cell)
            line = f'name;"{cell}"\nAnna;5\n'.encode()
            with pytest.raises(IntakeError, match="may be a row") as refused:
                read_header(line, PLAIN)
            assert cell not in str(refused.value)
            assert read_header(line, FileFormat(header=True)).names == ("name", cell)
            assert read_header(line, FileFormat(header=True, names=("a", "b"))).names == ("a", "b")
    assert [name for name in NAMES if reads_like_a_row(name)] == []


def test_without_a_header_the_names_are_declared_and_the_first_line_is_a_row():
    header = read_header(b"1;2\n3;4\n", FileFormat(header=False, names=("a", "b"), delimiter=";"))
    assert (header.names, header.delimiter, header.body) == (("a", "b"), ";", 0)
    with pytest.raises(IntakeError, match="needs column names"):
        FileFormat(header=False)


@given(st.lists(st.sampled_from(["x", "x_2", " x", "", "column_1", "y" * 200]) | st.text(max_size=20), max_size=6))
def test_clean_names_are_distinct_printable_and_short(names):
    clean, _ = clean_names(names)
    assert len(clean) == len(names) == len(set(clean))
    assert all(name.isprintable() and 0 < len(name) <= 90 for name in clean)
