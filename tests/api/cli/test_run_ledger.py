"""``run --json`` spends what was asked: its ledger adds up in its own accounting, and in an independent library's."""

from __future__ import annotations

from math import fsum, log, sinh, sqrt, tanh

import dp_accounting
import pytest
from dp_accounting.pld import PLDAccountant

from dpviz.core.accounting import Accounting, LossKind, gdp_epsilon, zcdp_epsilon
from dpviz.core.ledger import Entry
from dpviz.runs.meaning.independent_accounting import compute_independent_epsilon
from tests.cases import about
from tests.command_line import call, write_points
from tests.contract.tables import SETTINGS

# dp-accounting solves for ε numerically.
ROUNDING = 1e-6


SOME, OTHERS = SETTINGS[::3], SETTINGS[1::3] + SETTINGS[2::3]


def _bounded_range_rho(epsilon):
    """Its exact ρ, a little below ε²/8 (docs/proofs/concentrated.md)."""
    half = epsilon / 2
    return log(sinh(half) / half) + half / tanh(half) - 1


def added_up(ledger):
    """Total ε from nothing but mechanism names, sensitivities and scales."""
    delta, alone = ledger["delta"], [entry["sensitivity"] / entry["scale"] for entry in ledger["entries"]]
    match ledger["accounting"]:
        case "pure":
            return fsum(alone)
        case "basic":
            entries = zip(alone, ledger["entries"], strict=True)
            assert fsum(entry["delta"] for entry in ledger["entries"]) <= delta * (1 + ROUNDING)
            return fsum(gdp_epsilon(x, entry["delta"]) if _is_gaussian(entry) else x for x, entry in entries)
        case "gdp":
            assert all(entry["mechanism"].startswith("gaussian") for entry in ledger["entries"])
            return gdp_epsilon(sqrt(fsum(mu**2 for mu in alone)), delta)
        case "zcdp":
            choices = {"exponential", "exponential quantile", "peeling"}
            entries = zip(alone, ledger["entries"], strict=True)
            rho = fsum(
                entry["draws"] * _bounded_range_rho(x / entry["draws"])
                if entry["mechanism"] in choices
                else x**2 / entry["draws"] / 2
                for x, entry in entries
            )
            return zcdp_epsilon(rho, delta)
        case "pld":
            accountant = PLDAccountant(value_discretization_interval=2e-4)
            for x, entry in zip(alone, ledger["entries"], strict=True):
                if entry["mechanism"].startswith("gaussian"):
                    accountant.compose(dp_accounting.GaussianDpEvent(1 / x))
                else:
                    # K-norm and sparse noise tell no more than Laplace noise of the same scale.
                    assert entry["mechanism"].startswith(("laplace", "k-norm", "sparse laplace"))
                    accountant.compose(dp_accounting.LaplaceDpEvent(entry["draws"] / x), entry["draws"])
            return accountant.get_epsilon(delta)
    raise AssertionError(ledger["accounting"])


def _is_gaussian(entry):
    return entry["mechanism"].startswith("gaussian")


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
    assert 0.99 * 1.5 <= added_up(ledger) <= 1.5 * (1 + 1e-9)
    assert 0.99 * 1.5 <= ledger["epsilon"] <= 1.5
    assert ledger["delta"] <= delta
    assert compute_independent_epsilon(entries_of(ledger), delta=ledger["delta"]) <= 1.5 * (1 + ROUNDING)
    if ledger["accounting"] == "gdp":
        multiplier = 1 / sqrt(fsum((e["sensitivity"] / e["scale"]) ** 2 for e in ledger["entries"]))
        assert dp_accounting.get_epsilon_gaussian(multiplier, delta) <= 1.5 * (1 + ROUNDING)
