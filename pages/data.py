"""Data: bring a table, declare what may be known about it, put it to use."""

import streamlit as st

from dpviz.check import RequestError
from dpviz.ui.declaration_form import declaration_form
from dpviz.ui.intake_notes import intake_notes
from dpviz.ui.preview import preview
from dpviz.ui.state import current_table, open_table, set_aside, suggest_delta, undeclared
from dpviz.ui.table_summary import table_summary
from dpviz.ui.table_words import plain
from dpviz.ui.ways_in import csv_upload, sample_choice, stand_in_form

st.title("Data")
st.markdown("Bring a table and declare what anybody may know about it. Everything private stays where it is.")

with st.container(border=True):
    way = st.segmented_control(
        "Where does the table come from?",
        ["My CSV file", "A sample", "A stand-in"],
        default="My CSV file",
        required=True,
    )
    if way == "A sample":
        opened = sample_choice()
    elif way == "A stand-in":
        opened = stand_in_form()
    else:
        opened = False
        csv_upload()
if opened:
    st.rerun()

table, loaded = current_table(), undeclared()
if table is not None and loaded is None:
    table_summary(table)
    st.page_link("explore.py", label="Explore this table", icon=":material/travel_explore:")
    preview(table)
    if not st.toggle("Change what is declared", key="change_declarations"):
        st.stop()
    loaded = table.loaded

if loaded is None:
    st.info(
        "Upload a file, or take a sample or a stand-in: its declarations then appear here.", icon=":material/north:"
    )
    st.stop()

st.header(plain(loaded.name), divider="gray")
intake_notes(loaded)
start = table.declaration if table is not None and table.loaded is loaded else None
declaration = declaration_form(loaded, start)

with st.container(horizontal=True):
    use = st.button("Use this table", type="primary", icon=":material/check:", key="use_this_table")
    drop = undeclared() is not None and st.button("Leave this file", key="leave_this_file")
if drop:
    set_aside(None)
    st.rerun()
if use:
    try:
        open_table(loaded, declaration)
    except RequestError as error:
        stays = f" “{table.title}” stays open." if table is not None else ""
        st.error(f"{error}{stays}", title="Not complete yet", icon=":material/block:")
    else:
        suggest_delta()
        st.rerun()
