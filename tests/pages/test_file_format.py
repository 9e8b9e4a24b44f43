"""How a file is read is part of its declaration; a proposal from its rows is a look, counted for a private file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dpviz.api.cli.declared_table import open_declared_table
from dpviz.api.console import read_arguments
from dpviz.app.ui.session import DataAccess
from dpviz.core.private_session import AccessKind
from dpviz.tables.csv_intake import open_csv
from dpviz.tables.declarations import Declaration, FileKind, to_json
from dpviz.tables.file_format import FileFormat, NumberStyle
from dpviz.tables.loaded_table import IntakeError
from dpviz.tables.proposal import propose
from tests.cases import about
from tests.pages.site import (
    declared,
    everything_shown,
    fine,
    of_kind,
    open_form,
    open_ledger,
    paste_bounds,
    press,
    read_as,
    tick,
    ticked,
    type_bound,
    upload,
    visit,
)

COMMAS = b"age;income;who\n31,5;1.000,25;a\n44,5;2.500,5;b\n52,0;3.000,75;c\n"
VALUES = [[31.5, 1000.25], [44.5, 2500.5], [52.0, 3000.75]]
COMMA_STYLE = NumberStyle(",", ".")
BOUNDS = '{"bounds": {"age": [0, 120], "income": [0, 10000]}, "bounds_origin": "law or physics"}'
NO_HEADER = b"31,77\n44,12\n52,13\n"
PROPOSE = "Propose from the rows"


def test_a_file_of_decimal_commas_is_read_as_declared_without_a_look():
    at = upload(visit("data.py"), COMMAS)
    assert declared(at.selectbox, "delimiter").value == "", "the first line says it"
    at = read_as(at, decimal=",", grouping=",")
    assert "grouping mark" in at.error[0].value, "marks that contradict each other are refused in place"
    table = _used(paste_bounds(read_as(at, grouping="."), BOUNDS))
    np.testing.assert_array_equal(table.loaded.columns(["age", "income"]), VALUES)
    assert table.declaration.file == FileFormat(style=COMMA_STYLE) and not table.declaration.proposed
    assert _private_accesses(at) == []


@pytest.mark.slow
def test_a_proposal_from_private_rows_fills_the_form_and_is_one_look():
    at = upload(visit("data.py"), COMMAS)
    assert any(button.label == f"{PROPOSE} (counted)" for button in at.button)
    press(at, f"{PROPOSE} (counted)")
    looks = at.session_state["looks:list"]
    assert [look.what for look in looks if look.kind is FileKind.PRIVATE] == [AccessKind.PROPOSAL], "of the drop"
    before = len(looks)
    assert ticked(at) == ["age", "income"], "who holds text"
    assert "revealed" in everything_shown(at)
    open_form(at, "table")
    assert declared(at.selectbox, "delimiter").value == ";" and declared(at.selectbox, "decimal").value == ","
    press(at, f"{PROPOSE} (counted)")
    assert len(at.session_state["looks:list"]) == before, "the same look"
    table = _used(paste_bounds(at, BOUNDS))
    np.testing.assert_array_equal(table.loaded.columns(["age", "income"]), VALUES)
    assert table.declaration.proposed and table.declaration.kind is FileKind.PRIVATE
    open_ledger(at)
    listed = "".join(part.value for part in at.markdown).replace("\\", "").replace("\u2060", "")
    assert "people (private): a proposal of how the file is read" in listed


@pytest.mark.slow
def test_what_is_proposed_can_be_changed_before_the_file_is_opened():
    at = upload(visit("data.py"), COMMAS)
    press(at, f"{PROPOSE} (counted)")
    tick(read_as(at, grouping=" "), "age")
    table = _used(paste_bounds(at, '{"lower": 0, "upper": 120}'))
    assert table.domain.columns == ("age",)
    assert table.declaration.file.style.grouping == " " and table.declaration.proposed


def test_a_file_that_cannot_be_proposed_says_why_and_loses_nothing():
    at = upload(visit("data.py"), b"\x89PNG\r\n\x1a\n\x00")
    press(at, f"{PROPOSE} (counted)")
    assert any("looks like a picture" in error.value for error in at.error)
    assert at.session_state["visit:undeclared"].content.name == "people"


def test_a_file_without_a_header_is_refused_until_its_columns_have_names():
    at = upload(visit("data.py"), NO_HEADER)
    for _ in range(2):
        assert "may be a row" in at.error[0].value
        fine(at.run())
    assert "needs column names" in read_as(at, first="a row").error[0].value
    assert not read_as(at, first="a row", names="age, income").error
    table = _used(paste_bounds(at, BOUNDS))
    np.testing.assert_array_equal(table.loaded.columns(["age", "income"]), [[31, 77], [44, 12], [52, 13]])


def test_a_header_that_reads_like_a_row_is_one_if_its_owner_says_so():
    at = upload(visit("data.py"), b"2019,2020\n31,77\n")
    assert "may be a row" in at.error[0].value
    assert not read_as(at, first="names").error
    assert open_form(at, "columns").multiselect[0].options == ["2019", "2020"]


def test_what_was_said_of_columns_stays_as_long_as_they_are_there():
    at = tick(upload(visit("data.py"), COMMAS), "age")
    assert read_as(at, first="a row").error and ticked(at) == ["age"], "what is refused changes nothing"
    assert not read_as(at, first="names").error and ticked(at) == ["age"]
    assert not read_as(at, first="a row", names="a, b, c").error and ticked(at) == []


def test_a_column_may_write_its_numbers_in_its_own_way():
    content = b"age;pay;share\n31,5;$1,000.25;12 %\n44,5;$2,500.50;7 %\n"
    styles = {"pay": {"decimal": ".", "grouping": ",", "sign": "$"}, "share": {"sign": "%"}}
    stated = {
        "file": {"decimal": ",", "columns": styles},
        "bounds": {"age": [0, 120], "pay": [0, 9000], "share": [0, 100]},
    }
    at = paste_bounds(upload(visit("data.py"), content), json.dumps(stated))
    table = _used(at)
    np.testing.assert_array_equal(table.loaded.columns(["age", "pay", "share"])[0], [31.5, 1000.25, 12])
    expected = {"pay": NumberStyle(".", ",", "$"), "share": NumberStyle(",", "", "%")}
    assert table.declaration.file.styles == expected
    open_form(at, "column:share")
    assert declared(at.text_input, "sign:share").value == "%", "its form says so"
    declared(at.text_input, "sign:share").set_value("")
    declared(at.text_input, "missing:share").set_value("7")
    press(at, "So it is")
    said = at.session_state["bench:hand"].declaration.file
    assert said.styles == {**expected, "share": NumberStyle(",", missing=("7",))}
    open_form(at, "column:share")
    declared(at.text_input, "missing:share").set_value("")
    press(at, "So it is")
    assert list(at.session_state["bench:hand"].declaration.file.styles) == ["pay"], "it is that of the file"


def test_rows_over_several_lines_are_offered_for_public_files_only():
    at = upload(visit("data.py"), b'age,who\n31,"a\nb"\n44,c\n')
    assert not [box for box in at.checkbox if box.key.endswith("several_lines")]
    read_as(of_kind(at, "public"), several_lines=True)
    at.session_state["k"] = 1
    assert _used(paste_bounds(at, '{"bounds": {"age": [0, 120]}}')).loaded.n_rows == 2
    assert not of_kind(at, "private").session_state["bench:hand"].declaration.file.several_lines


@pytest.mark.parametrize("way", ["pasted", "uploaded"])
def test_the_command_line_opens_the_same_table_from_the_declaration_of_the_page(way, tmp_path):
    stated = {
        "title": "People",
        "description": "who they are",
        "file": {"decimal": ",", "grouping": "."},
        "bounds": {"income": [0, 10000], "age": [0.5, 120]},
        "origins": {"age": "law or physics"},
        "bounds_origin": "the form",
        "id_column": "who",
        "rows_per_person": 2,
        "numbers": ["age", "income"],
        "scaling": "common",
        "radius": 5000,
    }
    at = upload(visit("data.py"), COMMAS)
    if way == "pasted":
        paste_bounds(at, json.dumps(stated))
    else:
        declared(at.file_uploader, "json_file").upload("people.json", json.dumps(stated).encode())
        press(at, "Use these")
    table = _used(at)
    at.session_state["bench:table"] = True
    press(at, "Run at ε = 0.8")
    assert any(button.label == "Declaration (JSON)" for button in at.get("download_button"))
    assert table.domain.columns == ("income", "age") and table.declaration.description == "who they are"
    assert table.private.unit == "1 person, up to 2 rows"
    assert _on_the_command_line(tmp_path, COMMAS, to_json(table.declaration)).key == table.key


@pytest.mark.slow
def test_an_answer_on_the_page_and_a_flag_on_the_command_line_are_one_declaration(tmp_path):
    at = upload(visit("data.py"), COMMAS)
    press(at, f"{PROPOSE} (counted)")
    open_form(at, "person")
    fine(declared(at.selectbox, "whose").set_value("who").run())
    press(at, "So it is")
    table = _used(paste_bounds(at, BOUNDS))
    assert table.declaration.id_column == "who"
    assert _on_the_command_line(tmp_path, COMMAS, to_json(table.declaration)).key == table.key


def test_json_about_other_columns_is_refused_and_changes_nothing():
    at = tick(upload(visit("data.py"), COMMAS), "age")
    paste_bounds(at, '{"bounds": {"height": [0, 3]}}')
    assert "height" in at.error[0].value and ticked(at) == ["age"]


def test_a_column_of_text_that_is_clustered_is_told_to_the_owner_who_asks():
    at = upload(visit("data.py"), COMMAS)
    table = _used(paste_bounds(at, '{"bounds": {"who": [0, 1]}}'))
    assert table.domain.columns == ("who",) and _private_accesses(at) == []
    press(open_form(at, "columns"), "Count what drops out (counted)")
    assert "are dropped" in everything_shown(at)
    assert [look.note for look in _private_accesses(at)] == ["cells that are no numbers, and the rows that they cost"]


def test_a_table_of_good_cells_has_no_note_and_no_look():
    at = upload(visit("data.py"), b"age,age\n31,2\n44,1\n")
    assert "renamed" in everything_shown(at), "names are public: said before"
    _used(paste_bounds(at, '{"lower": 0, "upper": 120}'))
    assert not at.warning and _private_accesses(at) == []


def _used(at):
    """The table that the page has opened."""
    assert not at.error, [error.value for error in at.error]
    return at.session_state["visit:table"]


def _private_accesses(at) -> list[DataAccess]:
    """Looks at private rows, but for that with which every dropped file is proposed for."""
    looks = [look for look in at.session_state.get("looks:list", []) if look.kind == FileKind.PRIVATE]
    return [look for look in looks if look.what is not AccessKind.PROPOSAL]


def _on_the_command_line(folder, content, declaration):
    (folder / "people.csv").write_bytes(content)
    (folder / "people.json").write_text(declaration, encoding="utf-8")
    return open_declared_table(read_arguments(["run", str(folder / "people.csv"), "--k", "2", "--epsilon", "1"])).table


def _expected(path: Path) -> Declaration | str:
    """The declaration that is proposed, or why there is none."""
    try:
        return propose(open_csv(path)).join_to(Declaration(title=path.stem))
    except IntakeError as error:
        return str(error)


CASES = Path(__file__).parents[1] / "tables" / "cases"


def _list_formats() -> list[Path]:
    """Of all files one for each way to be read, which is what the form has to take and to give back; one refusal."""
    found: dict[str, Path] = {}
    for path in sorted(CASES.glob("*.csv")):
        expected = _expected(path)
        found.setdefault("refused" if isinstance(expected, str) else repr(expected.file), path)
    return [*found.values()]


@pytest.mark.slow
def test_each_format_is_declared_on_the_page_as_on_the_command_line():
    """What `dpviz declare` writes is what one press fills in; what it refuses is refused here in the same words."""
    at, formats = visit("data.py"), _list_formats()
    assert len(formats) > 20
    for path in formats:
        with about(path.name):
            upload(at, path.read_bytes(), path.name)
            press(at, f"{PROPOSE} (counted)")
            hand, expected = at.session_state["bench:hand"], _expected(path)
            if isinstance(expected, str):
                shown = " ".join(part.value for part in at.error).replace("\\", "").replace("\u2060", "")
                assert expected[:40] in shown and not hand.declaration.proposed
                continue
            assert not at.error, [error.value for error in at.error]
            said = hand.declaration
            assert (said.file, said.id_column) == (expected.file, None)
            assert said.columns[: len(expected.columns)] == expected.columns, "others hold what was found besides"
            assert set(said.columns) == {*expected.columns, *said.codings}
            assert set(said.numbers) == {*expected.numbers, *(said.columns if expected.numbers else ())} - {
                *said.textual
            }
            assert said.proposed and hand.proposal.notes == propose(open_csv(path)).notes
            assert read_as(open_form(at, "")).session_state["bench:hand"].declaration == said, "the form gives it back"
            open_form(at, "table")


def test_a_first_line_that_may_be_either_is_turned_by_one_button():
    at = upload(visit("data.py"), b"a,12,7\n1,15,9\n2,3,4\n")
    press(at, f"{PROPOSE} (counted)")
    assert _names_in(at) == ("column_1", "column_2", "column_3")
    press(at, "The first line holds names")
    assert _names_in(at) == ("a", "12", "7") and ticked(at) == ["a", "12", "7"]
    press(at, "The first line is a row")
    assert _names_in(at) == ("column_1", "column_2", "column_3")


def _names_in(at) -> tuple[str, ...]:
    hand = at.session_state["bench:hand"]
    return hand.content.header(hand.declaration.file).names


def test_an_id_that_was_found_is_the_first_that_is_offered():
    rows = b"".join(b"%d,%d,%d\n" % (i, 20 + i % 7, i * i) for i in range(30))
    at = upload(visit("data.py"), b"age,steps,CustomerID\n" + rows)
    press(at, f"{PROPOSE} (counted)")
    open_form(at, "person")
    whose = declared(at.selectbox, "whose")
    assert whose.options[1] == "column CustomerID says it"
    fine(whose.set_value("CustomerID").run())
    press(at, "So it is")
    said = at.session_state["bench:hand"].declaration
    assert (said.id_column, said.rows_per_person) == ("CustomerID", 1) and "CustomerID" not in said.columns


def test_a_proposal_asks_what_means_missing_and_takes_all_measures_in_one_press():
    names = [f"m_{place}" for place in range(46)]
    rows = [
        ["999" if row % 6 == 0 else str(20 + row), *(str(row * place) for place in range(1, 46))] for row in range(30)
    ]
    at = upload(visit("data.py"), "\n".join(",".join(record) for record in (names, *rows)).encode())
    press(at, f"{PROPOSE} (counted)")
    assert len(ticked(at)) == 12
    press(at, "Take all 46 measures")
    press(at, "m_0: 999 means missing")
    said = at.session_state["bench:hand"].declaration
    assert said.columns == tuple(names) and said.file.get_style("m_0").missing == ("999",)
    assert {"low:m_0", "high:m_45"} <= {*at.session_state["bench:hand"].gaps}
    # A drop, two presses and one line: all bounds of all columns, of at most twelve actions.
    type_bound(at, "m_0", "lower", "0 to 999; …")
    hand = at.session_state["bench:hand"]
    assert all(one[:2] == (0, 999) for one in hand.declaration.bounds.values()) and len(hand.declaration.bounds) == 46
    assert not any(gap.startswith(("low", "high")) for gap in hand.gaps)


def test_what_drops_out_is_counted_as_declared():
    """A column of ranks loses its empty cells, and not every cell because it is no number."""
    rows = "".join(f"{20 + row},{('low', 'high', '')[row % 3]}\n" for row in range(30))
    at = upload(visit("data.py"), f"age,stage\n{rows}".encode())
    press(at, f"{PROPOSE} (counted)")
    assert "stage" in at.session_state["bench:hand"].declaration.codings
    press(open_form(at, "columns"), "Count what drops out (counted)")
    said = " ".join(one.value for one in at.markdown)
    assert "10 of 30 rows" in said and "no numbers" not in said
