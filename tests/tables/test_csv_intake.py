"""CSV files: what people bring becomes numbers or one sentence, never a value of a cell, at once or in pieces."""

import ast
import gzip
import json
import tracemalloc
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpviz.tables.csv_intake
from dpviz.tables import csv_intake
from dpviz.tables.csv_intake import CsvFile, CsvOnDisk, clean_names, load_csv, open_csv, read_header, reads_like_a_row
from dpviz.tables.declarations import apply_declaration
from dpviz.tables.file_format import FileFormat
from dpviz.tables.loaded_table import IntakeError, LoadedTable, hash_ids, make_numeric_table
from dpviz.tables.named import open_file
from tests.cases import about
from tests.examples import examples
from tests.tables.told import compare_cases

PLAIN = FileFormat()


def tell_header(case: str) -> str:
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
    compare_cases("first_lines.txt", tell_header)
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


@given(st.lists(st.sampled_from(["x", "x_2", " x", "", "column_1", "y" * 200]) | st.text(max_size=20), max_size=6))
def test_clean_names_are_distinct_printable_and_short(names):
    clean, _ = clean_names(names)
    assert len(clean) == len(names) == len(set(clean))
    assert all(name.isprintable() and 0 < len(name) <= 90 for name in clean)


def rows(table: LoadedTable) -> list[list[float]]:
    return table.columns(table.numeric_columns).tolist()


def tell(case: str) -> str:
    """Names and rows of a file as it is declared."""
    raw, said = ast.literal_eval(case)
    declared = apply_declaration(json.dumps({"lower": 0, "upper": 1, "file": said})).file
    table = load_csv(raw, declared=declared)
    return f"{table.numeric_columns} {rows(table)}"


def test_what_is_declared_is_read_and_what_needs_no_declaration() -> None:
    compare_cases("read_files.txt", tell)


BROKEN = [b"", b"5", b"5,6,7", b'"5,6', b'5,"6"7', b"u,v", b"5;6", b"\xff\xfe,\xc3", b"5\r,6", b"\x00,\x01", b'"""']


def test_a_line_that_is_none_concerns_itself_only() -> None:
    for line in (*BROKEN, b"9" * 140_000 + b',"'):
        with about(line[:30]):
            table = load_csv(b"x,y\n1,2\n" + line + b"\n3,4\n")
            assert table.n_rows == 3
            found = np.array(rows(table))
            assert np.isnan(found[1]).any()
            np.testing.assert_array_equal(found[[0, 2]], [[1, 2], [3, 4]])


def test_what_cannot_be_a_table_gets_a_sentence() -> None:
    cut = gzip.compress(b"x,y\n1,2\n" * 99, mtime=0)[:-9]
    for raw, said in ((cut, "ends too early"), (b"\x1f\x8b nonsense", "damaged"), (b"1,2\n3,4\n", "may be a row")):
        with pytest.raises(IntakeError, match=said) as caught:
            load_csv(raw)
        assert str(caught.value).endswith(".")


def test_larger_than_the_cap_is_refused_packed_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_intake, "MAX_BYTES", 1_000)
    plain = b"x,y\n" + b"1,2\n" * 400
    path = tmp_path / "t.csv"
    path.write_bytes(plain)
    for source in (plain, gzip.compress(plain), path):
        with pytest.raises(IntakeError, match="200 MB"):
            load_csv(source)
    assert load_csv(plain[:1_000]).n_rows == 249


def test_declared_columns_exist_whatever_stands_in_them() -> None:
    for body in (b"", b"1,,u\n", b"1,2,u\n", b",,\n"):
        table = load_csv(b"x,y,who\n" + body, numbers=["x", "y"], text=["who"])
        assert (table.numeric_columns, table.text_columns) == (("x", "y"), ("who",))
    with pytest.raises(IntakeError, match='no column "z"'):
        load_csv(b"x,y\n1,2\n", numbers=["z"])


