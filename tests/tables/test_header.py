"""The first line: names and a delimiter, or a refusal; whatever stands below it changes nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.tables.csv_intake import CsvFile, clean_names, read_header, reads_like_a_row
from dpviz.tables.file_format import WHITESPACE, FileFormat
from dpviz.tables.loaded_table import IntakeError
from tests.cases import about

PLAIN = FileFormat()


def test_names_come_from_the_first_line_alone():
    for line, names, delimiter in (
        (b"x,y", ("x", "y"), ","),
        (b"x;y\r", ("x", "y"), ";"),
        (b"x\ty", ("x", "y"), "\t"),
        (b"x|y|z", ("x", "y", "z"), "|"),
        (b"x", ("x",), ","),
        (b'"a, b";c;d', ("a, b", "c", "d"), ";"),
        (b"x, y ", ("x", "y"), ","),
        (b"x,x,", ("x", "x_2", "column_3"), ","),
        (b"x,x_2,x", ("x", "x_2", "x_3"), ","),
        ("größe,年".encode(), ("größe", "年"), ","),
        (b"sep=;\nx;y", ("x", "y"), ";"),
        (b"\xef\xbb\xbfx,y", ("x", "y"), ","),
        (b"age,zip code,x1,no. of cars,2nd", ("age", "zip code", "x1", "no. of cars", "2nd"), ","),
    ):
        for body in (b"", b"\n1,2,3,4\n", b"\nu;v;w\n"):
            with about(line, body):
                header = CsvFile("t", line + body).header(PLAIN)
                assert (header.names, header.delimiter) == (names, delimiter)
                assert CsvFile("t", line + body).lines(PLAIN)[header.body :] == body[1:]


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


def test_a_line_that_blanks_alone_divide_is_no_name_if_it_holds_a_value():
    for line in (b"-0.8601 gpbgw\n-0.9252 vtsvk\n", b"Anna 5\nBen 7\n", b"1 2 3\n"):
        with about(line), pytest.raises(IntakeError, match="may be a row"):
            read_header(line, PLAIN)
    assert read_header(b"2nd half\n5\n", PLAIN).names == ("2nd half",)
    assert read_header(b"income 2019,age\n5,6\n", PLAIN).names == ("income 2019", "age")


def test_what_cannot_be_a_header_gets_a_sentence():
    for raw, said in (
        (b"", "first line is empty"),
        (b"\n\nx,y\n", "first line is empty"),
        (b",,\nu,v\n", "first line is empty"),
        (b'"', "quotation mark"),
        (b'a,"b\nsecret,5",c\n', "quotation mark"),
        (b"a\rsecret\r", "another line end"),
        (b"sep=;", "first line is empty"),
        ("sep=§\na§b\n".encode(), "states a delimiter that is none"),
        (b"sep=ab\n", "states a delimiter that is none"),
        (b"gr\xf6\xdfe,y\n1,2\n", "not utf-8"),
        (b"PK\x03\x04 rest\n", "Excel"),
        (b"%PDF-1.7\n", "PDF"),
        (b"<!doctype html><p>\n", "web page"),
        (b'  {"x": 1}\n', "JSON"),
        (b"x\0,y\n", "binary"),
        ("x,y\n1,2\n".encode("utf-16"), "utf-16"),
        (b"a" * 1_000_001, "longer than a million"),
        (b",".join(b"c%d" % i for i in range(2001)) + b"\n", "2,000 columns"),
    ):
        with about(raw[:30], said), pytest.raises(IntakeError, match=said) as refused:
            CsvFile("t", raw).header(PLAIN)
        assert "secret" not in str(refused.value)


def test_without_a_header_the_names_are_declared_and_the_first_line_is_a_row():
    header = read_header(b"1;2\n3;4\n", FileFormat(header=False, names=("a", "b"), delimiter=";"))
    assert (header.names, header.delimiter, header.body) == (("a", "b"), ";", 0)
    with pytest.raises(IntakeError, match="needs column names"):
        FileFormat(header=False)


def test_blanks_set_columns_apart_by_declaration_only():
    line = b"# x y  z\n1 2 3\n"
    assert read_header(line, FileFormat(delimiter=WHITESPACE)).names == ("x", "y", "z")
    assert read_header(line, PLAIN).names == ("x y z",)


@given(st.lists(st.sampled_from(["x", "x_2", " x", "", "column_1", "y" * 200]) | st.text(max_size=20), max_size=6))
def test_clean_names_are_distinct_printable_and_short(names):
    clean, _ = clean_names(names)
    assert len(clean) == len(names) == len(set(clean))
    assert all(name.isprintable() and 0 < len(name) <= 90 for name in clean)
