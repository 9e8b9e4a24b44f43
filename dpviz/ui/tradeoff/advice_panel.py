"""A panel that names an algorithm and an ε for the open table's size, and reads no row of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import pandas as pd
import streamlit as st

from dpviz import check
from dpviz.algorithms.card import Setting
from dpviz.algorithms.registry import AUTO, card_of
from dpviz.runs.advice.advice import EPSILONS, Advice, Outlook, advise
from dpviz.runs.advice.advice_words import WHERE_FROM, alternatives, answer, certainty, changed
from dpviz.runs.open_table import OpenTable
from dpviz.runs.request import Contender, Request
from dpviz.ui.badges import badge_text
from dpviz.ui.escape import plain
from dpviz.ui.figure import data_table
from dpviz.ui.studies.judged_rows import rows_for
from dpviz.ui.table_words import unbroken

_MOST_ROWS = 1_000_000_000
_USUAL_PERCENT, _LEAST_PERCENT, _MOST_PERCENT = 10.0, 0.5, 500.0


def advice_panel(
    table: OpenTable,
    *,
    k: int,
    delta: float,
    key: str = "advice",
    take: Callable[[Outlook], None] | None = None,
) -> None:
    """The form, the answer, how sure it is, and what would change it.

    Reads what was declared and what is asked here: columns, relation, rows per person, a public n.

    Parameters
    ----------
    take : function of an Outlook
        What a press on the button beside the answer does; there is no button without it.
    """
    if table.private.sparse:
        st.info("The stored study has no sparse tables: try a few algorithms on a stand-in.", icon=":material/help:")
        return
    with st.container(border=True):
        setting, target = _form(table, k, delta, key)
        try:
            check.delta_for(setting.n, delta=delta)
            check.at_least(k, n=setting.n or 0)
        except check.RequestError as error:
            st.error(plain(error), title="No advice for this", icon=":material/block:")
            return
        advice = _advised(setting, target)
        _say(advice)
        if take is not None and advice.best is not None:
            st.button(
                "Open this in Explore",
                icon=":material/arrow_forward:",
                key=f"{key}:take",
                on_click=take,
                args=(advice.best,),
            )
        _numbers(advice)
        st.caption(f"{badge_text('public')} {WHERE_FROM}")


def _form(table: OpenTable, k: int, delta: float, key: str) -> tuple[Setting, float]:
    left, right = st.columns(2, gap="medium")
    percent = left.number_input(
        "Loss at most this much above k-means++, %",
        _LEAST_PERCENT,
        _MOST_PERCENT,
        value=_USUAL_PERCENT,
        step=1.0,
        format="%g",
        key=f"{key}:percent",
        persist_state="session",
        help="The loss is the mean squared distance of a row to its centre.",
    )
    n = table.n_public
    if n is None:
        n = right.number_input(
            "About how many rows",
            1,
            _MOST_ROWS,
            value=rows_for(table),
            step=1_000,
            key=f"{key}:rows",
            persist_state="session",
            help="The number of rows is private here: say what is known without counting them.",
        )
    else:
        size = ", ".join(unbroken(each) for each in (f"{table.domain.dim:d} columns", f"k = {k}", f"δ = {delta:g}"))
        right.markdown(f"**{n:,}** public rows, {size}")
    setting = Request(Contender(AUTO), k, EPSILONS[-1], delta).setting(table.private)
    return replace(setting, n=int(n)), 1 + float(percent) / 100


@lru_cache(maxsize=64)
def _advised(setting: Setting, target: float) -> Advice:
    """The same question has the same answer in every visit: it depends on public numbers alone."""
    return advise(setting, target=target)


def _say(advice: Advice) -> None:
    icon = ":material/lightbulb:" if advice.best is not None else ":material/block:"
    st.markdown(f"{icon} **{plain(answer(advice))}** {plain(certainty(advice))}")
    others = alternatives(advice)
    if others:
        st.markdown("\n".join(f"- {plain(words)}" for words in others))
    if advice.changes:
        st.markdown(
            "What would change it:\n\n" + "\n".join(f"- {plain(changed(one, advice))}" for one in advice.changes)
        )


def _numbers(advice: Advice) -> None:
    """Every algorithm at the ε of the answer, as a table."""
    known = [one for one in (advice.best, *advice.others) if one is not None]
    if not known:
        return
    with st.expander(f"All algorithms at ε = {advice.setting.epsilon:g}, on stand-ins", icon=":material/table:"):
        data_table(advice_table(known), alt="What the stored study says of each algorithm", height="auto")


def advice_table(known: list[Outlook]) -> pd.DataFrame:
    """One line an algorithm."""
    rows = [
        (card_of(one.algorithm).title, one.median, one.low, one.high, f"{one.share:.0%}", one.seconds) for one in known
    ]
    names = ["algorithm", "loss / k-means++, median", "25 %", "75 %", "target met on", "seconds on a stand-in"]
    return pd.DataFrame(rows, columns=names)
