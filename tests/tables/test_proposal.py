"""Proposals: what people upload is told by its first rows, to its owner, and reads back as proposed."""

import gzip
from itertools import product

import numpy as np
import pytest

from dpviz.tables.codings import Closed, Cycle, Nominal, Ordinal
from dpviz.tables.csv_intake import open_csv
from dpviz.tables.declarations import NOTHING_DECLARED, Declaration, apply_declaration, to_json
from dpviz.tables.file_format import FileFormat
from dpviz.tables.loaded_table import IntakeError
from dpviz.tables.proposal import propose
from tests.cases import about

NAN = float("nan")


def test_what_people_upload_reads_as_proposed():
    for what, (raw, names, expected) in {
        "plain": (b"x,y\n1,2\n3,4\n", ("x", "y"), [[1, 2], [3, 4]]),
        "blanks between columns": (b"x y\n1  2\n 3 4\n", ("x", "y"), [[1, 2], [3, 4]]),
        "numpy's comment header": (b"# x y\n1 2\n3 4\n", ("x", "y"), [[1, 2], [3, 4]]),
        "decimal comma": (b"x;y\n1,5;2\n2,5;3\n", ("x", "y"), [[1.5, 2], [2.5, 3]]),
        "comma no header": (b"1,5;2,5\n3,5;4,5\n", ("column_1", "column_2"), [[1.5, 2.5], [3.5, 4.5]]),
        "dots group": (b"x;y\n1.234,5;1\n2,5;2\n", ("x", "y"), [[1234.5, 1], [2.5, 2]]),
        "one column of decimal commas": (b"x\n1,5\n2,5\n", ("x",), [[1.5], [2.5]]),
        "thousands": (b'x,y\n"1,234",1\n"2,000,000.5",2\n', ("x", "y"), [[1234, 1], [2000000.5, 2]]),
        "signs": (b"x;y\n$1,200.50;12%\n$3;4 %\n", ("x", "y"), [[1200.5, 12], [3, 4]]),
        "blanks group": ("x;y\n1\u202f200,5 €;1\n3 €;2\n".encode(), ("x", "y"), [[1200.5, 1], [3, 2]]),
        "excel's sep line": (b"sep=;\nx;y\n1;2\n", ("x", "y"), [[1, 2]]),
        "delimiter at line ends": (b"x,y\n1,2,\n3,4,\n", ("x", "y"), [[1, 2], [3, 4]]),
        "row names": (b"x,y\n8,1,2\n9,3,4\n", ("row", "x", "y"), [[8, 1, 2], [9, 3, 4]]),
        "pandas' own names": (b"0,1,2\n5,6,7\n", ("0", "1", "2"), [[5, 6, 7]]),
        "names that count from 1": (b"1,2,3\n5,6,7\n", ("1", "2", "3"), [[5, 6, 7]]),
        "years as names": (b"town,2019,2020\na,5,6\n", ("2019", "2020"), [[5, 6]]),
        "long ids are text": (b"id,x\n9007199254740993,1\n9007199254740992,2\n", ("x",), [[1], [2]]),
        "half of the cells decide": (b"x,y\n1,u\n2,v\nz,w\n", ("x",), [[1], [2], [NAN]]),
        "utf-16": ("x,y\n1,2\n".encode("utf-16"), ("x", "y"), [[1, 2]]),
        "cp1252": ("größe,y\n1,2\n".encode("cp1252"), ("größe", "y"), [[1, 2]]),
        "latin-1": ("é\x81,y\n1,2\n".encode("latin-1"), ("é", "y"), [[1, 2]]),
        "gzip": (gzip.compress(b"x,y\n1,2\n"), ("x", "y"), [[1, 2]]),
    }.items():
        with about(what):
            file = open_csv(raw)
            proposal = propose(file)
            assert proposal.numbers == names
            table = file.read(proposal.file, numbers=proposal.numbers, text=proposal.text)
            np.testing.assert_array_equal(table.columns(names), expected)
            told = set(proposal.numbers) | set(proposal.text)
            assert told == set(file.header(proposal.file).names) == set(proposal.names)


def test_a_first_row_of_values_is_never_proposed_as_names():
    proposal = propose(open_csv(b"39,State-gov,77516\n50,Self-emp,83311\n"))
    assert proposal.names == ("column_1", "column_2", "column_3")
    assert proposal.file.header is False


def test_a_column_without_a_name_gets_one_that_nobody_has():
    for head, names in ((b"x,y", ("x", "y", "column_3")), (b"x,column_3", ("x", "column_3", "column_3_"))):
        assert propose(open_csv(head + b"\n1,2,\n3,4,\n")).names == names


def test_constant_columns_are_said():
    assert any('"z"' in note for note in propose(open_csv(b"x,z\n1,5\n2,5\n")).notes)


def test_what_holds_no_lines_of_fields_gets_a_sentence():
    for raw in (b"", b"\n\n", b'"', b'a,"b\nc",d\n1,2,3', b"a\rb\rc", b"PK\x03\x04 rest", "sep=§\n1".encode()):
        with about(raw), pytest.raises(IntakeError):
            propose(open_csv(raw))


