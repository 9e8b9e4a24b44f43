"""Ledger: every charge, both sums, all looks, and a file that is no formula."""

from __future__ import annotations

import csv
import dataclasses
import io
import json

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app.ui.ledger_panel import (
    ADDING,
    compose_together,
    describe_agreement,
    describe_total,
    format_file_name,
    tabulate_charges,
    tabulate_totals,
)
from dpviz.app.ui.session import Booked
from dpviz.core.accounting import Accounting
from dpviz.core.private_session import AccessKind
from dpviz.runs.export import format_frame_csv
from dpviz.runs.one_run import run
from dpviz.runs.record import ReleaseRecord
from dpviz.tables.declarations import FileKind
from tests.pages.site import everything_shown, fine, open_ledger, sample_table, visit


@pytest.fixture(scope="module")
def books():
    """Two releases, a Gaussian one, and a reference that is no release."""
    table = sample_table("outlier", FileKind.PRIVATE)
    runs = [
        run("dplloyd", table.private, k=3, epsilon=1.0),
        run("dplloyd", table.private, k=3, epsilon=0.5, seed=2),
        run("dplloyd", table.private, k=3, epsilon=1.0, delta=1e-6, params={"preset": "gaussian"}, seed=3),
        run("kmeans++", table.private, k=3, epsilon=1.0, seed=4),
    ]
    return [Booked(ReleaseRecord.of(one, table), table.source_key) for one in runs]


def _ledger() -> None:
    from dpviz.app.ui.ledger_panel import draw_ledger

    draw_ledger()


def _drawn(books) -> AppTest:
    """A ledger of these books, wherever it stands on a page."""
    at = AppTest.from_function(_ledger)
    at.session_state["visit:books"] = books
    return fine(at.run())


def test_it_shows_what_to_do_or_every_charge_and_warns_that_runs_add_up(books):
    assert _drawn([]).info[0].proto.title == "Nothing is booked yet"
    at = _drawn(books)
    assert at.metric[0].value == "2.5"
    assert "Running again adds up" in at.warning[0].value
    assert "finds no run above its request" in everything_shown(at)
    per_run, per_charge = (frame.value for frame in at.dataframe)
    assert len(per_run) == 4
    assert len(per_charge) == sum(len(entry.record.entries) for entry in books if entry.record.private)


def test_what_holds_of_all_runs_takes_no_column_and_is_said_once_below_them(books):
    for kept, differ in ((books, True), (books[1:3], False)):
        at = _drawn(kept)
        order, said = list(at.dataframe[0].proto.column_order), everything_shown(at)
        assert ("kind" in order) == ("noise" in order) == differ
        assert order[:2] == (["run", "kind"] if differ else ["run", "table"])
        assert ("Noise: seeded: simulation only" in said) != differ
        assert differ or (not {"protects", "n"} & {*order} and "Each protects: 1 person" in said)


def test_no_run_is_called_within_its_request_that_is_above_it_or_was_not_compared(books):
    above = dataclasses.replace(
        books[0], record=dataclasses.replace(books[0].record, epsilon=books[0].record.epsilon / 2)
    )
    for kept, warned in (([above, books[1]], True), (books[3:], False)):
        at = _drawn(kept)
        assert "finds no run above its request" not in everything_shown(at)
        assert bool(at.error) == warned


# Pixels of a digit in a table's cell, and of the air beside it: a wider number loses its first digits.
_DIGIT, _AIR = 7.6, 17


def _as_shown(value: float) -> str:
    """Four digits, as a browser writes them: without an exponent down to a millionth."""
    digits = f"{value:.4g}"
    return f"{float(digits):.10f}".rstrip("0").rstrip(".") if 1e-6 <= abs(value) < 1 else digits


def test_every_number_has_room_for_its_first_digit():
    table = sample_table("outlier")
    runs = [run("auto", table.private, k=3, epsilon=epsilon, delta=1e-6, seed=1) for epsilon in (0.1, 1.0)]
    at = _drawn([Booked(ReleaseRecord.of(one, table), table.source_key) for one in runs])
    assert any(entry.amount < 1e-4 for one in runs for entry in one.entries), "small costs are what was cut"
    for shown in at.dataframe:
        columns = json.loads(shown.proto.columns)
        for name in shown.value.select_dtypes("number"):
            longest = max(len(_as_shown(float(value))) for value in shown.value[name].dropna())
            assert _DIGIT * longest + _AIR <= columns[name]["width"], name


