"""Runs of whole algorithms on two tiny neighbouring tables.

The statistic is the log likelihood ratio of the whole transcript; only its frequencies enter the bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, ClassVar, NamedTuple
from unittest.mock import patch

import numpy as np

from benchmarks.auditing.bounds import Audit, lower_bound
from benchmarks.auditing.tiny_tables import SHORT, claimed, tables_of
from dpviz.algorithms.card import Card
from dpviz.algorithms.registry import list_private_cards
from dpviz.core.accounting import Accounting
from dpviz.core.noise import StudyNoise
from dpviz.core.private_session import PrivateSession
from dpviz.core.queries import Relation
from dpviz.core.replay import CoupledBlocks, Recording
from dpviz.runs.audits.contract import run_card
from dpviz.runs.audits.neighboring_tables import list_settings

DELTAS = (0.03, 0.1, 0.3)
NOISES = ("laplace", "normal", "spherical", "gumbel", "cauchy")


class Setting(NamedTuple):
    """A card with some parameters, at a δ that suits them."""

    card: Card
    params: dict[str, Any]
    delta: float

    @property
    def accounting(self) -> Accounting:
        """How its costs add up."""
        return self.card.accounting(self.card.params.parse(self.params), self.delta)


def audited() -> list[Setting]:
    """Of every card one setting for each way in which its costs add up: other presets draw with the same mechanisms.

    Noise on every row has no density that could be weighed: that of single rows and of tuples is audited by itself.
    """
    every = (Setting(*setting) for card in list_private_cards() if not card.local for setting in list_settings(card))
    weighed = [setting for setting in every if setting.params.get("preset") != "naive"]
    return list({(setting.card.id, setting.accounting): setting for setting in weighed}.values())


def audit_of_runs(setting: Setting, *, mixed: bool = False) -> Audit:
    """Of a card's runs, and of runs with so many times less noise behind the ledger's back as take to show.

    ``mixed`` runs are over tables with categories.
    """
    thinned = tables_of(setting.card, setting.params).thinned
    honest, twins = ([_Pair(setting, relation, mixed=mixed) for relation in Relation] for _ in range(2))

    def of_twin(runs: int) -> float:
        with thinner_noise(thinned):
            # One pair that shows it is enough.
            return next((found for twin in twins if (found := twin.excess(runs)) > 0), 0.0)

    return Audit(lambda runs: max(pair.excess(runs) for pair in honest), of_twin)


@contextmanager
def thinner_noise(times: float) -> Iterator[None]:
    """So many times less noise; in selections, too."""
    with ExitStack() as stack:
        for name in NOISES:
            whole = getattr(StudyNoise, name)

            def thin(self: StudyNoise, scale: Any, shape: Any, whole: Any = whole) -> Any:
                return whole(self, scale / times, shape)

            stack.enter_context(patch.object(StudyNoise, name, thin))
        yield


class _Pair:
    """Two tables that are neighbours in one sense, and what runs on them have told so far."""

    def __init__(self, setting: Setting, relation: Relation, *, mixed: bool) -> None:
        self.card = setting.card
        tables, known = (
            tables_of(self.card, setting.params),
            {param_field.name for param_field in self.card.params.param_fields()},
        )
        params = {**setting.params, **{name: value for name, value in SHORT.items() if name in known}}
        self.accounting = self.card.accounting(self.card.params.parse(params), setting.delta)
        epsilon = tables.epsilon_at(self.accounting)
        self.request: dict[str, Any] = {"k": tables.k, "epsilon": epsilon, "delta": setting.delta, "params": params}
        self.tables = tables.pair(relation, mixed=mixed)
        self.told: tuple[list[float], list[float]] = ([], [])

    def excess(self, runs: int) -> float:
        """By how much the ε that so many runs on each table refute exceeds the claim, at one of the δ looked at."""
        # A choice between two candidates tells more than one among two hundred.
        with patch("dpviz.algorithms.su2016.pgkm.POOL", 2), patch("dpviz.algorithms.tools.solvers._HALVINGS", 2):
            for side, told in enumerate(self.told):
                told += [self._log_ratio(side, turn) for turn in range(len(told), runs)]
            done = run_card(self.card, self.tables[0], seed=0, **self.request)
        on_one, on_other = np.array(self.told[0][:runs]), -np.array(self.told[1][:runs])
        # The total variation of the two laws: a pair that tells nothing audits nothing.
        assert np.maximum(0, 1 - np.exp(-on_one)).mean() > 0.05
        deltas = (0.0,) if self.accounting is Accounting.PURE else DELTAS
        return max(lower_bound(on_one, on_other, delta) - claimed(done, delta) for delta in deltas)

    def _log_ratio(self, side: int, turn: int) -> float:
        """Log likelihood ratio of the table on this side over the other one, of a run on it."""
        here, there = self.tables if side == 0 else self.tables[::-1]
        recording, found, seed = Recording(), list[float](), 2 * turn + side
        run_card(self.card, here, session=recording.make_recording_session(), seed=seed, **self.request)
        run_card(self.card, there, session=_weighing_session(recording, found), seed=seed, **self.request)
        return sum(found)


def _weighing_session(recording: Recording, found: list[float]) -> type[PrivateSession]:
    class Weighing(CoupledBlocks):
        place: ClassVar[list[int]] = [0]

        def _draw(self, mechanism: Any, truth: Any) -> Any:
            i = self.place[0]
            self.place[0] += 1
            released = recording.released[i]
            found.append(mechanism.log_density(released, recording.truths[i]) - mechanism.log_density(released, truth))
            return released

    return Weighing
