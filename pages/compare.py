"""Compare: several algorithms at the same ε, many runs each, one set of axes."""

import streamlit as st

from dpviz.ui.compare_panel import compare_setup, compare_study
from dpviz.ui.session import require_table

st.title("Compare")
table = require_table()
plan, source = compare_setup(table)
compare_study(table, plan, source)
