"""Ledger: every charge of every run of this visit, added up twice."""

import streamlit as st

from dpviz.glossary import explained
from dpviz.ui.ledger_panel import charges_panel, looks_panel, together_panel, totals_panel
from dpviz.ui.owner_path import owner_path
from dpviz.ui.session import booked, looks

st.title("Ledger", anchor=False, help=explained("ledger"))
owner_path(here="ledger")
st.markdown(
    "Every answer about the rows costs privacy. Here is what this visit has spent, checked by a second library."
)
entries = booked()
if not entries:
    st.info(
        "Run an algorithm on the Explore page: its charges appear here.",
        title="Nothing is booked yet",
        icon=":material/receipt_long:",
    )
    if not looks():
        st.stop()
else:
    together_panel(entries)
    totals_panel(entries)
    charges_panel(entries)
looks_panel(looks())
