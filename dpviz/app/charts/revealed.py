"""The owner's look at the truth behind a picture: drawn only when it is handed over, never part of a release."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpviz.app.charts.canvas import format_legend_name, split_xy
from dpviz.app.charts.plot import Plot
from dpviz.app.charts.view import View
from dpviz.core import Array, Region
from dpviz.words import Palette

# Few enough for vector marks: WebGL marks would cover the centres.
DRAWN_AT_MOST = 3000
# Of so few rows each is somebody to be seen, the one that is far out above all.
_FEW = 500
ROWS = "rows"
"""What the trace of the rows is known by."""


@dataclass(frozen=True, eq=False)
class RevealedView:
    """Revealed rows for one picture.

    ``points`` (m, d), A subsample to draw, unit coordinates; ``everyone`` (n, d), all rows, for true counts; None
    where these are not asked for.
    """

    points: Array
    note: str
    everyone: Array | None = None

    @classmethod
    def of(cls, points: Array, note: str, *, at_most: int = DRAWN_AT_MOST) -> RevealedView:
        """A view of all rows (n, d) that draws evenly picked ones of them.

        ``points`` (m, d), unit coordinates.
        """
        picked = points[np.random.default_rng(0).permutation(len(points))[:at_most]]
        return cls(picked, note, everyone=points)

    def find_rows(self, space: Region, frame: Array | None) -> Array | None:
        """All rows where an algorithm saw them: projected by ``frame`` and clipped to ``space``.

        ``frame`` (p, d), what it mapped rows by. Returns (n, p), coordinates of the space.
        """
        return None if self.everyone is None else _choose_seen(self.everyone, space, frame)

    def find_drawn_rows(self, space: Region, frame: Array | None) -> Array:
        """The rows to draw, where an algorithm saw them.

        ``frame`` (p, d), what it mapped rows by. Returns (m, p), coordinates of the space.
        """
        return _choose_seen(self.points, space, frame)


def draw_rows(plot: Plot, points: Array, view: View, palette: Palette) -> None:
    """Revealed rows (m, d) as small orange dots, larger where they are few; ticks below the line in one dimension.

    ``points`` (m, d), unit coordinates.
    """
    few = len(points) <= _FEW
    marker = {
        "color": palette.revealed,
        "size": 12 if view.flat else 5 if few else 3,
        "symbol": "line-ns-open" if view.flat else "circle",
        "opacity": 0.7 if few else 0.35,
    }
    look = {"type": "scatter", "mode": "markers", "name": format_legend_name("rows", "revealed"), "marker": marker}
    plot.add_trace(
        {**split_xy(view.plane(points, "rows")), **look, "hoverinfo": "skip", "meta": "revealed", "uid": ROWS}
    )


def _choose_seen(points: Array, space: Region, frame: Array | None) -> Array:
    return space.clip(points if frame is None else points @ frame.T)
