"""Neighbouring tables: the centres of many draws with one person in the table and without, over each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.app.charts.canvas import show_plane, split_xy
from dpviz.app.charts.diagram import Diagram
from dpviz.app.charts.layout import make_layout
from dpviz.app.charts.plot import Plot
from dpviz.app.charts.view import View
from dpviz.core import Array
from dpviz.runs import membership
from dpviz.words import Palette

_HEIGHT, _MOST_ROWS = 480, 2_000


@dataclass(frozen=True, eq=False)
class TwinClouds:
    """Released centres of two neighbouring tables, one draw each from as many draws.

    ``person`` (m, d), the rows of one person, unit coordinates; ``present``, ``absent`` (r, k, d), released centres
    with the person and without.
    """

    person: Array
    present: Array
    absent: Array

    @classmethod
    def of(cls, trials: Sequence[membership.AttackTrial], person: Array) -> TwinClouds:
        """Of runs on both tables, at least one on each.

        ``person`` (m, d), the rows of one person, unit coordinates.
        """
        present, absent = (
            np.stack([trial.centers for trial in trials if trial.present is there]) for there in (True, False)
        )
        return cls(person, present, absent)

    @property
    def moved(self) -> float:
        """How far the middle of the nearest centres moves, in the spread of one draw of them."""
        nearest = [_find_nearest(centers, self.person) for centers in (self.present, self.absent)]
        spread = np.sqrt(np.mean([((centers - centers.mean(axis=0)) ** 2).sum(axis=1).mean() for centers in nearest]))
        apart = float(np.linalg.norm(nearest[0].mean(axis=0) - nearest[1].mean(axis=0)))
        return apart / float(spread) if spread > 0 else np.inf if apart > 0 else 0.0


def draw_twin_clouds(clouds: TwinClouds, view: View, rows: Array, epsilon: float, *, both: bool = True) -> Diagram:
    """The centres of one table over those of the other; the second only where ``both`` may be seen.

    ``rows`` (n, d), of a public table, unit coordinates.
    """
    moved = f"{clouds.moved:.2g}"

    def paint(palette: Palette) -> Plot:
        plot = Plot(make_layout(palette, height=_HEIGHT))
        show_plane(plot, view, palette)
        faint: dict[str, Any] = {"size": 4, "color": palette.fade(palette.public, 0.5)}
        filled: dict[str, Any] = {"size": 7, "opacity": 0.6, "symbol": "circle", "color": palette.released}
        hollow = filled | {"symbol": "square-open", "color": palette.inks[2], "line": {"width": 1.5}}
        ring = {"symbol": "circle-open", "size": 18, "color": palette.text, "line": {"width": 2}}
        drawn = [("rows", rows[:: max(1, len(rows) // _MOST_ROWS)], faint, "public")]
        drawn.append(("centres, with the person", clouds.present, filled, "released"))
        if both:
            drawn.append(("centres, without", clouds.absent, hollow, "released"))
        drawn.append(("the person", clouds.person, ring, "public"))
        for name, points, marker, kind in drawn:
            places = split_xy(view.plane(points.reshape(-1, points.shape[-1])))
            trace = {"type": "scatter", "mode": "markers", "marker": marker, "name": name, "meta": kind}
            plot.add_trace({**trace, **places, "hoverinfo": "skip"})
        legend = {"orientation": "h", "x": 0, "y": -0.16, "yanchor": "top", "xanchor": "left"}
        return plot.update_layout(margin={"l": 60, "r": 8, "t": 12, "b": 110}, legend=legend)

    finding = f"At ε = {epsilon:g}, one person moves the nearest centre by {moved} × its noise"
    words = (
        f"Centres of {len(clouds.present)} draws with the person and of {len(clouds.absent)} without, at ε = "
        f"{epsilon:g}: the nearest centre's middle moves by {moved} times its spread."
    )
    note = "A release is safe where the two clouds cannot be told apart."
    return Diagram("neighbouring-tables", finding, note, words, paint)


def _find_nearest(releases: Array, person: Array) -> Array:
    """Of each release the centre nearest to the person, shape (r, d)."""
    squared = ((releases[:, :, None] - person[None, None]) ** 2).sum(axis=-1).min(axis=-1)
    chosen: Array = releases[np.arange(len(releases)), squared.argmin(axis=1)]
    return chosen
