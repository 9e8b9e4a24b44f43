"""What stands around a film on a page of its own: what ran on what, at which price, and what each colour means."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from html import escape
from math import isfinite
from typing import get_args

import pandas as pd

from dpviz.algorithms.registry import card_of
from dpviz.charts.theme import Kind
from dpviz.charts.wording import number
from dpviz.runs.record import RELEASE_GRADE, SEEDED, SIMULATION, STUDY_NOISE, ReleaseRecord
from dpviz.runs.run import NOT_HARDENED, Run
from dpviz.table.declaration import FileKind

_MEANINGS: dict[Kind, str] = {
    "public": "declared, or made without looking at any row; it costs no privacy.",
    "released": "computed from the rows, covered by noise, and paid for in the ledger.",
    "revealed": "read from the rows as they are, without any privacy; no release.",
}
_NEIGHBOURS = {"add_remove": "added or removed", "replace": "replaced by another"}
_TABLES = {
    FileKind.PUBLIC: "public",
    FileKind.SIMULATED: "simulated: nobody is in it",
    FileKind.PRIVATE: "private: not in this file",
}
RELEASED_ONLY = (
    "Only released and public values are in this file: no row, no true count, and nothing that was computed from the "
    "rows without noise."
)
"""What a page says that holds nothing revealed."""
# Charges beyond these are counted only: a tree has hundreds.
_MOST_CHARGES = 40
_MOST_LINES = 400


def kinds_html(kinds: Collection[Kind]) -> str:
    """What each colour means, of the kinds that there are."""
    return "".join(
        f'<li><b class="{kind}">{kind}</b>: {meaning}</li>' for kind, meaning in _MEANINGS.items() if kind in kinds
    )


def from_line(run: Run | ReleaseRecord, table: str, kinds: Collection[Kind]) -> str:
    """One line above a film: what ran on what, at which ε, and which kinds of values it shows."""
    budget = f"ε = {run.epsilon:g}, δ = {run.delta:g}" if run.private else "no privacy"
    words = [f"<b>{escape(table)}</b>"] if table else []
    words += [escape(card_of(run.algorithm).title), budget, f"k = {run.k}", f"protects {escape(run.unit)}"]
    words += [f'<span class="kind {kind}">{kind}</span>' for kind in get_args(Kind) if kind in kinds]
    return f'<p class="from">{"".join(f"<span>{word}</span>" for word in words)}</p>'


def facts_html(run: Run | ReleaseRecord, table: str, kinds: Collection[Kind]) -> str:
    """Below a film: what may not be overlooked, how it was made, and the ledger."""
    note = run.note if isinstance(run, ReleaseRecord) else _note(run)
    said = [RELEASED_ONLY] if "revealed" not in kinds and kinds else []
    told = "".join(f"<dt>{name}</dt><dd>{escape(words)}</dd>" for name, words in _facts(run, table))
    return (
        (f'<p class="warn">{escape(note)}</p>' if note else "")
        + "".join(f"<p>{text}</p>" for text in said)
        + f'<div class="facts"><div><h2>How it was made</h2><dl>{told}</dl></div>{_ledger(run)}</div>'
    )


def numbers_html(table: pd.DataFrame) -> str:
    """The numbers behind a figure, to unfold; cut where nobody would read on."""
    head = "".join(f"<th>{escape(str(name))}</th>" for name in table.columns)
    lines = ("".join(map(_cell, row)) for row in table.head(_MOST_LINES).itertuples(index=False, name=None))
    body, rest = "".join(f"<tr>{line}</tr>" for line in lines), len(table) - _MOST_LINES
    more = f"<p>and {rest:,} more</p>" if rest > 0 else ""
    inside = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
    return f"<details><summary>The numbers behind it</summary>{inside}</details>"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f'<td class="number">{number(value) if isfinite(value) else ""}</td>'
    return f"<td>{escape(str(value))}</td>"


def _note(run: Run) -> str:
    if not run.private or (run.hardened and not run.seeded):
        return ""
    return f"{SIMULATION}: {SEEDED if run.seeded else NOT_HARDENED}"


def _facts(run: Run | ReleaseRecord, table: str) -> Iterator[tuple[str, str]]:
    record = run if isinstance(run, ReleaseRecord) else None
    if table or record:
        yield "table", f"{table} ({_TABLES[record.declaration.kind]})" if record else table
    yield "algorithm", card_of(run.algorithm).title
    chosen = {name: value for name, value in run.parameters.items() if value is not None}
    if settings := ", ".join(f"{name} = {_plainly(value)}" for name, value in chosen.items()):
        yield "its settings", settings
    yield "clusters", f"k = {run.k}"
    if run.private:
        yield "budget", f"ε = {run.epsilon:g}, of which {run.spent_epsilon:.6g} spent; δ = {run.delta:g}"
        yield "accounting", run.accounting.value
        yield "protects", f"{run.unit}, {_NEIGHBOURS[run.relation]}"
        yield "number of rows", f"{run.n:,.0f} ({run.n_origin})" if run.n is not None else run.n_origin
        yield "noise", RELEASE_GRADE if run.hardened else STUDY_NOISE
    for warning in run.warnings:
        yield "note", warning
    if record:
        looks = ", ".join(f"{kind}: {times}" for kind, times in record.looks.items())
        yield "looks at the rows", looks or "none"
        yield "made", f"dpviz {record.version}, {record.date}"


def _ledger(run: Run | ReleaseRecord) -> str:
    if not run.private:
        return ""
    cost = f"cost ({run.accounting.unit.symbol})"
    head = "".join(f"<th>{name}</th>" for name in ("for", "mechanism"))
    head += "".join(f'<th class="number">{name}</th>' for name in ("noise scale", cost, "ε alone"))
    lines = [
        "".join(f"<td>{escape(words)}</td>" for words in (entry.note, entry.mechanism))
        + "".join(f'<td class="number">{number(x)}</td>' for x in (entry.scale, entry.amount, entry.epsilon))
        for entry in run.entries[:_MOST_CHARGES]
    ]
    rest = len(run.entries) - len(lines)
    more = f"<p>and {rest:,} more</p>" if rest > 0 else ""
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<div><h2>Ledger</h2><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}</div>"


def _plainly(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
