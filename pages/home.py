"""Home: what this is, a picture of it, and three ways in."""

import streamlit as st

from dpviz.ui.data.ways_in import sample_tiles
from dpviz.ui.home_picture import home_picture

st.title("What does privacy cost your clusters?")
st.markdown(
    "Clustering finds groups in a table; **differential privacy** makes sure that no single person in it shows. "
    "dpviz runs published private clustering algorithms on your own machine and shows, step by step, what each one "
    "looks at, what noise it adds, and how far the result moves. "
    "Open a table, pick a budget ε, and see what it buys."
)
home_picture()

st.subheader("Open a sample, your own file, or a stand-in", divider="gray")
if sample_tiles():
    st.switch_page("explore.py")
