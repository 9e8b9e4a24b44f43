"""A table is declared on the page: files good and bad, how they are read, what each column holds.

A refused file changes nothing, no message shows a cell, and a look at rows is counted for a private file.
"""

import gzip
import json
import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.api.cli.declared_table import open_declared_table
from dpviz.api.console import read_arguments
from dpviz.app.ui.bench.hand import FILLED
from dpviz.core import ACCESS_LOG, AccessKind
from dpviz.tables.declarations import FROM_ROWS, Declaration, FileKind, to_json
from tests.cases import for_each
from tests.pages import site
from tests.pages.site import declared, everything_shown, fine, open_form, paste_bounds, press, read_as, tick, visit

SECRET = "7741.25"
# Not within the digest that a widget is known by.
PART_OF_IT = re.compile(r"(?<![0-9a-f])7741(?![0-9a-f])")
PEOPLE = f"age,income,person\n31,1000,a\n44,{SECRET},a\n52,3000,b\n".encode()
COMMAS = b"age;income;who\n31,5;1.000,25;a\n44,5;2.500,5;b\n52,0;3.000,75;c\n"
BOUNDS = '{"bounds": {"age": [0, 120], "income": [0, 10000]}, "bounds_origin": "law or physics"}'
DAMAGED = gzip.compress(PEOPLE)[:-9]
PROPOSE = "Propose from the rows (counted)"

NO_TEXT_FILE = {
    "a picture": b"\x89PNG\r\n\x1a\n\x00\x00" + SECRET.encode(),
    "windows letters": f"age,größe\n31,{SECRET}\n44,12\n".encode("cp1252"),
    "no header": f"31,{SECRET}\n44,12\n".encode(),
    "an open quotation mark": f'age,"income\n31,{SECRET}\n'.encode(),
}
ODD_BUT_USABLE = {
    "no row": b"age,income\n",
    "semicolons and decimal commas": b"age;income\n31,5;7741,25\n44,5;12,5\n",
    "all text": f"name,city\nann,{SECRET}x\nbob,rome\n".encode(),
    "too many fields": f"age,income\n44,12\n45,13\n46,14\n31,{SECRET},8,9\n".encode(),
    "an open quotation mark in a row": f'age,income\n31,"{SECRET}\n44,12\n'.encode(),
    "gzip": gzip.compress(PEOPLE),
}


def dropped(content: bytes = PEOPLE, name: str = "people.csv") -> AppTest:
    """A visit that has dropped a file, of which nothing is said yet."""
    return site.upload(visit("data.py"), content, name)


def proposed(content: bytes) -> AppTest:
    return press(dropped(content), PROPOSE)


def opened(at: AppTest):
    """The table that the page has opened."""
    assert not at.error, [error.value for error in at.error]
    return at.session_state["visit:table"]


def say(at: AppTest, word: str, kind: str, **widgets: object) -> AppTest:
    """Set widgets of one kind in the form of a word, by their names, and use it."""
    open_form(at, word)
    for name, value in widgets.items():
        declared(getattr(at, kind), name).set_value(value)
    return press(at, "So it is")


def shows_no_secret(at: AppTest) -> bool:
    return SECRET not in everything_shown(at) and not PART_OF_IT.search(everything_shown(at))


@pytest.mark.slow
@for_each("content", NO_TEXT_FILE.values())
def test_a_first_line_that_is_no_header_is_refused_in_place_and_stays_refused(content):
    at = site.upload(visit("data.py", table=site.sample_table("outlier")), content, "secret.csv")
    for again in (lambda: fine(at.run()), lambda: read_as(at)):
        assert at.error and all(error.value.startswith("The ") for error in at.error)
        assert "How is this file to be read?" in {error.proto.title for error in at.error}
        assert declared(at.selectbox, "first").value == (None, False)  # as it stands
        again()
    assert at.session_state["visit:table"].title == "One rich person" and shows_no_secret(at)


@pytest.mark.slow
@for_each("content", ODD_BUT_USABLE.values())
def test_an_odd_file_waits_for_its_declarations_and_shows_no_cell(content):
    at = dropped(content, "odd.csv.gz" if content[:2] == b"\x1f\x8b" else "odd.csv")
    assert not at.error and open_form(at, "columns").multiselect and shows_no_secret(at)


