"""A private look at rows of many columns: how they spread along the axes it found, and how far they reach."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.auto.first_look import LookStep
from dpviz.arrays import Array, Codes
from dpviz.charts.canvas import NUMBER_SIZE, SCREEN, below_plot, canvas, legend_name, name_kinds
from dpviz.charts.names import spelled
from dpviz.charts.revealed import RevealedView
from dpviz.charts.theme import Kind, Palette
from dpviz.charts.wording import clauses, count, number, opening, percent, things
from dpviz.table.domain import Domain

# Bars of axes and lines of columns that a phone shows.
_MOST_BARS, _MOST_COLUMNS = 100, 28
# Up to so many bars each has its number.
_NUMBERED = 12
# An axis with this part of its length in one column is mostly that column.
_MOSTLY = 0.5
_SHORTEST_NAME = 14


def draw_look(step: LookStep, *, palette: Palette, domain: Domain, reveal: RevealedView | None = None) -> go.Figure:
    """The spread along every axis; where no axes were bought, how far rows lie from their middle."""
    if step.noise_edge == 0:
        return draw_distances(step, palette=palette, domain=domain, reveal=reveal)
    shown = min(len(step.look.captured), _MOST_BARS)
    left_out = len(step.look.captured) - shown
    clear = clear_axes(step)[:shown]
    figure = canvas(
        palette,
        title=_finding(step),
        subtitle=clauses(
            f"grey band: noise alone makes up to {number(step.noise_edge)}",
            "faded: may be noise" if not clear.all() else "",
            f"the first {shown} of {len(step.look.captured):,} axes" if left_out else "",
        ),
        legend_lines=5,
    )
    axis, variance = np.arange(1, shown + 1), step.look.captured[:shown]
    seen = axis <= step.axes
    for name, which, color in (
        (f"the view: axes 1 to {step.axes}", seen & clear, palette.released),
        ("other axes", ~seen & clear, palette.many),
        ("may be noise", ~clear, palette.faded(palette.released, 0.3)),
    ):
        if which.any():
            figure.add_trace(
                go.Bar(
                    **{"x": axis[which], "y": variance[which].astype(SCREEN), "width": 0.8},
                    name=legend_name(name, "released"),
                    marker={"color": color, "line": {"width": 0}},
                    customdata=np.sqrt(variance[which]).astype(SCREEN),
                    hovertemplate="axis %{x}: variance %{y:.3g}, sd %{customdata:.3g} (released)<extra></extra>",
                    meta="released",
                )
            )
    figure.add_hrect(
        **{"y0": 0, "y1": step.noise_edge, "line_width": 0, "layer": "below"},
        fillcolor=palette.faded(palette.public, 0.22),
    )
    rows = None if reveal is None else reveal.rows_in(domain.region, None)
    if rows is not None:
        true = (((rows - step.look.middle) @ step.look.basis[:shown].T) ** 2).mean(axis=0)
        _add_truth(figure, axis, true, "true variances", palette)
    top = max(float(variance.max()), step.noise_edge)
    figure.update_xaxes(range=[0.4, shown + 0.6], title_text="axis, the widest first", **_axis_ticks(shown))
    figure.update_yaxes(range=[0, 1.06 * top], title_text="variance along it (unit coordinates²)")
    figure.update_layout(bargap=0)
    return name_kinds(figure, palette)


def draw_axes(step: LookStep, *, palette: Palette, domain: Domain) -> go.Figure:
    """What the axes of the view are made of: a signed map, the columns that matter most by the axes."""
    columns = _foremost(step)
    bought = step.noise_edge > 0
    kind: Kind = "released" if bought else "public"
    loadings = step.look.basis[: step.axes, columns]
    held = float((loadings**2).sum()) / step.axes
    left_out = domain.dim - len(columns)
    figure = canvas(
        palette,
        title=_axes_finding(step, domain),
        subtitle=clauses(
            "how much of each column is in an axis, with its sign" if bought else "public coins: no row had a say",
            f"{len(columns)} of {domain.dim:,} columns, {percent(held)} of these axes" if left_out else "",
        ),
        legend_lines=3,
    )
    figure.update_layout(showlegend=False)
    reach = float(np.abs(loadings).max())
    names = [domain.columns[c] for c in columns]
    axis = np.arange(1, step.axes + 1)
    figure.add_trace(
        go.Heatmap(
            **{"z": loadings.T.astype(SCREEN), "x": axis, "y": np.arange(len(columns)), "zmin": -reach, "zmax": reach},
            **{"colorscale": [list(stop) for stop in palette.diverging], "xgap": 2, "ygap": 1},
            text=[[f"{spelled(name)} in axis {a}" for a in axis] for name in names],
            hovertemplate="%{text}: %{z:.2f}<extra></extra>",
            colorbar=below_plot(figure)
            | {
                "title": {"text": f"part in the axis ({kind})", "side": "top", "font": {"size": NUMBER_SIZE}},
                **{"tickvals": [-reach, 0, reach], "ticktext": [number(-reach), "0", number(reach)], "thickness": 10},
                **{"tickfont": {"size": NUMBER_SIZE, "color": palette.muted}, "tickangle": 0},
                **{"outlinewidth": 0.5, "outlinecolor": palette.muted},
            },
            meta=kind,
        )
    )
    for a in axis[~clear_axes(step)[: step.axes]]:
        figure.add_vrect(
            **{"x0": a - 0.5, "x1": a + 0.5, "line_width": 0, "layer": "above"},
            fillcolor=palette.faded(palette.surface, 0.6),
        )
    figure.update_xaxes(
        **{"range": [0.5, step.axes + 0.5], "showgrid": False, "title_text": _axes_title(step), "tickangle": 0},
        **{"tickvals": axis, "ticktext": [str(a) for a in axis]},
    )
    figure.update_yaxes(
        **{"autorange": "reversed", "showgrid": False, "tickfont": {"size": NUMBER_SIZE if len(names) <= 16 else 9}},
        **{"tickvals": np.arange(len(names)), "ticktext": [spelled(_short(name)) for name in names]},
    )
    return figure


def draw_distances(
    step: LookStep, *, palette: Palette, domain: Domain, reveal: RevealedView | None = None
) -> go.Figure:
    """The noisy histogram of distances from the middle, with the reach that was chosen on it."""
    bins = len(step.noisy_radii)
    edges = np.linspace(0, step.radii_reach, bins + 1)
    middle, sd = (edges[1:] + edges[:-1]) / 2, np.sqrt(2) * step.radii_scale
    inside = edges[1:] <= step.look.reach * (1 + 1e-9)
    figure = canvas(
        palette,
        title=_reach_finding(step),
        subtitle=clauses(
            f"grey band: within 1 sd = {number(float(sd))} rows",
            "dashed: the reach, beyond which hardly any row was found",
        ),
    )
    for name, which, opacity in (("rows within the reach", inside, 0.9), ("beyond it", ~inside, 0.35)):
        if which.any():
            figure.add_trace(
                go.Bar(
                    **{"x": middle[which].astype(SCREEN), "y": step.noisy_radii[which].astype(SCREEN)},
                    width=np.diff(edges)[which].astype(SCREEN),
                    name=legend_name(name, "released"),
                    marker={"color": palette.faded(palette.released, opacity), "line": {"width": 0}},
                    hovertemplate="%{y:.4g} rows (released), %{x:.3g} from the middle<extra></extra>",
                    meta="released",
                )
            )
    figure.add_hrect(
        **{"y0": -float(sd), "y1": float(sd), "line_width": 0, "layer": "below"},
        fillcolor=palette.faded(palette.public, 0.22),
    )
    figure.add_vline(x=step.look.reach, line={"color": palette.text, "width": 1.5, "dash": "dash"})
    rows = None if reveal is None else reveal.rows_in(domain.region, None)
    if rows is not None:
        far = np.linalg.norm(rows - step.look.middle, axis=1)
        place = np.minimum(far / step.radii_reach * bins, bins - 1).astype(np.int64)
        true = np.bincount(place, minlength=bins).astype(np.float64)
        _add_truth(figure, middle, true, "true counts", palette)
    figure.update_xaxes(
        range=[0, step.radii_reach], title_text="distance from the middle (unit coordinates)", zeroline=False
    )
    figure.update_yaxes(title_text="rows per bin (noisy)", zeroline=True, zerolinecolor=palette.muted)
    figure.update_layout(bargap=0)
    return name_kinds(figure, palette)


def look_table(step: LookStep, *, domain: Domain) -> pd.DataFrame:
    """The numbers behind ``draw_look``."""
    return distances_table(step) if step.noise_edge == 0 else axes_table(step, domain=domain)


def axes_table(step: LookStep, *, domain: Domain) -> pd.DataFrame:
    """Every axis with its spread, and how much of each column is in it."""
    axes = np.arange(1, len(step.look.basis) + 1)
    table = pd.DataFrame({"axis": axes, "noisy variance (unit coordinates²)": step.look.captured})
    table["noise alone makes"] = step.noise_edge
    table["may be noise"] = ~clear_axes(step)
    table["in the view"] = axes <= step.axes
    parts = pd.DataFrame(step.look.basis, columns=[f"part of {name}" for name in domain.columns])
    return pd.concat([table, parts], axis=1)


def distances_table(step: LookStep) -> pd.DataFrame:
    """Bins of distances with their noisy counts."""
    edges = np.linspace(0, step.radii_reach, len(step.noisy_radii) + 1)
    table = pd.DataFrame({"from (unit coordinates)": edges[:-1], "to": edges[1:], "noisy count": step.noisy_radii})
    table["noise sd"] = float(np.sqrt(2) * step.radii_scale)
    table["within the reach"] = edges[1:] <= step.look.reach * (1 + 1e-9)
    return table


def describe_look(step: LookStep, *, domain: Domain) -> str:
    """The picture in words."""
    middle = domain.from_unit(step.look.middle[None])[0]
    near = ", ".join(f"{name} {number(float(v))}" for name, v in zip(domain.columns[:4], middle, strict=False))
    return f"{_finding(step)}. {_axes_finding(step, domain)}. {_reach_finding(step)}. The noisy middle lies at {near}."


def describe_axes(step: LookStep, *, domain: Domain) -> str:
    """The picture of ``draw_axes`` in words."""
    return f"{_axes_finding(step, domain)}; the view has {things(step.axes, 'axis', 'axes')}."


def describe_distances(step: LookStep) -> str:
    """The picture of ``draw_distances`` in words."""
    return f"{_reach_finding(step)}. Noise sd of a bin: {number(float(np.sqrt(2) * step.radii_scale))} rows."


def clear_axes(step: LookStep) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Axes whose variance is more than noise alone makes; all, where they are public."""
    clear: np.ndarray[tuple[int], np.dtype[np.bool_]] = (step.look.captured > step.noise_edge) | (step.noise_edge == 0)
    return clear


