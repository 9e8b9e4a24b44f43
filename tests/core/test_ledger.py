"""The ledger: all of a charge or nothing, and never a refund."""

from math import exp, inf

import pytest

from dpviz.core.accounting import Accounting, Budget, NoiseDraws, compute_choice_rho
from dpviz.core.check import RequestError
from dpviz.core.ledger import BudgetExceeded, Entry, Ledger
from dpviz.core.mechanisms import Exponential, Gaussian, Laplace, PathCounts, Peeling
from dpviz.core.queries import Sensitivity

ONE = Sensitivity(1.0, 1.0, 1.0, 1.0)


def _entry(amount, accounting=Accounting.PURE):
    return Entry.of(Laplace(1.0, 1.0 / amount), "Count", accounting, delta=0.0, note="a step")


def test_a_charge_is_booked_whole_or_not_at_all():
    ledger = Ledger(Accounting.PURE, 1.0, 1e-6)
    assert ledger.delta == 0.0
    ledger.charge(_entry(0.6))
    with pytest.raises(BudgetExceeded, match=r"asks for 0.5 of epsilon, but 0.4 of 1 is left"):
        ledger.charge(_entry(0.3), _entry(0.2))
    assert len(ledger.entries) == 1
    ledger.charge(_entry(0.4))
    assert ledger.spent_fraction == 1.0
    with pytest.raises(BudgetExceeded):
        ledger.charge(_entry(1e-9))


def test_what_costs_nothing_or_less_is_refused():
    ledger = Ledger(Accounting.PURE, 1.0, 0.0)
    for scale in (-1.0, float("inf"), float("nan")):
        with pytest.raises(BudgetExceeded, match="no budget"):
            ledger.charge(Entry.of(Laplace(1.0, scale), "Count", Accounting.PURE, delta=0.0, note="a step"))
        assert ledger.entries == []


def test_under_basic_composition_deltas_add_up_too():
    share = Budget(Accounting.BASIC, 0.2, 0.4e-6)
    entry = Entry.of(Gaussian.calibrated(share, ONE), "Count", Accounting.BASIC, delta=1e-6, note="a step")
    assert entry.delta == 0.4e-6
    together, one_by_one = (Ledger(Accounting.BASIC, 1.0, 1e-6) for _ in range(2))
    with pytest.raises(BudgetExceeded, match="more of delta"):
        together.charge(entry, entry, entry)
    assert together.entries == []
    for _ in range(2):
        one_by_one.charge(entry)
    assert one_by_one.left.delta == pytest.approx(0.2e-6)
    with pytest.raises(BudgetExceeded, match="more of delta"):
        one_by_one.charge(entry)
    assert len(one_by_one.entries) == 2


def test_without_a_promise_nothing_is_spent_before_the_rows_are_read():
    ledger = Ledger(Accounting.NONE, 1.0, 0.0)
    assert (ledger.cap, ledger.spent_epsilon, ledger.spent_fraction) == (inf, 0.0, 0.0)


def test_a_look_draws_no_noise_and_has_no_price_but_all_privacy():
    look = Entry.revealed("rows", note="a look")
    assert (look.sensitivity, look.scale, look.amount, look.delta, look.epsilon, look.draws) == (0, 0, 0, 0, inf, 1)
    assert Gaussian(1.0, 2.0).delta == 0.0, "no part of δ but the one that was bought"


def test_the_rho_of_an_entry_is_that_of_its_draws_whatever_the_accounting():
    gaussian = Gaussian(2.0, 8.0, 1e-7)
    choices = Peeling(Exponential(1.0, 2.0), 3)
    costs = (0.5 + exp(-0.5) - 1, 3 * compute_choice_rho(0.5), 1 / 32, 4 / 32)
    for mechanism, rho in zip((Laplace(3.0, 6.0), choices, gaussian, PathCounts(gaussian, 4, 1.0)), costs, strict=True):
        by_rho, by_losses = (
            Entry.of(mechanism, "Count", accounting, delta=1e-6, note="")
            for accounting in (Accounting.ZCDP, Accounting.PLD)
        )
        assert by_losses.rho == pytest.approx(rho) and by_rho.rho == pytest.approx(by_rho.amount)
    with pytest.raises(RequestError, match="zcdp"):
        _ = Entry.revealed("rows", note="").rho


def test_a_list_of_draws_is_for_loss_distributions_alone_and_leaves_room_for_what_is_drawn_first():
    draws = NoiseDraws(False, 1.0)
    for accounting in (Accounting.PURE, Accounting.GDP, Accounting.ZCDP):
        with pytest.raises(RequestError, match="shares add up"):
            Ledger(accounting, 1.0, 1e-6).announce(draws)
    with pytest.raises(RequestError, match="Nothing of this budget"):
        Ledger(Accounting.PLD, 1.0, 1e-6).announce(draws, first=(NoiseDraws(True, 0.1),))
    ledger = Ledger(Accounting.PLD, 1.0, 1e-6)
    ledger.announce(draws)
    with pytest.raises(RequestError, match="announced once"):
        ledger.announce(draws)
