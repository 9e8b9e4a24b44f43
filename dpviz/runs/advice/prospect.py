"""What an algorithm would do with a request, before any row is read: refuse it, fail at it, or serve it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpviz.algorithms.card import Card, Params
from dpviz.algorithms.regime import Level, Regime
from dpviz.check import RequestError
from dpviz.privacy.room import PrivateTable
from dpviz.runs.request import check_request
from dpviz.runs.run import setting_of


@dataclass(frozen=True)
class Prospect:
    """What to expect of a request, from public quantities only.

    Parameters
    ----------
    refusal : str
        Why it cannot be served, and what would do, in a sentence; "" if it can.
    regime : Regime or None
        Its traffic light; None where it is refused, where n is private, or where nothing is known.
    """

    refusal: str = ""
    regime: Regime | None = None

    @property
    def hopeless(self) -> bool:
        """Whether it would be served, and the result be mostly noise."""
        return self.regime is not None and self.regime.level is Level.RED

    @property
    def caution(self) -> str:
        """Why it should not be run, in a sentence: refused or hopeless; "" if there is no such reason."""
        return self.refusal or (self.regime.message if self.regime is not None and self.hopeless else "")


def prospect_of(
    card: Card,
    table: PrivateTable,
    *,
    k: int,
    epsilon: float,
    delta: float = 0.0,
    params: Params | Mapping[str, Any] | None = None,
) -> Prospect:
    """What ``card`` would do with a request; arguments as for ``run``, which refuses what is refused here."""
    try:
        chosen = check_request(card, table, k=k, epsilon=epsilon, delta=delta, params=params)
    except RequestError as error:
        return Prospect(refusal=str(error))
    return Prospect(regime=card.regime(setting_of(table, k=k, epsilon=epsilon, delta=delta), chosen))
