"""Home: what this is, the owner's path, a picture that answers to ε, doors for teachers, ways in, a release checked."""

import streamlit as st

from dpviz.glossary import explained, words_of
from dpviz.ui.data.ways_in import sample_tiles
from dpviz.ui.home_picture import home_picture
from dpviz.ui.owner_path import owner_path
from dpviz.ui.release.check_panel import check_panel

st.title("What does privacy cost your clusters?", anchor=False)
owner_path(here="home")
home_picture()
with st.container(horizontal=True, vertical_alignment="center", gap="small", key="teach"):
    st.markdown("**Teach**", width="content")
    st.page_link("playground.py", label="Playground: paint the town, hide one person", icon=":material/brush:")
    st.page_link("lessons.py", label="Lessons", icon=":material/school:")
    st.page_link("meaning.py", label="What ε means", icon=":material/balance:")

st.subheader(
    "Open a sample, your own file, or a stand-in",
    divider="gray",
    anchor=False,
    help=words_of("stand-in, tuple, grid"),
)
st.markdown(
    "**Differential privacy** hides every single person behind noise. See what each algorithm looks at, what noise it "
    "adds, and how far your groups move. Your rows stay on this machine.",
    help=explained("privacy"),
)
if sample_tiles():
    st.switch_page("explore.py")
check_panel()
