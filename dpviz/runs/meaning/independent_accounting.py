"""A ledger added up again by an independent library (dp-accounting), which sees only sensitivities and scales."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache, reduce
from math import exp, expm1, fsum, log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from dpviz.core import Accounting, Entry, LossKind

# Where it is needed, the library is loaded: it brings much of SciPy, which the first page would wait for.
if TYPE_CHECKING:
    import dp_accounting

# The library gives no finite ε at δ = 0. At a Rényi order so large the divergence of a pure mechanism is its ε to nine
# digits, whatever the mechanism, and this δ adds nothing.
_PURE_ORDER, _NEGLIGIBLE_DELTA = 1e9, 1e-9
_ORDERS = tuple(1 + np.geomspace(1e-3, 1e6, 4001))


def compute_independent_epsilon(entries: Sequence[Entry], *, delta: float) -> float | None:
    """The total ε at ``delta`` of a ledger's entries by dp-accounting; None if there is nothing to add.

    Its accountant of loss distributions adds up Gaussian ledgers and those of PLD, equal draws at once; Rényi
    divergences add up pure ledgers and those that mix Gaussian with exponential mechanisms. No composition of ours
    takes part.

    Parameters
    ----------
    entries : sequence of Entry
        Of one ledger.
    delta : float
        At which ε is asked for.

    Returns
    -------
    float or None
        Compared with what the ledger says itself.
    """
    return _add_up(tuple(entries), delta) if entries else None


@lru_cache(maxsize=64)  # a release and whoever verifies it ask for the same sums several times
def _add_up(entries: tuple[Entry, ...], delta: float) -> float | None:
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.privacy_accountant import NeighboringRelation
    from dp_accounting.rdp import RdpAccountant

    match entries[0].accounting:
        case Accounting.NONE:
            return None
        case Accounting.PURE:
            pure = RdpAccountant(orders=(_PURE_ORDER,))
            return _compose_events(pure, map(_make_noise_event, entries), _NEGLIGIBLE_DELTA)
        case Accounting.GDP | Accounting.PLD:
            # Loss distributions are rounded up to a grid, which has to be fine beside the total.
            mu = sqrt(fsum((entry.sensitivity / entry.scale) ** 2 for entry in entries))
            fine = PLDAccountant(value_discretization_interval=min(1e-3, 4e-4 * mu))
            return _compose_events(fine, map(_make_noise_event, entries), delta)
        case Accounting.BASIC:
            # Of these nothing is known but (ε, δ) each.
            from dp_accounting.pld.common import DifferentialPrivacyParameters
            from dp_accounting.pld.privacy_loss_distribution import from_privacy_parameters

            interval = 2e-4 * min(entry.epsilon for entry in entries) / len(entries)
            given = (DifferentialPrivacyParameters(entry.epsilon, entry.delta) for entry in entries)
            parts = [from_privacy_parameters(one, value_discretization_interval=interval) for one in given]
            return float(reduce(lambda one, other: one.compose(other), parts).get_epsilon_for_delta(delta))
        case Accounting.ZCDP:
            orders = RdpAccountant(orders=_ORDERS, neighboring_relation=NeighboringRelation.REPLACE_ONE)
            return _compose_events(orders, map(_make_concentrated_event, entries), delta)


def _compose_events(
    accountant: dp_accounting.PrivacyAccountant, events: Iterable[dp_accounting.DpEvent], delta: float
) -> float:
    for event, count in Counter(events).items():
        accountant.compose(event, count)
    return float(accountant.get_epsilon(delta))


def _make_noise_event(entry: Entry) -> dp_accounting.DpEvent:
    """Gaussian noise, or as many draws of Laplace noise as together have the same ε."""
    import dp_accounting

    multiplier = entry.scale / entry.sensitivity
    if entry.loss is LossKind.GAUSSIAN:
        return dp_accounting.GaussianDpEvent(multiplier)
    return dp_accounting.SelfComposedDpEvent(dp_accounting.LaplaceDpEvent(entry.draws * multiplier), entry.draws)


def _make_concentrated_event(entry: Entry) -> dp_accounting.DpEvent:
    """Laplace noise by its Rényi divergences; randomised response for what is ε-DP; the library knows no choices."""
    import dp_accounting

    if entry.loss is LossKind.GAUSSIAN:
        return _make_noise_event(entry)
    epsilon = entry.sensitivity / entry.scale / entry.draws
    one: dp_accounting.DpEvent
    match entry.loss:
        case LossKind.LAPLACE_LIKE:
            one = dp_accounting.LaplaceDpEvent(1 / epsilon)
        case LossKind.BOUNDED_RANGE:
            # The divergence of the worst choice among two, of order 1.
            even = -expm1(-epsilon) / epsilon
            one = dp_accounting.ZCDpEvent(1 / even - 1 + log(even))
        case _:
            one = dp_accounting.RandomizedResponseDpEvent(2 / (1 + exp(epsilon)), 2)
    return dp_accounting.SelfComposedDpEvent(one, entry.draws)
