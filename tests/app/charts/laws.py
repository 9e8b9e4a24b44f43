"""What holds for every figure."""

import re
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dpviz.app.charts.canvas import SUBTITLE_SIZE
from dpviz.app.charts.plot import PHONE, REVEALED_MARK, TITLE_SIZE
from dpviz.app.charts.view import View
from dpviz.words import Palette

_MOST_BYTES = 2_000_000
# Width of an average character of a system sans-serif, as a share of its size; bold ones are wider.
_CHARACTER, _BOLD = 0.5, 0.57


def is_sound(figure: go.Figure) -> None:
    """Finite coordinates, a title that fits a phone, a size that travels."""
    has_finite_coordinates(figure)
    _has_titles_that_fit(figure)
    assert len(figure.to_json()) < _MOST_BYTES


def keeps_its_ranges(figure: go.Figure, view: View) -> None:
    """Every plot of the figure shows exactly the public range of the view."""
    for axis in figure.select_xaxes():
        assert tuple(axis.range) == view.range[0]
    if not view.flat:
        for axis in figure.select_yaxes():
            assert tuple(axis.range) == view.range[1]


def shows_kinds(figure: go.Figure, palette: Palette, allowed: set[str]) -> None:
    """Only marks of the allowed kinds, in colours that say so; k-means++ in the colour of text; and what is revealed
    says so within the picture, wherever that is taken.
    """
    texts = [note.text for note in figure.layout.annotations if note.name == "revealed"]
    seen = any(trace.meta == "revealed" for trace in figure.data)
    assert (figure.layout.meta, texts) == ((REVEALED_MARK, [REVEALED_MARK]) if seen else (None, []))
    for trace in figure.data:
        if trace.meta is None:
            continue
        assert trace.meta in allowed, f"{trace.name} is {trace.meta}"
        colors = _colors(trace)
        revealed = _rgb(palette.revealed)
        if trace.meta == "revealed":
            assert colors <= {revealed, _rgb(palette.text), _rgb(palette.surface)}, trace.name
            assert trace.name is None or trace.name.startswith("◉")
        else:
            assert revealed not in colors, trace.name


def has_finite_coordinates(figure: go.Figure) -> None:
    """Nothing is drawn nowhere."""
    for trace in figure.data:
        _has_finite_coordinates(trace)


def _has_finite_coordinates(trace: Any) -> None:
    values = [np.asarray(axis, dtype=np.float64) for axis in (trace.x, trace.y) if axis is not None]
    assert values, "a trace without coordinates"
    finite = [np.isfinite(axis) for axis in values]
    if trace.type == "scatter" and trace.mode.startswith("lines"):
        # Gaps between outlines: both coordinates or none.
        np.testing.assert_array_equal(*finite)
    else:
        assert all(axis.all() for axis in finite)


def _has_titles_that_fit(figure: go.Figure) -> None:
    title = figure.layout.title
    head, under = title.text.split("<br>"), (title.subtitle.text or "").split("<br>")
    assert title.text.strip()
    assert max(len(line) for line in head) * TITLE_SIZE * _BOLD <= PHONE
    assert max(len(line) for line in under) * SUBTITLE_SIZE * _CHARACTER <= PHONE
    assert figure.layout.margin.t >= 20 * len(head) + 15 * len([line for line in under if line.strip()])


def _colors(trace: Any) -> set[str]:
    scale = trace.colorscale if trace.type == "heatmap" else getattr(trace.marker, "colorscale", None)
    if scale is not None:
        return {_rgb(color) for _, color in scale}
    found: list[Any] = [getattr(trace.line, "color", None)] if trace.type == "scatter" and "lines" in trace.mode else []
    if trace.type != "scatter" or "markers" in trace.mode:
        marker = trace.marker.color
        found += [marker] if isinstance(marker, str) else list(marker if marker is not None else [])
    return {_rgb(color) for color in found if isinstance(color, str)}


def _rgb(color: str) -> str:
    """A colour without its opacity."""
    if color.startswith("#"):
        return ",".join(str(int(color[i : i + 2], 16)) for i in (1, 3, 5))
    return ",".join(re.findall(r"\d+", color)[:3])
