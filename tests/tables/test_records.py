"""Lines to columns, against a reader that takes one line at a time in plain Python."""

from __future__ import annotations

import ast
import csv
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.tables import file_format
from dpviz.tables.csv_intake import LineLayout, open_csv, read_lines, read_records
from dpviz.tables.file_format import (
    BLANKS,
    PLAIN_STYLE,
    WHITESPACE,
    ColumnCells,
    FileFormat,
    NumberStyle,
    guess_styles,
    read_numbers,
    read_values,
)
from dpviz.tables.loaded_table import MISSING, IntakeError
from tests.cases import about
from tests.examples import examples
from tests.tables.told import compare_cases

GERMAN = NumberStyle(",", ".", "€")
STYLES = [
    *(PLAIN_STYLE, GERMAN, NumberStyle(".", ",", "$"), NumberStyle(",", " ", "%"), NumberStyle(".", "'", "kg")),
    *(NumberStyle(","), NumberStyle(".", ",", "$", "()"), NumberStyle(",", ".", "€", "-"), NumberStyle(".", "lakh")),
]
GROUPS = {"": [], ".": ["."], ",": [","], "'": ["'", "\u2019"], " ": [*BLANKS], "lakh": [","]}
PAD = "".join(BLANKS) + "\t"
DASHES = "\\-\u2212\u2013\u2010\u2011\ufe63\uff0d"


def number(cell: str, style: NumberStyle) -> float:
    """One cell, read the slow way."""
    text = cell.strip(PAD)
    if (value := positive(text, style)) is not None and style.negative:
        return value
    for side in ("removeprefix", "removesuffix"):
        text = getattr(text, side)(style.sign).strip(PAD) if style.sign else text
    minus = re.match(f"[+{DASHES}]?", text)[0]
    text = text[len(minus) :].strip(PAD)
    text = text.removeprefix(style.sign).strip(PAD) if style.sign else text
    marks = "|".join(map(re.escape, GROUPS[style.grouping]))
    groups = "[0-9]{1,2}(?:,[0-9]{2})*" if style.grouping == "lakh" else rf"[0-9]{{1,3}}(?:(?:{marks})[0-9]{{3}})*"
    digits = rf"(?:{groups}(?:{marks})[0-9]{{3}}|[0-9]+)" if marks else "[0-9]+"
    point = re.escape(style.decimal)
    text = re.sub(rf"(?<=[0-9]{point})[{DASHES}]{{1,2}}\Z", "", text)
    if not re.fullmatch(rf"(?:{digits}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?", text):
        return np.nan
    for mark in GROUPS[style.grouping]:
        text = text.replace(mark, "")
    value = float(re.sub("[^-+]", "-", minus) + text.replace(style.decimal, "."))
    return value if np.isfinite(value) else np.nan


def positive(text: str, style: NumberStyle) -> float | None:
    """Minus the amount of a cell that is written as negative in another way than by a minus in front; None if not."""
    ends = {"()": ("(", ")"), "-": ("", "-")}.get(style.negative)
    if ends is None:
        return None
    bare = style._replace(negative="")
    for before, behind in ((style.sign, ""), ("", ""), ("", style.sign)):
        inner = text.removeprefix(before).strip(PAD) if before else text
        inner = inner.removesuffix(behind).strip(PAD) if behind else inner
        if inner.startswith(ends[0]) and inner.endswith(ends[1]) and not inner.endswith(f"{style.decimal}-"):
            amount = inner[len(ends[0]) : len(inner) - len(ends[1])]
            if not amount.strip(PAD).startswith(("-", "+", "\u2212")):
                value = number(amount, bare)
                if not np.isnan(value):
                    return -value
    return None


def one_at_a_time(body: bytes, wanted: LineLayout):
    lines = body.split(b"\n")
    lines = lines[:-1] if lines[-1] == b"" else lines
    numbers, text = {place: [] for place in wanted.numbers}, {place: [] for place in wanted.text}
    for line in lines:
        try:
            record = next(
                csv.reader(
                    [line.removesuffix(b"\r").decode("latin-1")],
                    delimiter=wanted.delimiter,
                    skipinitialspace=True,
                    strict=True,
                ),
                [],
            )
        except csv.Error:
            record = []
        cells = [cell.encode("latin-1").decode("utf-8", errors="replace") for cell in record]
        whole = len(cells) == wanted.width
        for place, values in numbers.items():
            values.append(number(cells[place], wanted.numbers[place]) if whole else np.nan)
        for place, words in text.items():
            word = cells[place].strip() if whole else ""
            words.append(None if word in MISSING else word)
    return numbers, text


