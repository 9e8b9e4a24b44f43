"""The badge that every shown value carries: public, released or revealed; a word and an icon, not colour alone."""

from __future__ import annotations

from typing import Literal, NamedTuple

import streamlit as st

from dpviz.charts.theme import Kind
from dpviz.ui.escape import plain


class _Look(NamedTuple):
    color: Literal["gray", "blue", "orange"]  # what these look like: .streamlit/config.toml
    icon: str
    meaning: str


_LOOKS: dict[Kind, _Look] = {
    "public": _Look(
        "gray",
        ":material/campaign:",
        "Declared by the owner, or made without looking at any row. Costs no privacy.",
    ),
    "released": _Look(
        "blue",
        ":material/blur_on:",
        "Computed from the rows, covered by noise, and paid for in the ledger. May be published at the stated ε.",
    ),
    "revealed": _Look(
        "orange",
        ":material/visibility:",
        "Read from the rows as they are, for the owner's eyes only. Never part of an export.",
    ),
}


def badge(kind: Kind, detail: str = "") -> None:
    """Mark what stands beside it as public, released or revealed; ``detail`` follows the meaning in its tooltip."""
    look = _LOOKS[kind]
    st.badge(kind, icon=look.icon, color=look.color, help=f"{look.meaning} {plain(detail)}".strip())


def badge_text(kind: Kind) -> str:
    """The badge as Markdown, for labels, captions and titles."""
    look = _LOOKS[kind]
    return f":{look.color}-badge[{look.icon} {kind}]"


def badged(kind: Kind, text: str, *, help: str | None = None) -> None:
    """Fine print after a badge. Not a caption: that would fade the badge until it can hardly be read."""
    st.markdown(f":small[{badge_text(kind)} {text}]", help=help)
