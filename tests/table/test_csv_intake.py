"""Intake: what people upload becomes the same numbers or one clear sentence, never a value of a cell."""

import gzip
import io
import traceback
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.table import csv_intake
from dpviz.table.csv_intake import IntakeError, LoadedTable, load_csv, numeric_table


def rows(table: LoadedTable) -> list[list[float]]:
    return table.columns(table.numeric_columns).tolist()


@pytest.mark.parametrize(
    ("raw", "names", "expected"),
    [
        pytest.param(b"x,y\n1,2\n3,4\n", ("x", "y"), [[1, 2], [3, 4]], id="plain"),
        pytest.param(b"x,y\r\n1,2\r\n3,4", ("x", "y"), [[1, 2], [3, 4]], id="windows lines, no last end"),
        pytest.param(b"x,y\r1,2\r3,4\r", ("x", "y"), [[1, 2], [3, 4]], id="old mac lines"),
        pytest.param(b"x\n1\n2\n", ("x",), [[1], [2]], id="one column"),
        pytest.param(b"x,y\n5,6\n", ("x", "y"), [[5, 6]], id="one row"),
        pytest.param(b"x,y\n", ("x", "y"), [], id="no row"),
        pytest.param(b"x y\n1  2\n 3 4\n", ("x", "y"), [[1, 2], [3, 4]], id="blanks between columns"),
        pytest.param(b"# x y\n1 2\n3 4\n", ("x", "y"), [[1, 2], [3, 4]], id="numpy's comment header"),
        pytest.param(b"x;y\n1,5;2\n2,5;3\n", ("x", "y"), [[1.5, 2], [2.5, 3]], id="decimal comma"),
        pytest.param(b"1,5;2,5\n3,5;4,5\n", ("column_1", "column_2"), [[1.5, 2.5], [3.5, 4.5]], id="comma no header"),
        pytest.param(b"x;y\n1.234,5;1\n2,5;2\n", ("x", "y"), [[1234.5, 1], [2.5, 2]], id="dots group"),
        pytest.param(b"x\n1,5\n2,5\n", ("x",), [[1.5], [2.5]], id="one column of decimal commas"),
        pytest.param(b'x,y\n"1,234",1\n"2,000,000.5",2\n', ("x", "y"), [[1234, 1], [2000000.5, 2]], id="thousands"),
        pytest.param(b"sep=;\nx;y\n1;2\n", ("x", "y"), [[1, 2]], id="excel's sep line"),
        pytest.param(b"\n\nx,y\n\n1,2\n\n", ("x", "y"), [[1, 2]], id="blank lines"),
        pytest.param(b'"x\nkm",y\n1,2\n', ("x km", "y"), [[1, 2]], id="line end in a name"),
        pytest.param(b"x, y \n 1, 2\n", ("x", "y"), [[1, 2]], id="blanks around"),
        pytest.param(b"x,y\n1,2,\n3,4,\n", ("x", "y"), [[1, 2], [3, 4]], id="delimiter at line ends"),
        pytest.param(b"x,x,\n1,2,3\n", ("x", "x_2", "column_3"), [[1, 2, 3]], id="duplicate and blank names"),
        pytest.param(b"x,x_2,x\n1,2,3\n", ("x", "x_2", "x_3"), [[1, 2, 3]], id="a made name is taken"),
        pytest.param(b"1,2\n3,4\n", ("column_1", "column_2"), [[1, 2], [3, 4]], id="no header"),
        pytest.param(b"0,1,2\n5,6,7\n", ("0", "1", "2"), [[5, 6, 7]], id="pandas' own names"),
        pytest.param(b"town,2019,2020\na,5,6\n", ("2019", "2020"), [[5, 6]], id="years as names"),
        pytest.param(b'x,y,z\n1,4.5,7\n2,5.5,8\n"', ("x", "y", "z"), [[1, 4.5, 7], [2, 5.5, 8]], id="quote at end"),
        pytest.param(b'x,y\n1,"2\n3,4\n', ("x", "y"), [[1, 2], [3, 4]], id="quote never closed"),
        pytest.param(b"x,y\n1e400,-inf\n1e300,2\n", ("x", "y"), [[np.inf, -np.inf], [1e300, 2]], id="not finite"),
        pytest.param("x,y\n1,2\n".encode("utf-16"), ("x", "y"), [[1, 2]], id="utf-16"),
        pytest.param("x,y\n1,2\n".encode("utf-32"), ("x", "y"), [[1, 2]], id="utf-32"),
        pytest.param("größe,y\n1,2\n".encode("utf-8-sig"), ("größe", "y"), [[1, 2]], id="utf-8 mark"),
        pytest.param("größe,y\n1,2\n".encode("cp1252"), ("größe", "y"), [[1, 2]], id="cp1252"),
        pytest.param("é\x81,y\n1,2\n".encode("latin-1"), ("é", "y"), [[1, 2]], id="latin-1"),
        pytest.param(gzip.compress(b"x,y\n1,2\n") + gzip.compress(b"3,4\n"), ("x", "y"), [[1, 2], [3, 4]], id="gzip"),
    ],
)
def test_what_people_upload(raw: bytes, names: tuple[str, ...], expected: list[list[float]]) -> None:
    table = load_csv(raw)
    assert table.numeric_columns == names
    kept = [row for row in rows(table) if not np.isnan(row).all()]
    assert kept == expected


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"a,b\nu,v\nw,z\n", "No column of the file holds numbers"),
        (b"x:y\n1:2\n", "check the delimiter"),
        (b"PK\x03\x04 rest", "Excel"),
        (b"%PDF-1.7", "PDF"),
        (b"PAR1", "Parquet"),
        (b"<!doctype html><p>", "web page"),
        (b'  {"x": 1}', "JSON"),
        (b"x,y\n1,2\0\n", "binary"),
        (b"report\nx,y,z\n1,2,3\n", "names 1 column"),
        (gzip.compress(b"x,y\n1,2\n" * 99, mtime=0)[:-9], "ends too early"),
        (b"\x1f\x8b nonsense", "damaged"),
        (b"a" * 1_100_000, "no line ends"),
        (b'x,y\n"' + b"a" * 200_000 + b'",1\n', "longer than"),
        (b",".join(b"c%d" % i for i in range(2001)) + b"\n", "2,000 columns"),
    ],
)
def test_what_cannot_be_a_table_gets_a_sentence(raw: bytes, said: str) -> None:
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


