"""The picture on the Home page: one public sample, one algorithm, three values of ε."""

from __future__ import annotations

from typing import NamedTuple

import plotly.graph_objects as go
import streamlit as st

from dpviz.algorithms.card import Card
from dpviz.algorithms.registry import CARDS, card_of
from dpviz.arrays import Array
from dpviz.charts.plot import Plot
from dpviz.charts.sheet import Sheet
from dpviz.charts.theme import TEXT_SIZE, Palette, center_marker, config, layout, palette, reference_marker
from dpviz.charts.view import View, view_of
from dpviz.runs.clipped_rows import clipped
from dpviz.runs.evaluation import reference_for
from dpviz.runs.found import FOUND_RULE, Found, found_in
from dpviz.runs.open_table import declare
from dpviz.runs.run import run
from dpviz.table.samples import sample
from dpviz.ui.badges import badge_text
from dpviz.ui.escape import plain

_EPSILONS, _SAMPLE, _CLUSTERS, _SEED = (0.02, 0.1, 0.5), "fifteen", 15, 1
_HEIGHT = 300
# Side by side on a desktop, below each other on a phone.
_LEAST_WIDTH = 230


class Panel(NamedTuple):
    """Released centres (k, 2), unit coordinates, and how many clusters of k-means++ they find."""

    epsilon: float
    centers: Array
    found: Found


class Trial(NamedTuple):
    """A public sample (n, 2) with its k-means++ centres (k, 2), unit coordinates, and a panel for each ε."""

    title: str
    view: View
    points: Array
    reference: Array
    panels: tuple[Panel, ...]


def home_picture() -> None:
    """Draw it: the same for everybody, so it is computed once a server."""
    trial = _trial()
    with st.grid(min_column_width=_LEAST_WIDTH):
        for place, panel in enumerate(trial.panels):
            st.plotly_chart(
                draw_panel(trial, panel, palette=palette(st.context.theme.type)),
                theme=None,
                key=f"home_picture:{place}",
                config={**config("what privacy costs"), "displayModeBar": False, "staticPlot": True},
                alt=f"Private centres over a public sample at ε = {panel.epsilon:g}: {panel.found.found} of "
                f"{panel.found.clusters} clusters found.",
            )
    st.caption(
        f"{plain(trial.title)}, a public sample, clustered by {_card().title} at three budgets: "
        f"{badge_text('released')} filled: private centres · {badge_text('public')} dots and open diamonds: "
        f"the made-up points and their k-means++ centres · {FOUND_RULE}"
    )


def draw_panel(trial: Trial, panel: Panel, *, palette: Palette) -> go.Figure:
    """The sample, its k-means++ centres and the centres released at one ε."""
    plot, view = Plot(layout(palette, height=_HEIGHT)), trial.view
    sheet = Sheet(plot, palette, view)
    sheet.marks(view.plane(trial.points), "", "public", {"size": 2}, strength=0.3)
    sheet.marks(view.plane(trial.reference), "", "public", reference_marker(palette, size=10))
    sheet.marks(view.plane(panel.centers), "", "released", center_marker(palette, size=11))
    title = f"<b>ε = {panel.epsilon:g}</b><br>finds {panel.found.found} of {panel.found.clusters}"
    above = {"xref": "paper", "yref": "paper", "yanchor": "bottom", "font": {"size": TEXT_SIZE + 1}}
    sheet.note(title, 0.5, 1, above)
    plot.update_xaxes(visible=False, range=view.range[0], constrain="domain")
    plot.update_yaxes(visible=False, range=view.range[1], constrain="domain", scaleanchor="x", constraintoward="top")
    return plot.update_layout(margin={"l": 0, "r": 0, "t": 44, "b": 0}).figure()


def _card() -> Card:
    return CARDS.get("eugkm") or card_of("auto")


@st.cache_resource(max_entries=1, show_spinner=False)
def _trial() -> Trial:
    table = declare(*sample(_SAMPLE).load())
    rows = clipped(table.private.reveal(note="picture of a public sample"), table.domain.region)
    reference = reference_for(rows, _CLUSTERS)
    releases = {
        epsilon: run(_card(), table.private, k=_CLUSTERS, epsilon=epsilon, seed=_SEED).unit_centers
        for epsilon in _EPSILONS
    }
    panels = [Panel(at, centers, found_in(rows.points, centers, reference)) for at, centers in releases.items()]
    return Trial(table.title, view_of(table.domain), rows.points, reference.centers, tuple(panels))
