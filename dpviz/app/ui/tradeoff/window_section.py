"""The two questions behind ε: which loss and which risk are accepted; and the window between them, on every page."""

from __future__ import annotations

from typing import NamedTuple

from dpviz.algorithms import AUTO
from dpviz.app.ui.controls import recall_division
from dpviz.app.ui.session import list_bought_rows, recall, remember
from dpviz.core import RequestError
from dpviz.runs import Contender, KnownRows, OpenTable, Request, RowsAdvice, Target, windows
from dpviz.tables import declarations

_KEY = "window"
SHARES = (0.5, Target().share, 0.9)


class Accepted(NamedTuple):
    """What an owner accepts: a loss, a risk; and about how many rows there are, and how many of one person."""

    rows: KnownRows | None
    of_a_person: int
    target: Target
    risk: windows.Risk

    def find_window(self, answer: RowsAdvice | None) -> windows.Window | None:
        """The window around what was advised; None where the stored study has no such tables."""
        if answer is None or not answer.is_studied:
            return None
        return windows.Window.of(answer, self.risk, rows_of_a_person=self.of_a_person)


def ask_advice(table: OpenTable, rows: KnownRows | None, target: Target, *, k: int, delta: float) -> RowsAdvice | None:
    """Which ε of a release the stored study advises for a table; None of a sparse one, of which it has none."""
    if table.private.sparse:
        return None
    setting = Request(Contender(AUTO), k, 1.0, delta).make_setting(table.private)
    return RowsAdvice.of(rows, setting, target=target, share=recall_division().find_share())


def accept(table: OpenTable, said: Accepted) -> Accepted:
    """Keep what is accepted of a table, for the visit and for every page."""
    return remember(_make_key(table), said)


def compute_window(table: OpenTable, *, k: int, delta: float, leaves: bool = False) -> windows.Window | None:
    """The window of ε for the open table by what was accepted in this visit."""
    accepted: Accepted | None = recall(_make_key(table), None)
    if leaves and accepted is not None and _is_bought(table, accepted.rows):
        accepted = accepted._replace(rows=find_stated_rows(table))
    if accepted is None or accepted.rows is None:
        return None
    try:
        return accepted.find_window(ask_advice(table, accepted.rows, accepted.target, k=k, delta=delta))
    except RequestError:
        return None


def find_target(table: OpenTable) -> Target:
    """Which loss was accepted of a table in this visit."""
    accepted: Accepted | None = recall(_make_key(table), None)
    return Target() if accepted is None else accepted.target


def find_stated_rows(table: OpenTable) -> KnownRows | None:
    """How many rows there are by what may leave with a release: declared, or said beside the window.

    What a run of this visit has bought is none of it: no account paid for it, and its noise is that of a study.
    """
    if table.n_public is not None:
        return KnownRows(table.n_public, table.n_public)
    accepted: Accepted | None = recall(_make_key(table), None)
    said = None if accepted is None or _is_bought(table, accepted.rows) else accepted.rows
    return KnownRows.read(table.declaration) or said


def _is_bought(table: OpenTable, rows: KnownRows | None) -> bool:
    """Whether a number of rows is one that a run of this visit has bought."""
    return any(
        rows == KnownRows.read(declarations.NOTHING_DECLARED, bought=bought) for bought in list_bought_rows(table)
    )


def _make_key(table: OpenTable) -> str:
    return f"{_KEY}:{table.source_key}"
