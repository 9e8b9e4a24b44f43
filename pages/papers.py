"""Papers: the experiments of the papers, run again, and what became of their claims."""

import streamlit as st

from dpviz.app.ui.papers_panel import draw_papers

st.title("Papers", anchor=False)
draw_papers()
