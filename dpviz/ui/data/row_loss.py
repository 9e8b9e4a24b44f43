"""What the declarations do to rows, said before they are used: rows that are dropped, values that are moved.

Of a public file in shares; of a private one as a rule only, because a share is read from the rows.
"""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpviz.arrays import Array
from dpviz.charts.wording import percent
from dpviz.table.declaration import NO_BOUNDS, Declaration
from dpviz.table.loaded_table import listed
from dpviz.ui.badges import badged
from dpviz.ui.data.draft import Draft
from dpviz.ui.escape import plain
from dpviz.ui.session import once

_NAMED = 3


def loss_of_rows(draft: Draft) -> None:
    """One line below the bounds."""
    declared = draft.declaration
    if not declared.columns:
        return
    if not draft.may_read_rows:
        st.caption(f"A row without a number in a ticked column {fate(declared)}; values outside move to the bound.")
        return
    given = (draft.source.number, declared.file, declared.columns, declared.lower, declared.upper, declared.relation)
    said = once(
        "declare:loss", given, lambda: sentence(draft.rows(declared.columns).columns(declared.columns), declared)
    )
    if said:
        badged("revealed", plain(said))


def fate(declared: Declaration) -> str:
    """What becomes of a row that is not complete."""
    return "is dropped" if declared.relation == "add_remove" else "counts as the middle of the bounds"


def sentence(values: Array, declared: Declaration) -> str:
    """What ``declared`` does to rows (n, d) that anybody may see, data units, NaN where a cell is no number; "" if
    nothing.

    >>> told = Declaration(columns=("age",), lower=(0.0,), upper=(50.0,))
    >>> sentence(np.array([[31.0], [np.nan], [60.0], [40.0]]), told)
    '25 % of the rows would be dropped: no number in "age". 33.3 % of the others move to the bounds.'
    """
    if len(values) == 0:
        return ""
    empty = ~np.isfinite(values)
    incomplete = empty.any(axis=1)
    parts = []
    if incomplete.any():
        worst = [declared.columns[j] for j in np.argsort(-empty.sum(axis=0), kind="stable") if empty[:, j].any()]
        falls = "would be dropped" if declared.relation == "add_remove" else "would count as the middle of the bounds"
        parts.append(f"{percent(incomplete.mean())} of the rows {falls}: no number in {listed(worst, most=_NAMED)}.")
    whole = values[~incomplete]
    ends = [declared.bounds.get(name, NO_BOUNDS) for name in declared.columns]
    low = np.array([-np.inf if end.lower is None else end.lower for end in ends])
    high = np.array([np.inf if end.upper is None else end.upper for end in ends])
    outside = ((whole < low) | (whole > high)).any(axis=1)
    if outside.any():
        whom = "of the others move" if incomplete.any() else "of the rows move"
        parts.append(f"{percent(outside.mean())} {whom} to the bounds.")
    return " ".join(parts)
