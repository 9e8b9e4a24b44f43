"""Above a picture: that the open table has been released in this visit, and what its account has left."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import streamlit as st

from dpviz.app.ui.escape import escape_markdown
from dpviz.core import RequestError
from dpviz.runs import OpenTable
from dpviz.words import format_number

if TYPE_CHECKING:  # what releases is loaded by who presses: the bench is there half a second sooner
    from dpviz.app.ui.release.account_section import Publication

_PRESSED = "release:pressed"


def list_publications() -> list[Publication]:
    """All presses of this visit, oldest first."""
    return cast("list[Publication]", st.session_state.setdefault(_PRESSED, []))


def draw_released_notice(table: OpenTable) -> None:
    """Say it in a line, if it is so."""
    if words := describe_released(table.source_key):
        st.caption(f":material/publish: {words}")


def describe_released(source_key: str) -> str:
    """What has left of the rows of one file in this visit, as Markdown; "" if nothing has."""
    mine = [one for one in list_publications() if one.source_key == source_key]
    if not mine:
        return ""
    job = mine[-1].job
    if not job.state.final:
        return "This table is being released: press *Release* below."
    account = job.prepared.before.name
    if job.release is None:
        charged = f"charge {job.number:d} stays" if job.number is not None else "nothing was charged"
        return f"The last release of this table failed; {charged} in account {escape_markdown(account)}."
    try:
        left = f", ε = {format_number(job.prepared.account.standing().left_epsilon)} left"
    except RequestError:
        left = ""
    return f"Released in this visit: charge {job.number or 0:d} of account {escape_markdown(account)}{left}."
