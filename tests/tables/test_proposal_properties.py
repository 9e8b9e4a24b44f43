"""Whatever a file holds, no column and no row is lost, and no cell becomes public, without being named."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.tables.csv_intake import open_csv
from dpviz.tables.declarations import NOTHING_DECLARED, apply_declaration, to_json
from dpviz.tables.loaded_table import IntakeError
from dpviz.tables.proposal import Proposal, propose
from tests.cases import about
from tests.examples import examples

Table = tuple[list[str], list[list[str]]]
# Names of columns of each kind, and what stands in them: secrets are words that must be in no name and no note.
_WORDS = {
    "age": lambda i: str(20 + 7 * i % 60),
    "income": lambda i: f"{1000 + 137 * i}.5",
    "share": lambda i: f"{i % 100} %",
    "joined": lambda i: f"2021-{1 + i % 12:02d}-{1 + i % 28:02d}",
    "remark": lambda i: f"secret{i} word",
    "town": lambda i: ("secretham", "secretford", "secretbury")[i % 3],
    "smoker": lambda i: ("yes", "no")[i % 2],
    "refused_often": lambda i: "secretly refused" if i % 3 else str(100 + 11 * i),
}
_ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "cp1252")
_TITLES = ("", "A report of the office", "# made on a Monday")


@st.composite
def tables(drawn: st.DrawFn) -> Table:
    names = drawn(st.permutations(sorted(_WORDS)))[: drawn(st.integers(2, len(_WORDS)))]
    rows = drawn(st.sampled_from([12, 40, 1_300]))
    return names, [[_WORDS[name](i) for name in names] for i in range(rows)]


def write(table: Table, delimiter: str, quote: str, titles: Sequence[str], encoding: str, end: str) -> bytes:
    lines = [delimiter.join(f"{quote}{cell}{quote}" for cell in record) for record in (table[0], *table[1])]
    return end.join([*titles, *lines, ""]).encode(encoding)


def list_unnamed(proposal: Proposal, raw: bytes) -> list[str]:
    """The columns of which neither the declaration nor a note says what becomes of them."""
    chosen = proposal.join_to(NOTHING_DECLARED).columns
    said = " ".join(proposal.notes)
    return [name for name in proposal.names if name not in chosen and f'"{name}"' not in said]


@settings(max_examples=examples(60), deadline=None)
@given(
    tables(),
    st.sampled_from(",;\t|"),
    st.sampled_from(['"', "'", ""]),
    st.lists(st.sampled_from(_TITLES), max_size=2),
    st.sampled_from(_ENCODINGS),
    st.sampled_from(["\n", "\r\n"]),
)
def test_however_a_table_is_written_it_is_the_same_table(
    table: Table, delimiter: str, quote: str, titles: list[str], encoding: str, end: str
) -> None:
    names, rows = table
    raw = write(table, delimiter, quote, titles, encoding, end)
    file = open_csv(raw)
    proposal = propose(file)
    declared = proposal.join_to(NOTHING_DECLARED)
    public = (*proposal.list_public(declared), *proposal.notes, repr(proposal), to_json(declared))
    assert not any("secret" in said for said in public) and list_unnamed(proposal, raw) == []
    if proposal.file.header is False and proposal.other is not None:  # it cannot tell, and says so
        proposal = propose(file, reading=proposal.other)
    if proposal.file.header is not False:
        assert proposal.names == tuple(names)
        read = file.read(proposal.file, numbers=proposal.numbers, text=proposal.text)
        assert read.n_rows == len(rows)
        for name in {"age", "income", "share"} & {*names}:
            assert read.frame[name].notna().all()


def test_an_odd_row_behind_the_thousandth_is_missing_or_read_and_moves_no_other() -> None:
    for number, odd in enumerate(("12,5", "$12", "refused", "12;5", "1,2,3", '"open', "", "−12")):
        place, many = 1_001 + 80 * number, 2 + 5 * number
        rows = [f"{i};{100 + i}.5;w{i % 7}" for i in range(1_600)]
        rows[place : place + many] = [f"{i};{odd};w" for i in range(many)]
        file = open_csv(("a;b;c\n" + "\n".join(rows) + "\n").encode())
        proposal = propose(file)
        with about(place, odd):
            assert (proposal.names, proposal.file.header, proposal.file.skip) == (("a", "b", "c"), True, 0)
            read = file.read(proposal.file, numbers=["b"])
            assert read.n_rows == 1_600 and (read.frame["b"].notna().sum() >= 1_600 - many)


def test_a_mark_in_the_middle_or_at_the_end_counts() -> None:
    """A block of another way to write lies where the first lines do not show it, and is said."""
    for place in (2_000, 3_900):
        rows = [f"{i},{100 + i}" for i in range(4_000)]
        rows[place : place + 100] = ["1,refused"] * 100
        with about(place):
            proposal = propose(open_csv(("a,b\n" + "\n".join(rows) + "\n").encode()))
            assert any(note.startswith("No numbers in some") and '"b"' in note for note in proposal.notes)


@settings(max_examples=examples(150), deadline=None)
@given(st.text("ab1,;\"'\n\r %$.5\t|-", max_size=120))
def test_of_any_lines_each_column_is_named_and_no_row_is_skipped_unsaid(text: str) -> None:
    raw = text.encode()
    try:
        proposal = propose(open_csv(raw))
    except IntakeError:
        return
    assert list_unnamed(proposal, raw) == []
    blank = next((place for place, line in enumerate(text.split("\n")) if line.strip()), 0)
    if proposal.file.skip > blank:
        assert any("to be skipped" in note for note in proposal.notes)


def test_a_first_row_without_figures_is_no_label() -> None:
    rows = "".join(f"p{i},{20 + i},{100 + i}\n" for i in range(20))
    file = open_csv(f"name,age,pay\nZelda,,\n{rows}".encode())
    proposal = propose(file)
    assert proposal.file.header and not proposal.units
    assert file.read(proposal.file, numbers=["age"], text=["name"]).n_rows == 21


def test_a_file_most_of_whose_lines_would_be_lost_is_refused() -> None:
    rows = "".join(f"{i},{i + 1}\n" if i % 3 == 0 else f'{i},"{i}\n' for i in range(30))
    with pytest.raises(IntakeError, match="Most lines looked at"):
        propose(open_csv(f"a,b\n{rows}".encode()))


def test_what_may_mean_missing_is_offered_and_declared_where_its_owner_says_so() -> None:
    file = open_csv(("age;pay\n" + "".join(f"{-999 if i % 9 == 0 else 20 + i};{i}5,5\n" for i in range(60))).encode())
    proposal = propose(file)
    assert proposal.missing == {"age": ("-999",)}
    plain, said = (proposal.join_to(NOTHING_DECLARED, missing=names) for names in ((), ("age",)))
    assert "missing" not in to_json(plain) and '"missing": ["-999"]' in to_json(said)
    assert apply_declaration(to_json(said)) == said.validate()
    for declared, lowest in ((plain, -999), (said, 21)):
        assert file.read(declared.file, numbers=["age", "pay"]).frame["age"].min() == lowest
    with pytest.raises(IntakeError, match="No value of"):
        proposal.join_to(NOTHING_DECLARED, missing=("pay",))
