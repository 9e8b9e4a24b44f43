"""Where pages are, and where the addresses of pages that are no more lead, with all that a link asked for there."""

from functools import partial

import streamlit as st
from streamlit.navigation.page import Page

BENCH = RUN = "home.py"
"""Where a table is opened, and where a run of it is seen."""
LEARN, COMPARE, MEANING, LESSONS = "learn.py", "compare.py", "meaning.py", "lessons.py"

DRAWER = "drawer"
"""What names in a link the part of a page that is to be open at once."""


MOVED = {
    "tradeoff": (COMPARE, "sweep"),
    "glossary": (LEARN, "glossary"),
    "ledger": (BENCH, "ledger"),
    **dict.fromkeys(("data", "explore"), (BENCH, "")),
    "release": (BENCH, "release"),
}
"""To which page, and which part of it opens, by the address that a page had."""


def list_moved() -> list[Page]:
    """Pages without an entry in the menu, one for each old address: each leads on."""
    return [st.Page(partial(_lead_on, *to), title=old, url_path=old, visibility="hidden") for old, to in MOVED.items()]


def is_asked_for(drawer: str) -> bool:
    """Whether a link asks for this part of the page."""
    return st.query_params.get(DRAWER) == drawer


def _lead_on(page: str, drawer: str) -> None:
    st.switch_page(page, query_params=st.query_params.to_dict() | ({DRAWER: drawer} if drawer else {}))
