"""What a page asks for as a program: the same in Python, to copy, and to take away as a script or as a notebook."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dpviz.runs import Script


def draw_python_section(write: Callable[[], Script], *, key: str, stem: str) -> None:
    """Draw it folded away."""
    section = st.expander("The same in Python", icon=":material/code:", key=f"{key}:python", on_change="rerun")
    if not section.open:
        return
    script = write()
    with section:
        st.caption("What is asked here, and nothing of a row. It needs `dpviz` and the file that its first cell names.")
        st.code(script.text, language="python")
        with st.container(horizontal=True):
            st.download_button(
                "As a script (.py)",
                script.text.encode("utf-8"),
                f"{stem}.py",
                "text/x-python",
                icon=":material/download:",
                on_click="ignore",
                key=f"{key}:python:script",
            )
            st.download_button(
                "As a notebook (.ipynb)",
                script.notebook.encode("utf-8"),
                f"{stem}.ipynb",
                "application/x-ipynb+json",
                icon=":material/book:",
                on_click="ignore",
                key=f"{key}:python:notebook",
            )
