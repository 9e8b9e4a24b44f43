"""Explore: one page for every algorithm. Ask, run, and walk through what it did and what each step cost."""

import streamlit as st

from dpviz.ui.explore.result_panel import below, empty_panel, headline, looks_at_run, metric_row
from dpviz.ui.explore.setup_panel import setup_panel
from dpviz.ui.explore.walk import walk
from dpviz.ui.runner import pending_panel, result_for
from dpviz.ui.session import require_table

st.title("Explore")
table = require_table()
request = setup_panel(table)
under_way = pending_panel(table)
result = result_for(table)
if result is not None:
    headline(result, request)
    numbers = st.container()
    looks = looks_at_run(table, result.run)
    walk(result.run, looks.main, looks.beside, key=f"frames:{result.number}")
    with numbers:
        metric_row(table, result, looks.beside.reference)
    below(result)
elif not under_way:
    empty_panel(table)
