"""Data: uploads good and bad, declarations, previews; a refused file changes nothing, and no message shows a cell."""

from __future__ import annotations

import gzip
import re

import numpy as np
import pytest

from dpviz.app.ui.bench.hand import FILLED
from dpviz.core.private_session import ACCESS_LOG, AccessKind
from dpviz.tables.declarations import FROM_ROWS, FileKind
from tests.cases import about
from tests.pages.site import (
    declared,
    everything_shown,
    fine,
    of_kind,
    open_form,
    paste_bounds,
    press,
    read_as,
    sample_table,
    tick,
    ticked,
    type_bound,
    upload,
    visit,
)

SECRET = "7741.25"
# Not within the digest that a widget is known by.
PART_OF_IT = re.compile(r"(?<![0-9a-f])7741(?![0-9a-f])")
PEOPLE = f"age,income,person\n31,1000,a\n44,{SECRET},a\n52,3000,b\n".encode()
BOUNDS = '{"bounds": {"age": [0, 120], "income": [0, 10000]}, "bounds_origin": "law or physics"}'

HUNDRED = "\n".join(",".join(f"c{j}" if i == 0 else str(i * j % 7) for j in range(100)) for i in range(101)).encode()

NO_TEXT_FILE = {
    "empty": b"",
    "a picture": b"\x89PNG\r\n\x1a\n\x00\x00" + SECRET.encode(),
    "windows letters": f"age,größe\n31,{SECRET}\n44,12\n".encode("cp1252"),
    "no header": f"31,{SECRET}\n44,12\n".encode(),
    "an open quotation mark": f'age,"income\n31,{SECRET}\n'.encode(),
}
ODD_BUT_USABLE = {
    "no row": b"age,income\n",
    "duplicate headers": f"age,age\n31,{SECRET}\n44,12\n".encode(),
    "semicolons and decimal commas": b"age;income\n31,5;7741,25\n44,5;12,5\n",
    "all text": f"name,city\nann,{SECRET}x\nbob,rome\n".encode(),
    "missing cells": f"age,income\n31,\n,{SECRET}\n44,12\n".encode(),
    "too many fields": f"age,income\n44,12\n45,13\n46,14\n31,{SECRET},8,9\n".encode(),
    "an open quotation mark in a row": f'age,income\n31,"{SECRET}\n44,12\n'.encode(),
    "gzip": gzip.compress(PEOPLE),
}


DAMAGED = gzip.compress(PEOPLE)[:-9]


@pytest.mark.parametrize("content", NO_TEXT_FILE.values(), ids=NO_TEXT_FILE.keys())
def test_a_first_line_that_is_no_header_is_refused_in_place_and_stays_refused(content):
    at = upload(visit("data.py", table=sample_table("outlier")), content, "secret.csv")
    for again in (lambda: fine(at.run()), lambda: read_as(at)):
        assert at.error and all(error.value.startswith("The ") for error in at.error)
        assert {error.proto.title for error in at.error} & {"How is this file to be read?"}
        assert declared(at.selectbox, "first").value == "as it stands"
        again()
    assert at.session_state["visit:table"].title == "One rich person"
    assert SECRET not in everything_shown(at) and not PART_OF_IT.search(everything_shown(at))


def test_an_odd_file_waits_for_its_declarations_and_shows_no_cell():
    for name, content in ODD_BUT_USABLE.items():
        with about(name):
            at = upload(visit("data.py"), content, "odd.csv.gz" if content[:2] == b"\x1f\x8b" else "odd.csv")
            assert not at.error and open_form(at, "columns").multiselect
            shown = everything_shown(at)
            assert SECRET not in shown and not PART_OF_IT.search(shown)


def test_a_file_that_cannot_be_unpacked_is_refused_in_a_sentence_until_it_is_taken_away_and_the_open_table_stays():
    at = upload(visit("data.py", table=sample_table("outlier")), DAMAGED, "secret.csv")
    (first,) = at.error
    assert first.value.startswith("The gzip file") and "“One rich person” stays open" in first.value
    assert at.session_state["visit:table"].title == "One rich person"
    assert "visit:undeclared" not in at.session_state and SECRET not in everything_shown(at)
    fine(at.run())
    assert [error.value for error in at.error] == [first.value]
    at.file_uploader(key="csv").set_value([])
    fine(at.run())
    assert not at.error and not [button for button in at.button if button.label == "Forget this file"]


def test_a_good_file_takes_back_what_was_said_of_a_bad_one_and_outlives_the_next_bad_one():
    at = upload(visit("data.py"), DAMAGED, "secret.csv")
    upload(at, PEOPLE)
    assert not at.error and at.session_state["visit:undeclared"].content.name == "people"
    upload(at, b"\x1f\x8b\x00", "broken.csv.gz")
    assert at.error and at.session_state["visit:undeclared"].content.name == "people"


