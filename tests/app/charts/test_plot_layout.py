import doctest

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.app.charts import plot
from dpviz.app.charts.plot import wrap_lines
from dpviz.words.theme import CLUSTER_MARKS, choose_palette


def test_examples_in_the_docstrings():
    tried = doctest.testmod(plot)
    assert tried.attempted > 0 and tried.failed == 0


@pytest.mark.parametrize("name", ["light", "dark"])
def test_plotly_accepts_every_part(name):
    p = choose_palette(name)
    figure = go.Figure(
        [
            go.Scatter(x=[1], y=[1], marker=plot.make_reference_marker(p)),
            go.Scatter(x=[1], y=[1], marker=plot.make_center_marker(p)),
            go.Scatter(x=[1], y=[1], fillcolor=p.fade(p.released)),
            go.Scatter(x=[1] * 7, y=[1] * 7, marker={"symbol": [mark.symbol for mark in CLUSTER_MARKS]}),
            go.Heatmap(z=[[-1, 1]], colorscale=p.diverging),
        ],
        layout=plot.make_layout(p),
    )
    figure.update_xaxes(plot.make_epsilon_axis())
    assert figure.layout.xaxis.gridcolor == p.grid
    assert figure.layout.xaxis.tickvals == (0.1, 0.3, 1, 3, 10)


def test_both_axes_can_be_changed_apart():
    base = plot.make_layout(choose_palette("light"))
    base["xaxis"]["title"]["text"] = "x"
    assert "text" not in base["yaxis"]["title"]


def test_the_epsilon_axis_holds_what_it_was_given_with_round_ticks():
    for lowest, highest in ((0.01, 35.0), (0.1, 10.0), (1.0, 1.0)):
        axis = plot.make_epsilon_axis(lowest, highest)
        low, high = 10.0 ** np.array(axis["range"])
        assert low < lowest <= highest < high
        assert axis["tickvals"]
        assert all(low < tick < high for tick in axis["tickvals"])
        assert [float(text) for text in axis["ticktext"]] == axis["tickvals"]


def test_charts_can_be_saved_but_not_sent_away():
    config = plot.make_config("Ledger")
    assert config["showSendToCloud"] is False
    assert config["toImageButtonOptions"] == {"format": "svg", "filename": "ledger"}
    assert plot.make_config("∅")["toImageButtonOptions"]["filename"] == "chart"


@given(st.lists(st.text("abc", min_size=1, max_size=12), min_size=1, max_size=30), st.integers(200, 1200))
def test_lines_lose_no_word(words: list[str], width: int) -> None:
    text = " ".join(words)
    broken, even = (wrap_lines(text, size=14, width=width, even=even) for even in (False, True))
    assert " ".join(broken).split() == " ".join(even).split() == words
    assert all(len(line) * 0.53 * 14 <= width for line in (*broken, *even))
    assert len(even) == len(broken) and max(map(len, even)) <= max(map(len, broken))


def test_a_number_stays_with_its_name_and_its_sign_and_k_with_its_means() -> None:
    for width in range(90, 300, 7):
        broken = wrap_lines("the noise of Δ = 1,400 is 65.7 % of the width by k-means++", size=10, width=width)
        assert any("Δ = 1,400" in line for line in broken) and any("65.7 %" in line for line in broken), width
        assert not any(line.endswith("k-") for line in broken), width
