"""Tiny neighbouring tables between which a card's runs tell most, two pairs for each card, and what a mistake takes to
show between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import fsum, sqrt
from typing import Any

import numpy as np

from dpviz.algorithms.card import Card
from dpviz.core.accounting import Accounting, gdp_epsilon
from dpviz.core.arrays import Array
from dpviz.core.ledger import compute_total_epsilon
from dpviz.core.private_session import PrivateTable
from dpviz.core.queries import Relation
from dpviz.runs.audits.neighboring_tables import MIXED, NeighborSetting
from dpviz.runs.one_run import Run

NOBODY = np.empty((0, 1))
END, OTHER_END, BOTH_ENDS = np.ones((1, 1)), -np.ones((1, 1)), np.array([[-1.0], [1.0]])
CROWD = np.full((8, 1), 0.9)
SPREAD = np.array([[-1.0], [-0.5], [0.0]] * 3)
# As few rounds as an algorithm allows: the loss of one release is easier to see than that of ten. A swap between two
# candidates tells little; without swaps the means take its share. A grid of one cell tells nothing under replace.
SHORT = {"rounds": 1, "starts": 1, "levels": 1, "shifts": 1, "polishing": 0, "swaps": 0, "means": 0, "theta": 1.0}
# Gaussian noise shows its loss at a larger budget only.
EPSILON = dict.fromkeys(Accounting, 10.0) | {Accounting.PURE: 2.0}
OF_TUPLES = {"noisy centres", "tuple averages"}


@dataclass(frozen=True)
class TinyTables:
    """Rows of the two pairs: one with a row more than the other, and two that differ in a row.

    ``thinned`` is how many times less noise has to be behind the ledger's back to be refuted; 2 where ``why`` is empty.
    """

    more: tuple[Array, Array] = (np.r_[CROWD, END], CROWD)
    replaced: tuple[Array, Array] = (CROWD, np.r_[CROWD[1:], OTHER_END])
    n_public: int = 8
    k: int = 1
    epsilon: float | None = None
    thinned: int = 2
    why: str = ""

    def epsilon_at(self, accounting: Accounting) -> float:
        """The budget of the runs."""
        return self.epsilon or EPSILON[accounting]

    def pair(self, relation: Relation, *, mixed: bool = False) -> tuple[PrivateTable, PrivateTable]:
        """The two tables that are neighbours in this sense; or ``mixed``, with a category, a yes or no and an hour."""
        n_public, dim = self.n_public if relation is Relation.ADD_REMOVE else None, len(MIXED.declared) if mixed else 1
        case = NeighborSetting("tiny", relation=relation, n_public=n_public, dim=dim, mixed=mixed)
        one, other = self.more if relation is Relation.ADD_REMOVE else self.replaced
        return case.table(np.tile(one, dim)), case.table(np.tile(other, dim))


LONE = TinyTables(more=(NOBODY, END), replaced=(END, OTHER_END), n_public=1)
TABLES = {
    # Most of it is spent on a histogram: a thousand runs never show a loss of ten.
    "auto": TinyTables(epsilon=2.0),
    # Among few rows a choice tells more.
    "pgkm": TinyTables(
        more=(NOBODY, END),
        replaced=(BOTH_ENDS, np.full((2, 1), -1.0)),
        thinned=4,
        why="one choice between two candidates shows most of its ε in one outcome of ten",
    ),
    "kvariates": TinyTables(more=(BOTH_ENDS, OTHER_END), replaced=LONE.replaced),
    # A lone row is the model of its block; one that comes moves the model from the middle, half of the largest move.
    "gkm": LONE,
    "balcan-kmedian": replace(
        LONE, epsilon=5.0, thinned=3, why="most of its releases are counts of cubes, of which a lone row is in few"
    ),
    "balcan-sparse": TinyTables(
        thinned=4, why="of one column there is none to be chosen, and the row that comes keeps its magnitude"
    ),
    # On so few rows their tests of tuples answer ⊥ by public numbers: those are audited by themselves.
    **dict.fromkeys(("k-noisy-centers", "k-averages", "stable-kmeans", "gaussian-mixture"), TinyTables(k=2)),
}
# Medians over one block, or by ranks over three, of which the row in question is one.
SMOOTH = replace(
    LONE,
    epsilon=2.0,
    thinned=32,
    why="the noise of the textbook is five times what its loss needs, and the tails of Cauchy noise are long",
)
RANKED = TinyTables(
    more=(NOBODY, END),
    replaced=(np.r_[END, SPREAD], np.r_[OTHER_END, SPREAD]),
    n_public=9,
    thinned=4,
    why="one block of three moves a median by half a rank",
)


def tables_of(card: Card, params: Mapping[str, Any]) -> TinyTables:
    """The pairs for a card with these parameters."""
    if card.id == "sample-aggregate":
        return SMOOTH if params["preset"] == "paper" else RANKED
    return TABLES.get(card.id, TinyTables())


def claimed(run: Run, delta: float) -> float:
    """ε at ``delta`` that a run claims.

    Under basic composition a Gaussian draw books (ε, δ) for one δ alone: its own curve says more at another. A test of
    tuples that is ⊥ by public numbers loses nothing.
    """
    names = {entry.mechanism for entry in run.entries}
    if run.accounting is Accounting.BASIC and names <= {"gaussian", *OF_TUPLES}:
        drawn = [entry for entry in run.entries if entry.mechanism not in OF_TUPLES]
        return gdp_epsilon(sqrt(fsum((entry.sensitivity / entry.scale) ** 2 for entry in drawn)), delta)
    return compute_total_epsilon(run.accounting, run.entries, delta=delta)
