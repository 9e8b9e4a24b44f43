"""The stored study on the page: what it says of the open table's size, without a row of it."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import inf

import pandas as pd
import streamlit as st

from dpviz import check
from dpviz.algorithms.card import Setting
from dpviz.algorithms.registry import AUTO, card_of
from dpviz.charts.studies.forecast import Forecast
from dpviz.runs.advice.advice import EPSILONS, Advice, Outlook, advise, forecast_rows, stored
from dpviz.runs.advice.advice_words import WHERE_FROM, alternatives, certainty, changed
from dpviz.runs.advice.target import Target
from dpviz.runs.request import Contender, Request
from dpviz.ui.badges import badged
from dpviz.ui.escape import plain
from dpviz.ui.figure import data_table
from dpviz.ui.studies.judged_rows import rows_for
from dpviz.ui.studies.study_job import Question


def about_how_many(question: Question) -> int:
    """The number of rows that is spoken of: that of a stand-in, or the public one; never a private one."""
    source = question.source
    stands_in = source is not None and source.key != question.table.key
    known = source.n_public if source is not None and stands_in else question.table.n_public
    return known or rows_for(question.table)


def advice_for(question: Question, target: Target, *, n: int | None = None) -> Advice | None:
    """What the stored study advises for ``n`` rows; None where it has no such tables.

    Raises
    ------
    RequestError
        If nobody could serve such a request.
    """
    table, (k,), (delta,) = question.table, question.grid.ks, question.grid.deltas
    n = n or about_how_many(question)
    if table.private.sparse:
        return None
    check.delta_for(n, delta=delta)
    check.at_least(k, n=n)
    setting = replace(Request(Contender(AUTO), k, EPSILONS[-1], delta).setting(table.private), n=n)
    return _advised(setting, target) if stored(with_delta=delta > 0).reaches(setting) else None


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
def _advised(setting: Setting, target: Target) -> Advice:
    """The same question has the same answer in every visit: it depends on public numbers alone."""
    return advise(setting, target=target)


@lru_cache(maxsize=64)
def _forecast_rows(setting: Setting, algorithms: tuple[str, ...], epsilons: tuple[float, ...]) -> pd.DataFrame:
    return forecast_rows(setting, algorithms, epsilons)
