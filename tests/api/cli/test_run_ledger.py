"""``run --json`` spends what was asked: its ledger adds up in its own accounting, and in an independent library's."""

from __future__ import annotations

import pytest

from dpviz.core.accounting import Accounting, LossKind
from dpviz.core.ledger import Entry
from dpviz.runs.meaning.independent_accounting import compute_independent_epsilon
from tests.cases import about
from tests.command_line import call, write_points
from tests.contract.tables import SETTINGS

SOME, OTHERS = SETTINGS[::3], SETTINGS[1::3] + SETTINGS[2::3]


def entries_of(ledger):
    words = ("mechanism", "query", "note", "sensitivity", "scale", "amount", "epsilon", "delta", "draws")
    accounting = Accounting(ledger["accounting"])
    return [
        Entry(accounting=accounting, loss=LossKind(entry["loss"]), **{word: entry[word] for word in words})
        for entry in ledger["entries"]
    ]


@pytest.mark.parametrize("settings", [SOME, pytest.param(OTHERS, marks=pytest.mark.slow)], ids=["some", "others"])
def test_the_ledger_adds_up_to_the_request(capsys, tmp_path, settings):
    """Of some settings, and of the others; n is public for every second one."""
    path = write_points(tmp_path / "points.csv")
    for place, (card, params, delta) in enumerate(settings):
        options = [f"--set={name}={value}" for name, value in params.items()]
        if place % 2:
            options += ["--n-public", "400"]
        with about(card.id, *options):
            check_ledger(capsys, path, card, delta, options)


def check_ledger(capsys, path, card, delta, options):
    asked = ("--k", 3, "--epsilon", 1.5, "--delta", delta, "--bounds", "-1,1", "--algorithm", card.id)
    said = call(capsys, "run", path, *asked, *options, "--json")
    assert said.code == 0, said.err
    ledger = said.json["ledger"]
    assert 0.99 * 1.5 <= ledger["epsilon"] <= 1.5 and ledger["delta"] <= delta
    # The other library solves for ε numerically.
    assert compute_independent_epsilon(entries_of(ledger), delta=ledger["delta"]) <= 1.5 * (1 + 1e-6)