def test_a_file_whose_reading_fell_over_stays_refused(monkeypatch):
    def falls_over(*_: object, **__: object) -> None:
        raise ZeroDivisionError(SECRET)

    monkeypatch.setattr("dpviz.app.ui.data.ways_in.open_csv", falls_over)
    at = visit("data.py")
    at.file_uploader(key="csv").upload("people.csv", PEOPLE)
    at.run()
    assert at.exception
    at.run()
    assert not at.exception
    (error,) = at.error
    assert error.value.startswith("A defect of dpviz stopped the reading")
    assert SECRET not in everything_shown(at)


def test_no_row_moves_anything_that_is_shown_before_the_table_is_opened():
    def shown(content):
        at = upload(visit("data.py"), content)
        type_bound(tick(at, "age"), "age", "upper", 120.0)
        kinds = (at.selectbox, at.checkbox, at.number_input, at.button, at.text_input)
        open_form(at, "columns")
        labels = [widget.label for kind in kinds for widget in kind]
        return labels, [part.value for kind in (at.markdown, at.caption, at.warning, at.error) for part in kind]

    header = b"age,one,city\n"
    one = shown(header + b"31,5,rome\n44,5,pisa\n")
    assert one == shown(header) == shown(header + b'1,2,3,4\n"1,250.5\n;;;\nx,y,z\n')


def test_bounds_of_a_private_file_start_empty_and_nothing_is_read_from_the_rows():
    at = tick(upload(visit("data.py"), PEOPLE), "age", "income")
    hand = at.session_state["bench:hand"]
    assert {ends[:2] for ends in hand.declaration.bounds.values()} == {(None, None)}
    assert hand.declaration.kind is FileKind.PRIVATE
    assert not any(button.label == "Fill from the rows" for button in open_form(at, "columns").button)
    assert at.title[0].value == "Say what is missing", "open bounds are gaps of the sentence"
    assert {"low:age", "high:age", "low:income", "high:income"} <= {*hand.gaps}
    assert at.session_state["visit:table"].title == "Fifteen clusters"


def test_pasted_bounds_open_the_table_with_their_origin_and_a_bought_n():
    at = paste_bounds(upload(visit("data.py"), PEOPLE), BOUNDS)
    table = at.session_state["visit:table"]
    assert table.domain.columns == ("age", "income")
    np.testing.assert_array_equal(table.domain.upper, [120, 10000])
    assert table.declaration.describe_origin("age") == "law or physics"
    assert table.kind is FileKind.PRIVATE and table.n_public is None
    press(at, "Run at ε = 0.8")
    at.session_state["bench:table"] = True
    shown = everything_shown(fine(at.run()))
    assert "each run buys a noisy one" in shown
    assert SECRET not in shown and not at.get("plotly_chart"), "no preview of private rows"
    assert "1 look at private rows" in shown
    assert set(at.query_params) <= {"epsilon", "delta", "k", "algorithm", "table"}, "no link carries data"
    assert at.query_params["table"] == "file", "only that there was one"


def test_bounds_that_are_not_json_or_upside_down_are_refused():
    at = paste_bounds(upload(visit("data.py"), PEOPLE), "age between 0 and 120")
    assert "not JSON" in at.error[0].value
    at = paste_bounds(upload(visit("data.py"), PEOPLE), '{"lower": 5, "upper": 1}')
    assert "both must be finite with lower" in at.error[0].value


def test_one_range_is_of_all_columns_and_where_they_are_from_is_said_once():
    at = tick(upload(visit("data.py"), PEOPLE), "age", "income")
    type_bound(at, "age", "lower", "0 to 9; …")
    at = open_form(at, "origin")
    fine(declared(at.selectbox, "origin:said").set_value("a guess").run())
    declaration = at.session_state["visit:table"].declaration
    assert declaration.upper == (9.0, 9.0) and declaration.describe_origin("age") == "a guess"


def test_several_rows_a_person_need_a_column_that_says_whose():
    at = open_form(paste_bounds(upload(visit("data.py"), PEOPLE), BOUNDS), "person")
    assert not [box for box in at.number_input if box.label == "Most rows used of one person"]
    fine(declared(at.selectbox, "whose").set_value("person").run())
    declared(at.number_input, "most").set_value(2)
    press(fine(at.run()), "So it is")
    assert at.session_state["visit:table"].private.unit == "1 person, up to 2 rows"


def test_replaced_makes_n_public():
    at = open_form(paste_bounds(upload(visit("data.py"), PEOPLE), BOUNDS), "person")
    declared(at.radio, "relation").set_value("replace")
    press(at, "So it is")
    table = at.session_state["visit:table"]
    assert table.private.relation.value == "replace" and table.n_public == 3