def test_a_file_that_cannot_be_unpacked_is_refused_in_a_sentence_until_it_is_taken_away_and_the_open_table_stays():
    at = site.upload(visit("data.py", table=site.sample_table("outlier")), DAMAGED, "secret.csv")
    (first,) = at.error
    assert first.value.startswith("The gzip file") and "“One rich person” stays open" in first.value
    assert at.session_state["visit:table"].title == "One rich person" and shows_no_secret(at)
    assert "visit:undeclared" not in at.session_state
    assert [error.value for error in fine(at.run()).error] == [first.value]
    at.file_uploader(key="csv").set_value([])
    assert not fine(at.run()).error and not [one for one in at.button if one.label == "Forget this file"]
    site.upload(at, DAMAGED, "secret.csv")
    site.upload(at, PEOPLE)
    assert not at.error and at.session_state["visit:undeclared"].content.name == "people", "a good one takes it back"


def test_no_row_moves_anything_that_is_shown_before_the_table_is_opened():
    def shown(content):
        at = dropped(content)
        site.type_bound(tick(at, "age"), "age", "upper", 120.0)
        kinds = (at.selectbox, at.checkbox, at.number_input, at.button, at.text_input)
        open_form(at, "columns")
        labels = [widget.label for kind in kinds for widget in kind]
        return labels, [part.value for kind in (at.markdown, at.caption, at.warning, at.error) for part in kind]

    header = b"age,one,city\n"
    one = shown(header + b"31,5,rome\n44,5,pisa\n")
    assert one == shown(header) == shown(header + b'1,2,3,4\n"1,250.5\n;;;\nx,y,z\n')


def test_bounds_of_a_private_file_start_empty_and_nothing_is_read_from_the_rows():
    at = tick(dropped(), "age", "income")
    hand = at.session_state["bench:hand"]
    assert {ends[:2] for ends in hand.declaration.bounds.values()} == {(None, None)}
    assert hand.declaration.kind is FileKind.PRIVATE
    assert not any(button.label == "Fill from the rows" for button in open_form(at, "columns").button)
    assert at.title[0].value == "Say what is missing", "open bounds are gaps of the sentence"
    assert {"low:age", "high:age", "low:income", "high:income"} <= {*hand.gaps}
    assert at.session_state["visit:table"].title == "Fifteen clusters"


def test_pasted_bounds_open_the_table_with_their_origin_and_a_bought_n():
    at = paste_bounds(dropped(), BOUNDS)
    table = opened(at)
    assert table.domain.columns == ("age", "income") and table.domain.upper.tolist() == [120, 10000]
    assert table.declaration.describe_origin("age") == "law or physics"
    assert table.kind is FileKind.PRIVATE and table.n_public is None
    press(at, "Run at ε = 0.8")
    at.session_state["bench:table"] = True
    shown = everything_shown(fine(at.run()))
    assert "each run buys a noisy one" in shown and "1 look at private rows" in shown
    assert shows_no_secret(at) and not at.get("plotly_chart"), "no preview of private rows"
    assert set(at.query_params) <= {"epsilon", "delta", "k", "algorithm", "table"}, "no link carries data"
    assert at.query_params["table"] == "file", "only that there was one"
    paste_bounds(at, BOUNDS.replace('"bounds_origin"', '"n_public": 500, "bounds_origin"'))
    assert opened(at).n_public == 500, "typed, and never taken from a private file"


def test_several_rows_a_person_need_a_column_that_says_whose_and_replaced_makes_n_public():
    at = open_form(paste_bounds(dropped(), BOUNDS), "person")
    assert not [box for box in at.number_input if box.label == "Most rows used of one person"]
    fine(declared(at.selectbox, "whose").set_value("person").run())
    declared(at.number_input, "most").set_value(2)
    assert opened(press(fine(at.run()), "So it is")).private.unit == "1 person, up to 2 rows"
    table = opened(say(paste_bounds(dropped(), BOUNDS), "person", "radio", relation="replace"))
    assert table.private.relation.value == "replace" and table.n_public == 3


