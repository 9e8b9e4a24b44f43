"""No name of a column is a tag, a link, a template or a formula in any figure; it reads as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import pytest

from dpviz.algorithms.steps import GridStep
from dpviz.charts.clipping import draw_clipping
from dpviz.charts.names import spelled
from dpviz.charts.pictures.draw import draw
from dpviz.charts.pictures.grid import draw_true_grid
from dpviz.charts.points import draw_points
from dpviz.charts.studies.compare import Typical, draw_compare
from dpviz.charts.theme import palette
from dpviz.charts.view import view_of
from dpviz.ui.explore.auto_companions import companions
from tests.charts import gallery
from tests.charts.gallery import exhibit, steps_of

LIGHT = palette("light")
HOSTILE = (
    "<img src=http://x.invalid/y.png>",
    '<a href="http://x.invalid">click</a>',
    "%{hostile}<extra>",
    "$x^2$",
    "&lt;b&gt; <b>bold",
    "{y} <br> </span>",
)
_OURS = re.compile(r"</?(b|br|i|extra|sub|sup)>|<extra></extra>|<span style=\"color:[^\"<>]*\">|</span>")
_TEMPLATES = re.compile(r"%\{(x|y|z|text|customdata|label)(\[\d\])?(:[^}]*)?\}")


def texts(part: Any, within: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a figure, with its key; what a figure says of itself is read by no browser."""
    match part:
        case dict():
            for key, value in part.items():
                if key != "meta":
                    yield from texts(value, key)
        case list() | tuple():
            for value in part:
                yield from texts(value, within)
        case str():
            yield within, part


def is_harmless(figure: go.Figure) -> None:
    for key, text in texts(figure.to_plotly_json() | {"layout": figure.layout.to_plotly_json()}):
        left = _TEMPLATES.sub("", text)
        assert not re.search("[<>]", _OURS.sub("", left)), (key, text)
        assert "%{" not in left and "<a" not in left and "<img" not in left
        assert not re.fullmatch(r".*\$[^$]+\$.*", text), (key, text)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> gallery.Exhibit:
    monkeypatch.setattr(gallery, "NAMES", HOSTILE)
    return exhibit(6, 5, n=1500)


@pytest.mark.slow
def test_no_figure_of_a_step_takes_a_name_for_anything_else(shown: gallery.Exhibit) -> None:
    said: set[str] = set()
    for _, step in steps_of(shown, cells=5):
        look = {"reveal": shown.reveal, "reference": shown.reference, "epsilon": 0.05}
        for axes in ((0, 1), (2, 3), (4, 5)):
            made = [draw(step, view=(view := view_of(shown.table.domain, axes)), palette=LIGHT, **look)]
            if type(step) is GridStep:
                made.append(draw_true_grid(step, shown.reveal.points, view=view, palette=LIGHT))
            seen = {"view": view, "palette": LIGHT, "reveal": shown.reveal}
            made += [found.make() for found in companions([step], 0, **seen).values()]
            for figure in made:
                is_harmless(figure)
                said |= {text for _, text in texts(figure.to_plotly_json())}
    assert all(any(spelled(name) in text for text in said) for name in HOSTILE)


def test_no_figure_of_rows_or_runs_takes_a_name_for_anything_else(shown: gallery.Exhibit) -> None:
    view = view_of(shown.table.domain, (0, 2))
    is_harmless(draw_points(shown.reveal.points, view, palette=LIGHT))
    for panel in draw_compare({"a": Typical(shown.reference.centers, 1.0)}, view=view, palette=LIGHT).panels:
        is_harmless(panel.figure)
    cut = pd.DataFrame({"column": HOSTILE, "below": 0.1, "above": 0.02})
    is_harmless(draw_clipping(cut, palette=LIGHT))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_figure_with_such_a_title_would_be_seen(name: str) -> None:
    with pytest.raises(AssertionError):
        is_harmless(go.Figure(layout={"xaxis": {"title": {"text": f"{name} %{{hostile}} <a>"}}}))
    is_harmless(go.Figure(layout={"xaxis": {"title": {"text": spelled(name)}}}))