pieces = st.sampled_from(
    [*"0123456789", ",", ";", ".", "-", "+", " ", "\t", '"', '""', '","', "\r", "\n", "\r\n", "e5", "E-3",
     "1,234", "1.234", "12.5", "1e400", "1e-400", "\x00", "\ufeff", "nan", "inf", "NA", "$", "€", "%", "kg", "\u2212",
     "\u00a0", "'", "\u2019", "x", "é", '"a;b"', '"1,5"', "\x0b", "\x1c", "\x85", "\u2028", "_", "0x1", "1_0", "٣",
     "(", ")", "($1,234)", "(5)", "5-", "1,00,000", ', "', '" ,']
)  # fmt: skip
bodies = st.lists(pieces, max_size=60).map("".join).map(str.encode)


@pytest.mark.slow
@settings(max_examples=examples(160))
@given(
    body=bodies | st.binary(max_size=80),
    width=st.integers(1, 3),
    delimiter=st.sampled_from([",", ";", "\t"]),
    style=st.sampled_from(STYLES),
    block=st.sampled_from([1, 7, 1 << 20]),
    data=st.data(),
)
def test_lines_are_read_as_one_at_a_time(body, width, delimiter, style, block, data):
    kinds = data.draw(st.lists(st.sampled_from(["number", "text", "neither"]), min_size=width, max_size=width))
    wanted = LineLayout(
        width,
        delimiter,
        "utf-8",
        {place: style for place, kind in enumerate(kinds) if kind == "number"},
        [place for place, kind in enumerate(kinds) if kind == "text"],
    )
    found = read_lines(body, wanted, block_bytes=block).columns
    numbers, text = one_at_a_time(body, wanted)
    for place, values in numbers.items():
        np.testing.assert_array_equal(found[place], np.array(values, dtype=np.float64))
        assert not np.isinf(found[place]).any()
    for place, words in text.items():
        assert found[place].astype(object).where(found[place].notna(), None).tolist() == words


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
    assert found[0].tobytes() == np.array(values).tobytes()
    assert (found[1] == 7).all()


def tell(case: str) -> str:
    """The number that a cell is in a style."""
    cell, said = ast.literal_eval(case)
    style = PLAIN_STYLE._replace(**said)
    (found,) = read_lines(f'"{cell}";0\n'.encode(), LineLayout(2, ";", "utf-8", {0: style}, [])).columns[0]
    np.testing.assert_array_equal(found, number(cell, style))
    return f"{found:g}" if float(f"{found:g}") == found else repr(float(found))


def test_a_cell_is_a_number_in_its_declared_style_or_missing():
    compare_cases("number_cells.txt", tell)


def test_marks_and_text_in_one_byte_encodings():
    style = NumberStyle(",", " ", "kg")
    for encoding in ("cp1252", "iso8859-1", "koi8-r"):
        with about(encoding):
            body = "1\u00a0234,5 kg;Ä\n".encode(encoding, errors="replace")
            found = read_lines(body, LineLayout(2, ";", encoding, {0: style}, [1])).columns
            np.testing.assert_array_equal(found[0], [1234.5])
            assert found[1].tolist() == ["Ä".encode(encoding, errors="replace").decode(encoding)]


def test_blanks_between_columns():
    body = b"  1   2\t3 \r\n4 5 6\n7 8\n\n"
    found = read_lines(body, LineLayout(3, WHITESPACE, "utf-8", dict.fromkeys(range(3), PLAIN_STYLE), [])).columns
    np.testing.assert_array_equal(np.column_stack([found[place] for place in range(3)])[:2], [[1, 2, 3], [4, 5, 6]])
    assert np.isnan(found[0][2:]).all()
    assert len(found[0]) == 4


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
            assert (second.empty, second.no_number, second.broken) == (1, 0, 2)
            assert "?" not in repr(first)


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
