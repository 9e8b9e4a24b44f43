"""A declaration as a file: what an earlier visit or the command line wrote is put to use, and handed on."""

from __future__ import annotations

import streamlit as st

from dpviz.runs.open_table import OpenTable
from dpviz.table.loaded_table import IntakeError
from dpviz.table.sidecar import MAX_BYTES, Stated, stated_in, to_json
from dpviz.ui.data.begun import Begun
from dpviz.ui.data.stated import joined

_HELP = (
    "The sidecar of the command line, whole or in part: how the file is read, bounds and their origins, who is "
    "protected."
)


def json_panel(begun: Begun) -> None:
    """Upload or paste JSON: everything that it declares takes the place of what the form says."""
    with st.popover("Use a declaration (JSON)", icon=":material/data_object:", help=_HELP):
        file = st.file_uploader(
            "JSON file",
            type=["json"],
            key=f"declare_json:{begun.source.number}",
            max_upload_size=MAX_BYTES // 1_000_000,
        )
        with st.form(f"declare_json_text:{begun.source.number}", border=False):
            text = st.text_area(
                "or paste it",
                placeholder='{"bounds": {"age": [18, 100]},\n "bounds_origin": "law"}',
                help="Or one pair of bounds for all columns: lower, upper.",
                key="bounds_json",
            )
            pressed = st.form_submit_button("Use these")
    if pressed:
        _ask(begun, text or "")
    read = st.session_state.get("declare_json:read")
    if file is not None and file.file_id != read:
        st.session_state["declare_json:read"] = file.file_id
        _ask(begun, file.getvalue())


def declaration_download(table: OpenTable) -> None:
    """A button that hands on what is declared about ``table``: public statements only."""
    st.download_button(
        "Declaration (JSON)",
        to_json(table.declaration),
        f"{table.loaded.name}.json",
        "application/json",
        key="declaration_json",
        icon=":material/download:",
        help="What is declared, for the next visit or the command line: put it beside the CSV under the same name.",
        on_click="ignore",
    )


def _ask(begun: Begun, text: str | bytes) -> None:
    begun.asked = lambda now: joined(now, _stated(text), begun.source.content)


def _stated(text: str | bytes) -> Stated:
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except ValueError:
            raise IntakeError("The file is not JSON in UTF-8; choose a declaration, not the data.") from None
    return stated_in(text)
