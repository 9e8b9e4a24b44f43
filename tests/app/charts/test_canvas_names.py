"""No name of a column is a tag, a link, a template or a formula in any figure; it reads as it is."""

import re
from collections.abc import Iterator
from typing import Any

import plotly.graph_objects as go
import pytest

from dpviz.app.charts.canvas import spell_name
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.studies.compare import Typical, draw_compare
from dpviz.app.charts.view import make_view
from dpviz.words import choose_palette
from tests.app.charts import gallery
from tests.app.charts.gallery import beside, draw, exhibit, steps_of
from tests.cases import for_each

LIGHT = choose_palette("light")
HOSTILE = (
    *("<img src=http://x.invalid/y.png>", "$x^2$", "&lt;b&gt; <b>bold"),
    *('<a href="http://x.invalid">click</a>', "%{hostile}<extra>", "{y} <br> </span>"),
)
AXES = ((0, 1), (2, 3), (4, 5))  # in each pair is one that ``is_harmless`` sees wherever it is left as it is
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


def is_harmless(figure: go.Figure) -> set[str]:
    """All texts of a figure, of which none is anything else."""
    said = list(texts(figure.to_plotly_json() | {"layout": figure.layout.to_plotly_json()}))
    for key, text in said:
        left = _TEMPLATES.sub("", text)
        assert not re.search("[<>]", _OURS.sub("", left)), (key, text)
        assert "%{" not in left and "<a" not in left and "<img" not in left
        assert not re.fullmatch(r".*\$[^$]+\$.*", text), (key, text)
    return {text for _, text in said}


def test_no_figure_takes_a_name_for_anything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery, "NAMES", HOSTILE)
    shown, said = exhibit(6, 5, n=1500), set()
    for place, (_, step) in enumerate(steps_of(shown, cells=5)):
        context = {"reveal": shown.reveal, "reference": shown.reference, "epsilon": 0.05}
        view = make_view(shown.table.domain, AXES[place % len(AXES)])
        charts = beside([step], view=view, **context).values()
        for figure in (draw(step, view=view, **context), *(chart.draw().headed(LIGHT) for chart in charts)):
            said |= is_harmless(figure)
    context = RenderContext(make_view(shown.table.domain, (0, 2)), LIGHT)
    for panel in draw_compare({"a": Typical(shown.reference.centers, 1.0)}, context).panels:
        is_harmless(panel.plot.figure())
    assert all(any(spell_name(name) in text for text in said) for name in HOSTILE)


@for_each("name", HOSTILE)
def test_a_figure_with_such_a_title_would_be_seen(name: str) -> None:
    with pytest.raises(AssertionError):
        is_harmless(go.Figure(layout={"xaxis": {"title": {"text": f"{name} %{{hostile}} <a>"}}}))
    is_harmless(go.Figure(layout={"xaxis": {"title": {"text": spell_name(name)}}}))
