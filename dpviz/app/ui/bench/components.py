"""The two components of the bench: a paragraph of the sentence, and the axis of ε that is its control."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np
import streamlit as st

from dpviz.app.ui.bench.finding import HIGHEST, LOWEST, Sides
from dpviz.app.ui.bench.sentence import Word

_PLACES = 60
_LONGEST = 2_000
"""Letters of what is typed into a word."""


@st.cache_resource(show_spinner=False)
def _declare_component(name: str) -> Any:
    home = files("dpviz.app.ui") / "bench"
    html, css, js = ((home / f"{name}.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js"))
    return st.components.v2.component(f"dpviz_{name}", html=html, css=css, js=js, isolate_styles=False)


def draw_paragraph(
    pieces: Sequence[str | Word],
    *,
    key: str,
    opened: str,
    table: int,
    go: int,
    on_word: Callable[[str], None],
    on_typed: Callable[[str, str], None],
) -> None:
    """A paragraph of the sentence.

    ``opened`` is the word whose form is open; where ``go`` is another number than before, the next gap is gone to.
    """

    def pressed() -> None:
        said = st.session_state[key].get("word")
        if isinstance(said, Mapping):
            on_word(str(said.get("id")))

    def typed() -> None:
        said = st.session_state[key].get("typed")
        if isinstance(said, Mapping):
            on_typed(str(said.get("id")), str(said.get("text"))[:_LONGEST])

    told = [piece if isinstance(piece, str) else vars(piece) for piece in pieces]
    data = {"pieces": told, "open": opened, "table": table, "go": go}
    _declare_component("sentence")(data=data, key=key, on_word_change=pressed, on_typed_change=typed)


def draw_axis(epsilon: float, sides: Sides | None, tell: Callable[[float], None], *, key: str) -> None:
    """The axis of the ε of a whole release: both curves, the window as a band, and the handle."""

    def moved() -> None:
        value = st.session_state[key].get("epsilon")
        if isinstance(value, int | float) and LOWEST <= value <= HIGHEST:
            tell(float(value))

    data: dict[str, Any] = {"low": LOWEST, "high": HIGHEST, "epsilon": epsilon}
    data |= {"loss": [], "belief": [], "window": None, "target": 1.1, "prior": 0.0}
    if sides is not None:
        fine = np.geomspace(LOWEST, HIGHEST, _PLACES)
        data |= {
            "loss": [[round(value, 5) for value in line] for line in sides.losses],
            "belief": [[round(float(e), 5), round(sides.belief(float(e)), 5)] for e in fine],
            "window": [sides.least, sides.most] if sides.is_open else None,
            "target": sides.target.loss,
            "prior": sides.risk.prior,
        }
    _declare_component("axis")(data=data, key=key, on_epsilon_change=moved)
