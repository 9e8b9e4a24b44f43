"""Data: uploads good and bad, declarations, previews; a refused file changes nothing, and no message shows a cell."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from dpviz.table.declaration import FROM_ROWS, FileKind
from tests.pages.site import everything_shown, fine, paste_bounds, press, sample_table, upload, visit

SECRET = "7741.25"
PEOPLE = f"age,income,person\n31,1000,a\n44,{SECRET},a\n52,3000,b\n".encode()
BOUNDS = '{"bounds": {"age": [0, 120], "income": [0, 10000]}, "bounds_origin": "law or physics"}'

NO_TEXT_FILE = {
    "empty": b"",
    "blank lines": b"\n\n\n",
    "a picture": b"\x89PNG\r\n\x1a\n\x00\x00" + SECRET.encode(),
    "utf-16": f"age,income\n31,{SECRET}\n44,12\n".encode("utf-16"),
    "windows letters": f"age,größe\n31,{SECRET}\n44,12\n".encode("cp1252"),
    "no header": f"31,{SECRET}\n44,12\n".encode(),
    "an open quotation mark": f'age,"income\n31,{SECRET}\n'.encode(),
    "one amount": f"$ {SECRET}\n".encode(),
}
ODD_BUT_USABLE = {
    "one column": f"age\n31\n{SECRET}\n".encode(),
    "one row": f"age,income\n31,{SECRET}\n".encode(),
    "no row": b"age,income\n",
    "duplicate headers": f"age,age\n31,{SECRET}\n44,12\n".encode(),
    "semicolons and decimal commas": b"age;income\n31,5;7741,25\n44,5;12,5\n",
    "all text": f"name,city\nann,{SECRET}x\nbob,rome\n".encode(),
    "missing cells": f"age,income\n31,\n,{SECRET}\n44,12\n".encode(),
    "too many fields": f"age,income\n44,12\n45,13\n46,14\n31,{SECRET},8,9\n".encode(),
    "an open quotation mark in a row": f'age,income\n31,"{SECRET}\n44,12\n'.encode(),
    "gzip": gzip.compress(PEOPLE),
}


def test_the_page_explains_itself_before_anything_is_open():
    at = visit("data.py")
    assert "choose one of the three ways" in at.info[0].value
    assert not at.error


DAMAGED = gzip.compress(PEOPLE)[:-9]


@pytest.mark.parametrize("content", [DAMAGED, b"\x1f\x8bno gzip"], ids=["cut", "damaged"])
def test_a_file_that_cannot_be_unpacked_is_refused_in_a_sentence_and_the_open_table_stays(content):
    at = upload(visit("data.py", table=sample_table()), content, "secret.csv.gz")
    for _ in range(2):
        (error,) = at.error
        assert error.value.startswith("The gzip file") and "“Fifteen clusters” stays open" in error.value
        fine(at.run())
    assert at.session_state["visit:table"].title == "Fifteen clusters"
    assert "visit:undeclared" not in at.session_state
    assert SECRET not in everything_shown(at)


@pytest.mark.some(3)
@pytest.mark.parametrize("content", NO_TEXT_FILE.values(), ids=NO_TEXT_FILE.keys())
def test_a_first_line_that_is_no_header_is_refused_in_place_and_stays_refused(content):
    at = upload(visit("data.py", table=sample_table()), content, "secret.csv")
    for _ in range(2):
        (error,) = at.error
        assert error.value.startswith("The ") and error.proto.title == "How is this file to be read?"
        assert _kept(at.selectbox, "first").value == "as it stands" and not at.multiselect
        fine(at.run())
    press(at, "Use this table")
    assert "“Fifteen clusters” stays open" in at.error[-1].value
    assert at.session_state["visit:table"].title == "Fifteen clusters"
    assert SECRET not in everything_shown(at) and "7741" not in everything_shown(at)


@pytest.mark.some(4)
@pytest.mark.parametrize("content", ODD_BUT_USABLE.values(), ids=ODD_BUT_USABLE.keys())
def test_an_odd_file_waits_for_its_declarations_and_shows_no_cell(content):
    at = upload(visit("data.py"), content, "odd.csv.gz" if content[:2] == b"\x1f\x8b" else "odd.csv")
    assert not at.error and at.multiselect
    shown = everything_shown(at)
    assert SECRET not in shown and "7741" not in shown


def test_a_refused_file_stays_refused_until_it_is_taken_away():
    at = upload(visit("data.py"), DAMAGED, "secret.csv")
    (first,) = at.error
    fine(at.run())
    assert [error.value for error in at.error] == [first.value]
    at.switch_page("home.py")
    fine(at.run())
    at.switch_page("data.py")
    fine(at.run())
    assert [error.value for error in at.error] == [first.value]
    press(at, "Forget this file")
    assert not at.error
    upload(at, DAMAGED, "secret.csv")
    assert [error.value for error in at.error] == [first.value]
    at.file_uploader(key="csv").set_value([])
    fine(at.run())
    assert not at.error and not [button for button in at.button if button.label == "Forget this file"]


def test_a_good_file_takes_back_what_was_said_of_a_bad_one():
    at = upload(visit("data.py"), DAMAGED, "secret.csv")
    upload(at, PEOPLE)
    assert not at.error and at.session_state["visit:undeclared"].content.name == "people"


def test_a_file_whose_reading_fell_over_stays_refused(monkeypatch):
    def falls_over(*_: object, **__: object) -> None:
        raise ZeroDivisionError(SECRET)

    monkeypatch.setattr("dpviz.ui.data.ways_in.open_csv", falls_over)
    at = visit("data.py")
    at.file_uploader(key="csv").upload("people.csv", PEOPLE)
    at.run()
    assert at.exception
    at.run()
    assert not at.exception
    (error,) = at.error
    assert error.value.startswith("A defect of dpviz stopped the reading")
    assert SECRET not in everything_shown(at)


def test_a_bad_file_after_a_good_one_leaves_the_good_one_waiting():
    at = upload(visit("data.py"), PEOPLE)
    upload(at, b"\x1f\x8b\x00", "broken.csv.gz")
    assert at.error and at.session_state["visit:undeclared"].content.name == "people"


def test_no_row_moves_anything_that_is_shown_before_the_table_is_opened():
    def shown(content):
        at = upload(visit("data.py"), content)
        fine(_kept(at.multiselect, "columns").set_value(["age"]).run())
        labels = [widget.label for kind in (at.selectbox, at.multiselect, at.button, at.text_input) for widget in kind]
        return labels, [part.value for kind in (at.markdown, at.caption, at.warning, at.error) for part in kind]

    header = b"age,one,city\n"
    one = shown(header + b"31,5,rome\n44,5,pisa\n")
    assert one == shown(header) == shown(header + b'1,2,3,4\n"1,250.5\n;;;\nx,y,z\n')


def test_bounds_of_a_private_file_start_empty_and_nothing_is_read_from_the_rows():
    at = _choosing(upload(visit("data.py"), PEOPLE), "age", "income")
    typed = at.session_state["declare:draft"].bounds
    assert set(typed) == {"age", "income"}
    assert all(one.lower is None and one.upper is None for one in typed.values())
    assert _kept(at.get("button_group"), "kind").value == FileKind.PRIVATE.value
    assert not any(button.label == "Fill from the rows" for button in at.button)
    press(at, "Use this table")
    assert "No bounds are declared" in at.error[0].value
    assert "visit:table" not in at.session_state


def test_pasted_bounds_open_the_table_with_their_origin_and_a_bought_n():
    at = paste_bounds(upload(visit("data.py"), PEOPLE), BOUNDS)
    press(at, "Use this table")
    table = at.session_state["visit:table"]
    assert table.domain.columns == ("age", "income")
    np.testing.assert_array_equal(table.domain.upper, [120, 10000])
    assert table.declaration.origin_of("age") == "law or physics"
    assert table.kind is FileKind.PRIVATE and table.n_public is None
    shown = everything_shown(at)
    assert "people** is open" in shown and "each run buys a noisy one" in shown
    assert SECRET not in shown and not at.get("plotly_chart"), "no preview of private rows"
    assert "0 looks at private rows" in shown


def test_bounds_that_are_not_json_or_upside_down_are_refused():
    at = paste_bounds(upload(visit("data.py"), PEOPLE), "age between 0 and 120")
    assert "not JSON" in at.error[0].value
    at = paste_bounds(upload(visit("data.py"), PEOPLE), '{"lower": 5, "upper": 1}')
    assert "both must be finite with lower" in at.error[0].value


def test_one_pair_for_all_columns_keeps_its_origin():
    at = _choosing(upload(visit("data.py"), PEOPLE), "age", "income")
    for label, value in {"lower bound of every column": 0.0, "upper bound of every column": 9.0}.items():
        next(box for box in at.number_input if box.label == label).set_value(value)
    next(box for box in at.selectbox if box.label == "where from?").set_value("a guess")
    press(at, "Use for all columns")
    press(at, "Use this table")
    declaration = at.session_state["visit:table"].declaration
    assert declaration.upper == (9.0, 9.0) and declaration.origins == ("a guess",) * 2
    assert declaration.origin_of("age") == "a guess"


def test_several_rows_a_person_need_a_column_that_says_whose():
    at = paste_bounds(upload(visit("data.py"), PEOPLE), BOUNDS)
    fine(_kept(at.radio, "several").set_value("several").run())
    press(at, "Use this table")
    assert "says whose row it is" in at.error[0].value and "visit:table" not in at.session_state
    _kept(at.selectbox, "id").set_value("person")
    _kept(at.number_input, "rows").set_value(2)
    press(fine(at.run()), "Use this table")
    assert at.session_state["visit:table"].private.unit == "1 person, up to 2 rows"


def test_replaced_makes_n_public_and_refuses_an_id_column():
    at = paste_bounds(upload(visit("data.py"), PEOPLE), BOUNDS)
    fine(_kept(at.get("button_group"), "relation").set_value("replace").run())
    press(at, "Use this table")
    table = at.session_state["visit:table"]
    assert table.private.relation.value == "replace" and table.n_public == 3


def test_a_declared_n_must_be_typed():
    at = paste_bounds(upload(visit("data.py"), PEOPLE), BOUNDS)
    fine(_kept(at.radio, "n:False").set_value("declared").run())
    assert _kept(at.number_input, "n_value:False").value is None, "never filled from the rows of a private file"
    press(at, "Use this table")
    assert "Type the public number of rows" in at.error[0].value
    _kept(at.number_input, "n_value:False").set_value(500)
    press(fine(at.run()), "Use this table")
    assert at.session_state["visit:table"].n_public == 500


def test_a_public_file_may_be_filled_from_its_rows_and_previewed():
    at = _choosing(upload(visit("data.py"), PEOPLE), "age", "income")
    fine(_kept(at.get("button_group"), "kind").set_value("public").run())
    press(at, "Fill from the rows")
    press(at, "Use this table")
    table = at.session_state["visit:table"]
    assert table.declaration.origins == ("public data",) * 2 and table.n_public == 3
    np.testing.assert_array_equal(table.domain.upper, [52, 7741.25])
    assert len(at.get("plotly_chart")) == 1


def test_bounds_filled_from_rows_that_turn_out_private_are_called_what_they_are():
    at = _choosing(upload(visit("data.py"), PEOPLE), "age", "income")
    fine(_kept(at.get("button_group"), "kind").set_value("public").run())
    press(at, "Fill from the rows")
    fine(_kept(at.get("button_group"), "kind").set_value("private").run())
    press(at, "Use this table")
    declaration = at.session_state["visit:table"].declaration
    assert declaration.origins == (FROM_ROWS,) * 2 and declaration.bounds_from_rows


def test_a_sample_is_shown_with_its_declarations_and_can_be_declared_anew():
    at = visit("data.py", table=sample_table("people"))
    assert "People of a town** is open" in everything_shown(at)
    fine(at.toggle(key="change_declarations").set_value(True).run())
    _kept(at.multiselect, "columns").set_value(["age", "income"])
    press(fine(at.run()), "Use this table")
    table = at.session_state["visit:table"]
    assert table.domain.columns == ("age", "income")
    np.testing.assert_array_equal(table.domain.upper, [100, 200_000])
    assert table.declaration.label_column == "segment"


def test_no_link_ever_carries_data():
    at = paste_bounds(upload(visit("data.py"), PEOPLE), BOUNDS)
    press(at, "Use this table")
    assert set(at.query_params) <= {"epsilon", "delta", "k", "algorithm"}


def test_a_hundred_columns_are_declared_at_once():
    header = ",".join(f"c{j}" for j in range(100))
    rows = "\n".join(",".join(str((i * j) % 7) for j in range(100)) for i in range(1, 101))
    at = upload(visit("data.py"), f"{header}\n{rows}\n".encode())
    columns = _kept(at.multiselect, "columns")
    assert columns.value == [], "too many to guess"
    fine(columns.set_value(columns.options[1:]).run())
    paste_bounds(at, '{"lower": 0, "upper": 7}')
    press(at, "Use this table")
    assert at.session_state["visit:table"].domain.dim == len(columns.options) - 1


def _choosing(at, *columns):
    """The visit after ``columns`` were chosen to be clustered."""
    return fine(_kept(at.multiselect, "columns").set_value(list(columns)).run())


def _kept(widgets, name):
    """The widget of the declaration form with that name."""
    (widget,) = (w for w in widgets if (w.key or "").startswith("declare:") and (w.key or "").endswith(f":{name}"))
    return widget
