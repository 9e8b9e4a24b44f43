"""The picture on the Home page: one public sample, one algorithm, and a slider over draws that were made beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp
from typing import Any, NamedTuple

import plotly.graph_objects as go
import streamlit as st

from dpviz.algorithms.card import Card
from dpviz.algorithms.registry import AUTO, card_of
from dpviz.arrays import Array, Codes, Flags
from dpviz.charts.plot import Plot
from dpviz.charts.sheet import Sheet
from dpviz.charts.theme import Palette, center_marker, config, layout, palette, reference_marker
from dpviz.charts.view import View, view_of
from dpviz.charts.wording import opening
from dpviz.glossary import explained, words_of
from dpviz.runs.clipped_rows import clipped
from dpviz.runs.evaluation import assign, reference_for
from dpviz.runs.found import FOUND_RULE, found_clusters
from dpviz.runs.open_table import declare
from dpviz.runs.run import run
from dpviz.table.samples import sample
from dpviz.ui.badges import badge_text
from dpviz.ui.escape import plain

EPSILONS, _FIRST = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0), 0.02
_SAMPLE, _CLUSTERS, _SEED = "fifteen", 15, 6
# A phone shows slider and picture on its first screen.
_HEIGHT, _MOST_DOTS = 360, 2_000


class Draw(NamedTuple):
    """Released centres (k, 2), unit coordinates, and which groups of k-means++ they find."""

    epsilon: float
    centers: Array
    which: Flags

    @property
    def finding(self) -> str:
        """What was found, at which ε."""
        found, groups = int(self.which.sum()), len(self.which)
        many = f"all {groups} groups are" if found == groups else f"{found} of {groups} groups {_are(found)}"
        return f"At ε = {self.epsilon:g}, {many} found"


class Trial(NamedTuple):
    """A public sample (n, 2), whose group each row is in, its k-means++ centres (k, 2), and a draw for each ε."""

    title: str
    view: View
    points: Array
    groups: Codes
    reference: Array
    draws: Mapping[float, Draw]


def home_picture() -> None:
    """Draw it: the same for everybody, so it is computed once a server; moving the slider runs nothing."""
    trial = _trial()
    _answer(trial)
    words = (
        f":small[{plain(trial.title)}, a public sample; one draw of {_card().title} for each ε. "
        f"{badge_text('released')} discs: private centres. {badge_text('public')} dots: made-up points, paler where "
        f"their group was missed; diamonds: k-means++ without privacy. {opening(FOUND_RULE)}.]"
    )
    # No caption: it would fade the badges.
    st.markdown(words, help=words_of("noise, one draw, centre, cluster, k-means++"))


@st.fragment
def _answer(trial: Trial) -> None:
    """The slider and what it shows; nothing else on the page is drawn again when it moves."""
    words, picture = st.columns([2, 3], gap="large", vertical_alignment="center")
    with words:
        epsilon = st.select_slider(
            "ε: smaller is more private",
            EPSILONS,
            value=_FIRST,
            format_func=lambda value: f"{value:g}",
            key="home:epsilon",
            help=explained("epsilon"),
        )
        draw = trial.draws[float(str(epsilon))]
        st.subheader(plain(draw.finding), anchor=False)
    with picture:
        st.plotly_chart(
            _drawn(draw.epsilon, st.context.theme.type),
            theme=None,
            key="home_picture",
            config={**config("what privacy costs"), "displayModeBar": False, "staticPlot": True},
            alt=f"{draw.finding}: private centres over a public sample.",
        )
    st.markdown(f"{privacy_words(draw.epsilon)} The noise that hides each person also blurs the groups.")


def privacy_words(epsilon: float) -> str:
    """What ε promises to a person.

    >>> privacy_words(0.1)
    'Nobody’s row changes the odds of any result by more than 11 %.'
    """
    more = 100 * (exp(epsilon) - 1)
    return f"Nobody’s row changes the odds of any result by more than {more:.{2 if more < 100 else 3}g} %."


def draw_trial(trial: Trial, draw: Draw, *, palette: Palette) -> go.Figure:
    """The sample, its k-means++ centres and the centres of one draw."""
    plot, view = Plot(layout(palette, height=_HEIGHT)), trial.view
    sheet, found = Sheet(plot, palette, view), draw.which[trial.groups]
    for shown, strength in ((found, 0.7), (~found, 0.22)):
        some = trial.points[shown][:: max(1, len(found) // _MOST_DOTS)]
        sheet.marks(view.plane(some), "", "public", {"size": 2.5}, strength=strength)
    sheet.marks(view.plane(trial.reference), "", "public", reference_marker(palette, size=15) | {"color": palette.text})
    sheet.marks(view.plane(draw.centers), "", "released", center_marker(palette, size=11))
    hidden: dict[str, Any] = {"visible": False, "constrain": "domain"}
    plot.update_xaxes(range=view.range[0], **hidden)
    plot.update_yaxes(range=view.range[1], scaleanchor="x", **hidden)
    return plot.update_layout(margin={"l": 0, "r": 0, "t": 0, "b": 0}).figure()


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _card() -> Card:
    return card_of(AUTO)


@st.cache_resource(max_entries=4 * len(EPSILONS), show_spinner=False)
def _drawn(epsilon: float, theme: str | None) -> go.Figure:
    trial = _trial()
    return draw_trial(trial, trial.draws[epsilon], palette=palette(theme))


@st.cache_resource(max_entries=1, show_spinner=False)
def _trial() -> Trial:
    table = declare(*sample(_SAMPLE).load())
    points = clipped(table.private.reveal(note="picture of a public sample"), table.domain.region)
    reference = reference_for(points, _CLUSTERS).centers
    rows = points.points

    def drawn(epsilon: float) -> Draw:
        centers = run(_card(), table.private, k=_CLUSTERS, epsilon=epsilon, seed=_SEED).unit_centers
        return Draw(epsilon, centers, found_clusters(rows, centers, reference))

    draws = {epsilon: drawn(epsilon) for epsilon in EPSILONS}
    return Trial(table.title, view_of(table.domain), rows, assign(rows, reference), reference, draws)
