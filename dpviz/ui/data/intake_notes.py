"""What the intake says of the rows of the open table, for its owner's eyes: after opening, never before."""

from __future__ import annotations

import streamlit as st

from dpviz.runs.open_table import OpenTable
from dpviz.runs.record import LookKind
from dpviz.table.csv_intake import CsvFile
from dpviz.ui.badges import badge
from dpviz.ui.escape import plain
from dpviz.ui.looks import count_look
from dpviz.ui.session import Source

_NOTES_SHOWN = 12
_LOOK = "notes of the intake"


def intake_notes(table: OpenTable, source: Source) -> None:
    """Notes that depend on rows; to show them is a look, which is counted."""
    if not table.loaded.notes:
        return
    public = source.content.header(table.declaration.file).notes if isinstance(source.content, CsvFile) else ()
    notes = [note for note in table.loaded.notes if note not in public]
    if not notes:
        return
    count_look(table.key, table.source_key, table.title, table.kind, LookKind.ROWS, _LOOK)
    rest = len(notes) - _NOTES_SHOWN
    lines = [*map(plain, notes[:_NOTES_SHOWN]), *([f"and {rest} more notes"] if rest > 0 else [])]
    with st.container(border=True):
        badge("revealed")
        st.warning("\n".join(f"- {line}" for line in lines), title="How the file was read", icon=":material/info:")