def test_lines_that_are_too_long_are_left_out_and_counted_but_not_noted() -> None:
    table = load_csv(b"x,y\n1,2\n3,4,5\n6,7,,8\n9,9\n")
    assert rows(table) == [[1, 2], [9, 9]]
    assert table.skipped_lines == 2
    assert table.notes == ()
    assert "2" not in repr(table).replace(table.fingerprint, "")


@pytest.mark.parametrize(
    ("cells", "numeric"),
    [(["1", "2", "u", "v"], True), (["1", "u", "v"], False), (["1", "", "", "u"], True), (["True", "False"], False)],
)
def test_half_of_the_cells_decide_whether_a_column_is_numeric(cells: list[str], numeric: bool) -> None:
    table = load_csv(("x,y\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(cells))).encode())
    assert ("x" in table.numeric_columns) == numeric
    assert ("x" in table.text_columns) != numeric
    assert any('"x"' in note for note in table.notes)


def test_text_that_comes_late_in_a_long_file_changes_nothing() -> None:
    many = csv_intake._CELLS_AT_ONCE // 4 + 5_000
    raw = b"x,y,z\n" + b"7,1,2\n" * many + b"oops,3,4\n" + b"007,5,w\n" * 3
    table = load_csv(raw)
    assert table.numeric_columns == ("x", "y", "z")
    assert np.isnan(table.columns(["x"])[many, 0])
    late = load_csv(raw.replace(b"7,1,2\n", b"7a,1,2\n").replace(b"7a,1,2\n", b"7,1,2\n", 3_000))
    assert late.text_columns == ("x",)
    assert late.frame["x"].iloc[[0, -1]].tolist() == ["7", "007"]


def test_long_ids_stay_distinct() -> None:
    raw = b"id,x\n9007199254740992,1\n9007199254740993,2\n9007199254740993,3\n"
    table = load_csv(raw)
    assert table.text_columns == ("id",)
    assert table.identifiers("id").tolist() == [0, 1, 1]
    with pytest.raises(IntakeError, match=r"2\^53"):
        numeric_table(np.array([[2.0**53], [1.0]]), ["id"]).identifiers("id")


def test_a_missing_id_is_a_person_of_its_own() -> None:
    table = load_csv(b"id,who,x\n5,u,1\n,,2\n5,v,3\n,,4\n")
    for column in ("id", "who"):
        codes = table.identifiers(column)
        assert codes.dtype == np.int64
        assert len(set(codes.tolist())) == {"id": 3, "who": 4}[column]
        assert codes[1] != codes[3]
    with pytest.raises(IntakeError, match='no id column "w"'):
        table.identifiers("w")


def test_empty_and_constant_columns_are_said() -> None:
    table = load_csv(b"x,y,z\n1,,5\n2,,5\n")
    assert table.numeric_columns == ("x", "z")
    assert table.constant_columns == ("z",)
    assert any("empty" in note and '"y"' in note for note in table.notes)
    assert any(note.startswith("Constant") and '"z"' in note for note in table.notes)


def test_a_first_row_of_values_never_becomes_column_names() -> None:
    table = load_csv(b"39,State-gov,77516\n50,Self-emp,83311\n")
    assert list(table.frame.columns) == ["column_1", "column_2", "column_3"]
    assert table.n_rows == 2
    assert "first line holds numbers" in table.notes[0]


def test_asking_for_columns() -> None:
    table = load_csv(b"x,y,who\n1,2,u\n,4,v\n")
    np.testing.assert_array_equal(table.columns(["y", "x"]), [[2, 1], [4, np.nan]])
    assert table.columns(["y", "x"]).flags.c_contiguous
    for wrong, said in (([], "at least one"), (["w"], '"x", "y"'), (["who"], "holds text"), (["x", "x"], "twice")):
        with pytest.raises(IntakeError, match=said):
            table.columns(wrong)


def test_fingerprint_tells_neighbours_apart_and_knows_equals() -> None:
    base = np.random.default_rng(0).random((60_000, 2))
    neighbour = base.copy()
    neighbour[31_337, 1] += 1e-12
    assert numeric_table(base).fingerprint == numeric_table(base.copy()).fingerprint
    assert numeric_table(base).fingerprint != numeric_table(neighbour).fingerprint
    assert numeric_table(base[:-1]).fingerprint != numeric_table(base).fingerprint
    texts = [f"who,x\n{a},1\n{b},1\n".encode() for a, b in (("ab", "c"), ("a", "bc"), ("c", "ab"), ("ab", "ab"))]
    assert len({load_csv(text).fingerprint for text in texts}) == 4


def test_numbers_in_memory() -> None:
    given_array = np.arange(6.0).reshape(3, 2)
    table = numeric_table(given_array, ["a", "b"], name="made")
    given_array[0, 0] = 99  # the caller's array stays theirs, and ours stays ours
    assert (table.name, table.n_rows, table.columns(["a"])[0, 0]) == ("made", 3, 0.0)
    assert numeric_table([1, 2, 3]).numeric_columns == ("column_1",)
    assert numeric_table(np.empty((0, 3))).numeric_columns == ("column_1", "column_2", "column_3")
    frame = pd.DataFrame({"x": [1, 2], "who": ["u", None]}, index=[7, 7])
    assert numeric_table(frame).text_columns == ("who",)
    for values, columns in (([["secret"]], None), (np.zeros((2, 2, 2)), None), ([1, 2], ["a", "b"])):
        with pytest.raises(IntakeError) as caught:
            numeric_table(values, columns)
        assert "secret" not in "".join(traceback.format_exception(caught.value))
    with pytest.raises(IntakeError, match="repeat"):
        numeric_table(np.zeros((2, 2)), ["a", "a"])


finite = st.floats(allow_nan=False, allow_infinity=False, width=64)


@settings(deadline=None, max_examples=60)
@given(
    data=st.data(),
    d=st.integers(1, 5),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    line_end=st.sampled_from(["\n", "\r\n"]),
    decimal_comma=st.booleans(),
    packed=st.booleans(),
)
def test_round_trip_through_text_keeps_every_number(
    data: st.DataObject, d: int, delimiter: str, encoding: str, line_end: str, decimal_comma: bool, packed: bool
) -> None:
    cells = data.draw(st.lists(st.lists(finite | st.none(), min_size=d, max_size=d), min_size=1, max_size=12))
    frame = pd.DataFrame(cells, columns=[f"spalte{i}é" for i in range(d)], dtype=np.float64)
    frame.loc[len(frame)] = 1.25  # so that no column is empty
    decimal = "," if decimal_comma and delimiter != "," and d > 1 else "."
    text = frame.to_csv(index=False, sep=delimiter, lineterminator=line_end, decimal=decimal)
    raw = text.encode(encoding)
    table = load_csv(gzip.compress(raw) if packed else raw)
    assert table.numeric_columns == tuple(frame.columns)
    np.testing.assert_allclose(table.columns(list(frame.columns)), frame.to_numpy(), rtol=1e-15, atol=0)


SECRETS = ("Zaphod", "73519.25", "Beeblebrox 42", "-918273")
cell = st.sampled_from([*SECRETS, "", "NA", "1", "2,5"])
mangled = st.sampled_from(["\n", '"', ";", ",", "\t", "\0", "\r", "<", "\ufeff", "x", "é"])


@settings(deadline=None, max_examples=150)
@given(
    body=st.lists(st.lists(cell, min_size=1, max_size=4), max_size=8),
    header=st.sampled_from(["alpha,beta", "alpha;beta", "alpha", "alpha,alpha,,gamma", ""]),
    delimiter=st.sampled_from([",", ";", "\t", " "]),
    damage=st.lists(st.tuples(st.integers(0, 200), mangled), max_size=3),
    encoding=st.sampled_from(["utf-8", "utf-16", "cp1252"]),
)
def test_no_sentence_holds_a_value_of_a_cell(
    body: list[list[str]], header: str, delimiter: str, damage: list[tuple[int, str]], encoding: str
) -> None:
    first = [header] if header else ["1.5,2.5,Zaphod"]  # without names, the numbers tell that it is a row
    text = "\n".join([*first, *(delimiter.join(row) for row in body)])
    for place, what in damage:
        place = len(first[0]) + 1 + place  # the names themselves are public
        text = text[:place] + what + text[place:]
    try:
        table = load_csv(text.encode(encoding, "replace"))
        said = [*table.notes, repr(table)]
        for ask in (lambda: table.columns(["nope"]), lambda: table.identifiers("nope")):
            with pytest.raises(IntakeError) as refused:
                ask()
            said.append("".join(traceback.format_exception(refused.value)))
    except IntakeError as error:
        said = ["".join(traceback.format_exception(error))]
    for secret in ("Zaphod", "73519", "Beeblebrox", "918273"):
        assert not any(secret in sentence for sentence in said)


def test_a_million_rows_come_through() -> None:
    values = np.random.default_rng(0).random((1_000_000, 2)).round(4)
    text = io.StringIO()
    pd.DataFrame(values, columns=["x", "y"]).to_csv(text, index=False)
    np.testing.assert_array_equal(load_csv(text.getvalue().encode()).columns(["x", "y"]), values)
