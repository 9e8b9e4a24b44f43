"""How many groups there are, read from the grid of a run: free, and only for whoever asks."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpviz.charts.studies.k_curve import KCurve
from dpviz.charts.theme import palette
from dpviz.check import RequestError
from dpviz.runs.advice.suggested_k import MOST_K, suggest_k, synopsis_of
from dpviz.ui.badges import badge_text
from dpviz.ui.escape import plain
from dpviz.ui.figure import data_table, show_wide
from dpviz.ui.runner import Result
from dpviz.ui.session import count_grid_read, once

_READ = "explore:read_k"
# As far as the curve goes, beside the k of the run: a grid is as fine as its k asks for.
_LEAST = 8


def read_k(result: Result) -> None:
    """The loss on the run's synopsis for each k up to its own, once somebody asks; nothing where there is no grid."""
    run = result.run
    try:
        synopsis_of(run)
    except RequestError:
        return
    most = min(max(run.k, _LEAST), MOST_K)
    asked = st.toggle(
        f"How many groups are there? Read it from the grid, for k up to {most:d}",
        key=_READ,
        help="The noisy grid is paid for and serves every k: reading the loss on it costs nothing. Run with the "
        "largest k that you would consider, so that the grid is fine enough for it.",
    )
    if not asked:
        return
    with st.spinner("The grid is solved for every k, and again with the noise redrawn", show_time=True):
        read = once(f"{_READ}:curve", (result.number, most), lambda: suggest_k(run, most, np.random.default_rng(0)))
    count_grid_read(result.place, result.number)
    curve = KCurve(read)
    show_wide(curve.draw(palette(st.context.theme.type)), alt=curve.words(), key="explore:k_curve", stem=curve.stem)
    st.markdown(f"{badge_text('released')} {plain(read.words)}")
    with st.expander("The numbers"):
        data_table(curve.table(), alt="The loss on the grid for each number of clusters")
