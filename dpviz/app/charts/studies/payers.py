"""Who pays: the loss of each cluster and each declared group over its size, hollow where a draw misses it."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, log10
from typing import ClassVar

import numpy as np
import pandas as pd

from dpviz.app.charts.canvas import TitledPlot, new_plot, spell_name
from dpviz.app.charts.layout import make_log_axis
from dpviz.app.charts.studies.contenders import describe_runs
from dpviz.core import Array
from dpviz.runs import error_parts
from dpviz.words import Palette, format_number, format_percent, format_ratio, join_clauses, shorten

_HEIGHT, _AIR = 378, 0.12
# Missed in more draws than these: hollow.
_MISSED = 0.2
_MOST_NAMED, _NAME = 14, 12
# The axis of losses goes at least so far: nearly the same loss should look nearly the same.
_LEAST_HIGH = 2.0
_KINDS = (("cluster", "circle", "clusters of k-means++"), ("group", "square", "declared groups"))


@dataclass(frozen=True, eq=False)
class Payers:
    """Losses over sizes, both on logarithmic axes; a dotted line at the smallest group that the noise lets be seen."""

    stem: ClassVar[str] = "who-pays"
    paid: error_parts.WhoPays
    name: str
    epsilon: float

    @property
    def finding(self) -> str:
        """What the smallest and the largest cluster lose."""
        small, large = self.paid.clusters[0], self.paid.clusters[-1]
        at = f"At ε = {self.epsilon:g} "
        if small is large:
            return f"{at}the only cluster loses {format_ratio(small.loss)}"
        return f"{at}the smallest cluster loses {format_ratio(small.loss)}, the largest {format_ratio(large.loss)}"

    def draw(self, palette: Palette) -> TitledPlot:
        """A mark each for clusters and declared groups."""
        plot = new_plot(palette, height=_HEIGHT, legend_lines=1)
        shown = [one for one in self.paid.payers if isfinite(one.loss) and one.loss > 0]
        for kind, symbol, told in _KINDS:
            some = [one for one in shown if one.kind == kind]
            if some:
                plot.add_trace(self._marks(some, symbol, told, palette))
        sizes = np.log10([one.rows for one in shown] or [1, 10])
        losses = np.log10([*[one.loss for one in shown], 1.0, _LEAST_HIGH])
        if isfinite(self.paid.smallest) and self.paid.smallest > 0:
            sizes = np.r_[sizes, log10(self.paid.smallest)]
            plot.add_vline(self.paid.smallest, line={"color": palette.muted, "width": 1.2, "dash": "dot"})
        plot.add_hline(1.0, line={"color": palette.muted, "width": 1})
        plot.update_xaxes(**{**make_log_axis(float(sizes.min()), float(sizes.max())), "range": _pad_range(sizes)})
        plot.update_yaxes(**{**make_log_axis(float(losses.min()), float(losses.max())), "range": _pad_range(losses)})
        plot.update_xaxes(title_text="rows of the cluster or group (log scale)")
        plot.update_yaxes(title_text="loss over k-means++ (×)")
        about = join_clauses(
            "loss over that of k-means++, medians",
            describe_runs([self.paid.draws]),
            self.name,
            f"hollow: missed in more than {format_percent(_MISSED)} of the draws",
            self._smallest,
        )
        return TitledPlot(self.finding, about, plot)

    def _marks(self, some: list[error_parts.Payer], symbol: str, told: str, palette: Palette) -> dict[str, object]:
        hollow = [one.missed > _MISSED for one in some]
        named = len(some) <= _MOST_NAMED
        colors = [palette.surface if one else palette.revealed for one in hollow]
        return {
            **{
                "type": "scatter",
                "mode": "markers+text" if named else "markers",
                "name": f"◉ {told}",
                "meta": "revealed",
            },
            **{"x": [one.rows for one in some], "y": [one.loss for one in some]},
            "text": [spell_name(shorten(one.name, _NAME)) for one in some] if named else None,
            **{"textposition": "top center", "textfont": {"size": 11, "color": palette.text}},
            "marker": {
                "symbol": symbol,
                "size": 11,
                "color": colors,
                "line": {"width": 1.6, "color": palette.revealed},
            },
            "customdata": [self._describe(one) for one in some],
            "hovertemplate": "%{customdata}<extra></extra>",
        }

    def _describe(self, one: error_parts.Payer) -> str:
        size = f"<br>size off by {format_percent(one.size_error)}" if isfinite(one.size_error) else ""
        head = f"{one.kind} {spell_name(one.name)}: {one.rows:,} rows"
        return f"{head}<br>loses {format_ratio(one.loss)}, missed {format_percent(one.missed)}{size}"

    @property
    def _smallest(self) -> str:
        if not isfinite(self.paid.smallest):
            return ""
        return f"dotted: about {format_number(self.paid.smallest)} rows, below which noise hides a group"

    def words(self) -> str:
        """The picture in words."""
        told = ", ".join(
            f"{one.kind} {one.name} ({one.rows:,} rows) {format_ratio(one.loss)}" for one in self.paid.payers[:8]
        )
        return f"{self.finding}. {told}. {self._smallest}".rstrip(". ") + "."

    def table(self) -> pd.DataFrame:
        """The marks in numbers."""
        names = ["kind", "name", "rows", "loss over k-means++", "missed", "size off by"]
        return pd.DataFrame([tuple(one) for one in self.paid.payers], columns=names)


def _pad_range(values: Array) -> list[float]:
    """The range of an axis, with room for marks and their names."""
    air = _AIR * max(float(np.ptp(values)), 0.5)
    return [float(values.min()) - air, float(values.max()) + air]
