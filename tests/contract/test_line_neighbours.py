"""Neighbouring files: a line that comes, goes or changes is one record, and changes how no other line is read.

For any file, declaration and line: every other row is bit for bit the same, the columns and all public parts of the
open table too, and at most one row (m of a person) comes or goes in the session.
"""

from collections import Counter
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.core.check import RequestError
from dpviz.runs.open_table import OpenTable, declare
from dpviz.tables.codings import Closed, Cycle, Dates, Nominal, Ordinal, Stretched
from dpviz.tables.csv_intake import CsvFile, open_csv
from dpviz.tables.declarations import Declaration
from dpviz.tables.file_format import FileFormat, NumberStyle
from tests.examples import examples

HEADERS = {",": b"who,x,y,label\n", ";": b"who;x;y;label\n", "whitespace": b"who x y label\n"}
hostile = st.sampled_from(
    ["0.5", "-0.25", "1,5", "1.234,5", "1,250.5", "1e300", "1e999", "12%", "nan", "", " ", "u", "v", "7", "7.0", '"',
     '""', '"u', 'v"', ",", ";", "\t", "\r", "\x00", "\ufeff", "é", "\udcff", "2024-01-02", "sep=;", "x,y", "NA", "-",
     "\u2212", "٣", "\x0b", "\x85", "(5)", "5-", "1,00,000", "("]
)  # fmt: skip
free = st.lists(hostile, max_size=12).map("".join)


@st.composite
def lines(draw: st.DrawFn, delimiter: str) -> bytes:
    """Any line without a line end; mostly with four fields."""
    if draw(st.booleans()):
        glue = " " if delimiter == "whitespace" else delimiter
        fields = [draw(st.sampled_from(["u", "v", "7", "w", ""])), draw(hostile), draw(hostile), draw(hostile)]
        quoted = [f'"{field}"' if draw(st.integers(0, 3)) == 0 else field for field in fields]
        text = glue.join(quoted)
    else:
        text = draw(free)
    return text.encode("utf-8", "surrogateescape").replace(b"\n", b"")


styles = st.sampled_from(
    [
        *(NumberStyle(), NumberStyle(",", "."), NumberStyle(".", ","), NumberStyle(sign="%")),
        *(NumberStyle(".", ",", "", "()"), NumberStyle(",", ".", "", "-"), NumberStyle(".", "lakh")),
    ]
)
ABOVE = b'a title\n"an open mark,1;2\n'
UNITS = {",": b"-,m,kg,-\n", ";": b"-;m;kg;-\n", "whitespace": b"- m kg -\n"}
declarations = st.builds(
    Declaration,
    columns=st.just(("x", "y")),
    lower=st.just((-1.0, -1.0)),
    upper=st.just((1.0, 2.0)),
    file=st.builds(
        FileFormat,
        encoding=st.sampled_from(["utf-8", "cp1252", "iso8859-1"]),
        header=st.just(True),
        style=styles,
        styles=st.dictionaries(st.just("y"), styles),
    ),
    label_column=st.sampled_from([None, "label"]),
)


coded = st.sampled_from([
    {"x": Nominal(("u", "7", "é"))}, {"x": Closed(("u", "v"))}, {"x": Ordinal(("7", "u"))},
    {"x": Dates(date(2024, 1, 1), date(2024, 12, 31))}, {"x": Cycle(24.0)}, {"x": Stretched("root")},
    {"x": Nominal(("1,5", "NAN")), "y": Closed(("12%", "-"))}, {"y": Stretched("root"), "x": Cycle(0.5)},
    {"x": Stretched("log")}, {"x": Stretched("log"), "y": Stretched("log")},
])  # fmt: skip


@st.composite
def with_codings(draw: st.DrawFn) -> Declaration:
    """Declarations of categories, ranks, dates, cycles and scales."""
    codings = draw(coded)
    ends = {
        name: coding.ends or ((0.25, 8.0) if coding == Stretched("log") else (-1.0, 2.0))
        for name, coding in codings.items()
    }
    pairs = [ends.get("x", (-1.0, 1.0)), ends.get("y", (-1.0, 2.0))]
    lower, upper = zip(*pairs, strict=True)
    relation = draw(st.sampled_from(["add_remove", "add_remove", "replace"]))
    return replace(draw(declarations), lower=lower, upper=upper, codings=codings, relation=relation)


def opened(header: bytes, body: list[bytes], declaration: Declaration, end: bytes) -> OpenTable:
    return declare(CsvFile("t", header + end.join([*body, b""])), declaration)


def public_parts(table: OpenTable) -> tuple[object, ...]:
    domain, loaded = table.domain, table.loaded
    ends = (domain.lower.tolist(), domain.upper.tolist())
    return table.declaration, domain.columns, ends, table.private.unit, loaded.numeric_columns, loaded.text_columns


def rows_of(table: OpenTable) -> list[bytes]:
    """The loaded rows, bit for bit, with whose they are."""
    numbers = table.loaded.encode_columns(table.domain.names, table.declaration.coded)
    text = table.loaded.frame[list(table.loaded.text_columns)].to_numpy()
    words = [tuple(None if word != word else word for word in row) for row in text]
    return [
        row.tobytes() + repr(said).encode() for row, said in zip(numbers, words or [()] * len(numbers), strict=True)
    ]


def count_moved(one: OpenTable, two: OpenTable) -> tuple[int, int]:
    """How many rows of the session come from one table to the other, and how many go."""
    here, there = (Counter(row.tobytes() for row in np.asarray(table.private._rows.values)) for table in (one, two))
    return (there - here).total(), (here - there).total()


