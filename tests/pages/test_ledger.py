"""Ledger: every charge, both sums, all looks, and a file that is no formula."""

import csv
import io
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app.ui import ledger_panel
from dpviz.app.ui.ledger_panel import compose_together, describe_total, format_file_name, tabulate_charges
from dpviz.app.ui.session import Booked
from dpviz.runs import ReleaseRecord, run
from dpviz.runs.export import format_frame_csv
from dpviz.tables import FileKind
from tests.pages.site import everything_shown, fine, sample_table

PRIVATE = sample_table("outlier", FileKind.PRIVATE)


def book(algorithm: str, table=PRIVATE, *, epsilon: float = 1.0, accesses=None, **how) -> Booked:
    record = ReleaseRecord.of(run(algorithm, table.private, k=3, epsilon=epsilon, **how), table, accesses=accesses)
    return Booked(record, table.source_key)


@pytest.fixture(scope="module")
def books() -> list[Booked]:
    """Two releases, a Gaussian one, and a reference that is no release."""
    gaussian = book("dplloyd", delta=1e-6, params={"preset": "gaussian"}, seed=3)
    return [book("dplloyd"), book("dplloyd", epsilon=0.5, seed=2), gaussian, book("kmeans++", seed=4)]


def changed(entry: Booked, **record) -> Booked:
    return replace(entry, record=replace(entry.record, **record))


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
    assert at.metric[0].value == "2.5" and "Running again adds up" in at.warning[0].value
    assert "finds no run above its request" in everything_shown(at)
    per_run, per_charge = (frame.value for frame in at.dataframe)
    assert len(per_run) == 4
    assert len(per_charge) == sum(len(entry.record.entries) for entry in books if entry.record.private)


def test_no_run_is_called_within_its_request_that_is_above_it_or_was_not_compared(books):
    above = changed(books[0], epsilon=books[0].record.epsilon / 2)
    for kept, warned in (([above, books[1]], True), (books[3:], False)):
        at = _drawn(kept)
        assert "finds no run above its request" not in everything_shown(at) and bool(at.error) == warned
    told = [ledger_panel.describe_agreement(books[0], spent) for spent in (0.9999, 1.01, None)]
    assert [said[0] for said in told] == ["✓", "✗", "✗"], "what was not added up is not confirmed"
    assert ledger_panel.describe_agreement(books[3], None) == "no guarantee"


def test_only_releases_on_the_same_rows_and_promise_are_added_and_the_headline_is_of_those_that_cost_most(books):
    (group,) = compose_together(books)
    assert group.runs == 3 and group.epsilon == pytest.approx(2.5, rel=1e-6) and group.delta == 1e-6
    with_others = compose_together([*books, replace(books[0], source_key="another file")])
    assert [one.runs for one in with_others] == [3, 1]
    title = books[0].record.declaration.title
    assert describe_total([group]) == f"{title}: 3 runs spent ε = 2.5 together"
    assert describe_total(compose_together(books[:1])) == f"{title}: 1 run spent ε = 1"
    assert describe_total(with_others).endswith("3 runs spent ε = 2.5 together; 1 more below")


def test_every_line_of_the_file_says_what_the_run_is_worth_and_none_is_a_formula(books):
    evil = changed(books[0], declaration=replace(books[0].record.declaration, title="=1+1"))
    charged = tabulate_charges([evil, *books[1:]])
    rows = list(csv.DictReader(io.StringIO(format_frame_csv(charged).decode("utf-8"))))
    assert rows[0]["table"] == "'=1+1" and rows[0]["run"] == "1" and float(rows[0]["amount"]) > 0
    assert len(rows) == len(charged)
    notes = {number: {row["note"] for row in rows if row["run"] == number} for number in ("1", "2")}
    assert all("not hardened" in note for note in notes["1"]) and all("follows from a seed" in n for n in notes["2"])
    assert {row["n"] for row in rows} == {books[0].record.n_origin} and all(row["version"] for row in rows)
    assert not any("second" in name or "time" in name for name in rows[0])
    assert format_file_name(books) == "SIMULATION_ledger.csv"
    assert format_file_name([changed(books[0], hardened=True), books[3]]) == "ledger.csv"
