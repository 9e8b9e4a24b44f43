"""What ``dpviz open DATA`` named: each visit begins with it, as if it had been brought here."""

from __future__ import annotations

import os
from dataclasses import replace

import streamlit as st

from dpviz.check import RequestError
from dpviz.table.named import GIVEN, named, sample_named
from dpviz.ui.controls import suggest_delta
from dpviz.ui.data.draft import draft_of
from dpviz.ui.data.ways_in import open_sample
from dpviz.ui.escape import plain
from dpviz.ui.session import open_table, set_aside, undeclared

_BEGUN = "given:begun"


def begin_with_given() -> bool:
    """Once a visit, open the named sample or declared file, or set the file aside to be declared; True if it did."""
    word = os.environ.get(GIVEN)
    if word is None or _BEGUN in st.session_state:
        return False
    st.session_state[_BEGUN] = True
    try:
        if (sample := sample_named(word)) is not None:
            open_sample(sample)
        else:
            _open_file(word)
    except RequestError as error:  # the file has gone, or has become another, since the command was given
        st.error(plain(error), title="This file cannot be used", icon=":material/block:")
        return False
    return True


def _open_file(word: str) -> None:
    content, declared = named(word)
    declaration = replace(declared, title=declared.title or content.name)
    try:
        open_table(content, declaration)
        suggest_delta()
    except RequestError:  # the form says what is missing
        set_aside(content)
        waiting = undeclared()
        assert waiting is not None
        draft_of(waiting, declaration)