def test_no_row_becomes_a_name_where_bytes_are_out_of_step():
    """One byte too many, and letters and line ends of two or four bytes are others; another one mends what follows."""
    line_by_line = "name,x\nqwrtzpsdfg,b\nvbnmkljhgf,c\n"
    for encoding, put_in in product(("utf-16", "utf-16-be", "utf-32"), (b'"', b"\0", b"\xff")):
        raw = line_by_line.encode(encoding)
        raw = raw if encoding != "utf-16-be" else b"\xfe\xff" + raw
        for first, then in product((3, 5, 9, 12), (20, 25, 27, 41, 60)):
            out_of_step = raw[:first] + put_in + raw[first:then] + put_in + raw[then:]
            for read in (propose, lambda file: file.header(FileFormat(encoding))):  # noqa: B023 (called at once)
                try:
                    names = read(open_csv(out_of_step)).names
                except IntakeError:
                    continue
                with about(encoding, put_in, first, then, names):
                    assert not any(part in name for name in names for part in ("psdfg", "bnmk", "hgf"))


def test_what_is_no_text_of_its_encoding_gets_a_sentence():
    with pytest.raises(IntakeError, match="UTF-32, which is not proposed"):
        propose(open_csv("x,y\n1,2\n".encode("utf-32")))
    for raw in (b"\xff\xfex\0\0\n\0", b"\xff\xfex\0\0\0y\0\n\0", b"\xff\xfex\0\0\xd8\n\0"):
        with about(raw), pytest.raises(IntakeError, match="no text in utf-16"):
            propose(open_csv(raw + "1\n".encode("utf-16-le")))


def test_codes_are_numbers_that_nobody_should_average():
    for name, cells, is_code in (
        ("zip", ["10115", "20095", "80331"], True),
        ("home-plz", ["10115", "1", "80331"], True),
        ("block", ["0112", "0113", "1201"], True),
        ("block", [str(10_000 + 37 * i) for i in range(200)], False),
        ("ward", [str(10_000 + 37 * i) for i in range(200)], True),
        ("income", [str(9_000 + 37 * i) for i in range(200)], False),
        ("year", [str(1950 + i % 50) for i in range(200)], False),
        ("age", ["31", "44", "52"], False),
        ("steps", ["10000", "20000", "10000"], False),
    ):
        with about(name, cells[:3]):
            rows = "\n".join(f"{cell},{place}.5" for place, cell in enumerate(cells))
            found = propose(open_csv(f"{name},height\n{rows}\n".encode(), name="table"))
            assert found.numbers == (name, "height") and found.list_kind("code") == ([name] if is_code else [])
            assert found.join_to(Declaration()).columns == (("height",) if is_code else (name, "height"))
            assert any("Codes rather than numbers" in note for note in found.notes) == is_code


def test_who_is_whom_stays_declared_where_the_file_has_that_column():
    found = propose(open_csv(b"who,height\na,1.5\nb,2.5\n", name="table"))
    for declared, kept in (("who", ("who", 3)), ("somebody", (None, 1))):
        joined = found.join_to(Declaration(id_column=declared, rows_per_person=3))
        assert (joined.id_column, joined.rows_per_person) == kept


def test_where_the_first_line_may_be_either_both_readings_are_there():
    file = open_csv(b"a,12,7\n1,15,9\n2,3,4\n")
    row = propose(file)
    names = propose(file, reading=row.other)
    assert (row.file.header, names.file.header) == (False, True)
    assert (row.names, names.names) == (("column_1", "column_2", "column_3"), ("a", "12", "7"))
    assert names.other == row.file and propose(file, reading=names.other).file == row.file


def test_one_column_says_how_the_others_are_written():
    """A point is the decimal mark or groups thousands: a sibling decides, and where none does that is said."""
    for raw, value, doubt in (
        (b"a;b\n247.548;1,5\n89.504;2,25\n", 247548, False),
        (b"a;b\n247.548;1.5\n89.504;2.25\n", 247.548, False),
        (b"a;b\n247.548;x\n89.504;y\n", 247.548, True),
        (b"a;b\n1.247.548;x\n89.504;y\n", 1247548, False),
        (b'a,b\n"1,500",x\n"2,250",y\n', 1500, False),
    ):
        with about(raw):
            file = open_csv(raw)
            proposal = propose(file)
            assert file.read(proposal.file, numbers=["a"]).frame["a"][0] == value
            assert any("cannot be told" in note for note in proposal.notes) == doubt


def test_what_was_seen_is_in_no_words_of_a_proposal():
    raw = b"region,stage,x\n" + b"".join(b"secretplace,%s,%d\n" % (word, i) for i, word in enumerate([b"I", b"II"] * 9))
    proposal = propose(open_csv(raw))
    assert proposal.kinds["region"].values == ("secretplace",)
    assert "secretplace" not in repr(proposal) and "secretplace" not in to_json(proposal.join_to(NOTHING_DECLARED))