def test_the_number_of_rows_is_typed_or_bought_and_never_taken_from_a_private_file():
    at = upload(visit("data.py"), PEOPLE)
    said = '{"bounds": {"age": [0, 120], "income": [0, 10000]}, "n_public": 500}'
    assert paste_bounds(at, said).session_state["visit:table"].n_public == 500
    hand = at.session_state["bench:hand"]
    at.session_state["bench:hand"] = hand.type_in("rows", "unknown")
    assert fine(at.run()).session_state["visit:table"].n_public is None


def test_bounds_filled_from_rows_that_turn_out_private_are_called_what_they_are():
    at = open_form(of_kind(tick(upload(visit("data.py"), PEOPLE), "age", "income"), "public"), "columns")
    press(at, "Fill from the rows")
    table = at.session_state["visit:table"]
    assert table.declaration.origins == (FILLED,) * 2 and not table.declaration.bounds_from_rows
    of_kind(at, "private")
    declaration = at.session_state["visit:table"].declaration
    assert declaration.origins == (FROM_ROWS,) * 2 and declaration.bounds_from_rows
    assert any("give two of them away" in warning.value for warning in open_form(at, "origin").warning)


def test_a_hundred_columns_are_declared_at_once():
    at = upload(visit("data.py"), HUNDRED)
    assert ticked(at) == [], "too many to guess"
    tick(at, *(f"c{j}" for j in range(100)))
    type_bound(at, "c0", "lower", "0 to 7; …")
    assert at.session_state["visit:table"].domain.upper.tolist() == [7] * 100, "one range serves all that follow"
    type_bound(at, "c1", "lower", "; ".join(f"0 to {j + 1}" for j in range(1, 100)))
    assert at.session_state["visit:table"].domain.upper.tolist() == [7, *range(2, 101)]


def test_units_go_with_the_declaration_and_stand_beside_the_noise():
    at = open_form(paste_bounds(upload(visit("data.py"), PEOPLE), BOUNDS), "column:income")
    declared(at.text_input, "unit:income").set_value("k$")
    press(at, "So it is")
    table = at.session_state["visit:table"]
    assert table.declaration.units == {"income": "k$"} and table.domain.titles == ("age", "income (k$)")
    (noise,) = noise_of(at, "income")
    assert "k\\$ on a centre" in noise


def test_the_noise_of_a_column_follows_its_bounds_and_epsilon():
    at = upload(visit("data.py"), PEOPLE)
    assert noise_of(type_bound(at, "age", "lower", 0.0), "age") == []
    (noise,) = noise_of(type_bound(at, "age", "upper", 100.0), "age")
    assert noise.startswith("± 0.25 on a centre of 1,000 rows (assumed)")
    (noise,) = noise_of(type_bound(at, "age", "upper", 200.0), "age")
    assert noise.startswith("± 0.5 on")
    at.session_state["epsilon"] = 0.5
    (noise,) = noise_of(at, "age")
    assert noise.startswith("± 0.99 on")


def test_what_becomes_of_rows_is_a_share_for_a_public_file_and_a_rule_for_a_private_one():
    def choosing():
        return open_form(tick(upload(visit("data.py"), b"age,city\n31,rome\n44,7\n"), "age", "city"), "columns")

    at = choosing()
    assert any("is dropped" in part.value for part in at.caption) and "50 %" not in everything_shown(at)
    seen = at.session_state["visit:undeclared"].content.fingerprint
    assert set(ACCESS_LOG.count(seen).looks) == {AccessKind.PROPOSAL}
    asked = press(at, "Count what drops out (counted)")
    assert "1 of 2 rows (50 %) is dropped" in everything_shown(asked)
    fine(at.run())
    assert ACCESS_LOG.count(seen).looks[AccessKind.ROWS] == 1
    public = open_form(of_kind(choosing(), "public"), "columns")
    assert "1 of 2 rows (50 %) is dropped" in everything_shown(public)


def test_cells_that_another_style_reads_are_mended_by_one_button():
    at = tick(of_kind(upload(visit("data.py"), b"pay,age\n(5),1\n7,2\n(8),3\n"), "public"), "pay")
    at = open_form(at, "columns")
    assert "2 cells are no numbers; most of these would be read if written like (1234.5)" in everything_shown(at)
    press(at, "Read pay like (1234.5)")
    assert "is dropped" not in everything_shown(open_form(at, "columns"))


def noise_of(at, column):
    """What the form of a column says of its noise."""
    return [part.value for part in open_form(at, f"column:{column}").caption if part.value.startswith("± ")]
