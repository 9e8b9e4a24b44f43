"""The accountant's independent re-addition of a ledger."""

from dataclasses import replace

import pytest

from dpviz.core import accounting
from dpviz.core.accounting import Accounting, NoiseDraws
from dpviz.core.ledger import Entry, Ledger
from dpviz.core.mechanisms import Exponential, Gaussian, KNorm, Laplace, NoisyThreshold, Peeling, SparseLaplace
from dpviz.core.queries import Sensitivity
from dpviz.runs.meaning.independent_accounting import compute_independent_epsilon
from tests.cases import about

ONE = Sensitivity(1.0, 1.0, 1.0, 1.0)
PURE, GDP, ZCDP = Accounting.PURE, Accounting.GDP, Accounting.ZCDP


def _spent(accounting, epsilon, delta, draws, rounds):
    ledger = Ledger(accounting, epsilon, delta)
    for share in ledger.budget.rounds(rounds):
        for mechanism in draws(share):
            ledger.charge(Entry.of(mechanism, "Count", accounting, delta=delta, note=""))
    return ledger


def _pure(share):
    parts = share.rounds(4)
    yield Laplace.calibrated(parts[0], ONE)
    yield KNorm.calibrated(parts[1], ONE)
    yield Exponential.calibrated(parts[2], ONE)
    thirds = parts[3].rounds(2)
    yield SparseLaplace.calibrated(thirds[0], ONE, cutoff_in_scales=2.0)
    yield NoisyThreshold(Laplace.calibrated(thirds[1], ONE), 9.0)


def _gaussian(share):
    parts = share.rounds(2)
    yield Gaussian.calibrated(parts[0], ONE)
    yield NoisyThreshold(Gaussian.calibrated(parts[1], ONE), 9.0)


def _mixed(share):
    parts = share.rounds(3)
    yield Gaussian.calibrated(parts[0], ONE)
    yield Exponential.calibrated(parts[1], ONE)
    yield SparseLaplace.calibrated(parts[2], ONE, cutoff_in_scales=2.0)


@pytest.mark.parametrize(
    ("accounting", "delta", "draws", "least"),
    [
        (PURE, 0.0, _pure, 0.998),
        (GDP, 1e-6, _gaussian, 0.998),
        # It has the divergences of Laplace noise at each order, of which ρ is a bound.
        (ZCDP, 1e-6, _mixed, 0.88),
        (ZCDP, 1e-6, lambda share: [Peeling.calibrated(share, ONE, draws=7)], 0.998),
    ],
)
def test_the_other_library_finds_the_request_and_no_more(accounting, delta, draws, least):
    for epsilon, rounds in ((0.01, 1), (1.0, 7), (35.0, 1)):
        with about(f"ε = {epsilon}, {rounds} rounds"):
            ledger = _spent(accounting, epsilon, delta, draws, rounds)
            independent = compute_independent_epsilon(ledger.entries, delta=delta)
            assert least * epsilon <= independent <= epsilon
            assert 0.998 * epsilon <= ledger.spent_epsilon <= epsilon


@pytest.mark.parametrize(
    ("accounting", "delta", "draws"), [(PURE, 0.0, _pure), (GDP, 1e-6, _gaussian), (ZCDP, 1e-6, _mixed)]
)
def test_the_other_library_sees_noise_and_not_the_amounts_that_were_booked(accounting, delta, draws):
    entries = _spent(accounting, 1.0, delta, draws, 3).entries
    halved = [replace(entry, scale=entry.scale / 2) for entry in entries]
    assert compute_independent_epsilon(halved, delta=delta) > 1.7
    cheap = [replace(entry, amount=0.0, epsilon=0.0) for entry in entries]
    assert compute_independent_epsilon(cheap, delta=delta) == compute_independent_epsilon(entries, delta=delta)


def test_under_loss_distributions_no_composition_of_ours_takes_part(monkeypatch):
    ledger = Ledger(Accounting.PLD, 1.0, 1e-6)
    share = ledger.calibrate({"sums": NoiseDraws(True, 1.0), "counts": NoiseDraws(False, 20.0, 3)})
    counts = [Laplace.calibrated(part, ONE) for part in share.counts.rounds(3)]
    for mechanism in (Gaussian.calibrated(share.sums, ONE), *counts):
        ledger.charge(Entry.of(mechanism, "Count", Accounting.PLD, delta=1e-6, note=""))
    found = compute_independent_epsilon(ledger.entries, delta=1e-6)
    assert found == pytest.approx(ledger.spent_epsilon, rel=1e-3)
    for where, ours in ((accounting, "compose_epsilon"), (Entry, "list_draws")):
        monkeypatch.setattr(where, ours, None)
    assert compute_independent_epsilon(ledger.entries, delta=1e-6) == found
    halved = [replace(entry, scale=entry.scale / 2) for entry in ledger.entries]
    assert compute_independent_epsilon(halved, delta=1e-6) > 1.7 * found