def test_bounds_filled_from_rows_that_turn_out_private_are_called_what_they_are():
    at = open_form(site.of_kind(tick(dropped(), "age", "income"), "public"), "columns")
    declaration = opened(press(at, "Fill from the rows")).declaration
    assert declaration.origins == (FILLED,) * 2 and not declaration.bounds_from_rows
    declaration = opened(site.of_kind(at, "private")).declaration
    assert declaration.origins == (FROM_ROWS,) * 2 and declaration.bounds_from_rows
    assert any("give two of them away" in warning.value for warning in open_form(at, "origin").warning)


def test_what_becomes_of_rows_is_a_share_for_a_public_file_and_a_rule_for_a_private_one():
    def choosing():
        return open_form(tick(dropped(b"age,city\n31,rome\n44,7\n"), "age", "city"), "columns")

    at = choosing()
    assert any("is dropped" in part.value for part in at.caption) and "50 %" not in everything_shown(at)
    seen = at.session_state["visit:undeclared"].content.fingerprint
    assert set(ACCESS_LOG.count(seen).looks) == {AccessKind.PROPOSAL}
    asked = press(at, "Count what drops out (counted)")
    assert "1 of 2 rows (50 %) is dropped" in everything_shown(asked)
    fine(at.run())
    assert ACCESS_LOG.count(seen).looks[AccessKind.ROWS] == 1
    public = open_form(site.of_kind(choosing(), "public"), "columns")
    assert "1 of 2 rows (50 %) is dropped" in everything_shown(public)


def test_a_first_line_that_may_be_a_row_waits_until_its_owner_says_what_it_is():
    at = dropped(b"31,77\n44,12\n52,13\n")
    for _ in range(2):
        assert "may be a row" in at.error[0].value
        fine(at.run())
    assert "needs column names" in read_as(at, first="a row").error[0].value
    table = opened(paste_bounds(read_as(at, first="a row", names="age, income"), BOUNDS))
    np.testing.assert_array_equal(table.loaded.columns(["age", "income"]), [[31, 77], [44, 12], [52, 13]])


def on_the_command_line(folder, content, declaration: Declaration):
    (folder / "people.csv").write_bytes(content)
    (folder / "people.json").write_text(to_json(declaration), encoding="utf-8")
    return open_declared_table(read_arguments(["run", str(folder / "people.csv"), "--k", "2", "--epsilon", "1"])).table


STATED = {
    **{"title": "People", "description": "who they are", "file": {"decimal": ",", "grouping": "."}},
    **{"bounds": {"income": [0, 10000], "age": [0.5, 120]}, "origins": {"age": "law or physics"}},
    **{"bounds_origin": "the form", "id_column": "who", "rows_per_person": 2, "numbers": ["age", "income"]},
    **{"scaling": "common", "radius": 5000},
}


@for_each("pasted", [True, False])
def test_the_command_line_opens_the_same_table_from_the_declaration_of_the_page(pasted, tmp_path):
    at = dropped(COMMAS)
    if pasted:
        paste_bounds(at, json.dumps(STATED))
    else:
        declared(at.file_uploader, "json_file").upload("people.json", json.dumps(STATED).encode())
        press(at, "Use these")
    table = opened(at)
    at.session_state["bench:table"] = True
    press(at, "Run at ε = 0.8")
    assert any(button.label == "Declaration (JSON)" for button in at.get("download_button"))
    assert table.domain.columns == ("income", "age") and table.declaration.description == "who they are"
    assert table.private.unit == "1 person, up to 2 rows"
    assert on_the_command_line(tmp_path, COMMAS, table.declaration).key == table.key


def test_an_id_that_was_found_is_the_first_that_is_offered_and_one_declaration_with_the_command_line(tmp_path):
    content = b"age,steps,CustomerID\n" + b"".join(b"%d,%d,%d\n" % (i, 20 + i % 7, i * i) for i in range(30))
    whose = declared(open_form(proposed(content), "person").selectbox, "whose")
    assert whose.options[1] == "column CustomerID says it"
    at = proposed(COMMAS)
    fine(declared(open_form(at, "person").selectbox, "whose").set_value("who").run())
    table = opened(paste_bounds(press(at, "So it is"), BOUNDS))
    said = table.declaration
    assert (said.id_column, said.rows_per_person) == ("who", 1) and "who" not in said.columns
    assert on_the_command_line(tmp_path, COMMAS, said).key == table.key
