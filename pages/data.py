"""Data: bring a table, declare what may be known about it, put it to use."""

import streamlit as st

from dpviz.app.ui.data.declaration_form import FORGOTTEN, draw_declaration_form
from dpviz.app.ui.data.table_link import bring_to_use, draw_preparation_panel, is_forgotten, is_own_file, is_preparing
from dpviz.app.ui.data.table_summary import (
    draw_declaration_download,
    draw_preview,
    draw_table_in_python,
    draw_table_summary,
)
from dpviz.app.ui.data.ways_in import draw_three_ways
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.session import LOST, find_source, find_table, find_undeclared, require_table, set_aside
from dpviz.core import RequestError
from dpviz.tables import SparseTable

st.title("Data", anchor=False)
if draw_three_ways():
    st.rerun()

table, waiting = find_table(), find_undeclared()
source = waiting or find_source()
if source is None:
    if is_forgotten():
        st.info(LOST, icon=":material/history:")
    st.stop()

with st.container(horizontal=True, vertical_alignment="center", gap="small"):
    name = source.content.name if waiting or table is None else table.title
    st.subheader(escape_markdown(name), anchor=False, width="content")
    head, buttons = st.container(width="content"), st.container(horizontal=True, width="content", gap="small")
about = st.container()
if isinstance(source.content, SparseTable):  # declared beside the file, where it was opened
    draw_table_summary(require_table())
    st.stop()
declared = draw_declaration_form(source, None if waiting or table is None else table.declaration, head)
opened = table is not None and waiting is None
if opened and declared.in_force is None:
    declared.in_force = declared.declaration
with buttons:
    use = False
    if not opened or declared.declaration != declared.in_force:
        preparing = is_preparing(source)
        use = st.button(
            "Use this table", type="primary", icon=":material/check:", key="use_this_table", disabled=preparing
        )
    elif st.button("Explore this table", type="primary", icon=":material/travel_explore:", key="explore_table"):
        st.switch_page("explore.py")
    if waiting is not None and st.button("Leave this file", key="leave_this_file"):
        set_aside(None)
        st.rerun()
with about:
    forgotten = is_own_file()
    stays = f" “{table.title}” stays open." if table is not None else ""
    if use:
        try:
            if declared.missing:
                raise RequestError(declared.missing[0])
            bring_to_use(source.content, declared.declaration)
        except RequestError as error:
            st.error(escape_markdown(f"{error}{stays}"), title="Not complete yet", icon=":material/block:")
        else:
            declared.in_force = None if is_preparing(source) else declared.declaration
            st.rerun()
    elif draw_preparation_panel(source):
        st.caption("Other pages stay usable. The rows go to a file without a name, which is gone with this visit.")
    elif declared.missing and not opened:
        # One line says both, so that the first columns are in sight below.
        st.caption(f"{escape_markdown(declared.missing[0])} {FORGOTTEN if forgotten else ''}")
        forgotten = False
    if forgotten:
        st.caption(FORGOTTEN)

if table is not None and waiting is None:
    with st.expander("Promises", icon=":material/handshake:"):
        draw_table_summary(table)
        draw_declaration_download(table)
    draw_table_in_python(table)
    draw_preview(table)
