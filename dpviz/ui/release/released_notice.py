"""On the other pages: that the open table has been released in this visit, and what its account has left."""

from __future__ import annotations

import streamlit as st

from dpviz.charts.wording import number
from dpviz.check import RequestError
from dpviz.runs.open_table import OpenTable
from dpviz.ui.escape import plain
from dpviz.ui.release.press import pressed


def released_notice(table: OpenTable) -> None:
    """Say it in a line, if it is so."""
    words = released_words(table.source_key)
    if words:
        st.caption(f":material/publish: {words}")


def released_words(source_key: str) -> str:
    """What has left of the rows of one file in this visit, as Markdown; "" if nothing has."""
    mine = [one for one in pressed() if one.source_key == source_key]
    if not mine:
        return ""
    pressing = mine[-1].pressing
    if not pressing.state.final:
        return "This table is being released: see the page Release."
    account = pressing.prepared.before.name
    if pressing.release is None:
        charged = f"charge {pressing.number:d} stays" if pressing.number is not None else "nothing was charged"
        return f"The last release of this table failed; {charged} in account {plain(account)}."
    try:
        left = f", ε = {number(pressing.prepared.account.standing().left_epsilon)} left"
    except RequestError:
        left = ""
    return f"Released in this visit: charge {pressing.number or 0:d} of account {plain(account)}{left}."


def has_left(source_key: str) -> bool:
    """Whether a release of the rows of one file has left in this visit."""
    return any(one.source_key == source_key and one.pressing.release is not None for one in pressed())
