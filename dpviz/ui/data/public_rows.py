"""Rows of a source that anybody may see, before it is opened: to fill in bounds and the number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import streamlit as st

from dpviz.table.csv_intake import CsvFile
from dpviz.table.file_format import FileFormat
from dpviz.table.loaded_table import LoadedTable
from dpviz.ui.session import Source

_KEPT = "declare:public_rows"


def public_rows(source: Source, file: FileFormat, columns: Sequence[str]) -> LoadedTable:
    """Number columns of a source declared public, read as declared; call it for no other.

    Raises
    ------
    IntakeError
        If the file is not as declared.
    """
    if not isinstance(source.content, CsvFile):
        assert isinstance(source.content, LoadedTable)
        return source.content
    asked = (source.number, file, tuple(columns))
    kept = cast("tuple[object, LoadedTable] | None", st.session_state.get(_KEPT))
    if kept is None or kept[0] != asked:
        kept = st.session_state[_KEPT] = (asked, source.content.read(file, numbers=columns))
    return kept[1]
