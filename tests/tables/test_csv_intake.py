"""Intake: what people upload becomes the same numbers or one clear sentence, never a value of a cell."""

import ast
import gzip
import json
import traceback
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.tables import csv_intake
from dpviz.tables.csv_intake import load_csv
from dpviz.tables.declarations import apply_declaration
from dpviz.tables.file_format import EAST_ASIAN, FileFormat
from dpviz.tables.loaded_table import IntakeError, LoadedTable, make_numeric_table
from tests.cases import about
from tests.examples import examples
from tests.tables.told import compare_cases


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


@settings(max_examples=examples(200))
@given(st.sampled_from(EAST_ASIAN), st.binary(max_size=9).filter(lambda line: b"\n" not in line))
def test_half_a_letter_concerns_its_own_line_only(encoding: str, line: bytes) -> None:
    table = load_csv(b"x,y\n1,2\n" + line + b"\n3,4\n", declared=FileFormat(encoding))
    assert table.n_rows == 3
    np.testing.assert_array_equal(np.array(rows(table))[[0, 2]], [[1, 2], [3, 4]])


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


def test_paths_and_names(tmp_path: Path) -> None:
    path = tmp_path / "town.csv.gz"
    path.write_bytes(gzip.compress(b"x\n1\n2\n", mtime=0))
    assert load_csv(path).name == load_csv(str(path)).name == "town"
    assert load_csv(path, name="Town").name == "Town"
    for wrong in (tmp_path / "none.csv", tmp_path, "a\0b"):
        with pytest.raises(IntakeError):
            load_csv(wrong)


def test_declared_columns_exist_whatever_stands_in_them() -> None:
    for body in (b"", b"1,,u\n", b"1,2,u\n", b",,\n"):
        table = load_csv(b"x,y,who\n" + body, numbers=["x", "y"], text=["who"])
        assert (table.numeric_columns, table.text_columns) == (("x", "y"), ("who",))
    with pytest.raises(IntakeError, match='no column "z"'):
        load_csv(b"x,y\n1,2\n", numbers=["z"])


def test_a_column_named_label_is_no_number_unless_it_is_asked_for() -> None:
    raw = b"x,label\n1,7\n"
    assert load_csv(raw).text_columns == ("label",)
    assert load_csv(raw, text=()).numeric_columns == ("x", "label")


def test_ids_are_text_cell_by_cell() -> None:
    ids = ["7", " 7 ", "7.0", '"7"', "07", "u", "U", "e\u0301", "é", "", "NA", "9007199254740992", "9007199254740993"]
    raw = ("id,x\n" + "".join(f"{word},1\n" for word in ids)).encode()
    codes = load_csv(raw, text=["id"]).identifiers("id").tolist()
    assert codes[:4] == [codes[0]] * 4
    assert codes[7] == codes[8]
    assert codes[9:11] == [-1, -1]
    assert len({codes[place] for place in (0, 4, 5, 6, 7, 11, 12)}) == 7
    with pytest.raises(IntakeError, match='no column "w"'):
        load_csv(raw, text=["id"]).identifiers("w")


def test_asking_for_columns() -> None:
    table = load_csv(b"x,y,who\n1,2,u\n,4,v\n", text=["who"])
    np.testing.assert_array_equal(table.columns(["y", "x"]), [[2, 1], [4, np.nan]])
    assert table.columns(["y", "x"]).flags.c_contiguous
    for wrong, said in (([], "at least one"), (["w"], '"x", "y"'), (["who"], "holds text"), (["x", "x"], "twice")):
        with pytest.raises(IntakeError, match=said):
            table.columns(wrong)


def test_fingerprint_tells_neighbours_apart_and_knows_equals() -> None:
    base = np.random.default_rng(0).random((60_000, 2))
    neighbour = base.copy()
    neighbour[31_337, 1] += 1e-12
    assert make_numeric_table(base).fingerprint == make_numeric_table(base.copy()).fingerprint
    assert make_numeric_table(base).fingerprint != make_numeric_table(neighbour).fingerprint
    assert make_numeric_table(base[:-1]).fingerprint != make_numeric_table(base).fingerprint
    texts = [f"who,x\n{a},1\n{b},1\n".encode() for a, b in (("ab", "c"), ("a", "bc"), ("c", "ab"), ("ab", "ab"))]
    assert len({load_csv(text, text=["who"]).fingerprint for text in texts}) == 4


def test_numbers_in_memory() -> None:
    given_array = np.arange(6.0).reshape(3, 2)
    table = make_numeric_table(given_array, ["a", "b"], name="made")
    given_array[0, 0] = 99  # the caller's array stays theirs, and ours stays ours
    assert (table.name, table.n_rows, table.columns(["a"])[0, 0]) == ("made", 3, 0.0)
    assert make_numeric_table([1, 2, 3]).numeric_columns == ("column_1",)
    assert make_numeric_table(np.empty((0, 3))).numeric_columns == ("column_1", "column_2", "column_3")
    frame = pd.DataFrame({"x": [1, 2], "who": ["u", None]}, index=[7, 7])
    assert make_numeric_table(frame).text_columns == ("who",)
    for values, columns in (([[["secret"]]], None), (np.zeros((2, 2, 2)), None), (["secret", 2], ["a", "b"])):
        with pytest.raises(IntakeError) as caught:
            make_numeric_table(values, columns)
        assert "secret" not in "".join(traceback.format_exception(caught.value))
    with pytest.raises(IntakeError, match="Two columns are called"):
        make_numeric_table(np.zeros((2, 2)), ["a", "a"])


def test_every_part_of_iso_8859_is_read() -> None:
    for part in (*range(1, 12), *range(13, 17)):
        declared = FileFormat(encoding=f"iso8859-{part}")
        assert load_csv(b"x\n1\n", declared=declared).numeric_columns == ("x",), part
