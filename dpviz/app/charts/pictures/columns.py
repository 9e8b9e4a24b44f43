"""Many columns: those that each cluster kept, and a private look at how rows spread along a few axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import floor, log10

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpviz.algorithms import CoordinatesStep, ProjectionStep, Step
from dpviz.app.charts.canvas import NUMBER_SIZE, SCREEN, PlotCanvas, spell_name
from dpviz.app.charts.picture import Chart, Companion, RenderContext
from dpviz.words import Kind, capitalize_first, format_count, format_number, format_percent, format_things, shorten

# Lines and columns of the map that a phone shows.
_MOST_CHOSEN, _MOST_CLUSTERS = 20, 16


def draw_coordinates(step: CoordinatesStep, context: RenderContext) -> Chart:
    """A heat map, the columns of largest mean by clusters; what was not chosen or lies within its noise stays blank."""
    columns, (k, kept) = context.view.domain.columns, step.coordinates.shape
    standing = np.count_nonzero(step.noisy_means)
    verb = "stands" if standing == 1 else "stand"
    title = f"{standing:,} of {k * kept:,} chosen coordinates {verb} out of the noise"
    # The largest clusters, in their own order.
    clusters = np.sort(np.argsort(-step.noisy_counts, kind="stable")[:_MOST_CLUSTERS])
    left = k - len(clusters)
    some = f"the {_MOST_CLUSTERS} largest clusters; {left} more in the table" if left else ""
    largest = int(np.argmax(step.noisy_counts))
    best = int(np.argmax(np.abs(step.noisy_means[largest])))
    name, mean = columns[step.coordinates[largest, best]], format_number(float(step.noisy_means[largest, best]))

    def paint(canvas: PlotCanvas) -> None:
        # Columns in the order of their largest mean in any of the drawn clusters.
        flat, size = step.coordinates[clusters].ravel(), np.abs(step.noisy_means[clusters]).ravel()
        order = np.argsort(-size, kind="stable")
        plot, foremost = canvas.plot, list(dict.fromkeys(flat[order[size[order] > 0]].tolist()))[:_MOST_CHOSEN]
        means = np.full((len(foremost), len(clusters)), np.nan)
        for x, j in enumerate(clusters):
            place = {int(c): i for i, c in enumerate(step.coordinates[j])}
            for y, i in [(y, place[c]) for y, c in enumerate(foremost) if c in place]:
                means[y, x] = step.noisy_means[j, i] if step.noisy_means[j, i] != 0 else np.nan
        reach = round_up_range(float(np.nanmax(np.abs(means)))) if np.isfinite(means).any() else 1.0
        across, down = np.arange(len(clusters)), np.arange(len(foremost))
        plot.update_layout(showlegend=False)
        look = {"x": across, "y": down, "xgap": 1, "ygap": 1, "zmin": -reach, "zmax": reach}
        look["colorscale"] = canvas.palette.diverging
        text = [[f"cluster {j + 1}, {spell_name(columns[c])}" for j in clusters] for c in foremost]
        bar = canvas.color_bar("mean (unit coordinates)")
        canvas.cells(means, "released", hover="%{text}: %{z:.3g}", bar=bar, text=text, **look)
        # The most characters of a column's name.
        names = [spell_name(shorten(columns[c], 18)) for c in foremost]
        numbers = [str(j + 1) for j in clusters]
        plot.update_xaxes(tickvals=across, ticktext=numbers, showgrid=False, title_text="cluster")
        plot.update_yaxes(tickvals=down, ticktext=names, autorange="reversed", showgrid=False)
        plot.update_yaxes(tickfont={"size": NUMBER_SIZE - 1})

    def tabulate() -> pd.DataFrame:
        """Every chosen coordinate with its noisy mean, largest first within a cluster."""
        names = [columns[c] for c in step.coordinates.ravel()]
        frame = pd.DataFrame({"cluster": np.repeat(np.arange(1, k + 1), kept), "column": names})
        frame["mean (unit coordinates)"] = step.noisy_means.ravel()
        frame["noise (sd)"] = np.repeat(step.noise_sd, kept)
        return frame.iloc[np.lexsort((-np.abs(step.noisy_means.ravel()), frame["cluster"]))].reset_index(drop=True)

    note = (step.title, "blank: not chosen, or within its noise", some)
    words = f"{title}. The largest cluster is strongest in {name}, with a noisy mean of {mean}."
    return Chart(context, title, note, words, paint, legend_lines=3, table=tabulate)  # a colour bar takes their place


def round_up_range(value: float) -> float:
    """``value`` up to 1, 2 or 5 times a power of ten, so that a scale changes seldom from one step to the next."""
    unit = 10.0 ** floor(log10(value))
    return float(f"{next(step * unit for step in (1, 2, 5, 10) if value <= step * unit * (1 + 1e-9)):.0e}")


# Bars of axes and lines of columns that a phone shows.
_MOST_BARS, _MOST_COLUMNS = 100, 28
# Up to so many bars each has its number, and so many names of columns stand in the usual size.
_NUMBERED, _NAMED = 12, 16
# An axis with this part of its length in one column is mostly that column.
_MOSTLY = 0.5
# How strong the band is under which all may be noise.
_BAND = 0.22
# Lines of the legend of the picture.
_LEGEND = 5


def draw_projection(step: ProjectionStep, context: RenderContext) -> Chart:
    """The spread along every axis; where no axes were bought, how far rows lie from their middle."""
    domain, axes, distances = context.view.domain, draw_axes(step, context), draw_distances(step, context)
    middle = zip(domain.columns[:4], domain.from_unit(step.projection.middle[None])[0], strict=False)
    near = ", ".join(f"{name} {format_number(float(value))}" for name, value in middle)
    # Rows may be left out of a declared number and noise hide it: whatever is divided says by how many rows.
    taken = f"taken for {format_number(step.rows)} rows"
    told = f"{axes.title}. {distances.title}. {capitalize_first(taken)}, their noisy middle is {near}."
    if not _is_bought(step):
        lots = format_things(step.axes, "axis", "axes")
        drawn = capitalize_first(f"{lots} drawn by lot, because none can be bought without δ")
        return replace(distances, words=f"{drawn}. {told}", legend_lines=_LEGEND)
    clear, captured = find_clear_axes(step), step.projection.captured
    rise, number = format_count(int(clear.sum())), format_count(len(captured))
    rise = f"all {number}" if clear.all() else f"{rise} of {number}"
    title = capitalize_first(f"{rise} {'axis rises' if len(captured) == 1 else 'axes rise'} over noise")
    shown = min(len(captured), _MOST_BARS)
    held = min(1.0, float(captured[: step.axes].sum()) / step.projection.spread)
    holds = f"the view holds {format_percent(round(held, 2))} of the spread"
    band = f"grey band: noise alone makes up to {format_number(step.noise_edge)}"
    some = f"the first {shown} of {len(captured):,} axes" if shown < len(captured) else ""
    note = (holds, band, "" if clear[:shown].all() else "faded: may be noise", some)

    def paint(canvas: PlotCanvas) -> None:
        axis, variance = np.arange(1, shown + 1), captured[:shown]
        in_view, sure = axis <= step.axes, clear[:shown]
        hover = "axis %{x}: variance %{y:.3g}, sd %{customdata:.3g} (released)"
        for name, which, color in (
            (f"the view: axes 1 to {step.axes}", in_view & sure, canvas.palette.released),
            ("other axes", ~in_view & sure, canvas.palette.many),
            ("may be noise", ~sure, canvas.color("released", 0.3)),
        ):
            if which.any():
                heights, notes = variance[which].astype(SCREEN), np.sqrt(variance[which]).astype(SCREEN)
                canvas.bars(axis[which], heights, 0.8, name, "released", {"color": color}, hover=hover, notes=notes)
        canvas.band(0, step.noise_edge, strength=_BAND)
        rows = context.find_rows(domain.region)
        if rows is not None:
            true = (((rows - step.projection.middle) @ step.projection.basis[:shown].T) ** 2).mean(axis=0)
            canvas.ticks(axis, true, "true variances", hover="axis %{x}: true variance %{y:.3g} (revealed)")
        ticks = {"tickmode": "linear", "tick0": 1, "dtick": 1} if shown <= _NUMBERED else {"nticks": 10}
        top = max(float(variance.max()), step.noise_edge)
        canvas.plot.update_xaxes(range=[0.4, shown + 0.6], title_text="axis, the widest first", **ticks)
        canvas.plot.update_yaxes(range=[0, 1.06 * top], title_text=f"variance, {taken}")
        canvas.plot.update_layout(bargap=0)

    return Chart(context, title, note, f"{title}. {told}", paint, legend_lines=_LEGEND, table=axes.table)


def list_beside_projection(step: ProjectionStep, steps: Sequence[Step], context: RenderContext) -> Iterator[Companion]:
    """What the axes are made of; and the distances, unless they are the picture itself."""
    yield Companion("Axes", draw_axes(step, context))
    if _is_bought(step):
        yield Companion("Distances", draw_distances(step, context))


def draw_axes(step: ProjectionStep, context: RenderContext) -> Chart:
    """What the axes of the view are made of: a signed map, the columns that matter most by the axes."""
    domain, basis = context.view.domain, step.projection.basis
    kind: Kind = "released" if _is_bought(step) else "public"
    parts = basis[: step.axes] ** 2
    # Columns with the largest parts in the axes of the view, in the order of the table.
    columns = np.sort(np.argsort(-parts.sum(axis=0), kind="stable")[:_MOST_COLUMNS]).astype(np.int64)
    held = format_percent(float(parts[:, columns].sum()) / step.axes)
    some = f"{len(columns)} of {domain.dim:,} columns, {held} of these axes" if len(columns) < domain.dim else ""
    number = format_things(step.axes, "axis", "axes")
    weight, how = basis[0] ** 2, "how much of each column is in an axis, with its sign"
    foremost = int(weight.argmax())
    title = f"Axis 1 is mostly {domain.columns[foremost]}"
    if kind == "public":
        title, how = f"The {number} of the view mix all columns, by lot", "public coins: no row had a say"
    elif weight[foremost] < _MOSTLY:
        needed = int(np.searchsorted(np.sort(weight)[::-1].cumsum(), _MOSTLY)) + 1
        title = f"Axis 1 mixes columns: {format_count(needed)} of {format_count(domain.dim)} make up half of it"

    def paint(canvas: PlotCanvas) -> None:
        plot, loadings = canvas.plot, basis[: step.axes, columns]
        largest, axis = float(np.abs(loadings).max()), np.arange(1, step.axes + 1)
        names = [domain.columns[c] for c in columns]
        ends = [format_number(-largest), "0", format_number(largest)]
        plot.update_layout(showlegend=False)
        look = {"x": axis, "y": np.arange(len(names)), "xgap": 2, "ygap": 1, "zmin": -largest, "zmax": largest}
        text = [[f"{spell_name(name)} in axis {a}" for a in axis] for name in names]
        told = {"text": text, "colorscale": [list(stop) for stop in canvas.palette.diverging]}
        bar = canvas.color_bar(f"part in the axis ({kind})", tickvals=[-largest, 0, largest], ticktext=ends)
        canvas.cells(loadings.T, kind, hover="%{text}: %{z:.2f}", bar=bar, **told, **look)
        doubtful = axis[~find_clear_axes(step)[: step.axes]]
        veil = canvas.palette.fade(canvas.palette.surface, 0.6)
        for a in doubtful:
            plot.add_vrect(x0=a - 0.5, x1=a + 0.5, line_width=0, layer="above", fillcolor=veil)
        words = "axis of the view" + (" (faded: may be noise)" if len(doubtful) else "")
        size = NUMBER_SIZE if len(names) <= _NAMED else 9
        # The most characters of a column's name.
        short = [spell_name(shorten(name, 14)) for name in names]
        plot.update_xaxes(tickvals=axis, ticktext=[str(a) for a in axis], tickangle=0)
        plot.update_xaxes(range=[0.5, step.axes + 0.5], showgrid=False, title_text=words)
        plot.update_yaxes(tickvals=np.arange(len(names)), ticktext=short, tickfont={"size": size})
        plot.update_yaxes(autorange="reversed", showgrid=False)

    def tabulate() -> pd.DataFrame:
        """Every axis with its spread, and how much of each column is in it."""
        axes = np.arange(1, len(basis) + 1)
        table = pd.DataFrame({"axis": axes, "noisy variance (unit coordinates²)": step.projection.captured})
        table["noise alone makes"], table["taken for rows"] = step.noise_edge, step.rows
        table["may be noise"], table["in the view"] = ~find_clear_axes(step), axes <= step.axes
        return pd.concat([table, pd.DataFrame(basis, columns=[f"part of {name}" for name in domain.columns])], axis=1)

    words = f"{title}; the view has {number}."
    return Chart(context, title, (how, some), words, paint, legend_lines=3, table=tabulate, kind=kind)


def draw_distances(step: ProjectionStep, context: RenderContext) -> Chart:
    """The noisy histogram of distances from the middle, with the clipping radius that was chosen on it."""
    radius, outer, counts = step.projection.clipping_radius, step.outer_radius, step.noisy_radii
    possible, sd = format_number(outer), float(np.sqrt(2) * step.radii_scale)
    # Where rows were left out their middle is known better once they are counted.
    which_middle = "the middle" if np.array_equal(step.read_around, step.projection.middle) else "a first middle"
    title = f"Rows farther than {format_number(radius)} from their middle are clipped, of {possible} possible"
    if radius >= outer:
        title = f"Noise hides how far rows reach: all of {possible} is kept"
    edges = np.linspace(0, outer, len(counts) + 1)
    inside = edges[1:] <= radius * (1 + 1e-9)

    def paint(canvas: PlotCanvas) -> None:
        plot, bins, middle = canvas.plot, len(counts), (edges[1:] + edges[:-1]) / 2
        hover = "%{y:.4g} rows (released), %{x:.3g} from the middle"
        for name, which, strength in (("rows within the clipping radius", inside, 0.9), ("beyond it", ~inside, 0.35)):
            if which.any():
                x, y, wide = (values[which].astype(SCREEN) for values in (middle, counts, np.diff(edges)))
                canvas.bars(x, y, wide, name, "released", strength=strength, hover=hover)
        canvas.band(-sd, sd, strength=_BAND)
        plot.add_vline(x=radius, line={"color": canvas.palette.text, "width": 1.5, "dash": "dash"})
        rows = context.find_rows(context.view.domain.region)
        if rows is not None:
            far = np.linalg.norm(rows - step.read_around, axis=1)
            place = np.minimum(far / outer * bins, bins - 1).astype(np.int64)
            true = np.bincount(place, minlength=bins).astype(np.float64)
            canvas.ticks(middle, true, "true counts", hover="%{y:,.0f} rows (revealed), %{x:.3g} from the middle")
        distance = f"distance from {which_middle} (unit coordinates)"
        plot.update_xaxes(range=[0, outer], title_text=distance, zeroline=False)
        plot.update_yaxes(title_text="rows per bin (noisy)", zeroline=True, zerolinecolor=canvas.palette.muted)
        plot.update_layout(bargap=0)

    def tabulate() -> pd.DataFrame:
        """Bins of distances with their noisy counts."""
        bins = {"from (unit coordinates)": edges[:-1], "to": edges[1:], "noisy count": counts}
        return pd.DataFrame(bins | {"noise sd": sd, "within the clipping radius": inside})

    band = f"grey band: within 1 sd = {format_number(sd)} rows"
    note = (band, "dashed: the clipping radius, beyond which too few rows stood out of the noise")
    return Chart(context, title, note, f"{title}. Noise sd of a bin: {format_number(sd)} rows.", paint, table=tabulate)


def find_clear_axes(step: ProjectionStep) -> npt.NDArray[np.bool_]:
    """Axes whose variance is more than noise alone makes; all, where they are public."""
    return (step.projection.captured > step.noise_edge) | (not _is_bought(step))


def _is_bought(step: ProjectionStep) -> bool:
    """Whether the axes were bought; else they come from public coins."""
    return step.noise_edge > 0
