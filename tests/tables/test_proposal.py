"""Proposals: what people bring is told by its first rows, to its owner, and reads back as proposed."""

import json
import math
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from dpviz.tables.codings import Closed, Cycle, Nominal, Ordinal
from dpviz.tables.csv_intake import open_csv
from dpviz.tables.declarations import NOTHING_DECLARED, apply_declaration, to_json
from dpviz.tables.file_format import FileFormat
from dpviz.tables.loaded_table import IntakeError
from dpviz.tables.proposal import propose
from tests.cases import about
from tests.stored import compare_texts

HERE = Path(__file__).parent
_MOST = 12  # columns of a file, and cells of a column


def tell(path: Path) -> Iterator[str]:
    """Each column with its kind and first numbers, whether it is chosen, and every note; or why it is refused."""
    file = open_csv(path)
    try:
        proposal = propose(file)
    except IntakeError as refused:
        yield f"refused: {refused}"
        return
    declared = proposal.join_to(NOTHING_DECLARED)
    assert apply_declaration(to_json(declared)) == declared.validate()
    numbers = file.read(declared.file, numbers=proposal.numbers).frame
    written = json.loads(to_json(declared)).get("file", {})
    yield f"{json.dumps(written, ensure_ascii=False)[:400]}; names: {proposal.names[:_MOST]}"
    if proposal.other is not None:
        again = propose(file, reading=proposal.other)
        assert (again.file, again.other) == (proposal.other, proposal.file)
        yield f"another reading: a header is {again.file.header}, {again.names[:_MOST]}"
    others = {"units": proposal.units, "missing": proposal.missing, "whose": proposal.whose}
    yield from (f"{what}: {found}" for what, found in others.items() if found)
    yield from (f"form of {name}: {form}" for name, form in proposal.list_forms(NOTHING_DECLARED).items())
    for name in proposal.names[:_MOST]:
        kind, chosen = proposal.kinds[name], ", chosen" if name in declared.columns else ""
        cells = numbers[name][:_MOST].tolist() if name in proposal.numbers else []
        read = " ".join("none" if math.isnan(cell) else f"{cell:.12g}" for cell in cells)
        yield f"{name}: {kind.kind}{', repeats' if kind.repeats else ''}{chosen} {read}".rstrip()
    yield from proposal.notes


@pytest.mark.slow
def test_each_kind_of_file_that_people_bring_is_read_as_it_was_found_to_be_right() -> None:
    """As public trackers report them, and as people upload them; nothing in the files is anybody's data."""
    paths = [*sorted((HERE / "cases").glob("*.csv")), *sorted((HERE / "kinds").glob("*.csv"))]
    told = ((f"{path.parent.name}/{path.name}", "\n".join(tell(path))) for path in paths)
    compare_texts(HERE / "stored" / "kinds.txt", told)


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


def test_a_blank_line_parts_names_from_titles():
    assert propose(open_csv(b"a,b\n\nx,y\n1,2\n3,4\n5,6\n")).names == ("x", "y")


def test_what_is_no_text_of_its_encoding_gets_a_sentence():
    with pytest.raises(IntakeError, match="UTF-32, which is not proposed"):
        propose(open_csv("x,y\n1,2\n".encode("utf-32")))
    for raw in (b"\xff\xfex\0\0\n\0", b"\xff\xfex\0\0\0y\0\n\0", b"\xff\xfex\0\0\xd8\n\0"):
        with about(raw), pytest.raises(IntakeError, match="no text in utf-16"):
            propose(open_csv(raw + "1\n".encode("utf-16-le")))


MANY_KINDS = "mitglied_nr;betrag;seit;ort;aktiv;stufe;stunde\n" + "".join(
    f"{i};{1000 + i},5;{1 + i % 28:02d}.{1 + i % 12:02d}.2021;{('Köln', 'Bonn', 'Jülich')[i % 3]};"
    f"{('Ja', 'Nein')[i % 2]};{('niedrig', 'hoch')[i % 2]};{i % 24}\n"
    for i in range(48)
)


def test_what_a_column_holds_is_declared_once_its_owner_confirms_it():
    proposal = propose(open_csv(MANY_KINDS.encode()))
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


def test_a_proposal_looks_once_at_a_cell_of_many_characters():
    """Patterns that try each way to share a cell out would never end here."""
    for cell in ("7" * 100_000 + "x", "7 " * 50_000 + "x", "1,." * 40_000 + "ab", "$7" * 50_000 + "x", "7" * 130_000):
        with about(cell[:4], len(cell)):
            proposal = propose(open_csv(f'name;size\nAnna;"{cell}"\nBen;"{cell}"\nCy;5\n'.encode()))
            assert proposal.names == ("name", "size")
