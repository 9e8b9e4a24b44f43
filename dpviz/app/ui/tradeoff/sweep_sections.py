"""More than ε on a page: the map of ε and n, and sweeps over the number of clusters and of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import pandas as pd
import streamlit as st

from dpviz.app.charts.studies.compare import draw_epsilon_n_map
from dpviz.app.charts.studies.curves import Curves, draw_curves
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.studies.judged_rows import ask_larger_rows
from dpviz.app.ui.studies.study_job import StudyJob, StudyQuestion, ask_contender, ask_epsilon, has_contenders
from dpviz.app.ui.studies.study_panel import (
    Invitation,
    ask_measure,
    draw_study_button,
    draw_study_download,
    draw_study_half,
    show_picture,
)
from dpviz.runs import OpenTable

# The whole table, and halves of halves; fewer rows than this many, or than twice k, tell nothing.
_PARTS, _FEWEST = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2), 50
_CLUSTERS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100)
_PRIVATE_N = "The number of rows is private: declare it on the Data page, or take a synthetic table."


@dataclass(frozen=True)
class _Sweep:
    """What is varied: k or n at one ε, or n beside all ε for one algorithm."""

    key: str
    over: Literal["k", "n", "epsilon and n"]
    invitation: Invitation


_DRAWN = "Press **Draw the map**: the loss at every ε and number of rows."
_BY_K = "Press **Try every k**: the loss for each number of clusters, at one ε."
_BY_N = "Press **Try every n**: the loss for each number of rows, at one ε."
_GRID, _LINES = ":material/grid_on:", ":material/ssid_chart:"
_MAP = _Sweep(
    "tradeoff:map",
    "epsilon and n",
    Invitation("Map of ε and n", "What would more rows buy?", _DRAWN, icon=_GRID, button="Draw the map"),
)
_KS = _Sweep(
    "tradeoff:ks",
    "k",
    Invitation("Sweep over k", "What would more clusters cost?", _BY_K, icon=_LINES, button="Try every k"),
)
_NS = _Sweep(
    "tradeoff:ns",
    "n",
    Invitation("Sweep over n", "What would fewer rows cost?", _BY_N, icon=_LINES, button="Try every n"),
)


def _draw_section(sweep: _Sweep, question: StudyQuestion) -> None:
    """The form of a sweep, and its picture or an invitation."""
    if not has_contenders(question.grid.contenders):
        return
    (k,), source = question.grid.ks, question.source
    changes: dict[str, Any] = {}
    with st.container(border=True):
        left, right = st.columns(2, gap="medium")
        with left:
            if sweep is _MAP:
                changes["contenders"] = (ask_contender(sweep.key, question.grid.contenders),)
            else:
                changes["epsilons"] = (ask_epsilon(sweep.key, question.grid.epsilons),)
        with right:
            if sweep is _KS:
                changes["ks"] = _draw_clusters(sweep.key, k)
            else:
                source = ask_larger_rows(sweep.key, question.table, source, k=k)
                changes["ns"] = _draw_sizes(source, k)
        narrowed = replace(question.narrow(sweep.key, **changes), source=source)
        private_n = sweep is not _KS and source is not None and source.n_public is None
        draw_study_button(narrowed, invitation=sweep.invitation, problem=_PRIVATE_N if private_n else None)
    own = k if sweep is _KS else question.table.n_public
    draw = partial(_draw_pictures, sweep, own=own)
    draw_study_half(narrowed, invitation=sweep.invitation, pictures=draw)


map_section = partial(_draw_section, _MAP)
"""What ε buys with how many rows, for one algorithm."""
clusters_section = partial(_draw_section, _KS)
"""How the loss moves with k, at one ε."""
rows_section = partial(_draw_section, _NS)
"""How the loss moves with n, at one ε."""


def _draw_pictures(sweep: _Sweep, study: StudyJob, own: int | None) -> None:
    frame, grid = _draw_with_whole(study), study.grid
    ns = [n or _find_whole(study.source) for n in grid.ns]
    if sweep.over == "epsilon and n":
        picture = draw_epsilon_n_map(frame, grid.contenders[0].label, grid.epsilons, ns, own)
    else:
        measure = ask_measure(frame, sweep.key)
        places = list(grid.ks) if sweep.over == "k" else ns
        inside = own is not None and min(places) <= own <= max(places)
        curves = Curves(frame, measure, sweep.over, places, grid.epsilons[0], own if inside else None)
        picture = draw_curves(curves)
    show_picture(picture, study)
    if sweep is not _MAP:
        st.caption(
            f"Every {escape_markdown(sweep.over)} is measured against k-means++ with the same "
            f"{escape_markdown(sweep.over)}."
        )
    elif own is None:
        st.caption("Your number of rows is private, and is not marked.")
    draw_study_download(study, picture)


def _draw_with_whole(study: StudyJob) -> pd.DataFrame:
    """The runs of a study, with the number of rows also where the whole table was used."""
    frame = study.make_frame()
    frame["n"] = frame["n"].astype(float).fillna(float(_find_whole(study.source)))
    return frame


def _find_whole(source: OpenTable) -> int:
    """The public number of rows; a study over n is offered only where there is one."""
    return source.n_public or 1


def _draw_sizes(source: OpenTable | None, k: int) -> tuple[int | None, ...]:
    """Numbers of rows of subsamples, two digits each, and None for the whole table."""
    whole = source.n_public if source is not None else None
    if whole is None:
        return (None,)
    rounded = [int(float(f"{part * whole:.2g}")) for part in _PARTS]
    return (*(n for n in rounded if max(_FEWEST, 2 * k) <= n < whole), None)


def _draw_clusters(key: str, k: int) -> tuple[int, ...]:
    """A range of k, and k itself; at first from about a third of it to twice as many."""
    offered = sorted({*_CLUSTERS, k})
    first = max(one for one in offered if one <= max(2, k // 3))
    last = max(one for one in offered if one <= max(2 * k, 4))
    low, high = st.select_slider(
        "Range of k",
        offered,
        value=(min(first, k), max(k, last)),
        format_func=lambda k: f"{k:d}",
        key=f"{key}:range:{k}",
    )
    return tuple(sorted({k, *(one for one in _CLUSTERS if low <= one <= high)}))
