"""The badge that every shown value carries: public, released or revealed; a word and an icon, not colour alone."""

from __future__ import annotations

from typing import Literal, NamedTuple

import streamlit as st

from dpviz.charts.theme import Kind
from dpviz.glossary import explained, words_of
from dpviz.ui.escape import plain


class _Look(NamedTuple):
    color: Literal["gray", "blue", "orange"]  # what these look like: .streamlit/config.toml
    icon: str


_LOOKS: dict[Kind, _Look] = {
    "public": _Look("gray", ":material/campaign:"),
    "released": _Look("blue", ":material/blur_on:"),
    "revealed": _Look("orange", ":material/visibility:"),
}


def badge(kind: Kind, detail: str = "") -> None:
    """Mark what stands beside it as public, released or revealed; ``detail`` follows the meaning in its tooltip."""
    look = _LOOKS[kind]
    st.badge(kind, icon=look.icon, color=look.color, help=explained(kind, plain(detail)))


def badge_text(kind: Kind) -> str:
    """The badge as Markdown, for labels, captions and titles."""
    look = _LOOKS[kind]
    return f":{look.color}-badge[{look.icon} {kind}]"


def badged(kind: Kind, text: str, *, help: str | None = None) -> None:
    """Fine print after a badge; without a ``help`` of its own, the words in it are explained.

    Not a caption: that would fade the badge until it can hardly be read.
    """
    st.markdown(f":small[{badge_text(kind)} {text}]", help=help or words_of(text))
