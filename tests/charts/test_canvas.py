"""A figure without its head: the same plot, and words that nothing has broken."""

import pytest

from dpviz.charts.canvas import new_figure, remove_head
from dpviz.charts.studies.contenders import MEASURES
from dpviz.charts.theme import TEXT_SIZE, choose_palette

LIGHT = choose_palette("light")
LONG = "At ε = 1, an algorithm with a rather long name comes first: loss 1.00× k-means++"


@pytest.mark.parametrize(
    ("subtitle", "above"), [("", 48), ("line: median, band: 25-75 %, and how many runs stand behind each of them", 0)]
)
def test_the_plot_keeps_its_size_when_its_head_is_taken_off(subtitle: str, above: int) -> None:
    plot = new_figure(LIGHT, title=LONG, subtitle=subtitle, height=500)
    plot.update_layout(margin={"t": plot.layout["margin"]["t"] + above})
    whole = plot.figure()
    title, under, bare = remove_head(whole)
    assert (title, under) == (LONG, subtitle)
    assert bare.layout.title.text is None and LONG.split()[0] in whole.layout.title.text
    plots = [f.layout.height - f.layout.margin.t - f.layout.margin.b for f in (whole, bare)]
    assert plots[0] == plots[1]
    assert above <= bare.layout.margin.t < whole.layout.margin.t


def test_axis_titles_fit_beside_the_labels_of_a_phone() -> None:
    for measure, words in MEASURES.items():
        assert len(words.axis) * 0.53 * TEXT_SIZE < 240 and "(" in words.axis, measure
