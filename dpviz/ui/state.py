"""The session's face to the pages: one table, its declarations, the shared settings, the books, the looks.

Everything here lives in ``st.session_state`` of one visit: nothing is global, nothing is written to disk, nothing of
the data enters a link.
"""

from __future__ import annotations

from dpviz.runs.open_table import OpenTable
from dpviz.table.declaration import Declaration, FileKind
from dpviz.ui.controls import (
    Request,
    default_delta,
    delta_control,
    epsilon_control,
    k_control,
    request,
    suggest_delta,
    suggest_k,
)
from dpviz.ui.looks import Look, count_look, looks, private_looks, reference, reveal, reveal_allowed, reveal_switch
from dpviz.ui.visit import (
    Booked,
    Source,
    book,
    booked,
    current_source,
    current_table,
    open_table,
    require_table,
    set_aside,
    undeclared,
)

__all__ = [
    "Booked",
    "Declaration",
    "FileKind",
    "Look",
    "OpenTable",
    "Request",
    "Source",
    "book",
    "booked",
    "count_look",
    "current_source",
    "current_table",
    "default_delta",
    "delta_control",
    "epsilon_control",
    "k_control",
    "looks",
    "open_table",
    "private_looks",
    "reference",
    "request",
    "require_table",
    "reveal",
    "reveal_allowed",
    "reveal_switch",
    "set_aside",
    "suggest_delta",
    "suggest_k",
    "undeclared",
]
