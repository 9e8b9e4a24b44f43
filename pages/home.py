"""Home: three doors, a picture that answers to ε, what an owner still has to decide, and samples."""

import streamlit as st

from dpviz.glossary import explained, words_of
from dpviz.ui.data.ways_in import sample_tiles
from dpviz.ui.home_doors import doors, open_picture, received
from dpviz.ui.home_picture import home_picture
from dpviz.ui.owner_path import guide

st.title("What does privacy cost your clusters?", anchor=False)
st.markdown(
    "Differential privacy adds noise to what leaves. See what it costs your clusters, choose ε, release. "
    "**Your rows stay on this machine.**",
    help=explained("privacy"),
)
epsilon = home_picture()
if open_picture(epsilon):
    st.switch_page("explore.py")
doors()
st.subheader("Your way to a release", anchor=False)
guide()
st.subheader("Or begin with a sample", divider="gray", anchor=False, help=words_of("stand-in, tuple, grid"))
if sample_tiles():
    st.switch_page("explore.py")
received()
