"""A plot, the words above it, and several panels in one figure."""

import pytest

from dpviz.app.charts.canvas import Panel, TitledPlot, new_plot
from dpviz.app.charts.plot import TEXT_SIZE
from dpviz.app.charts.studies.curves import MEASURES
from dpviz.words.theme import choose_palette
from tests.app.charts.gallery import subtitle_of, title_of

LIGHT = choose_palette("light")
LONG = "At ε = 1, an algorithm with a rather long name comes first: loss 1.00× k-means++"


@pytest.mark.parametrize("above", [0, 48])
@pytest.mark.parametrize("subtitle", ["", "line: median, band: 25-75 %, and how many runs stand behind each of them"])
def test_the_plot_keeps_its_size_under_a_head(subtitle: str, above: int) -> None:
    plot = new_plot(LIGHT, height=500)
    plot.update_layout(margin={"t": plot.layout["margin"]["t"] + above})
    bare, whole = plot.figure(), TitledPlot(LONG, subtitle, plot).headed(LIGHT)
    assert bare.layout.title.text is None and title_of(whole) == LONG
    assert subtitle_of(whole).strip() == subtitle
    plots = [f.layout.height - f.layout.margin.t - f.layout.margin.b for f in (whole, bare)]
    assert plots[0] == plots[1]
    assert whole.layout.margin.t >= 20 * len(whole.layout.title.text.split("<br>")) + (
        bare.layout.margin.t if above else 0
    )
    assert plot.figure() == bare, "a head is drawn into a figure, and not into the plot"


def test_panels_have_axes_of_their_own_where_they_stand() -> None:
    plot = new_plot(LIGHT)
    for place in range(3):
        Panel(place, (0.3 * place, 0.3 * place + 0.2), (0.0, 1.0)).add(plot, LIGHT, {"title_text": str(place)}, {})
    figure = plot.figure()
    axes = [figure.layout.xaxis, figure.layout.xaxis2, figure.layout.xaxis3]
    assert [axis.domain[0] for axis in axes] == pytest.approx([0.0, 0.3, 0.6])
    assert [(axis.anchor, axis.title.text) for axis in axes] == [("y", "0"), ("y2", "1"), ("y3", "2")]


def test_axis_titles_fit_beside_the_labels_of_a_phone() -> None:
    for measure, words in MEASURES.items():
        assert len(words.axis) * 0.53 * TEXT_SIZE < 240 and "(" in words.axis, measure
