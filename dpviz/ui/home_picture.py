"""The picture on the Home page: one public sample, one algorithm, three values of ε."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dpviz.algorithms.card import Card
from dpviz.algorithms.registry import CARDS, card_of
from dpviz.arrays import Array
from dpviz.charts.theme import FONT, TEXT_SIZE, Palette, config, palette, reference_marker
from dpviz.runs.clipped_rows import clipped
from dpviz.runs.evaluation import reference_for
from dpviz.runs.found import FOUND_RULE, Found, found_in
from dpviz.runs.open_table import declare
from dpviz.runs.run import run
from dpviz.table.samples import sample
from dpviz.ui.badges import badge_text

_EPSILONS, _SAMPLE, _CLUSTERS, _SEED = (0.02, 0.1, 0.5), "fifteen", 15, 1
_HEIGHT = 300
# Side by side on a desktop, below each other on a phone.
_LEAST_WIDTH = 230


class Panel(NamedTuple):
    """Released centres (k, 2), data units, and how many clusters of k-means++ they find."""

    epsilon: float
    centers: Array
    found: Found


class Picture(NamedTuple):
    """A public sample (n, 2), its k-means++ centres (k, 2), and a panel for each ε."""

    title: str
    points: Array
    reference: Array
    panels: tuple[Panel, ...]


def home_picture() -> None:
    """Draw it: the same for everybody, so it is computed once a server."""
    picture = _picture()
    with st.grid(min_column_width=_LEAST_WIDTH):
        for place, panel in enumerate(picture.panels):
            st.plotly_chart(
                draw_panel(picture, panel, palette=palette(st.context.theme.type)),
                theme=None,
                key=f"home_picture:{place}",
                config={**config("what privacy costs"), "displayModeBar": False, "staticPlot": True},
                alt=f"Private centres over a public sample at ε = {panel.epsilon:g}: {panel.found.found} of "
                f"{panel.found.clusters} clusters found.",
            )
    st.caption(
        f"{picture.title}, a public sample, clustered by {_card().title} at three budgets: "
        f"{badge_text('released')} filled: private centres · {badge_text('public')} dots and open diamonds: "
        f"the made-up points and their k-means++ centres · {FOUND_RULE}"
    )


def draw_panel(picture: Picture, panel: Panel, *, palette: Palette) -> go.Figure:
    """The sample, its k-means++ centres and the centres released at one ε."""
    figure = go.Figure(
        [
            _dots(picture.points, {"size": 2, "color": palette.faded(palette.public, 0.3)}),
            _dots(picture.reference, reference_marker(palette, size=10)),
            _dots(panel.centers, _filled(palette)),
        ]
    )
    low, high = picture.points.min(axis=0), picture.points.max(axis=0)
    figure.update_xaxes(visible=False, range=[low[0] - 20, high[0] + 20], constrain="domain")
    figure.update_yaxes(visible=False, range=[low[1] - 20, high[1] + 20], constrain="domain")
    figure.update_yaxes(scaleanchor="x", constraintoward="top")
    figure.update_layout(
        height=_HEIGHT,
        margin={"l": 0, "r": 0, "t": 44, "b": 0},
        showlegend=False,
        font={"family": FONT, "size": TEXT_SIZE, "color": palette.text},
        paper_bgcolor=palette.background,
        plot_bgcolor=palette.background,
    )
    figure.add_annotation(
        text=f"<b>ε = {panel.epsilon:g}</b><br>finds {panel.found.found} of {panel.found.clusters}",
        font={"size": TEXT_SIZE + 1},
        **{"x": 0.5, "xref": "paper", "y": 1, "yref": "paper", "yanchor": "bottom", "showarrow": False},
    )
    return figure


def _dots(points: Array, marker: dict[str, object]) -> go.Scatter:
    x, y = points.astype(np.float32).T
    return go.Scatter(x=x, y=y, mode="markers", marker=marker, hoverinfo="skip")


def _filled(palette: Palette) -> dict[str, object]:
    return {"size": 11, "color": palette.released, "line": {"width": 1.5, "color": palette.surface}}


def _card() -> Card:
    return CARDS.get("eugkm") or card_of("auto")


@st.cache_resource(max_entries=1, show_spinner=False)
def _picture() -> Picture:
    table = declare(*sample(_SAMPLE).load())
    rows = clipped(table.private.reveal(note="picture of a public sample"), table.domain.region)
    reference = reference_for(rows, _CLUSTERS)
    panels = []
    for epsilon in _EPSILONS:
        centers = run(_card(), table.private, k=_CLUSTERS, epsilon=epsilon, seed=_SEED).unit_centers
        panels.append(Panel(epsilon, table.domain.from_unit(centers), found_in(rows.points, centers, reference)))
    points, middles = (table.domain.from_unit(each) for each in (rows.points, reference.centers))
    return Picture(table.title, points, middles, tuple(panels))
