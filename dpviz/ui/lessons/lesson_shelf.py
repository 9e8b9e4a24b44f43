"""The lessons that are there: those that ship, and those of a folder of one's own (``DPVIZ_LESSONS``)."""

from __future__ import annotations

import os
from pathlib import Path

import streamlit as st

from dpviz.lessons import reading
from dpviz.lessons.computed import Computed
from dpviz.lessons.reading import Shelved, lessons_in

OWN = "DPVIZ_LESSONS"
"""The environment variable that names a folder of more lessons."""


def shelf() -> Shelved:
    """All lessons: a file that is put into a folder, or changed there, is seen at the next look."""
    own = os.environ.get(OWN, "")
    folders = [reading.FOLDER, *([Path(own)] if own else [])]
    found = [_read(folder, _stamps(folder)) for folder in folders]
    lessons = {name: lesson for shelved in found for name, lesson in shelved.lessons.items()}
    return Shelved(lessons, tuple(sentence for shelved in found for sentence in shelved.refused))


def _stamps(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """What tells that a file has changed; also of a link that leads nowhere, as editors make them to lock a file."""
    return tuple(map(_stamp, sorted(folder.glob("*.yaml"))))


def _stamp(path: Path) -> tuple[str, int, int]:
    try:
        state = path.stat()
    except OSError:
        return path.name, 0, 0
    return path.name, state.st_mtime_ns, state.st_size


@st.cache_resource(max_entries=8, show_spinner=False)
def _read(folder: Path, stamps: tuple[tuple[str, int, int], ...]) -> Shelved:
    del stamps  # they tell files that changed apart, for the cache
    return lessons_in(folder)


@st.cache_resource(max_entries=8, show_spinner=False)
def computed_on(subject: str) -> Computed:
    """The sample or the drawing of a scene and what was computed on it: the same for everybody, so once a server."""
    return Computed.on(subject)
