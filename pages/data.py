"""Data: bring a table, declare what may be known about it, put it to use."""

import streamlit as st

from dpviz.check import RequestError
from dpviz.ui.controls import suggest_delta
from dpviz.ui.data.declaration_form import declaration_form
from dpviz.ui.data.preview import preview
from dpviz.ui.data.table_summary import declaration_download, intake_notes, table_summary
from dpviz.ui.data.ways_in import csv_upload, sample_choice, stand_in_form
from dpviz.ui.escape import plain
from dpviz.ui.session import current_source, current_table, open_table, set_aside, undeclared

WAYS = {"My CSV file": csv_upload, "A sample": sample_choice, "A stand-in": stand_in_form}

st.title("Data")
st.markdown("Bring a table, and declare what anybody may know about it. Its rows stay on this machine.")

with st.container(border=True):
    way_place, table_place = st.columns(2, gap="medium")
    way = way_place.segmented_control(
        "Where does the table come from?", list(WAYS), default="My CSV file", required=True, key="way_in"
    )
    with table_place:
        opened_now = WAYS[way or "My CSV file"]()
    if opened_now:
        st.rerun()

table, waiting = current_table(), undeclared()
source, start = waiting, None
if table is not None and waiting is None:
    table_summary(table)
    opened = current_source()
    assert opened is not None
    intake_notes(table, opened)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        if st.button("Explore this table", type="primary", icon=":material/travel_explore:", key="explore_table"):
            st.switch_page("explore.py")
        declaration_download(table)
        change = st.toggle("Change what is declared", key="change_declarations")
    source, start = (opened, table.declaration) if change else (None, None)
elif waiting is None:
    st.info("Nothing is open yet: choose one of the three ways above.", icon=":material/north:")

if source is not None:
    st.subheader(plain(source.content.name), divider="gray", anchor=False)
    declared = declaration_form(source, start)
    with st.container(horizontal=True):
        use = st.button("Use this table", type="primary", icon=":material/check:", key="use_this_table")
        if waiting is not None and st.button("Leave this file", key="leave_this_file"):
            set_aside(None)
            st.rerun()
    if use:
        try:
            if declared.missing:
                raise RequestError(" ".join(declared.missing))
            open_table(source.content, declared.declaration)
        except RequestError as error:
            stays = f" “{table.title}” stays open." if table is not None else ""
            st.error(plain(f"{error}{stays}"), title="Not complete yet", icon=":material/block:")
        else:
            suggest_delta()
            st.rerun()

if table is not None and waiting is None:
    preview(table)