MANY_KINDS = "mitglied_nr;betrag;seit;ort;aktiv;stufe;stunde\n" + "".join(
    f"{i};{1000 + i},5;{1 + i % 28:02d}.{1 + i % 12:02d}.2021;{('Köln', 'Bonn', 'Jülich')[i % 3]};"
    f"{('Ja', 'Nein')[i % 2]};{('niedrig', 'hoch')[i % 2]};{i % 24}\n"
    for i in range(48)
)


def test_what_a_column_holds_is_declared_once_its_owner_confirms_it():
    proposal = propose(open_csv(MANY_KINDS.encode()))
    forms = proposal.list_forms(NOTHING_DECLARED)
    assert forms == {
        "seit": {"dates": [], "written": "dmy"},
        "ort": {"categories": ["Bonn", "Jülich", "Köln"]},
        "aktiv": {"categories": ["Nein", "Ja"], "closed": True},
        "stufe": {"order": ["niedrig", "mittel", "hoch"]},
        "stunde": {"cycle": 24},
    }
    plain = proposal.join_to(NOTHING_DECLARED)
    assert plain.columns == ("betrag", "stunde") and not plain.codings and "Köln" not in to_json(plain)
    joined = proposal.join_to(NOTHING_DECLARED, confirmed=("ort", "aktiv", "stufe", "stunde"))
    assert joined.columns == ("betrag", "stunde", "ort", "aktiv", "stufe") and joined.proposed
    assert joined.codings == {
        "ort": Nominal(("Bonn", "Jülich", "Köln")),
        "aktiv": Closed(("Nein", "Ja")),
        "stufe": Ordinal(("niedrig", "mittel", "hoch")),
        "stunde": Cycle(24.0),
    }
    assert apply_declaration(to_json(joined), NOTHING_DECLARED).codings == joined.codings
    # What is declared already is not proposed again, nor is whose a row is.
    assert "ort" not in proposal.list_forms(joined) and "seit" in proposal.list_forms(joined)
    for name, why in (("seit", "between which ones is for its owner to say"), ("betrag", "Nothing but bounds")):
        with pytest.raises(IntakeError, match=why):
            proposal.join_to(NOTHING_DECLARED, confirmed=(name,))


def test_dates_say_how_they_are_written_and_what_no_order_reads_is_no_form():
    for cells, written in (
        (("2021-01-31", "2022-02-01"), "ymd"),
        (("20210131", "20220201"), "ymd"),
        (("31.01.2021", "01.02.2021"), "dmy"),
        (("01/31/2021", "02/01/2021"), "mdy"),
        (("31/01/2021", "02/01/2021"), "dmy"),
        (("01/02/2021", "02/03/2021"), "mdy"),
        (("01.02.2021", "02.03.2021"), "dmy"),
        (("01.02.21", "02.03.22"), None),
        (("Jan 5 2024", "Feb 6 2024"), None),
        (("1700000000", "1700086400"), None),
    ):
        raw = "joined,x\n" + "".join(f"{cell},1\n" for cell in cells * 5)
        form = propose(open_csv(raw.encode())).list_forms(NOTHING_DECLARED).get("joined")
        with about(cells):
            assert form == (None if written is None else {"dates": [], "written": written})


def test_yes_and_no_are_told_whole_and_spelled_as_the_rows_spell_them():
    for cells, values in (
        (("YES", "YES"), ["NO", "YES"]),
        (("true", "false"), ["false", "true"]),
        (("Ja",), ["Nein", "Ja"]),
    ):
        raw = "x,flag\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells * 10))
        assert propose(open_csv(raw.encode())).list_forms(NOTHING_DECLARED)["flag"]["categories"] == values
    mixed = "x,flag\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(("yes", "Yes", "no") * 8))
    assert "closed" not in propose(open_csv(mixed.encode())).list_forms(NOTHING_DECLARED)["flag"]


def test_a_line_below_others_is_names_only_above_columns_of_numbers():
    """Lines are skipped for surely names; a row of words below a stray line must not become names."""
    for raw in (b"note\nsecret,word\nu,v\nw,x\n", b"# note\nsecret,word\nu,v\nw,x\n", b"note\nsecret,5\nu,6\nw,7\n"):
        with about(raw):
            proposal = propose(open_csv(raw))
            assert proposal.file.skip == 0 and "secret" not in proposal.names
    assert propose(open_csv(b"a title\n\nname,x\nu,6\nw,7\n")).file.skip == 2


def test_a_proposal_looks_once_at_a_cell_of_many_characters():
    """Patterns that try each way to share a cell out would never end here."""
    for cell in ("7" * 100_000 + "x", "7 " * 50_000 + "x", "1,." * 40_000 + "ab", "$7" * 50_000 + "x", "7" * 130_000):
        with about(cell[:4], len(cell)):
            proposal = propose(open_csv(f'name;size\nAnna;"{cell}"\nBen;"{cell}"\nCy;5\n'.encode()))
            assert proposal.names == ("name", "size")
