"""Walking through a run: the picture of each step, what explains it best beside it, and what had been spent by then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dpviz.algorithms.steps import Step
from dpviz.charts.picture import Look, Picture
from dpviz.charts.registry import picture_of
from dpviz.runs.export import picture_stem
from dpviz.runs.run import Frame, Run
from dpviz.ui.badges import badge_text
from dpviz.ui.escape import plain
from dpviz.ui.figure import data_table, show
from dpviz.ui.step_player import step_player

_TABLE = "Table"
# What stands above a picture is as high on both sides, so that pictures begin at the same height.
_HEAD_HEIGHT = 44


def walk(run: Run, look: Look, beside: Look, *, key: str) -> None:
    """The steps of a run, one at a time: the pictures under ``look``, their companions under the look ``beside``."""
    steps = [frame.step for frame in run.frames]

    def show_step(place: int) -> None:
        _spent_meter(run, run.frames[place])
        picture = picture_of(steps[place])
        stem = picture_stem(run)
        left, right = st.columns(2, gap="medium")
        with left:
            _main_picture(picture, look, key=key, stem=stem)
        with right:
            _companion(picture, beside, steps, key=key, stem=stem)

    words = "Each step is one picture of the run."
    step_player(key, len(steps), show_step, label="Step of the algorithm", help=words)


def _main_picture(picture: Picture[Any], look: Look, *, key: str, stem: str) -> None:
    """The figure of a step, under what its values are: revealed too where it has such marks."""
    figure = picture.draw(look)
    revealed = picture.kind != "revealed" and any(trace.meta == "revealed" for trace in figure.data)
    with _head():
        st.markdown(badge_text(picture.kind) + (f" {badge_text('revealed')}" if revealed else ""))
    show(figure, alt=picture.words(look.view.domain), key=f"{key}:main", stem=stem)


def _companion(picture: Picture[Any], look: Look, steps: Sequence[Step], *, key: str, stem: str) -> None:
    """One companion of a picture at a time, or the tables behind all of them."""
    companions = {companion.name: companion for companion in picture.companions(look, steps)}
    domain = look.view.domain
    names = [*companions, _TABLE]
    with _head():
        chosen = st.segmented_control(
            "Beside the picture",
            names,
            format_func=plain,
            default=names[0],
            required=True,
            key=f"{key}:beside:{type(picture).__name__}",
            label_visibility="collapsed",
        )
    chosen = chosen if chosen in names else names[0]
    if chosen in companions:
        name, drawing, kind = companions[chosen]
        words = drawing.words(domain) + (" Revealed." if kind == "revealed" else "")
        show(drawing.draw(look), alt=words, key=f"{key}:{name}", stem=f"{stem}-{name}")
        return
    data_table(picture.table(domain), alt="The numbers behind the picture")
    for name, drawing, kind in companions.values():
        table = drawing.table(domain)
        if table is not None and len(table):
            st.caption(f"{badge_text(kind)} {plain(name)}")
            data_table(table, alt=f"The numbers behind {name}")


def _head() -> Any:
    """The line above a picture."""
    return st.container(horizontal=True, vertical_alignment="center", height=_HEAD_HEIGHT, border=False)


def _spent_meter(run: Run, frame: Frame) -> None:
    """What had been spent when this step was taken, of the whole budget."""
    if not run.private:
        st.caption(f"{badge_text('revealed')} No privacy budget: the rows themselves were read.")
        return
    delta = f", δ = {run.delta:g}" if run.delta else ""
    charges = "no charge yet" if frame.entries == 0 else f"{frame.entries:d} charge{'s' if frame.entries > 1 else ''}"
    st.progress(
        min(1.0, round(frame.spent_epsilon / run.epsilon, 3)),
        text=f"Spent so far: ε = {frame.spent_epsilon:.3g} of {run.epsilon:g}{delta} ({charges})",
    )
