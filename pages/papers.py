"""Papers: the experiments of the papers, run again, and what became of their claims."""

import streamlit as st

from dpviz.ui.papers_panel import papers_list

st.title("Papers")
st.markdown(
    "Every algorithm here comes from a paper, and every paper makes claims about its experiments. They were run again "
    "with this package; each verdict is computed from the runs, with its margin, and where a claim fails the reason "
    "has a name. `python -m dpviz reproduce` computes all of it anew."
)
papers_list()
