"""A record never becomes a name: not a cell of a header-less table is public before its owner has said so."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import dpviz
from dpviz.core import RequestError
from dpviz.releases import Account
from dpviz.tables.csv_intake import open_csv
from dpviz.tables.declarations import NOTHING_DECLARED, FileKind, to_json
from dpviz.tables.proposal import propose
from dpviz.tables.readings import NOTES
from tests.cases import about
from tests.command_line import call
from tests.pages.site import declared, open_form, press, upload, visit

Rows = list[tuple[str, ...]]
PROPOSE, IS_ROW = "Propose from the rows (counted)", "The first line is a row"


def draw(seed: int, n: int, *pools: str) -> Rows:
    """``n`` rows, a word of each pool in each."""
    rng = np.random.default_rng(seed)
    return [tuple(str(rng.choice(pool.split())) for pool in pools) for _ in range(n)]


NUMBERS = " ".join(map(str, range(20, 90)))


@cache
def list_tables() -> dict[str, Rows]:
    """Tables of the kinds that are published without a header."""
    distinct = [("Zelda", "Oslo", "weaver"), ("Anna", "Rome", "baker"), ("Ben", "Pisa", "smith")]
    mixed = draw(3, 40, "female male", NUMBERS, "north south east")
    return {
        "votes": draw(1, 60, "republican democrat", *["y n y n ?"] * 16),
        "mushrooms": draw(2, 60, "p e", *["x b s f k n w t"] * 22),
        "quoted": [tuple(f"'{cell}'" for cell in row) for row in draw(4, 40, "30-39 40-49", "ge40 premeno", "0-2 3-5")],
        "one column": draw(5, 30, "oak ash elm"),
        "two persons": distinct[:2],
        "one person": distinct[:1],
        "all different": distinct,
        "mixed": mixed,
        **{f"mixed, {word} first": [("female", word, "north"), *mixed] for word in ("?", "", "refused")},
        "no answer, and nobody like it": [("Zoë", "refused", "Lima"), *mixed],
        "numbers": draw(6, 30, NUMBERS, NUMBERS),
        "under a name that a column has": [("height", "180", "cm"), *[("width", str(i), "cm") for i in range(9)]],
    }


def write(rows: Iterable[tuple[str, ...]], delimiter: str = ",") -> bytes:
    return "".join(delimiter.join(row) + "\n" for row in rows).encode()


def is_free_of(rows: Rows, said: Iterable[str]) -> bool:
    """Whether no cell is one of the words that are said, quotes or none."""
    cells = {cell.strip("'\"") for row in rows for cell in row if cell}
    return cells.isdisjoint(word.strip("'\"") for word in said)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_no_proposal_makes_a_name_a_category_or_a_unit_of_a_row(delimiter: str) -> None:
    for kind, rows in list_tables().items():
        with about(kind):
            proposal = propose(open_csv(write(rows, delimiter)))
            found = proposal.join_to(NOTHING_DECLARED)
            assert found.file.header is False and is_free_of(rows, (*proposal.names, *found.units.values()))
            assert not found.codings and is_free_of(rows, found.columns)
            if proposal.other is not None:
                assert NOTES["cannot_tell"] in proposal.notes


def test_the_shell_and_python_take_no_row_for_names(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data, account = tmp_path / "people.csv", Account.new(tmp_path / "a.sqlite", name="p", cap_epsilon=9, cap_delta=0)
    for kind in ("votes", "mushrooms"):
        rows = list_tables()[kind]
        data.write_bytes(write(rows))
        with about(kind):
            assert is_free_of(rows, call(capsys, "declare", data).json["file"]["names"])
            said = call(capsys, "run", data, "--k", "2", "--epsilon", "1", "--bounds", "0,1")
            assert said.code == 2 and "may be a row" in said.err and not said.out
            with pytest.raises(RequestError, match="may be a row"):
                dpviz.release({"lower": 0, "upper": 1}, data, k=2, epsilon=1, account=account)
            assert account.standing().spent_epsilon == 0
            said_so = open_csv(data).header(propose(open_csv(data)).other or pytest.fail("no other reading"))
            assert said_so.names[0] == rows[0][0], "its owner's word makes it a header"
    data.write_bytes(write(list_tables()["all different"]))
    assert '"header": false' in to_json(dpviz.declare(data))


def test_the_page_calls_no_cell_public_before_its_owner_has_answered() -> None:
    for kind in ("votes", "quoted", "two persons", "mixed, refused first"):
        with about(kind):
            rows = list_tables()[kind]
            at = upload(visit("data.py"), write(rows))
            at.session_state["bench:hand"] = replace(at.session_state["bench:hand"], person_said=False)
            at = press(at, PROPOSE)
            (soon,) = (one.value for one in at.caption if "These become public" in one.value)
            names, *values = soon.split("; ")
            assert is_free_of(rows, names.replace(",", " ").replace(":", " ").split()) and "column_1" in names
            # What was found besides is no name: it is in the sentence, and told here before it is used.
            assert len(values) == len(at.session_state["bench:hand"].declaration.codings)
    at = upload(visit("data.py"), write(list_tables()["all different"]))
    (soon,) = (one.value for one in at.caption if "These become public" in one.value)
    others = [one.value for kind in (at.markdown, at.caption) for one in kind if one.value != soon]
    assert "Zelda" in soon and not any("public" in words and "Zelda" in words for words in others)
    at = press(at, IS_ROW)
    (soon,) = (one.value for one in at.caption if "These become public" in one.value)
    looks = [look for look in at.session_state["looks:list"] if look.kind is FileKind.PRIVATE]
    assert "Zelda" not in soon and declared(open_form(at, "table").selectbox, "first").value == (False, False)
    assert [look.note[:14] for look in looks] == ["a proposal of ", "the first line"], "a row was seen"
