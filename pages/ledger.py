"""Ledger: every charge of every run of this visit, added up twice."""

import streamlit as st

from dpviz.app.ui.ledger_panel import draw_accesses_panel, draw_charges_panel, draw_together_panel, draw_totals_panel
from dpviz.app.ui.owner_path import draw_owner_path
from dpviz.app.ui.session import describe_accesses, list_booked
from dpviz.words import glossary

st.title("Ledger", anchor=False, help=glossary.explain_term("ledger"))
draw_owner_path(here="ledger")
st.markdown(
    "Every answer about the rows costs privacy. Here is what this visit has spent, checked by a second library."
)
entries = list_booked()
if not entries:
    st.info(
        "Run an algorithm on the Explore page: its charges appear here.",
        title="Nothing is booked yet",
        icon=":material/receipt_long:",
    )
    if not describe_accesses():
        st.stop()
else:
    draw_together_panel(entries)
    draw_totals_panel(entries)
    draw_charges_panel(entries)
draw_accesses_panel(describe_accesses())
