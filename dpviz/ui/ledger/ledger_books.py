"""The books of a visit as tables: one line a charge, one line a run, one line a group of runs that add up."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import NamedTuple

import pandas as pd

from dpviz.privacy.accounting import Accounting
from dpviz.ui.session import Booked

AMOUNT_WORDS = {
    Accounting.PURE.value: "ε",
    Accounting.GDP.value: "μ²",
    Accounting.ZCDP.value: "ρ",
    Accounting.BASIC.value: "ε",
    Accounting.PLD.value: "ρ",
    Accounting.NONE.value: "none",
}
AGREES, NO_GUARANTEE = "✓", "no guarantee"
RELATION_WORDS = {"add_remove": "added or removed", "replace": "replaced"}
# The independent total may differ by the rounding of its grid; above the request it may never be.
_ROUNDING = 1e-9


class Together(NamedTuple):
    """Runs on the same rows with the same relation and unit: what they promise together, by simple composition."""

    table_title: str
    relation: str
    unit: str
    runs: int
    epsilon: float
    delta: float


def charges(booked: Sequence[Booked]) -> pd.DataFrame:
    """Every entry of every run; numbers in their own columns, units in words."""
    lines = [
        {
            "run": number,
            "table": entry.table_title,
            "algorithm": entry.record.algorithm,
            "step": place,
            "what for": charge.note,
            "question": charge.query,
            "mechanism": charge.mechanism,
            "sensitivity": charge.sensitivity,
            "noise scale": charge.scale,
            "amount": charge.amount,
            "unit": AMOUNT_WORDS[charge.accounting.value],
            "epsilon alone": charge.epsilon,
            "delta alone": charge.delta,
            "n": entry.record.n_origin,
            "looks": looks_words(entry),
            "version": entry.record.version,
            "date": entry.record.date,
            "note": entry.record.note,
        }
        for number, entry in enumerate(booked, start=1)
        if entry.record.private
        for place, charge in enumerate(entry.record.entries, start=1)
    ]
    return pd.DataFrame(lines, columns=_CHARGE_COLUMNS)


_CHARGE_COLUMNS = [
    *("run", "table", "algorithm", "step", "what for", "question", "mechanism", "sensitivity", "noise scale"),
    *("amount", "unit", "epsilon alone", "delta alone", "n", "looks", "version", "date", "note"),
]


def totals(booked: Sequence[Booked], independent: Sequence[float | None]) -> pd.DataFrame:
    """One line a run: what was asked, what was spent, and what another library adds up from scales alone."""
    return pd.DataFrame(
        [
            {
                "run": number,
                "table": entry.table_title,
                "algorithm": entry.record.algorithm,
                "k": entry.record.k,
                "kind": "released" if entry.record.private else "revealed",
                "ε asked": entry.record.epsilon if entry.record.private else None,
                "ε spent": entry.record.spent_epsilon if entry.record.private else None,
                "ε by dp-accounting": again,
                "agrees": agreement(entry, again),
                "δ": entry.record.delta if entry.record.private else None,
                "charges": len(entry.record.entries) if entry.record.private else 0,
                "accounting": entry.record.accounting.value,
                "protects": f"{entry.record.unit}, {RELATION_WORDS[entry.record.relation]}",
                "n": entry.record.n_origin,
                "noise": noise_words(entry),
            }
            for number, (entry, again) in enumerate(zip(booked, independent, strict=True), start=1)
        ]
    )


def agreement(entry: Booked, again: float | None) -> str:
    """Whether the independent total is there and stays within what was asked for."""
    if not entry.record.private:
        return NO_GUARANTEE
    if again is None:
        return AGREES if not entry.record.entries else "✗ not added up"
    return AGREES if again <= entry.record.epsilon * (1 + _ROUNDING) else "✗ more than asked"


def noise_words(entry: Booked) -> str:
    """Whether the noise is fit for a release."""
    if not entry.record.private:
        return "none"
    if entry.record.seeded:
        return "seeded: simulation only"
    return "release-grade" if entry.record.hardened else "simulation only"


def looks_words(entry: Booked) -> str:
    """How often the rows were looked at, by kind."""
    return " ".join(f"{kind}: {number}" for kind, number in entry.record.looks.items())


def together(booked: Sequence[Booked]) -> list[Together]:
    """Releases added up where they are about the same rows under the same promise, whatever was declared about them."""
    groups: dict[tuple[str, str, str], list[Booked]] = {}
    for entry in booked:
        if entry.record.private:
            groups.setdefault((entry.source_key, entry.record.relation, entry.record.unit), []).append(entry)
    return [
        Together(
            table_title=entries[-1].table_title,
            relation=relation,
            unit=unit,
            runs=len(entries),
            epsilon=fsum(entry.record.spent_epsilon or 0.0 for entry in entries),
            delta=fsum(entry.record.delta for entry in entries),
        )
        for (_, relation, unit), entries in groups.items()
    ]


def file_name(booked: Sequence[Booked]) -> str:
    """The name of the file of all charges, with the marks of every run in it."""
    marks = dict.fromkeys(mark for entry in booked if entry.record.private for mark in entry.record.marks)
    return "_".join((*marks, "ledger.csv"))
