"""Explore: one page for every algorithm. Ask, run, and walk through what it did and what each step cost."""

import streamlit as st

from dpviz.ui.explore.explore_panel import empty_panel, result_panel
from dpviz.ui.explore.setup_panel import setup_panel
from dpviz.ui.runner import pending_panel, result_for
from dpviz.ui.session import require_table

st.title("Explore")
table = require_table()
request = setup_panel(table)
under_way = pending_panel(table)
result = result_for(table)
if result is not None:
    result_panel(table, result, request)
elif not under_way:
    empty_panel(table)
