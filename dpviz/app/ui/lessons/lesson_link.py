"""Where a visit is in its lessons: the address says which lesson, which scene, and whether it is presented."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

_LESSON, _SCENE, _PRESENT = "lesson", "scene", "present"


class Place(NamedTuple):
    """A lesson by its id, a scene counted from 1, and whether it is shown to a class."""

    lesson: str
    scene: int
    presented: bool


def read_place() -> Place | None:
    """What the address asks for; None without a lesson. What is no number of a scene is the first one."""
    lesson = st.query_params.get(_LESSON, "")
    if not lesson:
        return None
    scene = st.query_params.get(_SCENE, "1")
    return Place(lesson, int(scene) if scene.isdecimal() and len(scene) < 4 else 1, is_presented())


def is_presented() -> bool:
    """Whether the address asks for a lesson as a class sees it: no menu, no rail, large type, arrow keys."""
    return _LESSON in st.query_params and st.query_params.get(_PRESENT) == "1"


def go_to(lesson: str | None, scene: int = 1, *, present: bool = False) -> None:
    """Open a scene; call it from a callback."""
    asked = {} if lesson is None else {_LESSON: lesson, _SCENE: str(scene)} | ({_PRESENT: "1"} if present else {})
    for name in (_LESSON, _SCENE, _PRESENT):
        if name in asked:
            st.query_params[name] = asked[name]
        else:
            st.query_params.pop(name, None)
