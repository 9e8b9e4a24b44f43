"""Neighbouring tables: the centres of many draws with one person in the table and without, over each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpviz.app.charts.canvas import show_plane, split_xy
from dpviz.app.charts.layout import make_layout
from dpviz.app.charts.plot import Plot
from dpviz.app.charts.view import View
from dpviz.core import Array
from dpviz.runs import membership
from dpviz.words import Palette, capitalize_first

_HEIGHT, _MOST_ROWS = 480, 2_000


@dataclass(frozen=True, eq=False)
class TwinClouds:
    """Released centres of two neighbouring tables, one draw each from as many draws.

    ``rows``, ``person`` (n, d), of a public table, unit coordinates; ``present``, ``absent`` (r, k, d), released
    centres with the person and without.
    """

    sentence: ClassVar[str] = "A release is safe where the two clouds cannot be told apart."
    """What to repeat."""

    view: View
    rows: Array
    person: Array
    present: Array
    absent: Array
    epsilon: float

    @classmethod
    def of(
        cls, trials: Sequence[membership.AttackTrial], view: View, rows: Array, person: Array, epsilon: float
    ) -> TwinClouds:
        """Of runs on both tables, at least one on each.

        ``rows`` (n, d), of a public table, unit coordinates; ``person`` (m, d), the rows of one person, unit
        coordinates.
        """
        present, absent = (
            np.stack([trial.centers for trial in trials if trial.present is there]) for there in (True, False)
        )
        return cls(view, rows, person, present, absent, epsilon)

    @property
    def moved(self) -> float:
        """How far the middle of the nearest centres moves, in the spread of one draw of them."""
        nearest = [_find_nearest(centers, self.person) for centers in (self.present, self.absent)]
        spread = np.sqrt(np.mean([((centers - centers.mean(axis=0)) ** 2).sum(axis=1).mean() for centers in nearest]))
        apart = float(np.linalg.norm(nearest[0].mean(axis=0) - nearest[1].mean(axis=0)))
        return apart / float(spread) if spread > 0 else np.inf if apart > 0 else 0.0

    @property
    def title(self) -> str:
        """What taking the person away does to the nearest centres."""
        return capitalize_first(
            f"at ε = {self.epsilon:g}, one person moves the nearest centre by {self.moved:.2g} × its noise"
        )

    def words(self) -> str:
        """The picture in words."""
        return (
            f"Centres of {len(self.present)} draws with the person and of {len(self.absent)} without, at ε = "
            f"{self.epsilon:g}: the nearest centre's middle moves by {self.moved:.2g} times its spread."
        )

    def draw(self, palette: Palette, *, both: bool = True) -> Plot:
        """The centres of one table over those of the other; the second only where ``both`` may be seen."""
        plot = Plot(make_layout(palette, height=_HEIGHT))
        show_plane(plot, self.view, palette)
        some = self.rows[:: max(1, len(self.rows) // _MOST_ROWS)]
        self._marks(plot, some, "rows", {"size": 4, "color": palette.fade(palette.public, 0.5)}, "public")
        drawn: list[tuple[str, Array, dict[str, Any]]] = [
            ("centres, with the person", self.present, {"symbol": "circle", "color": palette.released})
        ]
        if both:
            hollow: dict[str, Any] = {"symbol": "square-open", "color": palette.inks[2], "line": {"width": 1.5}}
            drawn.append(("centres, without", self.absent, hollow))
        for name, centers, marker in drawn:
            self._marks(
                plot, centers.reshape(-1, centers.shape[-1]), name, {"size": 7, "opacity": 0.6} | marker, "released"
            )
        ring = {"symbol": "circle-open", "size": 18, "color": palette.text, "line": {"width": 2}}
        self._marks(plot, self.person, "the person", ring, "public")
        legend = {"orientation": "h", "x": 0, "y": -0.16, "yanchor": "top", "xanchor": "left"}
        return plot.update_layout(margin={"l": 60, "r": 8, "t": 12, "b": 110}, legend=legend)

    def _marks(self, plot: Plot, points: Array, name: str, marker: dict[str, Any], kind: str) -> None:
        places = split_xy(self.view.plane(points))
        trace = {"type": "scatter", "mode": "markers", "marker": marker, "name": name, "meta": kind}
        plot.add_trace({**trace, **places, "hoverinfo": "skip"})


def _find_nearest(releases: Array, person: Array) -> Array:
    """Of each release the centre nearest to the person, shape (r, d)."""
    squared = ((releases[:, :, None] - person[None, None]) ** 2).sum(axis=-1).min(axis=-1)
    chosen: Array = releases[np.arange(len(releases)), squared.argmin(axis=1)]
    return chosen
