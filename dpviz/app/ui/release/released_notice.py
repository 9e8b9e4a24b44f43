"""Above a picture: that the open table has been released in this visit, and what its account has left."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, cast

import streamlit as st

from dpviz.app.ui.escape import escape_markdown
from dpviz.core import RequestError
from dpviz.runs import OpenTable
from dpviz.words import format_number

if TYPE_CHECKING:  # what releases is loaded by who presses: the bench is there half a second sooner
    from dpviz.app.ui.release.page import Publication


def list_publications() -> list[Publication]:
    """All presses of this visit, oldest first."""
    return cast("list[Publication]", st.session_state.setdefault("release:pressed", []))


def draw_released_notice(table: OpenTable) -> None:
    """Say in a line what has left of the rows of its file in this visit, if anything has."""
    mine = [one for one in list_publications() if one.source_key == table.source_key]
    if not mine:
        return
    job = mine[-1].job
    left = ""
    account = escape_markdown(job.prepared.before.name)
    if not job.state.final:
        words = "This table is being released: press *Release* below."
    elif job.release is None:
        charged = f"charge {job.number:d} stays" if job.number is not None else "nothing was charged"
        words = f"The last release of this table failed; {charged} in account {account}."
    else:
        with suppress(RequestError):
            left = f", ε = {format_number(job.prepared.account.standing().left_epsilon)} left"
        words = f"Released in this visit: charge {job.number or 0:d} of account {account}{left}."
    st.caption(f":material/publish: {words}")
