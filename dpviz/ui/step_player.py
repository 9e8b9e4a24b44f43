"""Stepping at the reader's pace: a slider, back, play and next over whatever is shown a step at a time."""

from __future__ import annotations

import time
from collections.abc import Callable

import streamlit as st

from dpviz.ui.polled import poll

# A step stays for a second; a poll that comes a little early counts.
_SECONDS_A_STEP, _SOON = 1.0, 0.7


def draw_step_player(
    key: str, steps: int, show_step: Callable[[int], None], *, label: str, help: str, still: bool = False
) -> None:
    """``steps`` steps, one at a time, by their place from 0; only this panel runs again when the step changes.

    It starts at the last step. ``still`` leaves out the button that plays, for whoever has asked for less motion.
    """
    if still:
        st.session_state[f"{key}:playing"] = False
    playing = bool(st.session_state.get(f"{key}:playing"))

    def panel() -> None:
        if bool(st.session_state.get(f"{key}:playing")) != playing:
            st.rerun()
        show_step(_read_place(key, steps, label, help, still=still))

    poll(panel, every=_SECONDS_A_STEP if playing else None, key=f"{key}:frames")


def _read_place(key: str, steps: int, label: str, help: str, *, still: bool) -> int:
    """Draw slider and buttons; the chosen place from 0."""
    st.session_state.setdefault(f"{key}:at", steps)
    if steps == 1:
        return 0
    _play_on(key, steps)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        buttons = st.container(horizontal=True, gap="small", width="content")
        with st.container(width="stretch"):
            _draw_slider(key, steps, label, help)
        with buttons:
            _draw_buttons(key, steps, still=still)
    return int(st.session_state[f"{key}:at"]) - 1


def _draw_slider(key: str, steps: int, label: str, help: str) -> None:
    """A slider that follows every move, and leads when it is dragged.

    Whenever something else moves, a new slider takes its place: while a run plays, what the browser says about the
    slider of a moment ago may arrive late, and would pass for a drag. A slider that another page made the browser
    forget starts again from where the walk stands.
    """
    at, (number, first) = st.session_state[f"{key}:at"], st.session_state.setdefault(f"{key}:slider", (0, steps))
    if f"{key}:step:{number}" not in st.session_state:
        first = at
        st.session_state[f"{key}:slider"] = (number, first)
    dragged_to = st.slider(label, 1, steps, value=first, key=f"{key}:step:{number}", help=help)
    if dragged_to != at:
        st.session_state[f"{key}:at"] = dragged_to
        st.session_state[f"{key}:playing"] = False


def _go(key: str, step: int) -> None:
    """Move to ``step`` by anything but the slider."""
    number, _ = st.session_state[f"{key}:slider"]
    st.session_state[f"{key}:at"], st.session_state[f"{key}:slider"] = step, (number + 1, step)


def _play_on(key: str, steps: int) -> None:
    """While it plays, one step further whenever it is time; the last step ends the play."""
    playing, ticked, now = f"{key}:playing", f"{key}:ticked", time.monotonic()
    if not st.session_state.get(playing) or now - st.session_state.get(ticked, 0.0) < _SOON * _SECONDS_A_STEP:
        return
    st.session_state[ticked] = now
    _go(key, min(steps, st.session_state[f"{key}:at"] + 1))
    if st.session_state[f"{key}:at"] == steps:
        st.session_state[playing] = False
        st.rerun()


def _draw_buttons(key: str, steps: int, *, still: bool) -> None:
    at, playing = st.session_state[f"{key}:at"], bool(st.session_state.get(f"{key}:playing"))
    _draw_mover("Back", ":material/skip_previous:", key, -1, steps, disabled=at <= 1)
    if not still:
        words, icon = ("Pause", ":material/pause:") if playing else ("Play", ":material/play_arrow:")
        st.button(words, icon=icon, key=f"{key}:play", on_click=_toggle, args=(key, steps))
    _draw_mover("Next", ":material/skip_next:", key, 1, steps, disabled=at >= steps)


def _draw_mover(words: str, icon: str, key: str, by: int, steps: int, *, disabled: bool) -> None:
    st.button(words, icon=icon, key=f"{key}:{words}", on_click=_move, args=(key, by, steps), disabled=disabled)


def _move(key: str, by: int, steps: int) -> None:
    st.session_state[f"{key}:playing"] = False
    _go(key, min(steps, max(1, st.session_state[f"{key}:at"] + by)))


def _toggle(key: str, steps: int) -> None:
    playing = not st.session_state.get(f"{key}:playing")
    st.session_state[f"{key}:playing"] = playing
    st.session_state[f"{key}:ticked"] = time.monotonic()
    if playing and st.session_state[f"{key}:at"] >= steps:
        _go(key, 1)
