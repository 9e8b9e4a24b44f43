"""A CSV file in pieces is the same table as in memory, wherever the pieces end."""

from __future__ import annotations

import gzip
import tracemalloc
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpviz.tables.csv_intake
from dpviz.tables.csv_intake import CsvOnDisk, open_csv
from dpviz.tables.file_format import FileFormat
from dpviz.tables.loaded_table import IntakeError, list_texts
from dpviz.tables.named import open_file
from tests.cases import about
from tests.examples import examples

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
    codes, _ = pd.factorize(list_texts(ids))
    np.testing.assert_array_equal(codes, loaded.identifiers("who"))


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
            assert ids.tolist() == loaded.frame["who"].tolist()
            assert CsvOnDisk(path).name == "t"
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


@pytest.mark.parametrize("cut", [20, 200])
def test_a_gzip_file_that_ends_too_early_is_told(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "t.csv.gz"
    rng = np.random.default_rng(0)
    path.write_bytes(gzip.compress(b"x,y\n" + b"".join(b"%f,%f\n" % (a, a) for a in rng.random(1000)))[:-cut])
    with pytest.raises(IntakeError, match="gzip"):
        list(CsvOnDisk(path).read_batches(("x", "y")))


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
