"""Data: uploads good and bad, declarations, previews; a refused file changes nothing, and no message shows a cell."""

from __future__ import annotations

import gzip
import re

import numpy as np
import pytest

from dpviz.app.ui.data.column_rows import COLUMNS_SHOWN
from dpviz.core.access_log import ACCESS_LOG, AccessKind
from dpviz.tables.declarations import FROM_ROWS, FileKind
from tests.cases import about
from tests.pages.site import (
    declared,
    everything_shown,
    fine,
    of_kind,
    paste_bounds,
    press,
    sample_table,
    tick,
    ticked,
    turn_to,
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
    for _ in range(2):
        (error,) = at.error
        assert error.value.startswith("The ") and error.proto.title == "How is this file to be read?"
        assert declared(at.selectbox, "first").value == "as it stands" and not at.checkbox
        fine(at.run())
    press(at, "So it is")
    assert at.error
    assert at.session_state["visit:table"].title == "One rich person"
    assert SECRET not in everything_shown(at) and not PART_OF_IT.search(everything_shown(at))


def test_an_odd_file_waits_for_its_declarations_and_shows_no_cell():
    for name, content in ODD_BUT_USABLE.items():
        with about(name):
            at = upload(visit("data.py"), content, "odd.csv.gz" if content[:2] == b"\x1f\x8b" else "odd.csv")
            assert not at.error and at.checkbox
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
        labels = [widget.label for kind in kinds for widget in kind]
        return labels, [part.value for kind in (at.markdown, at.caption, at.warning, at.error) for part in kind]

    header = b"age,one,city\n"
    one = shown(header + b"31,5,rome\n44,5,pisa\n")
    assert one == shown(header) == shown(header + b'1,2,3,4\n"1,250.5\n;;;\nx,y,z\n')


def test_bounds_of_a_private_file_start_empty_and_nothing_is_read_from_the_rows():
    at = tick(upload(visit("data.py"), PEOPLE), "age", "income")
    typed = [box.value for box in at.number_input if box.label.endswith((", lower bound", ", upper bound"))]
    assert len(typed) == 6 and set(typed) == {None}
    assert declared(at.get("button_group"), "kind").value == FileKind.PRIVATE.value
    assert not any(button.label == "Fill from the rows" for button in at.button)
    press(at, "So it is")
    assert at.title[0].value == "Say what is missing", "open bounds are gaps of the sentence"
    assert {"low:age", "high:age", "low:income", "high:income"} <= {*at.session_state["bench:hand"].gaps}
    assert at.session_state["visit:table"].title == "Fifteen clusters"


def test_pasted_bounds_open_the_table_with_their_origin_and_a_bought_n():
    at = paste_bounds(upload(visit("data.py"), PEOPLE), BOUNDS)
    press(at, "So it is")
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


def test_one_pair_for_all_columns_keeps_its_origin():
    at = tick(upload(visit("data.py"), PEOPLE), "age", "income")
    for label, value in {"lower bound of every column": 0.0, "upper bound of every column": 9.0}.items():
        next(box for box in at.number_input if box.label == label).set_value(value)
    next(box for box in at.selectbox if box.label == "where from?").set_value("a guess")
    press(at, "Use for all columns")
    press(at, "So it is")
    declaration = at.session_state["visit:table"].declaration
    assert declaration.upper == (9.0, 9.0) and declaration.origins == ("a guess",) * 2
    assert declaration.describe_origin("age") == "a guess"


def test_several_rows_a_person_need_a_column_that_says_whose():
    at = paste_bounds(upload(visit("data.py"), PEOPLE), BOUNDS)
    fine(declared(at.radio, "several").set_value("several").run())
    press(at, "So it is")
    assert "says whose row it is" in at.error[0].value
    declared(at.selectbox, "id").set_value("person")
    declared(at.number_input, "rows").set_value(2)
    press(fine(at.run()), "So it is")
    assert at.session_state["visit:table"].private.unit == "1 person, up to 2 rows"


def test_replaced_makes_n_public_and_refuses_an_id_column():
    at = paste_bounds(upload(visit("data.py"), PEOPLE), BOUNDS)
    fine(declared(at.get("button_group"), "relation").set_value("replace").run())
    press(at, "So it is")
    table = at.session_state["visit:table"]
    assert table.private.relation.value == "replace" and table.n_public == 3


def test_a_declared_n_must_be_typed():
    at = paste_bounds(upload(visit("data.py"), PEOPLE), BOUNDS)
    fine(declared(at.radio, "n:False").set_value("declared").run())
    assert declared(at.number_input, "n_value:False").value is None, "never filled from the rows of a private file"
    press(at, "So it is")
    assert "Type the public number of rows" in at.error[0].value
    declared(at.number_input, "n_value:False").set_value(500)
    press(fine(at.run()), "So it is")
    assert at.session_state["visit:table"].n_public == 500


def test_bounds_filled_from_rows_that_turn_out_private_are_called_what_they_are():
    at = tick(upload(visit("data.py"), PEOPLE), "age", "income")
    fine(declared(at.get("button_group"), "kind").set_value("public").run())
    press(at, "Fill from the rows")
    fine(declared(at.get("button_group"), "kind").set_value("private").run())
    press(at, "So it is")
    declaration = at.session_state["visit:table"].declaration
    assert declaration.origins == (FROM_ROWS,) * 2 and declaration.bounds_from_rows


def test_a_hundred_columns_are_declared_at_once():
    at = upload(visit("data.py"), HUNDRED)
    assert ticked(at) == [], "too many to guess"
    for label, value in {"lower bound of every column": 0.0, "upper bound of every column": 7.0}.items():
        next(box for box in at.number_input if box.label == label).set_value(value)
    press(at, "Use for all columns")
    press(at, "So it is")
    assert at.session_state["visit:table"].domain.dim == 100, "one pair serves all columns where none is ticked"
    at = upload(visit("data.py"), HUNDRED)
    assert len([box for box in at.checkbox if ":use" in box.key]) == COLUMNS_SHOWN
    lines = "\n".join(f"c{j};0;{j + 1};mm" for j in range(1, 100))
    press(_pasting(at, f"name;lower;upper;unit\n{lines}"), "Use these lines")
    press(at, "So it is")
    table = at.session_state["visit:table"]
    assert table.domain.dim == 99 and table.domain.upper.tolist() == list(range(2, 101))
    assert table.domain.titles[0] == "c1 (mm)"


def test_bounds_typed_one_after_the_other_are_all_there_whatever_happens_between():
    places = (0, 3, COLUMNS_SHOWN - 1, COLUMNS_SHOWN, COLUMNS_SHOWN + 2)
    at = upload(visit("data.py"), HUNDRED)
    for place in places:
        if place == COLUMNS_SHOWN:
            # What was typed in the very moment of leafing is kept, too.
            next(box for box in at.number_input if box.label == "c3, upper bound").set_value(9.0)
            press(at, "Columns after")
        type_bound(at, f"c{place}", "lower", -float(place))
        type_bound(at, f"c{place}", "upper", place + 0.5)
        if place == 3:
            fine(at.switch_page("home.py").run())
            fine(turn_to(at, "data.py").run())
    press(at, "Columns before")
    assert next(box for box in at.number_input if box.label == "c3, upper bound").value == 9.0
    of_kind(of_kind(at, "public"), "private")
    press(at, "So it is")
    domain = at.session_state["visit:table"].domain
    assert list(domain.columns) == [f"c{place}" for place in places]
    assert domain.lower.tolist() == [-float(place) for place in places]
    assert domain.upper.tolist() == [9.0 if place == 3 else place + 0.5 for place in places]


def test_units_go_with_the_declaration_and_stand_beside_the_noise():
    at = paste_bounds(upload(visit("data.py"), PEOPLE), BOUNDS)
    (box,) = (box for box in at.text_input if box.label == "income, unit")
    fine(box.set_value("k$").run())
    assert any(part.value.endswith("k\\$") and part.value.startswith("± ") for part in at.caption)
    press(at, "So it is")
    table = at.session_state["visit:table"]
    assert table.declaration.units == {"income": "k$"} and table.domain.titles == ("age", "income (k$)")


def test_the_noise_of_a_column_follows_its_bounds_and_epsilon():
    def noise(at):
        return [part.value for part in at.caption if part.value.startswith("± ") and "noise" not in part.value]

    at = upload(visit("data.py"), PEOPLE)
    assert noise(type_bound(at, "age", "lower", 0.0)) == []
    assert noise(type_bound(at, "age", "upper", 100.0)) == ["± 0.25"], "1,000 rows are assumed"
    assert any("1,000 rows (assumed)" in part.value for part in at.caption)
    assert noise(type_bound(at, "age", "upper", 200.0)) == ["± 0.5"]
    at.session_state["epsilon"] = 0.5
    assert noise(fine(at.run())) == ["± 0.99"]


def test_what_becomes_of_rows_is_a_share_for_a_public_file_and_a_rule_for_a_private_one():
    at = tick(upload(visit("data.py"), b"age,city\n31,rome\n44,7\n"), "age", "city")
    assert any("is dropped" in part.value for part in at.caption) and "50 %" not in everything_shown(at)
    seen = at.session_state["visit:undeclared"].content.fingerprint
    assert set(ACCESS_LOG.count(seen).looks) == {AccessKind.PROPOSAL}
    asked = press(at, "Count what drops out (counted)")
    assert "1 of 2 rows (50 %) is dropped" in everything_shown(asked)
    fine(at.run())
    assert ACCESS_LOG.count(seen).looks[AccessKind.ROWS] == 1
    public = of_kind(tick(upload(visit("data.py"), b"age,city\n31,rome\n44,7\n"), "age", "city"), "public")
    assert "1 of 2 rows (50 %) is dropped" in everything_shown(public)


def test_cells_that_another_style_reads_are_mended_by_one_button():
    at = tick(of_kind(upload(visit("data.py"), b"pay,age\n(5),1\n7,2\n(8),3\n"), "public"), "pay")
    assert "2 cells are no numbers; most of these would be read if written like (1234.5)" in everything_shown(at)
    press(at, "Read pay like (1234.5)")
    assert "is dropped" not in everything_shown(at)


def _pasting(at, lines):
    """The visit with ``lines`` in the box for many bounds."""
    (box,) = (box for box in at.text_area if box.label == "One column a line")
    box.set_value(lines)
    return at
