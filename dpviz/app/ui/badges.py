"""The badge that every shown value carries: public, released or revealed; a word and an icon, not colour alone."""

from __future__ import annotations

from typing import Literal, NamedTuple

import streamlit as st

from dpviz.app.ui.escape import escape_markdown
from dpviz.words import Kind, explain_term, explain_words


class _BadgeLook(NamedTuple):
    color: Literal["gray", "blue", "orange"]  # what these look like: .streamlit/config.toml
    icon: str


_LOOKS: dict[Kind, _BadgeLook] = {
    "public": _BadgeLook("gray", ":material/campaign:"),
    "released": _BadgeLook("blue", ":material/blur_on:"),
    "revealed": _BadgeLook("orange", ":material/visibility:"),
}


def draw_badge(kind: Kind, detail: str = "") -> None:
    """Mark what stands beside it as public, released or revealed.

    Parameters
    ----------
    kind : Kind
        public, released or revealed.
    detail : str
        Follows the meaning of the kind in the tooltip; Markdown.
    """
    look = _LOOKS[kind]
    st.badge(kind, icon=look.icon, color=look.color, help=explain_term(kind, escape_markdown(detail)))


def format_badge(kind: Kind) -> str:
    """The badge as Markdown, for labels, captions and titles."""
    look = _LOOKS[kind]
    return f":{look.color}-badge[{look.icon} {kind}]"


def draw_caption_with_badge(kind: Kind, text: str, *, help: str | None = None) -> None:
    """Fine print after a badge.

    Not a caption: that would fade the badge until it can hardly be read.

    Parameters
    ----------
    kind : Kind
        public, released or revealed.
    text : str
        Markdown.
    help : str or None
        None: the glossary's words in the text are explained.
    """
    st.markdown(f":small[{format_badge(kind)} {text}]", help=help or explain_words(text))
