"""A noisy number of rows costs the share that is said, of what adds up in the run: ε, μ² or ρ."""

from __future__ import annotations

from math import fsum
from pathlib import Path

import pytest

from dpviz.core.accounting import Accounting, Budget
from dpviz.core.ledger import Ledger
from dpviz.core.private_session import PrivateTable
from dpviz.runs.one_run import run
from dpviz.tables.declarations import FileKind
from tests.contract.tables import make_blobs, make_small_table
from tests.pages.site import everything_shown, fine, upload, visit

START = Path(__file__).resolve().parents[2] / "docs" / "start.md"
_SHARE = 0.02


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "params", "delta", "adds_up"),
    [
        ("dplloyd", {}, 0.0, Accounting.PURE),
        ("dplloyd", {"preset": "gaussian"}, 1e-6, Accounting.GDP),
        ("auto", {}, 1e-6, Accounting.PLD),
    ],
)
def test_the_number_of_rows_costs_two_percent_of_the_budget_and_with_a_delta_not_of_epsilon(
    algorithm: str, params: dict, delta: float, adds_up: Accounting
) -> None:
    table = PrivateTable(make_blobs(3000, 2), make_small_table(make_blobs(10, 2)).domain)
    done = run(algorithm, table, k=3, epsilon=1.0, delta=delta, params=params, seed=0)
    assert done.accounting is adds_up and done.n_origin == "bought"
    whole: Budget = Ledger(adds_up, 1.0, delta).budget
    assert done.entries[0].amount == pytest.approx(_SHARE * whole.amount, rel=1e-6)
    if adds_up is Accounting.GDP:
        assert fsum(entry.amount for entry in done.entries) == pytest.approx(whole.amount, rel=0.01)
        assert done.entries[0].epsilon > 2 * _SHARE, "2 % of μ² is far more than 2 % of ε"


def test_where_it_is_said_it_is_said_of_the_budget() -> None:
    at = upload(visit(), b"age,income\n31,2000\n44,3000\n")
    assert at.session_state["bench:hand"].declaration.kind is FileKind.PRIVATE
    (asked,) = (button for button in at.button if button.key == "bench:buy_rows")
    assert asked.label.endswith("buy a noisy number with 2 % of the budget")
    assert "μ² or ρ" in asked.help
    assert "2 % of ε" not in everything_shown(at) + START.read_text(encoding="utf-8")
    assert fine(asked.click().run()).session_state["bench:hand"].buys_rows and "rows" not in in_hand_gaps(at)


def in_hand_gaps(at) -> list[str]:
    return at.session_state["bench:hand"].gaps