def _finding(step: LookStep) -> str:
    if step.noise_edge == 0:
        return opening(f"{things(step.axes, 'axis', 'axes')} drawn by lot, because none can be bought without δ")
    clear, axes = int(clear_axes(step).sum()), len(step.look.captured)
    held = min(1.0, float(step.look.captured[: step.axes].sum()) / step.look.spread)
    rise = f"all {count(axes)}" if clear == axes else f"{count(clear)} of {count(axes)}"
    return opening(f"{rise} axes rise over noise; the view holds {percent(round(held, 2))} of the spread")


def _axes_finding(step: LookStep, domain: Domain) -> str:
    if step.noise_edge == 0:
        return f"The {things(step.axes, 'axis', 'axes')} of the view mix all columns, by lot"
    weight = step.look.basis[0] ** 2
    foremost = int(weight.argmax())
    if weight[foremost] >= _MOSTLY:
        return f"Axis 1 is mostly {domain.columns[foremost]}"
    needed = int(np.searchsorted(np.sort(weight)[::-1].cumsum(), _MOSTLY)) + 1
    return f"Axis 1 mixes columns: {count(needed)} of {count(domain.dim)} make up half of it"


def _reach_finding(step: LookStep) -> str:
    possible = number(step.radii_reach)
    if step.look.reach >= step.radii_reach:
        return f"Noise hides how far rows reach: all of {possible} is kept"
    return f"Nearly all rows lie within {number(step.look.reach)} of their middle, of {possible} possible"