def draw_neighbours(
    data: st.DataObject, said: Declaration, delimiter: str, *, header: bytes = b"", end: bytes = b"\n", least: int = 1
) -> tuple[list[bytes], OpenTable, OpenTable]:
    """A body, and the tables of it and of one with a line more, or another one: all that is public is the same, and
    every other row.
    """
    said, other = replace(said, file=replace(said.file, delimiter=delimiter)), int(said.relation == "replace")
    body = data.draw(st.lists(lines(delimiter), min_size=least, max_size=8))
    line, place = data.draw(lines(delimiter)), data.draw(st.integers(0, len(body) - other))
    moved = [*body[:place], line, *body[place + other :]]
    one, two = (opened(header or HEADERS[delimiter], lines_of, said, end) for lines_of in (body, moved))
    here, there = rows_of(one), rows_of(two)
    assert public_parts(one) == public_parts(two)
    assert here[:place] + here[place + other :] == there[:place] + there[place + 1 :]
    return body, one, two


@settings(max_examples=examples(60))
@given(data=st.data(), delimiter=st.sampled_from(list(HEADERS)))
def test_a_line_is_one_record_where_columns_have_codings_and_no_other_line_says_what_it_is(data, delimiter):
    declaration = data.draw(with_codings())
    body, one, two = draw_neighbours(data, declaration, delimiter)
    came, went = count_moved(one, two)
    assert came <= 1 and went <= (declaration.relation == "replace")
    declared = one.declaration
    alone = [rows_of(opened(HEADERS[delimiter], [only], declared, b"\n")) for only in body]
    assert rows_of(one) == [row for own in alone for row in own]


@pytest.mark.slow
@settings(max_examples=examples(80))
@given(data=st.data(), delimiter=st.sampled_from(list(HEADERS)), end=st.sampled_from([b"\n", b"\r\n"]))
def test_an_added_line_is_one_record_and_changes_no_other(data, delimiter, end):
    declaration, header, several = data.draw(declarations), b"", data.draw(st.booleans())
    if several:
        declaration = replace(declaration, id_column="who", rows_per_person=data.draw(st.integers(1, 3)))
    if data.draw(st.booleans()):  # titles above the names, units below them
        header = ABOVE + HEADERS[delimiter] + UNITS[delimiter]
        declaration = replace(declaration, file=replace(declaration.file, skip=2, units_line=True))
    _, one, two = draw_neighbours(data, declaration, delimiter, header=header, end=end, least=0)
    came, went = count_moved(one, two)
    # Of one person a row may take another's place; the session's sensitivities are those of m rows that come or go.
    assert came <= 1 and went <= several


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(data=st.data(), delimiter=st.sampled_from(list(HEADERS)))
def test_a_replaced_line_is_one_record_and_n_stays_the_number_of_lines(data, delimiter):
    body, one, two = draw_neighbours(data, replace(data.draw(declarations), relation="replace"), delimiter)
    assert one.n_public == two.n_public == len(body) and count_moved(one, two)[1] <= 1


@pytest.mark.slow
@settings(max_examples=examples(100))
@given(
    data=st.data(),
    ids=st.lists(st.sampled_from(["7", "u", "", "NA", "7.0"]), min_size=1, max_size=12),
    m=st.integers(1, 3),
)
def test_a_person_who_leaves_takes_at_most_m_rows_along(data, ids, m):
    cells = data.draw(st.lists(st.floats(-1, 1), min_size=len(ids), max_size=len(ids)))
    declaration = Declaration(("x",), (-1.0,), (1.0,), id_column="who", rows_per_person=m)
    body = [f"{who},{cell!r}".encode() for who, cell in zip(ids, cells, strict=True)]
    left = [line for line in body if not line.startswith((b"7,", b"7.0,"))]
    one, two = (opened(b"who,x\n", lines_of, declaration, b"\n") for lines_of in (body, left))
    came, went = count_moved(one, two)
    assert came == 0 and went <= m


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
@settings(max_examples=examples(40))
@given(data=st.data())
def test_lines_of_wide_encodings_too(encoding, data):
    text = st.text(st.sampled_from('0.5,;-"\r\x00u\ufeff\ud800\udc00\ud83d'), max_size=12)
    body, line = data.draw(st.lists(text, max_size=5)), data.draw(text)
    place = data.draw(st.integers(0, len(body)))

    def read(lines_of: list[str]):
        raw = "\n".join(["x,y", *lines_of, ""]).encode(encoding, "surrogatepass")
        return open_csv(raw).read(FileFormat(encoding)).columns(["x", "y"])

    one, two = read(body), read([*body[:place], line, *body[place:]])
    np.testing.assert_array_equal(one, np.delete(two, place, axis=0))


@settings(max_examples=examples(100))
@given(data=st.data())
def test_what_is_said_before_the_room_depends_on_the_header_alone(data):
    """Refusals, names and columns come from the first line: the same whatever follows."""
    header = data.draw(st.lists(hostile.filter(lambda cell: cell != "sep=;"), max_size=6).map(",".join))
    one, two = (data.draw(st.lists(lines(","), max_size=4)) for _ in range(2))

    def said(body: list[bytes]) -> object:
        try:
            return open_csv(b"\n".join([header.encode("utf-8", "surrogateescape"), *body, b""])).header()
        except RequestError as error:
            return str(error)

    assert said(one) == said(two)
