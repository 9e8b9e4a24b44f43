"""More than ε on a page: the map of ε and n, and sweeps over the number of clusters and of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pandas as pd
import streamlit as st

from dpviz.charts.studies.epsilon_n_map import describe_map, draw_map, map_table
from dpviz.charts.studies.sweep import Over, describe_sweep, draw_sweep, sweep_table
from dpviz.charts.theme import palette
from dpviz.runs.open_table import OpenTable
from dpviz.runs.study.study import tidy
from dpviz.ui.badges import badge_text
from dpviz.ui.studies.behind import numbers_behind
from dpviz.ui.studies.stand_in import rows_for, stand_in
from dpviz.ui.studies.study_panel import (
    Invitation,
    Plan,
    Study,
    measure_choice,
    study_button,
    study_download,
    study_half,
)
from dpviz.ui.tradeoff.one_setting import at_epsilon, has_any, whom
from dpviz.ui.wide_figure import show_wide

_MAP, _KS, _NS = "tradeoff:map", "tradeoff:ks", "tradeoff:ns"
_SAME, _LARGER = "the rows above", "a larger stand-in"
# The whole table, and halves of halves; fewer rows than this many, or than twice k, tell nothing.
_PARTS, _FEWEST = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2), 50
_MOST_ROWS = 300_000
_CLUSTERS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100)


def map_section(table: OpenTable, plan: Plan, source: OpenTable | None) -> None:
    """What ε buys with how many rows, for one algorithm."""
    if not has_any(plan.contenders):
        return
    with st.container(border=True):
        left, right = st.columns(2, gap="medium")
        with left:
            contender = whom(_MAP, plan.contenders)
        with right:
            judged = _larger_or_same(_MAP, table, source, plan.k)
        asked = Plan((contender,), plan.k, plan.epsilons, plan.delta, plan.repeats, ns=_sizes(judged, plan.k))
        _button(_MAP, table, judged, asked)
    invitation = Invitation(
        "No map yet",
        "Press **Compute**: the loss for every ε and number of rows appears here, with lines along which it is equal, "
        "and your own number of rows.",
        icon=":material/grid_on:",
    )

    def pictures(study: Study) -> None:
        frame = with_whole(study)
        ns = [n or _whole(study.source) for n in study.plan.ns]
        name, own = study.plan.contenders[0].label, table.n_public
        made = draw_map(
            frame,
            palette=palette(st.context.theme.type),
            name=name,
            epsilons=study.plan.epsilons,
            ns=ns,
            own=own if own is not None and own <= max(ns) else None,
        )
        show_wide(made, alt=describe_map(frame, name=name, ns=ns, own=own), key=f"{_MAP}:figure", stem="epsilon-n-map")
        if own is None:
            st.caption("Your number of rows is private, and is not marked.")
        behind = {"key": _MAP, "stem": "epsilon-n-map", "alt": "Median loss by ε and n"}
        numbers_behind(map_table(frame), study.source, **behind, growing=study.running)
        study_download(study, _MAP)

    study_half(
        *(_MAP, table, asked, judged), invitation=invitation, label=lambda study: "Map of ε and n", pictures=pictures
    )


def clusters_section(table: OpenTable, plan: Plan, source: OpenTable | None) -> None:
    """How the loss moves with k, at one ε."""
    if not has_any(plan.contenders):
        return
    with st.container(border=True):
        left, right = st.columns(2, gap="medium")
        with left:
            epsilon = at_epsilon(_KS, plan.epsilons)
        with right:
            low, high = st.select_slider(
                "Range of k",
                sorted({*_CLUSTERS, plan.k}),
                value=_around(plan.k),
                format_func=lambda k: f"{k:d}",
                key=f"{_KS}:range:{plan.k}",
            )
        ks = tuple(k for k in _CLUSTERS if low <= k <= high)
        asked = Plan(plan.contenders, plan.k, (epsilon,), plan.delta, plan.repeats, more_ks=ks)
        _button(_KS, table, source, asked)
    _sweep(_KS, "k", table, asked, source, own=plan.k)


def rows_section(table: OpenTable, plan: Plan, source: OpenTable | None) -> None:
    """How the loss moves with n, at one ε."""
    if not has_any(plan.contenders):
        return
    with st.container(border=True):
        left, right = st.columns(2, gap="medium")
        with left:
            epsilon = at_epsilon(_NS, plan.epsilons)
        with right:
            judged = _larger_or_same(_NS, table, source, plan.k)
        asked = Plan(plan.contenders, plan.k, (epsilon,), plan.delta, plan.repeats, ns=_sizes(judged, plan.k))
        _button(_NS, table, judged, asked)
    _sweep(_NS, "n", table, asked, judged, own=table.n_public)


def _sweep(key: str, over: Over, table: OpenTable, asked: Plan, source: OpenTable | None, *, own: int | None) -> None:
    words = {"k": "number of clusters", "n": "number of rows"}[over]
    invitation = Invitation(
        f"No sweep over {over} yet",
        f"Press **Compute**: the loss of every algorithm appears here against the {words}, at one ε.",
        icon=":material/ssid_chart:",
    )
    study_half(
        *(key, table, asked, source),
        invitation=invitation,
        label=lambda study: f"Sweep over {over}",
        pictures=_sweep_pictures(key, over, own),
    )


def _sweep_pictures(key: str, over: Over, own: int | None) -> Callable[[Study], None]:
    def pictures(study: Study) -> None:
        frame, epsilon = with_whole(study), study.plan.epsilons[0]
        measure = measure_choice(frame, key)
        values = study.plan.ks if over == "k" else [n or _whole(study.source) for n in study.plan.ns]
        made = draw_sweep(
            frame,
            over,
            measure,
            palette=palette(st.context.theme.type),
            epsilon=epsilon,
            own=own if own is not None and min(values) <= own <= max(values) else None,
            values=[float(value) for value in values],
        )
        alt = describe_sweep(frame, over, measure, epsilon=epsilon)
        show_wide(made, alt=alt, key=f"{key}:figure", stem=f"sweep-{over}-{measure}")
        st.caption(f"Every {over} is measured against k-means++ with the same {over}.")
        behind = {"key": key, "stem": f"sweep-{over}-{measure}", "alt": f"Medians by {over}"}
        numbers_behind(sweep_table(frame, over, measure), study.source, **behind, growing=study.running)
        study_download(study, key)

    return pictures


def with_whole(study: Study) -> pd.DataFrame:
    """The runs of a study, with the number of rows also where the whole table was used."""
    frame = tidy(study.rows)
    frame["n"] = frame["n"].astype(float).fillna(float(_whole(study.source)))
    return frame


def _whole(source: OpenTable) -> int:
    """The public number of rows; a study over n is offered only where there is one."""
    return source.n_public or 1


def _sizes(source: OpenTable | None, k: int) -> tuple[int | None, ...]:
    """Numbers of rows of subsamples, two digits each, and None for the whole table."""
    whole = source.n_public if source is not None else None
    if whole is None:
        return (None,)
    rounded = [int(float(f"{part * whole:.2g}")) for part in _PARTS]
    return (*(n for n in rounded if max(_FEWEST, 2 * k) <= n < whole), None)


def _around(k: int) -> tuple[int, int]:
    offered = sorted({*_CLUSTERS, k})
    low = max((each for each in offered if each <= max(2, k // 3)), default=k)
    return min(low, k), max(k, max(each for each in offered if each <= max(2 * k, 4)))


def _larger_or_same(key: str, table: OpenTable, source: OpenTable | None, k: int) -> OpenTable | None:
    """The rows that are subsampled: those that losses are judged on, or a stand-in with more."""
    chosen = st.segmented_control(
        "Subsamples of",
        [_SAME, _LARGER],
        default=_SAME,
        required=True,
        key=f"{key}:whose",
        persist_state="session",
        help="Subsamples say what fewer rows would cost. A stand-in is simulated from the declared bounds, and says "
        "what more rows would bring: nobody is in it.",
    )
    if chosen == _SAME:
        return source
    n = min(10 * rows_for(table), max(_MOST_ROWS, table.n_public or 0))
    wanted = (table.key, n, k)
    kept = cast("tuple[Any, OpenTable] | None", st.session_state.get("tradeoff:larger"))
    if kept is None or kept[0] != wanted:
        with st.spinner("Simulating a stand-in"):
            kept = (wanted, stand_in(table, n=n, k=k))
        st.session_state["tradeoff:larger"] = kept
    st.caption(f"{badge_text('public')} A simulated table of {n:,} rows: no row of yours is read.")
    return kept[1]


def _button(key: str, table: OpenTable, source: OpenTable | None, asked: Plan) -> None:
    """Compute, unless the number of rows is private where it matters."""
    if key != _KS and source is not None and source.n_public is None:
        st.caption(
            ":red-badge[:material/cancel: cannot run] The number of rows is private: declare it on the Data page, or "
            "take a stand-in."
        )
        return
    study_button(key, table, source, asked)
