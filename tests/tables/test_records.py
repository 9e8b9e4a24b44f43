"""Lines to columns: each cell in its declared style, whatever line it stands in and however lines are read."""

import ast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.tables.csv_intake import LineLayout, open_csv, read_lines, read_records
from dpviz.tables.file_format import PLAIN_STYLE, WHITESPACE, FileFormat, NumberStyle
from dpviz.tables.loaded_table import IntakeError
from tests.cases import about
from tests.examples import examples
from tests.tables.told import compare_cases


@settings(max_examples=examples(60))
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=12),
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
)
def test_every_number_comes_through_to_the_last_bit(values, simply_quoted, end):
    mark = '"' if simply_quoted else ""
    body = end.join(f"{mark}{value!r}{mark},{mark}7{mark}" for value in values).encode()
    found = read_lines(body, LineLayout(2, ",", "utf-8", {0: PLAIN_STYLE, 1: PLAIN_STYLE}, [])).columns
    assert found[0].tobytes() == np.array(values).tobytes() and (found[1] == 7).all()


@settings(max_examples=examples(160))
@given(st.text("019.,;-'\" \t\r\n$%()xe\u00a0\u2212", max_size=60).map(str.encode) | st.binary(max_size=80))
def test_a_line_is_read_as_it_is_alone_however_long_the_blocks_are(body):
    wanted = LineLayout(2, ";", "utf-8", {0: NumberStyle(",", ".", "$", "()")}, [1])
    alone, *others = (read_lines(body, wanted, block_bytes=size).columns for size in (1, 7, 1 << 20))
    for found in others:
        np.testing.assert_array_equal(found[0], alone[0])
        assert found[1].fillna("missing").tolist() == alone[1].fillna("missing").tolist()


def tell(case: str) -> str:
    """The number that a cell is in a style."""
    cell, said = ast.literal_eval(case)
    style = PLAIN_STYLE._replace(**said)
    (found,) = read_lines(f'"{cell}";0\n'.encode(), LineLayout(2, ";", "utf-8", {0: style}, [])).columns[0]
    return f"{found:g}" if float(f"{found:g}") == found else repr(float(found))


def test_a_cell_is_a_number_in_its_declared_style_or_missing():
    compare_cases("number_cells.txt", tell)


def test_blanks_between_columns():
    body = b"  1   2\t3 \r\n4 5 6\n7 8\n\n"
    found = read_lines(body, LineLayout(3, WHITESPACE, "utf-8", dict.fromkeys(range(3), PLAIN_STYLE), [])).columns
    np.testing.assert_array_equal(np.column_stack([found[place] for place in range(3)])[:2], [[1, 2, 3], [4, 5, 6]])
    assert np.isnan(found[0][2:]).all() and len(found[0]) == 4


def test_a_line_longer_than_a_block_and_a_line_without_an_end():
    long = b"1" + b"0" * 5_000_000 + b",2\n3,4"
    found = read_lines(long, LineLayout(2, ",", "utf-8", {1: PLAIN_STYLE}, [])).columns
    np.testing.assert_array_equal(found[1], [2, 4])


def test_records_over_several_lines_are_for_whoever_declares_them():
    wanted = LineLayout(2, ",", "utf-8", {1: PLAIN_STYLE}, [0])
    text = 'a,1\n"b\nc",2\nd,"3"\n'
    found = read_records(text, wanted).columns
    assert found[0].tolist() == ["a", "b\nc", "d"]
    np.testing.assert_array_equal(found[1], [1, 2, 3])
    one_line = read_lines(text.encode(), wanted).columns
    np.testing.assert_array_equal(one_line[1], [1, np.nan, 2, 3])


def test_what_a_column_lost_is_counted():
    """Empty cells, cells that are no number, and lines that are no record: however a line is read."""
    body = b'1,2\n,3\nNA,"4"\n?,5\n"x,y",6\n7\n"8"9,1\n1e999,nan\n'
    for block in (1, 9, 1 << 20):
        with about(block):
            found = read_lines(
                body, LineLayout(2, ",", "utf-8", {0: PLAIN_STYLE, 1: PLAIN_STYLE}, []), block_bytes=block
            )
            first, second = found.unread[0], found.unread[1]
            assert (first.empty, first.no_number, first.broken) == (2, 3, 2)
            assert (second.empty, second.no_number, second.broken) == (1, 0, 2) and "?" not in repr(first)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_quotation_mark_inside_a_cell_spoils_its_line_alone(end):
    lines = end.join([b"x,y", b'"1"2,3', b'"4",5', b'6,"7"', b'8,"9"9', b'"1",1', b""])
    found = open_csv(lines).read(FileFormat(), numbers=("x", "y")).columns(("x", "y"))
    whole = ~np.isnan(found).any(axis=1)
    assert whole.tolist() == [False, True, True, False, True] and found[whole].tolist() == [[4, 5], [6, 7], [1, 1]]


def test_a_cell_that_is_declared_to_mean_missing_is() -> None:
    """Each by itself, as a number or as a word, in columns that hold numbers or text, whoever reads them."""
    raw = b"age;pay;town\n-999;1.234,5;Bonn\n31;-999;-999\nrefused;7,5 ;refused\n-999,0;12;Ulm\n"
    style = NumberStyle(",", ".", missing=("-999", "refused"))
    declared = FileFormat(delimiter=";", style=style, styles={"pay": style._replace(missing=())})
    table = open_csv(raw).read(declared, numbers=["age", "pay"], text=["town"])
    np.testing.assert_array_equal(table.frame["age"], [np.nan, 31, np.nan, np.nan])
    np.testing.assert_array_equal(table.frame["pay"], [1234.5, -999, 7.5, 12])
    assert table.frame["town"].isna().tolist() == [False, True, True, False]
    assert (table.unread["age"].empty, table.unread["age"].no_number) == (3, 0)
    for wrong in (("",), ("x" * 81,), tuple(map(str, range(101)))):
        with about(wrong), pytest.raises(IntakeError, match="missing"):
            FileFormat(style=PLAIN_STYLE._replace(missing=wrong))


@pytest.mark.parametrize("several_lines", [False, True])
def test_cells_stand_between_the_declared_quotation_marks(several_lines: bool) -> None:
    raw = b"'name','x'\n'A, 1','1,5'\n'it''s',2\n\"b\",3\n"
    declared = FileFormat(quote="'", style=NumberStyle(","), several_lines=several_lines, delimiter=",")
    table = open_csv(raw).read(declared, numbers=["x"], text=["name"])
    assert table.frame["x"].tolist() == [1.5, 2, 3] and table.frame["name"].tolist() == ["A, 1", "it's", '"b"']
    with pytest.raises(IntakeError, match="quotation mark is"):
        FileFormat(quote="`")
