"""Figures of claims in both themes, and the page that needs no network."""

import numpy as np
import pytest

from dpviz.app.charts.player.lesson_page import make_standalone_page
from dpviz.app.charts.plot import PHONE
from dpviz.app.charts.studies.claim_figure import ClaimFigure
from dpviz.app.charts.studies.stored_verdicts import Outcome
from dpviz.words.theme import choose_palette
from experiments.registry import CLAIMS
from tests.app.charts.laws import is_sound
from tests.cases import about
from tests.experiments.planted import PLANTED


@pytest.mark.some(2)
@pytest.mark.parametrize("claim_id", CLAIMS)
def test_a_claim_is_drawn_as_its_medians(claim_id):
    for place in range(len(CLAIMS[claim_id].figures)):
        with about(place):
            is_drawn_as_its_medians(CLAIMS[claim_id], place)


def is_drawn_as_its_medians(claim, place):
    table, picture = PLANTED[claim.id](Outcome.IN_PART), claim.figures[place]
    claimed = ClaimFigure(table, picture, "holds in part")
    colors = choose_palette("dark" if place else "light")
    figure = claimed.draw(colors, width=PHONE).headed(colors)
    is_sound(figure)
    medians = [trace for trace in figure.data if trace.meta == "median"]
    assert medians
    shown = table[table[picture.y].notna()]
    for column, values in picture.only.items():
        shown = shown[shown[column].isin(values)]
    keys = [key for key in (picture.panel, picture.line, picture.x, picture.heat) if key]
    expected = shown.groupby(keys)[picture.y].median()
    drawn = np.concatenate([np.ravel(t.z if t.type == "heatmap" else t.y) for t in medians]).astype(float)
    assert np.isin(np.round(drawn[np.isfinite(drawn)], 9), np.round(expected.to_numpy(), 9)).all()
    assert picture.title in claimed.words()


def test_a_page_fetches_nothing_and_says_what_was_found():
    claim = CLAIMS["balcan-small"]
    figure = ClaimFigure(PLANTED[claim.id](Outcome.HOLDS), claim.figures[0], "holds").draw(choose_palette("light"))
    page = make_standalone_page(
        [figure, figure],
        title="A <claim>",
        paragraphs=["said", "noted"],
        points=["a & b"],
        palette=choose_palette("light"),
    )
    assert "A &lt;claim&gt;" in page and "a &amp; b" in page
    assert "src=" not in page.split("<body>")[1].replace("\\", "")[:5000]
    assert page.count("plotly.js v") == 1  # the library once, inside
    assert 'src="http' not in page and "href=" not in page.split("plotly.js v")[0]


def test_the_legend_stands_above_the_panels_with_and_without_a_head():
    claim = CLAIMS["su-epsilon"]
    light = choose_palette("light")
    drawn = ClaimFigure(PLANTED[claim.id](Outcome.HOLDS), claim.figures[0], "holds").draw(light, width=720)
    for figure in (drawn.headed(light), drawn.plot.figure()):
        legend, margin = figure.layout.legend, figure.layout.margin
        above = (legend.y - 1) * (figure.layout.height - margin.t - margin.b)
        assert (legend.yref, legend.yanchor) == ("paper", "bottom")
        assert 20 <= above <= 45, "above the names of the panels, and near to them"
        assert margin.t >= above + 20, "inside the figure"