def test_ids_are_text_cell_by_cell() -> None:
    ids = ["7", " 7 ", "7.0", '"7"', "07", "u", "U", "e\u0301", "é", "", "NA", "9007199254740992", "9007199254740993"]
    raw = ("id,x\n" + "".join(f"{word},1\n" for word in ids)).encode()
    codes = list(map(tuple, load_csv(raw, text=["id"]).identifiers("id").tolist()))
    assert codes[:4] == [codes[0]] * 4 and codes[7] == codes[8] and codes[9:11] == [(-1, -1)] * 2
    assert len({codes[place] for place in (0, 4, 5, 6, 7, 11, 12)}) == 7
    with pytest.raises(IntakeError, match='no column "w"'):
        load_csv(raw, text=["id"]).identifiers("w")


def test_fingerprint_tells_neighbours_apart_and_knows_equals() -> None:
    base = np.random.default_rng(0).random((60_000, 2))
    neighbour = base.copy()
    neighbour[31_337, 1] += 1e-12
    assert make_numeric_table(base).fingerprint == make_numeric_table(base.copy()).fingerprint
    assert make_numeric_table(base).fingerprint != make_numeric_table(neighbour).fingerprint
    assert make_numeric_table(base[:-1]).fingerprint != make_numeric_table(base).fingerprint
    texts = [f"who,x\n{a},1\n{b},1\n".encode() for a, b in (("ab", "c"), ("a", "bc"), ("c", "ab"), ("ab", "ab"))]
    assert len({load_csv(text, text=["who"]).fingerprint for text in texts}) == 4


CELLS = st.sampled_from(["1", "-2.5", "", "NA", "x", '"3"', '"a,b"', '"', "1e3", " 4 ", "inf", "\r", "é"])
LINES = st.lists(st.lists(CELLS, min_size=1, max_size=4).map(",".join), max_size=12)


def read_in_pieces(path: Path, declared: FileFormat, size: int, id_column: str | None = "who") -> tuple:
    patch = pytest.MonkeyPatch()
    with patch.context() as patched:
        patched.setattr(dpviz.tables.csv_intake, "_BYTES_AT_ONCE", size)
        batches = list(CsvOnDisk(path).read_batches(("x", "y"), declared, id_column=id_column))
    values = np.concatenate([np.empty((0, 2)), *(batch.values for batch in batches)])
    ids = pd.concat([batch.ids for batch in batches], ignore_index=True) if id_column else None
    return values, ids


@pytest.mark.slow
@settings(max_examples=examples(50))
@given(LINES, st.integers(1, 60), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_wherever_pieces_end_the_rows_are_those_in_memory(tmp_path_factory, lines, size, end, ends):
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_bytes((end.join(["x,y,who", *lines]) + (end if ends else "")).encode())
    loaded = open_csv(path).read(FileFormat(), numbers=("x", "y"), text=("who",))
    values, ids = read_in_pieces(path, FileFormat(), size)
    np.testing.assert_array_equal(values, loaded.columns(("x", "y")))
    np.testing.assert_array_equal(hash_ids(ids), loaded.identifiers("who"))


def test_encodings_and_gzip(tmp_path: Path) -> None:
    text = "x,y,who\n" + "".join(f"{i},{i / 2},é{i % 7}\n" for i in range(12))
    for encoding, packed in product(["utf-8", "utf-8-sig", "utf-16", "cp1252", "gb18030"], [False, True]):
        declared = FileFormat(encoding="utf-8" if encoding == "utf-8-sig" else encoding)
        path = tmp_path / ("t.csv.gz" if packed else "t.csv")
        raw = text.encode(encoding)
        path.write_bytes(gzip.compress(raw) if packed else raw)
        loaded = open_csv(path).read(declared, numbers=("x", "y"), text=("who",))
        with about(encoding, "packed" if packed else "plain"):
            values, ids = read_in_pieces(path, declared, 7)
            np.testing.assert_array_equal(values, loaded.columns(("x", "y")))
            assert ids.tolist() == loaded.frame["who"].tolist() and CsvOnDisk(path).name == "t"
            assert CsvOnDisk(path).read_beginning().read(declared, numbers=("x", "y")).n_rows == 12


def test_a_file_too_large_to_hold_is_read_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "1,2\n" * 1000)
    assert not isinstance(open_file(path), CsvOnDisk)
    monkeypatch.setattr("dpviz.tables.csv_intake.MAX_BYTES", 2000)
    assert isinstance(open_file(path), CsvOnDisk)
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert isinstance(open_file(packed), CsvOnDisk)


