"""A table of all declared kinds on every page: nothing raises; clusters are told in the words of the declaration."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.runs.open_table import OpenTable
from dpviz.runs.synthetic_tables import synthesise_declared
from dpviz.tables.codings import Nominal, Stretched
from dpviz.tables.declarations import FileKind, apply_declaration
from tests.cases import for_each
from tests.pages.site import fine, open_form, press, tick, type_bound, upload, visit
from tests.pages.tables import app_on, open_below, text_of
from tests.runs.test_center_tables import SAID


@pytest.fixture(scope="module")
def mixed() -> OpenTable:
    declared = apply_declaration(json.dumps({"bounds": SAID, "title": "Visits"})).validate()
    opened = synthesise_declared(declared, n=600, k=3)
    return replace(opened, declaration=replace(opened.declaration, kind=FileKind.PUBLIC))


def test_explore_tells_clusters_by_shares_and_draws_them(mixed):
    app = app_on("home.py", mixed, algorithm="auto", k="3", epsilon="5")
    open_below(app, "What was found")
    (found,) = [frame.value for frame in app.dataframe if "cluster" in frame.value.columns]
    assert list(found.columns)[-len(SAID) :] == [*SAID]
    assert found["region"].str.contains("%").all() and found["income"].str.contains(" to ").all()
    assert "Clusters differ most in" in text_of(app)


def test_an_algorithm_that_cannot_serve_it_says_what_to_choose(mixed):
    app = app_on("home.py", mixed, algorithm="eugkm", k="3", epsilon="5")
    assert "a grid over them says nothing" in text_of(app) and "choose auto" in text_of(app)


@for_each("page", ["data.py", "compare.py", "meaning.py", "release.py", "home.py", "learn.py"])
def test_no_other_page_raises(mixed, page):
    app_on(page, mixed, k="3")


def test_a_release_tells_its_segments_and_missing_values_and_bounds_are_what_was_declared(mixed):
    app = app_on("release.py", mixed, k="3")
    assert {"ε for segments, %", "ε for missing values, %"} <= {slider.label for slider in app.slider}
    told = text_of(app)
    assert "on a log scale" in told and "a cycle of 24" in told and "do not tell" not in told


def test_an_owner_declares_categories_and_a_log_scale_on_the_page_and_opens_the_table():
    lines = [f"{20 + i % 50},{100 + 13 * i},{'NSEW'[i % 4]}" for i in range(300)]
    app = upload(visit("data.py"), ("age,pay,region\n" + "\n".join(lines) + "\n").encode())
    for column, low, high in (("age", 0.0, 100.0), ("pay", 100.0, 9_000.0)):
        app = type_bound(type_bound(app, column, "lower", low), column, "upper", high)

    app = declare_as(app, "pay", "log")
    app = declare_as(tick(app, "age", "pay", "region"), "region", "categories", "N, S, E")
    table = app.session_state["visit:table"]
    assert table.domain.names == ("age", "pay", "region") and table.domain.dim == 7
    assert not table.declaration.proposed and table.private.domain.region.blocks is not None
    told = table.declaration.codings
    assert told == {"pay": Stretched("log"), "region": Nominal(("N", "S", "E"))}


def declare_as(app: AppTest, column: str, kind: str, said: str = "") -> AppTest:
    """Say in the form of a column what it holds."""
    open_form(app, f"column:{column}")
    fine(widget(app.selectbox, "What it holds").set_value(kind).run())
    if said:
        widget(app.text_input, "Values, separated by commas").set_value(said)
    return press(app, "So it is")


def test_values_are_proposed_on_a_click_and_that_is_said():
    app = upload(visit("data.py"), b"x,region\n" + b"1,N\n2,S\n" * 20)
    app = type_bound(type_bound(app, "x", "lower", 0.0), "x", "upper", 9.0)
    open_form(tick(app, "x", "region"), "column:region")
    fine(widget(app.selectbox, "What it holds").set_value("categories").run())
    press(app, "Propose its values: a look at the first rows")
    assert widget(app.text_input, "Values, separated by commas").value == "N, S"
    press(app, "So it is")
    assert app.session_state["visit:table"].declaration.proposed


def test_what_was_found_in_the_rows_is_declared_at_once_but_between_which_dates_is_for_its_owner_to_say():
    raw = "who;betrag;seit;ort;aktiv\n" + "".join(
        f"k{i % 30};{1000 + i},5;{1 + i % 28:02d}.03.2021;{('Köln', 'Bonn')[i % 2]};{('Ja', 'Nein')[i % 2]}\n"
        for i in range(60)
    )
    app = upload(visit("data.py"), raw.encode())
    press(app, "Propose from the rows (counted)")
    tick(app, "betrag", "seit", "ort")
    open_form(app, "column:seit")
    assert widget(app.selectbox, "What it holds").value == "dates", "as was found"
    for label, day in {"First day": date(2020, 1, 1), "Last day": date(2022, 12, 31)}.items():
        widget(app.date_input, label).set_value(day)
    press(app, "So it is")
    type_bound(type_bound(app, "betrag", "lower", 0.0), "betrag", "upper", 5_000.0)
    declared = app.session_state["visit:table"].declaration
    assert set(declared.columns) == {"betrag", "seit", "ort"} and declared.proposed
    assert declared.codings["seit"].written == "dmy" and declared.codings["ort"].names == ("Bonn", "Köln")
    assert declared.codings["seit"].ends == (0.0, 1095.0)


def widget(widgets, label: str):
    """The one of ``widgets`` with that label."""
    (found,) = (one for one in widgets if one.label == label)
    return found
