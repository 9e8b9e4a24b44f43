"""How many clusters there are: the loss on a released synopsis for each k, with the band of its noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from dpviz.algorithms import synopsis_reading
from dpviz.app.charts.canvas import AIR, TitledPlot, new_plot
from dpviz.app.charts.studies.medians import PLOT, Span, add_note, draw_band
from dpviz.words import Palette, format_number, join_clauses

_HEIGHT = AIR + PLOT + 40
_FADED = 0.22
# At most about so many numbers below the axis.
_TICKS = 12


@dataclass(frozen=True, eq=False)
class KCurve:
    """The loss on a synopsis against k; all of it is released."""

    stem: ClassVar[str] = "clusters-on-the-synopsis"
    read: synopsis_reading.SuggestedK

    @property
    def finding(self) -> str:
        """Where the curve bends, and whether redraws of the noise agree."""
        read = self.read
        if read.suggested is None:
            return f"No number of clusters stands out up to {read.ks[-1]}"
        sure = "" if 2 * read.agreeing > read.redraws else ", but unsurely"
        return f"The loss bends at k = {read.suggested}{sure}"

    def draw(self, palette: Palette) -> TitledPlot:
        """The curve in its band, and the k that is suggested as a line."""
        read = self.read
        plot = new_plot(palette, height=_HEIGHT, legend_lines=0)
        span = Span.of([*read.losses[read.losses > 0], *read.highs, *read.lows[read.lows > 0]])
        # What lies below a logarithmic axis is drawn at its end.
        least = 10**span.low if span.logarithmic else 0.0
        losses, lows, highs = (np.maximum(values, least) for values in (read.losses, read.lows, read.highs))
        plot.add_trace(draw_band(read.ks.astype(np.float64), lows, highs, palette.fade(palette.released, _FADED)))
        plot.add_trace(
            {
                **{"type": "scatter", "x": read.ks, "y": losses, "mode": "lines+markers", "meta": "released"},
                **{"line": {"color": palette.released, "width": 2.2}, "showlegend": False},
                "marker": {"color": palette.released, "size": 7},
                "customdata": np.column_stack([read.lows, read.highs]),
                "hovertemplate": "k = %{x}: loss %{y:.3g}<br>nine in ten redraws %{customdata[0]:.3g} to "
                "%{customdata[1]:.3g}<extra></extra>",
            }
        )
        every = -(-len(read.ks) // _TICKS)
        ticks = read.ks[every - 1 :: every].tolist()
        plot.update_xaxes(title_text="number of clusters k", tickvals=ticks, range=[0.5, read.ks[-1] + 0.5])
        plot.update_yaxes(**span.axis, title_text="loss on the synopsis", zeroline=False)
        if read.suggested is not None:
            plot.add_vline(x=read.suggested, line={"color": palette.text, "width": 1.3, "dash": "dot"})
            left = read.suggested <= len(read.ks) / 2
            at = {
                "x": read.suggested,
                "xshift": 5 if left else -5,
                "y": 1,
                "yref": "paper",
                "yanchor": "top",
                "xanchor": "left" if left else "right",
            }
            add_note(plot, f"k = {read.suggested}", palette.text, at)
        about = join_clauses(
            "line: least loss found on the synopsis",
            "band: nine in ten redraws of its noise",
            f"{read.agreeing} of {read.redraws} redraws agree",
            "free: nothing is charged",
        )
        return TitledPlot(self.finding, about, plot)

    def words(self) -> str:
        """The picture in words."""
        first, last = format_number(float(self.read.losses[0])), format_number(float(self.read.losses[-1]))
        return (
            f"Loss on the synopsis against the number of clusters, from {first} at k = 1 to {last} at "
            f"k = {self.read.ks[-1]}. {self.read.words}"
        )

    def table(self) -> pd.DataFrame:
        """A line for each k."""
        read = self.read
        columns = {"k": read.ks, "loss": read.losses, "low": read.lows, "high": read.highs, "bend": read.bends}
        return pd.DataFrame(columns)
