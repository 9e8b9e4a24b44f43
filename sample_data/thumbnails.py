"""Draw the small pictures beside the algorithms again, as the bench shows them: ``python -m sample_data.thumbnails``.

Each is the picture of a step of a run on the sample that its card names, by the code that draws it large: of the step
that costs most and is more than centres. Without axes, words and rows.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from dpviz.algorithms import CARDS, Card
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.plot import Plot
from dpviz.app.charts.registry import draw_picture, find_picture
from dpviz.app.charts.view import make_view
from dpviz.app.ui.bench.catalogue import THUMBNAILS
from dpviz.core import RequestError
from dpviz.runs import OpenTable, Run, declare, run
from dpviz.tables import sample
from dpviz.words import choose_palette

WIDE, HIGH, AIR = 88, 66, 3
_MOST_CELLS, _MOST_MARKS = 13, 90
_MARKS = {"circle": 2.2, "diamond-open": 2.6}


def make_run(card: Card, table: OpenTable) -> Run:
    """A run of an algorithm for so many groups as were put into its sample, with a δ where it needs one."""
    clusters = sample(card.sample).clusters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a warning says is of these few rows
        for delta in (0.0, 1e-6):
            try:
                return run(card.id, table.private, k=clusters, epsilon=2.0, delta=delta, seed=0)
            except RequestError as error:
                refusal = error
        raise refusal


def make_entry(card: Card) -> dict[str, Any]:
    """What the steps of an algorithm are called, and the picture of one of them in both themes."""
    table = declare(*sample(card.sample).load())
    made = make_run(card, table)
    before = [0.0, *(frame.spent_epsilon for frame in made.frames)]
    costs = {place: now - was for place, (was, now) in enumerate(pairwise(before))}
    names = [find_picture(frame.step).called for frame in made.frames]
    telling = [place for place, name in enumerate(names) if name not in ("plan", "centres") and costs[place] > 0]
    shown = max(telling or costs, key=costs.__getitem__)
    step = made.frames[shown].step
    view = make_view(table.domain)
    looks = {theme: RenderContext(view, choose_palette(theme)).with_steps_of(made) for theme in ("light", "dark")}
    pictures = {theme: draw_thumbnail(draw_picture(step, look).plot()) for theme, look in looks.items()}
    return {"shows": list(dict.fromkeys(names)), "step": names[shown], **pictures}


def draw_thumbnail(plot: Plot) -> str:
    """A plot as a small SVG."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDE}" height="{HIGH}" viewBox="0 0 {WIDE} {HIGH}">'
        + "".join(_draw_traces(plot))
        + "</svg>"
    )


def _draw_traces(plot: Plot) -> Iterator[str]:
    across, up = (_find_range(plot, axis) for axis in "xy")
    for trace in plot.traces:
        if trace["type"] == "heatmap":
            yield from _draw_cells(trace)
            continue
        x = AIR + (WIDE - 2 * AIR) * (np.asarray(trace["x"], dtype=float) - across[0]) / (across[1] - across[0])
        y = AIR + (HIGH - 2 * AIR) * (up[1] - np.asarray(trace["y"], dtype=float)) / (up[1] - up[0])
        if trace["type"] == "bar":
            foot, color = _place(0.0, up), trace["marker"]["color"]
            colors = [color] * len(x) if isinstance(color, str) else list(color)
            wide = max(1.0, 0.8 * (WIDE - 2 * AIR) / max(len(x), 1))
            for at, top, fill in zip(x, y, colors, strict=True):
                if isinstance(fill, str) and np.isfinite(top):
                    low, high = sorted((top, foot))
                    yield _draw_box(at - wide / 2, low, wide, high - low, fill)
        elif "markers" in trace["mode"]:
            yield from _draw_marks(trace["marker"], x, y)
        elif "lines" in trace["mode"]:
            seen = np.isfinite(x) & np.isfinite(y)
            starts = seen & ~np.r_[False, seen[:-1]]
            path = "".join(
                f"{'M' if new else 'L'}{a:.0f} {b:.0f}" for new, a, b, on in zip(starts, x, y, seen, strict=True) if on
            )
            fill, line = trace.get("fillcolor", "none"), trace["line"]
            yield f'<path d="{path}" fill="{fill}" stroke="{line["color"]}" stroke-width="{min(line["width"], 1)}"/>'


def _find_range(plot: Plot, axis: str) -> tuple[float, float]:
    told = plot.layout[f"{axis}axis"].get("range")
    if told is not None:
        return float(told[0]), float(told[1])
    values = np.concatenate([np.ravel(np.asarray(one[axis], dtype=float)) for one in plot.traces if axis in one])
    return min(0.0, float(np.nanmin(values))), float(np.nanmax(values))


def _place(value: float, up: tuple[float, float]) -> float:
    return AIR + (HIGH - 2 * AIR) * (up[1] - value) / (up[1] - up[0])


def _draw_cells(trace: dict[str, Any]) -> Iterator[str]:
    """Blocks of cells, by their mean, in the colours of the scale."""
    z = np.nan_to_num(np.asarray(trace["z"], dtype=float))
    rows, columns = (np.array_split(np.arange(size), min(size, _MOST_CELLS)) for size in z.shape)
    means = np.array([[z[np.ix_(some, others)].mean() for others in columns] for some in rows])
    low, high = trace.get("zmin", means.min()), trace.get("zmax", means.max())
    stops = [(float(at), color) for at, color in trace["colorscale"]]
    wide, tall = (WIDE - 2 * AIR) / len(columns), (HIGH - 2 * AIR) / len(rows)
    for (i, j), value in np.ndenumerate(means):
        part = min(1.0, max(0.0, (value - low) / (high - low or 1.0)))
        color = min(stops, key=lambda stop: abs(stop[0] - part))[1]
        x, y = AIR + j * wide, HIGH - AIR - (i + 1) * tall
        yield _draw_box(x, y, wide, tall, color)


def _draw_box(x: float, y: float, wide: float, tall: float, color: str) -> str:
    return f'<path d="M{x:.1f} {y:.1f}h{wide:.1f}v{tall:.1f}h-{wide:.1f}z" fill="{color}"/>'


def _draw_marks(marker: dict[str, Any], x: np.ndarray, y: np.ndarray) -> Iterator[str]:
    symbol, color = marker.get("symbol", "circle"), marker.get("color")
    for place in range(0, len(x), max(1, len(x) // _MOST_MARKS)):
        mark = symbol if isinstance(symbol, str) else symbol[place]
        fill = color if isinstance(color, str) else color[place]
        if not isinstance(fill, str) or not np.isfinite(x[place]):
            continue
        size = _MARKS.get(mark, 1.6)
        look = f'fill="none" stroke="{fill}"' if mark.endswith("-open") else f'fill="{fill}"'
        yield f'<circle cx="{x[place]:.1f}" cy="{y[place]:.1f}" r="{size}" {look}/>'


def main() -> None:
    """Write the file."""
    made = {card.id: make_entry(card) for card in CARDS.values()}
    lines = [f" {json.dumps(name)}: {json.dumps(entry)}" for name, entry in made.items()]
    THUMBNAILS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
