"""Which plane of the domain the pictures show: the same one for every picture of a page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from dpviz.app.charts.view import ALL_PAIRS_UP_TO, View, list_choices, make_view, make_view_along_centers
from dpviz.app.ui.escape import escape_markdown
from dpviz.core import Array, Domain

_ALONG = "along the released centres"
_MOST_PILLS = 9
_HELP = (
    "Two columns, a random plane chosen without looking at any row, or the plane in which the released centres "
    "spread most: it follows from the release and tells nothing more."
)


def ask_plane(domain: Domain, key: str, *, centers: Array | None = None) -> View:
    """Ask for a plane; with one or two columns there is nothing to choose, and no widget.

    ``centers`` (k, d), released, unit coordinates: the plane along them is offered, too, and first of all where two
    columns of many show little.
    """
    offered: dict[str, Callable[[], View]] = {
        choice.label: partial(make_view, domain, axes=choice.axes, projection_seed=choice.projection_seed)
        for choice in list_choices(domain)
    }
    if len(offered) == 1:
        return make_view(domain)
    along = make_view_along_centers(domain, centers) if centers is not None else None
    if along is not None:
        first = domain.dim > ALL_PAIRS_UP_TO
        offered = {_ALONG: lambda: along} | offered if first else offered | {_ALONG: lambda: along}
    kept = f"{key}:plane:{','.join(domain.columns[:8])}:{domain.dim}{':along' if along is not None else ''}"
    # One click where there are few; else a list.
    if len(offered) <= _MOST_PILLS:
        label = st.pills(
            "Plane",
            list(offered),
            format_func=escape_markdown,
            default=next(iter(offered)),
            required=True,
            wrap=True,
            key=kept,
            persist_state="session",
            help=_HELP,
        )
    else:
        label = st.selectbox("Plane", list(offered), key=kept, persist_state="session", help=_HELP)
    return offered[str(label)]()