def test_looks_are_listed(books):
    at = visit(table=sample_table("outlier"))
    at.session_state["bench:table"] = True
    fine(at.run())
    assert "rows, dots and clipping under the picture" in everything_shown(open_ledger(at))


def test_amounts_add_up_to_the_request_in_their_own_unit(books):
    charged = tabulate_charges(books)
    first = charged[charged["run"] == 1]
    assert first["unit"].unique() == ["ε"]
    assert 0.99 <= first["amount"].sum() <= 1.0
    assert charged[charged["run"] == 3]["unit"].unique() == ["μ²"]
    assert 4 not in set(charged["run"]), "the reference has no ledger"


def test_only_releases_on_the_same_rows_and_promise_are_added(books):
    (group,) = compose_together(books)
    assert group.runs == 3 and group.epsilon == pytest.approx(2.5, rel=1e-6) and group.delta == 1e-6
    other = dataclasses.replace(books[0], source_key="another file")
    assert [g.runs for g in compose_together([*books, other])] == [3, 1]


def test_the_headline_is_what_was_spent_on_the_rows_that_cost_most(books):
    title = books[0].record.declaration.title
    assert describe_total(compose_together(books)) == f"{title}: 3 runs spent ε = 2.5 together"
    assert describe_total(compose_together(books[:1])) == f"{title}: 1 run spent ε = 1"
    other = dataclasses.replace(books[0], source_key="another file")
    assert describe_total(compose_together([*books, other])).endswith("3 runs spent ε = 2.5 together; 1 more below")


def test_a_run_above_its_request_is_marked(books):
    assert describe_agreement(books[0], 0.9999) == "✓"
    assert describe_agreement(books[0], 1.01).startswith("✗")
    assert describe_agreement(books[0], None).startswith("✗"), "what was not added up is not confirmed"
    assert describe_agreement(books[3], None) == "no guarantee"


def test_totals_have_a_line_for_each_run(books):
    table = tabulate_totals(books, [1.0, 0.5, 1.0, None])
    assert list(table["kind"]) == ["released"] * 3 + ["revealed"]
    assert table["accounting"].tolist() == [ADDING[entry.record.accounting] for entry in books]
    assert ADDING[Accounting.GDP] in set(table["accounting"])
    assert set(ADDING) == set(Accounting)


def test_the_file_holds_no_formula(books):
    titled = dataclasses.replace(books[0].record.declaration, title="=1+1")
    evil = [Booked(dataclasses.replace(books[0].record, declaration=titled), "file"), books[1]]
    rows = list(csv.DictReader(io.StringIO(format_frame_csv(tabulate_charges(evil)).decode("utf-8"))))
    assert rows[0]["table"] == "'=1+1"
    assert rows[0]["run"] == "1" and float(rows[0]["amount"]) > 0
    assert len(rows) == len(pd.DataFrame(tabulate_charges(evil)))


def test_every_line_of_the_file_says_what_the_run_is_worth(books):
    rows = list(csv.DictReader(io.StringIO(format_frame_csv(tabulate_charges(books)).decode("utf-8"))))
    notes = {number: {row["note"] for row in rows if row["run"] == number} for number in ("1", "2")}
    assert all("not hardened" in note for note in notes["1"]) and all("follows from a seed" in n for n in notes["2"])
    assert {row["n"] for row in rows} == {books[0].record.n_origin} and all(row["version"] for row in rows)
    assert not any("second" in name or "time" in name for name in rows[0])


def test_the_file_is_called_what_its_runs_are(books):
    assert format_file_name(books) == "SIMULATION_ledger.csv"
    hardened = dataclasses.replace(books[0].record, hardened=True)
    assert format_file_name([dataclasses.replace(books[0], record=hardened), books[3]]) == "ledger.csv"


def test_runs_say_where_n_is_from_and_whether_their_noise_is_fit_for_a_release(books):
    table = tabulate_totals(books, [1.0, 0.5, 1.0, None])
    assert list(table["n"]) == [entry.record.n_origin for entry in books]
    assert list(table["noise"]) == ["simulation only", *["seeded: simulation only"] * 2, "none"]


def test_looks_stand_beside_the_charges_by_kind():
    table = sample_table("outlier", FileKind.PRIVATE)
    accesses = {AccessKind.LOSS: 2, AccessKind.ROWS: 1}
    record = ReleaseRecord.of(run("dplloyd", table.private, k=3, epsilon=1.0), table, accesses=accesses)
    charged = tabulate_charges([Booked(record, table.source_key)])
    assert set(charged["looks"]) == {"rows: 1 loss: 2"}
