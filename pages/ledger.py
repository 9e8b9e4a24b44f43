"""Ledger: every charge of every run of this visit, added up twice."""

import streamlit as st

from dpviz.ui.ledger_panel import charges_panel, looks_panel, together_panel, totals_panel
from dpviz.ui.session import booked, looks

st.title("Ledger")
st.markdown(
    "Every release costs privacy. Here is every charge of this visit, what it bought, and the sum that a second, "
    "independent library comes to from sensitivities and noise scales alone."
)
entries = booked()
if not entries:
    st.info("Run an algorithm on the Explore page: its charges appear here.", title="Nothing is booked yet", icon="🧾")
    if not looks():
        st.stop()
else:
    together_panel(entries)
    totals_panel(entries)
    charges_panel(entries)
looks_panel(looks())