def _foremost(step: LookStep) -> Codes:
    """Columns with the largest parts in the axes of the view, in the order of the table."""
    weight = (step.look.basis[: step.axes] ** 2).sum(axis=0)
    return np.sort(np.argsort(-weight, kind="stable")[:_MOST_COLUMNS]).astype(np.int64)


def _axes_title(step: LookStep) -> str:
    doubtful = step.axes - int(clear_axes(step)[: step.axes].sum())
    return "axis of the view" + (" (faded: may be noise)" if doubtful else "")


def _axis_ticks(shown: int) -> dict[str, object]:
    return {"tickmode": "linear", "tick0": 1, "dtick": 1} if shown <= _NUMBERED else {"nticks": 10}


def _short(name: str) -> str:
    return name if len(name) <= _SHORTEST_NAME else f"{name[: _SHORTEST_NAME - 1]}…"


def _add_truth(figure: go.Figure, x: Array | Codes, y: Array, what: str, palette: Palette) -> None:
    figure.add_trace(
        go.Scatter(
            **{"x": x, "y": y.astype(SCREEN), "mode": "markers", "name": legend_name(what, "revealed")},
            marker={"color": palette.revealed, "symbol": "line-ew-open", "size": 8, "line": {"width": 2}},
            meta="revealed",
        )
    )
