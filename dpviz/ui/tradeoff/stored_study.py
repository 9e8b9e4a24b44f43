"""The stored study on the page: what it says of the open table's size, without a row of it."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import inf

import pandas as pd
import streamlit as st

from dpviz.algorithms.card import Setting
from dpviz.algorithms.registry import AUTO, card_of
from dpviz.charts.studies.forecast import Forecast
from dpviz.runs.advice.advice import EPSILONS, Advice, Outlook, forecast_rows
from dpviz.runs.advice.advice_words import WHERE_FROM, alternatives, certainty, changed
from dpviz.runs.advice.known_rows import KnownRows, RowsAdvice, advise_rows
from dpviz.runs.advice.target import Target
from dpviz.runs.request import Contender, Request
from dpviz.ui.badges import badged
from dpviz.ui.escape import plain
from dpviz.ui.figure import data_table
from dpviz.ui.studies.judged_rows import known_rows_of
from dpviz.ui.studies.study_job import Question


def rows_of(question: Question) -> KnownRows | None:
    """How many rows are spoken of: as declared or bought, or else those of the stand-in that was asked for."""
    table, source = question.table, question.source
    if (known := known_rows_of(table)) is not None:
        return known
    stands_in = source is not None and source.key != table.key
    n = source.n_public if source is not None and stands_in else None
    return None if n is None else KnownRows(n, n)


def advice_for(question: Question, target: Target, *, rows: KnownRows | None = None) -> RowsAdvice | None:
    """What the stored study advises for ``rows``, or else for those spoken of; None of a sparse table: it has none.

    Raises
    ------
    RequestError
        If nobody said how many rows there are, or nobody could serve such a request.
    """
    table, (k,), (delta,) = question.table, question.grid.ks, question.grid.deltas
    if table.private.sparse:
        return None
    setting = Request(Contender(AUTO), k, EPSILONS[-1], delta).setting(table.private)
    return _advised(rows or rows_of(question), replace(setting, n=None, epsilon=1.0), target)


def forecast(question: Question, advice: Advice, *, most: float = inf) -> Forecast:
    """The stored study's curves of whoever is compared and of the advised algorithm, over all ε that matter."""
    leading = advice.leading
    asked = [contender.algorithm for contender in question.grid.contenders if not contender.params]
    names = list(dict.fromkeys([*asked, *([] if leading is None else [leading.algorithm])]))
    ends = (*question.grid.epsilons, advice.setting.epsilon)
    places = [epsilon for epsilon in EPSILONS if min(ends) <= epsilon <= max(ends)]
    return Forecast(_forecast_rows(advice.setting, tuple(names), tuple(places)), places=places, most=most)


def behind_advice(advice: Advice) -> None:
    """How sure the stored study is, what would change its answer, and every algorithm at its ε; to unfold."""
    with st.expander("What this rests on, and what would change it", icon=":material/lightbulb:"):
        st.markdown(plain(certainty(advice)))
        lines = [*alternatives(advice), *(changed(one, advice) for one in advice.changes)]
        st.markdown("\n".join(f"- {plain(words)}" for words in lines))
        known = [one for one in (advice.best, *advice.others) if one is not None]
        if known:
            alt = f"What the stored study says of each algorithm at ε = {advice.setting.epsilon:g}"
            st.caption(f"{plain(alt)}:")
            data_table(advice_table(known), alt=alt, height="auto")
        badged("public", WHERE_FROM)


def advice_table(known: list[Outlook]) -> pd.DataFrame:
    """One line an algorithm."""
    rows = [
        (card_of(one.algorithm).title, one.median, one.low, one.high, f"{one.share:.0%}", one.seconds) for one in known
    ]
    names = ["algorithm", "loss / k-means++, median", "25 %", "75 %", "target met on", "seconds of a run"]
    return pd.DataFrame(rows, columns=names)


@lru_cache(maxsize=64)
def _advised(rows: KnownRows | None, setting: Setting, target: Target) -> RowsAdvice:
    """The same question has the same answer in every visit: it depends on public numbers alone."""
    return advise_rows(rows, setting, target=target)


@lru_cache(maxsize=64)
def _forecast_rows(setting: Setting, algorithms: tuple[str, ...], epsilons: tuple[float, ...]) -> pd.DataFrame:
    return forecast_rows(setting, algorithms, epsilons)
