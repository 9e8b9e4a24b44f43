"""What an audit is of, and how a check ends: with a sentence of what held, or an error of what did not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpviz.algorithms import Card
from dpviz.core import PrivateTable
from dpviz.runs.audits.contract import run_card
from dpviz.runs.audits.neighboring_tables import list_settings, list_variants
from dpviz.runs.one_run import Run

SEED = 11
"""Of every run of an audit that has one: whoever audits twice finds the same."""

K = 3
"""Clusters of a run, where nothing else is said."""


class NotAsked(Exception):
    """A check that does not apply, and why."""


@dataclass(frozen=True)
class Subject:
    """What is audited: an algorithm with its presets and choices; and the runs of an attack on it, in pairs."""

    card: Card
    runs: int

    @property
    def settings(self) -> list[tuple[dict[str, Any], float]]:
        """Each preset with a δ that suits it, and the default one with every other choice another than usual."""
        every = [*list_settings(self.card), *list_variants(self.card)]
        return [(params, delta) for _, params, delta in every]

    def run(self, table: PrivateTable, *, params: Mapping[str, Any], delta: float, **how: Any) -> Run:
        """A run of it; what is not said is as usual.

        Parameters
        ----------
        table : PrivateTable
            A small table that is made up.
        params : mapping of str to object
            Parameters of the algorithm.
        delta : float
            Of the guarantee.
        **how
            Other settings of the run.

        Returns
        -------
        Run
            With its ledger.
        """
        return run_card(self.card, table, params=params, delta=delta, **{"k": K, "epsilon": 2.0, "seed": SEED, **how})


Check = Callable[[Subject], str]
"""What held, as a sentence; raises ``Broken`` where something did not, and ``NotAsked`` where it does not apply."""


def describe_case(params: Mapping[str, Any], delta: float, *more: object) -> list[object]:
    """In which case: the preset, δ and whatever else.

    Parameters
    ----------
    params : mapping of str to object
        Parameters of the algorithm.
    delta : float
        Of the guarantee.
    *more
        What else belongs to the case.

    Returns
    -------
    list of object
        Words and numbers.
    """
    return [*(value for name, value in params.items() if name == "preset"), f"δ = {delta:g}", *more]


def format_number(things: Sequence[object], word: str) -> str:
    """How many there are, with the word for one of them.

    Parameters
    ----------
    things : sequence of object
        What is counted.
    word : str
        For one of them.

    Returns
    -------
    str
        Words.
    """
    return f"{len(things)} {word}{'s' * (len(things) != 1)}"
