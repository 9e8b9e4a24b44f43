"""Revealed rows as the pictures take them: a subsample to draw, kept so that a rerun does not draw another one."""

from __future__ import annotations

from typing import cast

import streamlit as st

from dpviz.charts.revealed import RevealedView
from dpviz.ui.declaration import OpenTable
from dpviz.ui.looks import reveal

_KEPT, _MOST = "revealed:views", 2


def revealed_view(table: OpenTable, note: str) -> RevealedView | None:
    """The rows of ``table`` for its pictures, if its owner allows it; the look is counted under ``note``."""
    revealed = reveal(table, note)
    if revealed is None:
        return None
    kept = cast("dict[str, RevealedView]", st.session_state.setdefault(_KEPT, {}))
    if table.key not in kept:
        while len(kept) >= _MOST:
            kept.pop(next(iter(kept)))
        kept[table.key] = RevealedView.of(revealed.points, note)
    return kept[table.key]
