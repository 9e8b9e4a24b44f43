"""How many clusters there are: the loss on a released synopsis for each k, with the band of its noise."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpviz.algorithms import synopsis_reading
from dpviz.app.charts.canvas import AIR, new_plot
from dpviz.app.charts.diagram import Diagram, add_note
from dpviz.app.charts.plot import Plot
from dpviz.app.charts.studies.medians import PLOT, Span, draw_band
from dpviz.words import Palette, format_number, join_clauses

_HEIGHT = AIR + PLOT + 40
_FADED = 0.22
# At most about so many numbers below the axis.
_TICKS = 12


def draw_k_curve(read: synopsis_reading.SuggestedK) -> Diagram:
    """The loss on a synopsis against k, and the k that is suggested as a line; all of it is released."""
    last, suggested = read.ks[-1], read.suggested
    sure = "" if 2 * read.agreeing > read.redraws else ", but unsurely"
    finding = f"The loss bends at k = {suggested}{sure}"
    if suggested is None:
        finding = f"No number of clusters stands out up to {last}"

    def paint(palette: Palette) -> Plot:
        plot = new_plot(palette, height=_HEIGHT, legend_lines=0)
        span = Span.of([*read.losses[read.losses > 0], *read.highs, *read.lows[read.lows > 0]])
        # What lies below a logarithmic axis is drawn at its end.
        least = 10**span.low if span.logarithmic else 0.0
        losses, lows, highs = (np.maximum(values, least) for values in (read.losses, read.lows, read.highs))
        plot.add_trace(draw_band(read.ks.astype(np.float64), lows, highs, palette.fade(palette.released, _FADED)))
        look = {"line": {"color": palette.released, "width": 2.2}, "marker": {"color": palette.released, "size": 7}}
        between = "nine in ten redraws %{customdata[0]:.3g} to %{customdata[1]:.3g}"
        told = {"hover": f"k = %{{x}}: loss %{{y:.3g}}<br>{between}", "meta": "released"}
        ends = np.column_stack([read.lows, read.highs])
        plot.add_scatter(read.ks, losses, "lines+markers", customdata=ends, **look, **told)
        every = -(-len(read.ks) // _TICKS)
        ticks = read.ks[every - 1 :: every].tolist()
        plot.update_xaxes(title_text="number of clusters k", tickvals=ticks, range=[0.5, last + 0.5])
        plot.update_yaxes(**span.axis, title_text="loss on the synopsis", zeroline=False)
        if suggested is not None:
            plot.add_vline(x=suggested, line={"color": palette.text, "width": 1.3, "dash": "dot"})
            side, shift = ("left", 5) if suggested <= len(read.ks) / 2 else ("right", -5)
            at = {"x": suggested, "xshift": shift, "y": 1, "yref": "paper", "yanchor": "top", "xanchor": side}
            add_note(plot, f"k = {suggested}", palette.text, at)
        return plot

    def tabulate() -> pd.DataFrame:
        columns = {"k": read.ks, "loss": read.losses, "low": read.lows, "high": read.highs, "bend": read.bends}
        return pd.DataFrame(columns)

    note = join_clauses(
        "line: least loss found on the synopsis",
        "band: nine in ten redraws of its noise",
        f"{read.agreeing} of {read.redraws} redraws agree",
        "free: nothing is charged",
    )
    way = f"from {format_number(float(read.losses[0]))} at k = 1 to {format_number(float(read.losses[-1]))}"
    words = f"Loss on the synopsis against the number of clusters, {way} at k = {last}. {read.words}"
    return Diagram("clusters-on-the-synopsis", finding, note, words, paint, tabulate)
