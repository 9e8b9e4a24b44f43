"""Three columns at once, as a body that turns: cubes of a tree, candidates or centres, with the rows where revealed."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dpviz.algorithms import CandidatesStep, CentersStep, Step, TreeStep
from dpviz.app.charts.canvas import TitledPlot, new_plot, spell_name
from dpviz.app.charts.cells import outline_segments
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.plot import Data
from dpviz.app.charts.registry import draw_picture
from dpviz.app.charts.view import View
from dpviz.core import Array, Domain
from dpviz.words import Palette, join_clauses

_HEIGHT, _DIMENSIONS = 620, 3
# More rows would hide what is released, more cubes each other; the finest come first.
_MOST_ROWS, _MOST_CUBES = 2_500, 600
_CAMERA = {"eye": {"x": 1.5, "y": -1.6, "z": 0.9}, "center": {"x": 0, "y": 0, "z": -0.12}}
# The corners of a cube, and the twelve pairs of them that an edge joins: they differ along one axis.
_CORNERS = np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)])
_EDGES = np.array([(i, j) for i in range(8) for j in range(i) if (_CORNERS[i] != _CORNERS[j]).sum() == 1])


def list_turning_places(steps: Sequence[Step], domain: Domain) -> list[int]:
    """Which of the steps can be turned: trees, candidates and centres that lie in the columns themselves."""
    if domain.dim != _DIMENSIONS or domain.declared:  # each of three columns of numbers is an axis
        return []
    # By name, not by class, as pictures are found.
    kinds = {kind.__name__ for kind in (TreeStep, CandidatesStep, CentersStep)}
    alike = [(place, step) for place, step in enumerate(steps) if type(step).__name__ in kinds]
    return [place for place, step in alike if getattr(step, "frame", None) is None]


def draw_space(step: Step, context: RenderContext) -> TitledPlot:
    """One step over three columns: what is released, over the rows and k-means++ where these are revealed."""
    palette, view = context.palette, context.view
    plot = new_plot(palette, height=_HEIGHT, legend_lines=1)
    plot.update_layout(scene=_make_scene(palette, view), margin={"l": 0, "r": 0, "b": 64})
    plot.update_layout(legend={"y": -0.02, "itemsizing": "constant"}, showlegend=True)
    for trace in _list_traces(step, context):
        plot.add_trace(trace)
    subtitle = join_clauses("three columns, true to the declared bounds", "drag to turn, scroll to come nearer")
    return TitledPlot(draw_picture(step, context).title, subtitle, plot)


def describe_space(step: Step, context: RenderContext) -> str:
    """It in words: those of the plane, and that it turns."""
    return f"In three dimensions, to be turned. {draw_picture(step, context).words}"


def _list_traces(step: Any, context: RenderContext) -> Iterator[Data]:
    palette, view = context.palette, context.view
    if context.reveal is not None:
        # In an order that was drawn already: the first ones are evenly picked.
        some = np.asarray(context.reveal.find_drawn_rows(view.region, None)[:_MOST_ROWS])
        marker = {"size": 1.8, "color": palette.revealed, "opacity": 0.45}
        yield _mark(view, some, f"{len(some):,} rows (revealed)", marker, hoverinfo="skip")
    if context.reference is not None:
        marker = {"size": 5, "symbol": "diamond-open", "color": palette.revealed}
        yield _mark(view, context.reference.centers, "k-means++ (revealed)", marker)
    if hasattr(step, "tree"):
        # The edges of the newest active cubes, within the bounds, and fainter those of the level above.
        tree, half = step.tree, view.region.half
        for level in range(max(0, tree.depth - 1), tree.depth + 1):
            low = tree.corners(level)[:_MOST_CUBES]
            low, high = np.clip(low, -half, half), np.clip(low + tree.edge(level), -half, half)
            corners = np.where(_CORNERS == 1, high[:, None], low[:, None])
            named, newest = f"level {level}: {len(tree.corners(level)):,} cubes awake", level == tree.depth
            color = palette.released if newest else palette.fade(palette.released, 0.5)
            line = {"color": color, "width": 2.5 if newest else 1.0}
            yield _join(view, corners[:, _EDGES].reshape(-1, 2, _DIMENSIONS), named, line)
    elif hasattr(step, "candidates"):
        # The deeper its cube, the smaller a candidate: deep ones are many and lie close.
        size = 3.0 + 9.0 / (2.0 + np.maximum(step.depths, 0))
        marker = {"size": size, "color": palette.released, "opacity": 0.6, "line": {"width": 0}}
        yield _mark(view, step.candidates, f"{len(step.candidates):,} candidates", marker)
    else:
        if step.previous is not None and step.previous.shape == step.centers.shape:
            line = {"color": palette.muted, "width": 3}
            yield _join(view, np.stack([step.previous, step.centers], axis=1), "came from", line)
        numbers = [str(number) for number in range(1, len(step.centers) + 1)]
        marker = {"size": 6, "color": palette.released, "line": {"width": 1, "color": palette.surface}}
        told = {"mode": "markers+text", "text": numbers, "textfont": {"color": palette.text}}
        yield _mark(view, step.centers, f"{len(numbers):,} centres", marker, **told)


def _mark(view: View, points: Array, name: str, marker: dict[str, Any], **options: Any) -> Data:
    """Marks at ``points`` (m, 3), unit coordinates."""
    x, y, z = view.to_axis_units(points).T
    return {"type": "scatter3d", "x": x, "y": y, "z": z, "mode": "markers", "name": name, "marker": marker} | options


def _join(view: View, pairs: Array, name: str, line: dict[str, Any]) -> Data:
    """A line for each of ``pairs`` (m, 2, 3) of points, unit coordinates, all of them in one trace."""
    ends = view.to_axis_units(pairs.reshape(-1, _DIMENSIONS)).reshape(pairs.shape)
    x, y, z = outline_segments(ends[:, 0], ends[:, 1]).T
    trace: Data = {"type": "scatter3d", "x": x, "y": y, "z": z, "mode": "lines", "name": name, "line": line}
    return trace | {"hoverinfo": "skip"}


def _make_scene(palette: Palette, view: View) -> dict[str, Any]:
    """Three axes over the declared bounds, as long as each other."""
    half = view.domain.region.half
    ranges = view.to_axis_units(np.stack([-half, half])).T.tolist()
    axis: Data = {"backgroundcolor": palette.background, "gridcolor": palette.grid, "zerolinecolor": palette.grid}
    axis |= {"color": palette.text, "showspikes": False}
    axes = {}
    for place, name, ends in zip(("xaxis", "yaxis", "zaxis"), view.domain.columns, ranges, strict=True):
        axes[place] = axis | {"title": {"text": spell_name(name)}, "range": ends}
    return {**axes, "aspectmode": "cube", "camera": _CAMERA, "dragmode": "orbit", "bgcolor": palette.background}
