"""A release as one page for a reader: a lawyer, a journalist, a privacy officer. It prints on two sheets.

The page has no script and asks for nothing: its own policy forbids both, whatever a name holds.
"""

from __future__ import annotations

from typing import Any

from dpviz.releases.playing import Played
from dpviz.releases.release_texts import fill
from dpviz.words import FONT, Theme, choose_palette

_CODE = {"light": "#f2f4f7", "dark": "#1d2530"}


def make_card_page(played: Played) -> str:
    """The page ``card.html``: public and released values only, light and dark, for a telephone and for two A4 sheets.

    Whatever comes from outside is escaped.
    """
    return make_page("card.html.j2", played)


def make_page(template: str, played: Played, **values: Any) -> str:
    """A page in the style of the files of a release: it has no script, asks for nothing, and forbids both."""
    return fill(template, played, font=FONT, light=_format_colors("light"), dark=_format_colors("dark"), **values)


def _format_colors(theme: Theme) -> str:
    ink = choose_palette(theme)
    named = {
        "surface": ink.surface,
        "text": ink.text,
        "muted": ink.muted,
        "line": ink.grid,
        "public": ink.public,
        "released": ink.released,
        "code": _CODE[theme],
    }
    return " ".join(f"--{name}: {color};" for name, color in named.items())