def test_a_line_that_is_too_long_is_a_row_without_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In memory and in pieces, wherever it stands and wherever pieces end: the other rows know nothing of it."""
    monkeypatch.setattr(dpviz.tables.csv_intake, "LONGEST_LINE", 50)
    path, longest, longer = tmp_path / "t.csv", b"3," + b"4" * 48, b"3," + b"4" * 49
    for lines in ([longer, b"1,2", longest], [b"1,2", longer * 9, b"5,6"], [longest, longer], [longer * 20]):
        path.write_bytes(b"\n".join([b"x,y", *lines]))
        expected = [[np.nan] * 2 if len(line) > 50 else [float(cell) for cell in line.split(b",")] for line in lines]
        with about(lines):
            np.testing.assert_array_equal(open_csv(path).read(numbers=("x", "y")).columns(("x", "y")), expected)
            for size in (7, 30, 1000):
                values, _ = read_in_pieces(path, FileFormat(), size, id_column=None)
                np.testing.assert_array_equal(values, expected)


def test_a_line_that_never_ends_takes_no_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert dpviz.tables.csv_intake.LONGEST_LINE == 2**26
    monkeypatch.setattr(dpviz.tables.csv_intake, "LONGEST_LINE", 2**16)
    path = tmp_path / "t.csv"
    path.write_bytes(b"x,y\n1,2\n" + b"1" * 2**24)
    tracemalloc.start()
    try:
        values, _ = read_in_pieces(path, FileFormat(), 2**16, id_column=None)
        assert tracemalloc.get_traced_memory()[1] < 2**23
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(values, [[1, 2], [np.nan, np.nan]])


def test_a_file_that_changes_between_two_looks_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x\n1\n")
    file = CsvOnDisk(path)
    assert file.header().names == ("x",)
    path.write_text("x\n1\n2\n")
    with pytest.raises(IntakeError, match="changed while"):
        list(file.read_batches(("x",)))


def test_what_is_not_there_or_not_one_line_a_record_is_told(tmp_path: Path) -> None:
    with pytest.raises(IntakeError, match="no file"):
        list(CsvOnDisk(tmp_path / "t.csv").read_batches(("x",)))
    (tmp_path / "t.csv").write_text("x\n1\n")
    with pytest.raises(IntakeError, match="several lines"):
        list(CsvOnDisk(tmp_path / "t.csv").read_batches(("x",), FileFormat(several_lines=True)))
    with pytest.raises(IntakeError, match="no column"):
        list(CsvOnDisk(tmp_path / "t.csv").read_batches(("z",)))


def test_few_bytes_that_promise_much_are_refused_in_memory_and_read_in_parts_from_the_disk(tmp_path, monkeypatch):
    """Short lines under a long header, packed or not; a line less than the limit is read."""
    names = [f"c{place}" for place in range(2_000)]
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(",".join(names).encode() + b"\n" * 5_000))
    with pytest.raises(IntakeError, match="far more cells than its size promises"):
        open_csv(path).read()
    with pytest.raises(IntakeError, match="far more cells than its size promises"):
        open_csv(gzip.decompress(path.read_bytes())).read()
    assert len(open_csv(path).read(numbers=names[:10]).frame) == 4_999
    monkeypatch.setattr("dpviz.tables.csv_intake._NUMBERS_AT_ONCE", 500_000)
    batches = [len(batch.values) for batch in CsvOnDisk(path).read_batches(names)]
    assert max(batches) == 250 and sum(batches) == 4_999
