"""Attacks on one person of a sample: who reads the centres, and who weighs all answers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from benchmarks.auditing.bounds import Audit
from dpviz.runs.meaning.membership import (
    AttackTrial,
    NeighboringTables,
    attack,
    collect_scores,
    make_neighbors,
    run_trials,
)
from dpviz.runs.meaning.windows import bound_advantage
from dpviz.runs.open_table import declare
from dpviz.runs.request import Contender, Request
from dpviz.tables.declarations import FileKind
from dpviz.tables.named import sample

RICH = 45
"""The row of the sample that lies far from all others."""

DELTA = 1e-6
# Of sound releases one attack in twenty seems to pass the line by chance: the seed is fixed.
SEED = 5


def outlier() -> NeighboringTables:
    """The sample with its far person and without."""
    loaded, declaration = sample("outlier").load()
    return make_neighbors(declare(loaded, replace(declaration, kind=FileKind.PUBLIC)), RICH)


def runs_on(
    where: NeighboringTables, algorithm: str, epsilon: float, pairs: int, *, first: int = 0
) -> list[AttackTrial]:
    """So many runs with the person, and as many without."""
    asked = Request(Contender(algorithm), k=3, epsilon=epsilon, delta=DELTA, seed=SEED)
    return [one for one in run_trials(where, asked, pairs, first=first) if isinstance(one, AttackTrial)]


def beyond(found: list[AttackTrial], epsilon: float) -> float:
    """By how much the better attacker's advantage exceeds what ε allows; not above 0 unless chance is no excuse."""
    most, best = bound_advantage(epsilon=epsilon, delta=DELTA), -1.0
    for of in ("nearness", "log_ratio"):
        scored = collect_scores(found, of)
        if scored is not None:
            record = attack(*scored)
            above = record.advantage - most
            best = max(best, above if record.passes(epsilon=epsilon, delta=DELTA) else min(above, 0.0))
    return best


def audit_of_an_attack(algorithm: str, epsilon: float, *, times: float | None) -> Audit:
    """Of an algorithm at this ε, and of a twin that spends so many times as much; without a number there is none."""
    where, told = outlier(), defaultdict[float, list[AttackTrial]](list)

    def excess(spent: float, pairs: int) -> float:
        found = told[spent]
        first = len(found) // 2
        found += runs_on(where, algorithm, spent, pairs - first, first=first)
        return beyond(found[: 2 * pairs], epsilon)

    return Audit(
        lambda pairs: excess(epsilon, pairs),
        None if times is None else lambda pairs: excess(times * epsilon, pairs),
    )
