"""Which plane of the domain the pictures show: the same one for every picture of a page."""

from __future__ import annotations

import streamlit as st

from dpviz.charts.view import View, choices, view_of
from dpviz.table.domain import Domain


def plane_choice(domain: Domain, key: str) -> View:
    """The chosen plane; with one or two columns there is nothing to choose, and no widget."""
    offered = {choice.label: choice for choice in choices(domain)}
    if len(offered) == 1:
        return view_of(domain)
    kept = f"{key}:plane:{','.join(domain.columns[:8])}:{domain.dim}"
    label = st.selectbox(
        "Plane",
        list(offered),
        key=kept,
        persist_state="session",
        width=320,
        help="Two columns, or a random plane that was chosen without looking at any row.",
    )
    choice = offered[str(label)]
    return view_of(domain, axes=choice.axes, projection_seed=choice.projection_seed)
