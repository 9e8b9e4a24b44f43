"""Home: three doors, a picture that answers to ε, samples, and what this visit has spent."""

import streamlit as st

from dpviz.app.ui.addresses import is_asked_for
from dpviz.app.ui.data.ways_in import draw_sample_tiles
from dpviz.app.ui.home import draw_home_picture, draw_received_release, draw_ways_in, open_picture
from dpviz.words import glossary

st.title("What does privacy cost your clusters?", anchor=False)
st.markdown(
    "Differential privacy adds noise to what leaves. See what it costs your clusters, choose ε, release. "
    "**Your rows stay on this machine.**",
    help=glossary.explain_term("privacy"),
)
epsilon = draw_home_picture()
if open_picture(epsilon):
    st.switch_page("explore.py")
draw_ways_in()
st.subheader(
    "Or begin with a sample", divider="gray", anchor=False, help=glossary.explain_words("synthetic table, tuple, grid")
)
if draw_sample_tiles():
    st.switch_page("explore.py")
draw_received_release()
spent = st.expander(
    "What this visit has spent", is_asked_for("ledger"), key="ledger", icon=":material/receipt_long:", on_change="rerun"
)
if spent.open:
    from dpviz.app.ui.ledger_panel import draw_ledger  # what adds up is loaded by whoever looks

    with spent:
        draw_ledger()
