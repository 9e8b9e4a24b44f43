"""The books of a visit as tables: one line a charge, one line a run, one line a group of runs that add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

import pandas as pd

from dpviz.privacy.accounting import Accounting
from dpviz.ui.visit import Booked

AMOUNT_WORDS = {
    Accounting.PURE.value: "ε",
    Accounting.GDP.value: "μ²",
    Accounting.ZCDP.value: "ρ",
    Accounting.BASIC.value: "ε",
    Accounting.NONE.value: "none",
}
AGREES, NO_GUARANTEE = "✓", "no guarantee"
RELATION_WORDS = {"add_remove": "added or removed", "replace": "replaced"}
# A cell that begins with one of these would be a formula to a spreadsheet.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
# The independent total may differ by the rounding of its grid; above the request it may never be.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Together:
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
            "algorithm": entry.run.algorithm,
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
        }
        for number, entry in enumerate(booked, start=1)
        if entry.run.private
        for place, charge in enumerate(entry.run.entries, start=1)
    ]
    return pd.DataFrame(lines, columns=_CHARGE_COLUMNS)


_CHARGE_COLUMNS = [
    *("run", "table", "algorithm", "step", "what for", "question", "mechanism", "sensitivity", "noise scale"),
    *("amount", "unit", "epsilon alone", "delta alone"),
]


def totals(booked: Sequence[Booked], independent: Sequence[float | None]) -> pd.DataFrame:
    """One line a run: what was asked, what was spent, and what another library adds up from scales alone."""
    return pd.DataFrame(
        [
            {
                "run": number,
                "table": entry.table_title,
                "algorithm": entry.run.algorithm,
                "k": entry.run.k,
                "kind": "released" if entry.run.private else "revealed",
                "ε asked": entry.run.epsilon if entry.run.private else None,
                "ε spent": entry.run.spent_epsilon if entry.run.private else None,
                "ε by dp-accounting": again,
                "agrees": agreement(entry, again),
                "δ": entry.run.delta if entry.run.private else None,
                "charges": len(entry.run.entries) if entry.run.private else 0,
                "accounting": entry.run.accounting.value,
                "protects": f"{entry.run.unit}, {RELATION_WORDS[entry.run.relation]}",
                "n": n_words(entry),
            }
            for number, (entry, again) in enumerate(zip(booked, independent, strict=True), start=1)
        ]
    )


def agreement(entry: Booked, again: float | None) -> str:
    """Whether the independent total is there and stays within what was asked for."""
    if not entry.run.private:
        return NO_GUARANTEE
    if again is None:
        return AGREES if not entry.run.entries else "✗ not added up"
    return AGREES if again <= entry.run.epsilon * (1 + _ROUNDING) else "✗ more than asked"


def n_words(entry: Booked) -> str:
    """Whether the number of rows was public, bought, or not used."""
    return {"public": "public", "paid": "bought", "not used": "not used"}.get(entry.run.n_source, entry.run.n_source)


def together(booked: Sequence[Booked]) -> list[Together]:
    """Releases added up where they are about the same rows under the same promise, whatever was declared about them."""
    groups: dict[tuple[str, str, str], list[Booked]] = {}
    for entry in booked:
        if entry.run.private:
            groups.setdefault((entry.fingerprint, entry.run.relation, entry.run.unit), []).append(entry)
    return [
        Together(
            table_title=entries[-1].table_title,
            relation=relation,
            unit=unit,
            runs=len(entries),
            epsilon=fsum(entry.run.spent_epsilon for entry in entries),
            delta=fsum(entry.run.delta for entry in entries),
        )
        for (_, relation, unit), entries in groups.items()
    ]


def as_csv(charged: pd.DataFrame) -> bytes:
    """The charges as a CSV file that no spreadsheet takes for formulas."""
    safe = charged.copy()
    for name in (name for name in safe if not pd.api.types.is_numeric_dtype(safe[name])):
        text = safe[name].astype("str")
        safe[name] = text.where(~text.str.startswith(_FORMULA_STARTS), "'" + text)
    return safe.to_csv(index=False, lineterminator="\r\n").encode("utf-8")
