"""What the declared bounds cut off, column by column: for public or simulated rows, or the owner's own look."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.charts.canvas import canvas, name_kinds
from dpviz.charts.studies.contenders import narrow
from dpviz.charts.theme import Kind, Palette
from dpviz.charts.wording import clauses, percent

_ROW, _SHOWN = 44, 20
_LEAST_SPAN = 0.01


def draw_clipping(by_column: pd.DataFrame, *, palette: Palette, kind: Kind = "public") -> go.Figure:
    """Shares of rows below (left) and above (right) the bounds of each column, the worst first.

    Parameters
    ----------
    by_column : DataFrame
        Columns "column", "below" and "above"; shares in [0, 1].
    kind : Kind
        What the rows are: public (or simulated), or revealed.
    """
    worst = _worst_first(by_column)
    shown = worst.head(_SHOWN)
    more = f"the {_SHOWN} columns cut most, of {len(worst)}" if len(worst) > _SHOWN else ""
    figure = canvas(
        palette,
        title=_finding(worst),
        subtitle=clauses("share of rows that the bounds move to their edge", more),
        height=210 + _ROW * max(2, len(shown)),
        legend_lines=2,
    )
    place = -np.arange(len(shown), dtype=np.float64)
    for side, sign, strength in (("below", -1.0, 0.5), ("above", 1.0, 0.95)):
        share = shown[side].to_numpy(np.float64)
        figure.add_trace(
            go.Bar(
                **{"x": sign * share, "y": place, "orientation": "h", "width": 0.6, "name": f"{side} the bounds"},
                marker={"color": palette.faded(palette.kind(kind), strength), "line": {"width": 0}},
                customdata=share,
                hovertemplate=f"%{{customdata:.2%}} {side}<extra></extra>",
                meta=kind,
            )
        )
    span = max(_LEAST_SPAN, 1.1 * float(shown[["below", "above"]].to_numpy().max(initial=0)))
    ticks = np.array([-span / 1.1, 0, span / 1.1])
    figure.update_xaxes(
        range=[-span, span],
        tickvals=ticks,
        ticktext=[percent(abs(float(tick))) for tick in ticks],
        title_text="below ← rows clipped → above",
        zerolinecolor=palette.muted,
    )
    figure.update_yaxes(
        tickvals=place,
        ticktext=[narrow(str(name)) for name in shown["column"]],
        range=[-max(2, len(shown)) + 0.4, 0.6],
        showgrid=False,
        zeroline=False,
    )
    figure.update_layout(barmode="overlay")
    return name_kinds(figure, palette)


def describe_clipping(by_column: pd.DataFrame) -> str:
    """The picture in words."""
    return f"{_finding(_worst_first(by_column))}."


def _worst_first(by_column: pd.DataFrame) -> pd.DataFrame:
    total = by_column["below"] + by_column["above"]
    return by_column.iloc[np.argsort(-total.to_numpy(np.float64), kind="stable")]


def _finding(worst: pd.DataFrame) -> str:
    first = worst.iloc[0]
    share = float(first["below"] + first["above"])
    if share == 0:
        return "The bounds cut off nothing"
    return f"The bounds cut off most in {first['column']}: {percent(share)} of the rows"
