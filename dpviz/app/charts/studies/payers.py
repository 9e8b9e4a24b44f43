"""Who pays: the loss of each cluster and each declared group over its size, hollow where a draw misses it."""

from __future__ import annotations

from math import isfinite, log10
from typing import Any

import numpy as np
import pandas as pd

from dpviz.app.charts.canvas import new_plot, spell_name
from dpviz.app.charts.diagram import Diagram
from dpviz.app.charts.layout import make_log_axis
from dpviz.app.charts.plot import Plot
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


def draw_payers(paid: error_parts.WhoPays, name: str, epsilon: float) -> Diagram:
    """Losses over sizes, both on logarithmic axes; a dotted line at the smallest group that the noise lets be seen."""
    small, large = paid.clusters[0], paid.clusters[-1]
    finding = f"At ε = {epsilon:g} the smallest cluster loses {format_ratio(small.loss)}"
    finding += f", the largest {format_ratio(large.loss)}"
    if small is large:
        finding = f"At ε = {epsilon:g} the only cluster loses {format_ratio(small.loss)}"
    smallest = ""
    if isfinite(paid.smallest):
        smallest = f"dotted: about {format_number(paid.smallest)} rows, below which noise hides a group"
    each = [f"{one.kind} {one.name} ({one.rows:,} rows) {format_ratio(one.loss)}" for one in paid.payers[:8]]

    def paint(palette: Palette) -> Plot:
        plot = new_plot(palette, height=_HEIGHT, legend_lines=1)
        shown = [one for one in paid.payers if isfinite(one.loss) and one.loss > 0]
        for kind, symbol, told in _KINDS:
            some = [one for one in shown if one.kind == kind]
            if some:
                plot.add_trace(_make_marks(some, symbol, told, palette))
        sizes = np.log10([one.rows for one in shown] or [1, 10])
        losses = np.log10([*[one.loss for one in shown], 1.0, _LEAST_HIGH])
        if isfinite(paid.smallest) and paid.smallest > 0:
            sizes = np.r_[sizes, log10(paid.smallest)]
            plot.add_vline(paid.smallest, line={"color": palette.muted, "width": 1.2, "dash": "dot"})
        plot.add_hline(1.0, line={"color": palette.muted, "width": 1})
        plot.update_xaxes(**_make_axis(sizes), title_text="rows of the cluster or group (log scale)")
        plot.update_yaxes(**_make_axis(losses), title_text="loss over k-means++ (×)")
        return plot

    def tabulate() -> pd.DataFrame:
        names = ["kind", "name", "rows", "loss over k-means++", "missed", "size off by"]
        return pd.DataFrame([tuple(one) for one in paid.payers], columns=names)

    note = join_clauses(
        "loss over that of k-means++, medians",
        describe_runs([paid.draws]),
        name,
        f"hollow: missed in more than {format_percent(_MISSED)} of the draws",
        smallest,
    )
    words = f"{finding}. {', '.join(each)}. {smallest}".rstrip(". ") + "."
    return Diagram("who-pays", finding, note, words, paint, tabulate)


def _make_marks(some: list[error_parts.Payer], symbol: str, told: str, palette: Palette) -> dict[str, object]:
    named, rim = len(some) <= _MOST_NAMED, {"width": 1.6, "color": palette.revealed}
    colors = [palette.surface if one.missed > _MISSED else palette.revealed for one in some]
    return {
        **{"type": "scatter", "mode": "markers+text" if named else "markers", "name": f"◉ {told}", "meta": "revealed"},
        **{"x": [one.rows for one in some], "y": [one.loss for one in some]},
        "text": [spell_name(shorten(one.name, _NAME)) for one in some] if named else None,
        **{"textposition": "top center", "textfont": {"size": 11, "color": palette.text}},
        "marker": {"symbol": symbol, "size": 11, "color": colors, "line": rim},
        "customdata": [_describe_payer(one) for one in some],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _describe_payer(one: error_parts.Payer) -> str:
    size = f"<br>size off by {format_percent(one.size_error)}" if isfinite(one.size_error) else ""
    head = f"{one.kind} {spell_name(one.name)}: {one.rows:,} rows"
    return f"{head}<br>loses {format_ratio(one.loss)}, missed {format_percent(one.missed)}{size}"


def _make_axis(values: Array) -> dict[str, Any]:
    """An axis of powers of ten, with room for marks and their names."""
    low, high = float(values.min()), float(values.max())
    air = _AIR * max(float(np.ptp(values)), 0.5)
    return {**make_log_axis(low, high), "range": [low - air, high + air]}
