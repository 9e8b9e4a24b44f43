"""A private look at rows of many columns: how they spread along the axes it found, and how far they reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpviz.algorithms import ProjectionStep, Step
from dpviz.app.charts.canvas import NUMBER_SIZE, SCREEN, spell_name
from dpviz.app.charts.picture import Companion, Drawing, Picture, RenderContext
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.core import Codes, Domain
from dpviz.words import (
    Kind,
    capitalize_first,
    format_count,
    format_number,
    format_percent,
    format_things,
    join_clauses,
    shorten,
)

# Bars of axes and lines of columns that a phone shows.
_MOST_BARS, _MOST_COLUMNS = 100, 28
# Up to so many bars each has its number, and so many names of columns stand in the usual size.
_NUMBERED, _NAMED = 12, 16
# An axis with this part of its length in one column is mostly that column.
_MOSTLY = 0.5
# The most characters of a column's name.
_NAME = 14
# How strong the band is under which all may be noise.
_BAND = 0.22


class ProjectionPicture(Picture[ProjectionStep]):
    """The spread along every axis; where no axes were bought, how far rows lie from their middle."""

    called = "first look"

    legend_lines = 5

    def finding(self, domain: Domain) -> str:
        step = self.step
        if not _is_bought(step):
            return capitalize_first(
                f"{format_things(step.axes, 'axis', 'axes')} drawn by lot, because none can be bought without δ"
            )
        clear, axes = int(find_clear_axes(step).sum()), len(step.projection.captured)
        rise = f"all {format_count(axes)}" if clear == axes else f"{format_count(clear)} of {format_count(axes)}"
        return capitalize_first(f"{rise} {'axis rises' if axes == 1 else 'axes rise'} over noise")

    def title(self, context: RenderContext) -> str:
        return (
            self.finding(context.view.domain) if _is_bought(self.step) else DistanceHistogram(self.step).title(context)
        )

    def note(self, context: RenderContext) -> str:
        step, shown = self.step, self._shown
        if not _is_bought(step):
            return DistanceHistogram(step).note(context)
        held = min(1.0, float(step.projection.captured[: step.axes].sum()) / step.projection.spread)
        return join_clauses(
            f"the view holds {format_percent(round(held, 2))} of the spread",
            f"grey band: noise alone makes up to {format_number(step.noise_edge)}",
            "" if find_clear_axes(step)[:shown].all() else "faded: may be noise",
            f"the first {shown} of {len(step.projection.captured):,} axes"
            if shown < len(step.projection.captured)
            else "",
        )

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        step, shown, plot = self.step, self._shown, canvas.plot
        if not _is_bought(step):
            DistanceHistogram(step).paint(canvas, context)
            return
        axis = np.arange(1, shown + 1)
        variance = step.projection.captured[:shown]
        clear = find_clear_axes(step)[:shown]
        in_view = axis <= step.axes
        hover = "axis %{x}: variance %{y:.3g}, sd %{customdata:.3g} (released)"
        for name, which, color in (
            (f"the view: axes 1 to {step.axes}", in_view & clear, canvas.palette.released),
            ("other axes", ~in_view & clear, canvas.palette.many),
            ("may be noise", ~clear, canvas.color("released", 0.3)),
        ):
            if which.any():
                heights = variance[which].astype(SCREEN)
                notes = np.sqrt(variance[which]).astype(SCREEN)
                canvas.bars(axis[which], heights, 0.8, name, "released", {"color": color}, hover=hover, notes=notes)
        canvas.band(0, step.noise_edge, strength=_BAND)
        rows = context.find_rows(context.view.domain.region)
        if rows is not None:
            true = (((rows - step.projection.middle) @ step.projection.basis[:shown].T) ** 2).mean(axis=0)
            canvas.ticks(axis, true, "true variances", hover="axis %{x}: true variance %{y:.3g} (revealed)")
        ticks = {"tickmode": "linear", "tick0": 1, "dtick": 1} if shown <= _NUMBERED else {"nticks": 10}
        top = max(float(variance.max()), step.noise_edge)
        plot.update_xaxes(range=[0.4, shown + 0.6], title_text="axis, the widest first", **ticks)
        plot.update_yaxes(range=[0, 1.06 * top], title_text="variance along it (unit coordinates²)")
        plot.update_layout(bargap=0)

    def table(self, domain: Domain) -> pd.DataFrame:
        return (Axes(self.step) if _is_bought(self.step) else DistanceHistogram(self.step)).table(domain)

    def words(self, domain: Domain) -> str:
        middle = zip(domain.columns[:4], domain.from_unit(self.step.projection.middle[None])[0], strict=False)
        near = ", ".join(f"{name} {format_number(float(value))}" for name, value in middle)
        findings = [drawing(self.step).finding(domain) for drawing in (ProjectionPicture, Axes, DistanceHistogram)]
        return f"{'. '.join(findings)}. The noisy middle lies at {near}."

    def companions(self, context: RenderContext, steps: Sequence[Step]) -> Iterator[Companion]:
        bought = _is_bought(self.step)
        yield Companion("Axes", Axes(self.step), "released" if bought else "public")
        # Else they are the picture itself.
        if bought:
            yield Companion("Distances", DistanceHistogram(self.step))

    @property
    def _shown(self) -> int:
        return min(len(self.step.projection.captured), _MOST_BARS)


class Axes(Drawing[ProjectionStep]):
    """What the axes of the view are made of: a signed map, the columns that matter most by the axes."""

    legend_lines = 3

    def finding(self, domain: Domain) -> str:
        if not _is_bought(self.step):
            return f"The {format_things(self.step.axes, 'axis', 'axes')} of the view mix all columns, by lot"
        weight = self.step.projection.basis[0] ** 2
        foremost = int(weight.argmax())
        if weight[foremost] >= _MOSTLY:
            return f"Axis 1 is mostly {domain.columns[foremost]}"
        needed = int(np.searchsorted(np.sort(weight)[::-1].cumsum(), _MOSTLY)) + 1
        return f"Axis 1 mixes columns: {format_count(needed)} of {format_count(domain.dim)} make up half of it"

    def note(self, context: RenderContext) -> str:
        how = "how much of each column is in an axis, with its sign"
        dim = context.view.domain.dim
        columns = self._columns()
        held = format_percent(
            float((self.step.projection.basis[: self.step.axes, columns] ** 2).sum()) / self.step.axes
        )
        some = f"{len(columns)} of {dim:,} columns, {held} of these axes" if len(columns) < dim else ""
        return join_clauses(how if _is_bought(self.step) else "public coins: no row had a say", some)

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        step, plot = self.step, canvas.plot
        columns = self._columns()
        kind: Kind = "released" if _is_bought(step) else "public"
        loadings = step.projection.basis[: step.axes, columns]
        largest, axis = float(np.abs(loadings).max()), np.arange(1, step.axes + 1)
        names = [context.view.domain.columns[c] for c in columns]
        ticks = {"tickvals": [-largest, 0, largest], "ticktext": [format_number(-largest), "0", format_number(largest)]}
        plot.update_layout(showlegend=False)
        canvas.cells(
            loadings.T,
            kind,
            hover="%{text}: %{z:.2f}",
            bar=canvas.color_bar(f"part in the axis ({kind})", **ticks),
            text=[[f"{spell_name(name)} in axis {a}" for a in axis] for name in names],
            colorscale=[list(stop) for stop in canvas.palette.diverging],
            **{"x": axis, "y": np.arange(len(names)), "xgap": 2, "ygap": 1, "zmin": -largest, "zmax": largest},
        )
        doubtful = axis[~find_clear_axes(step)[: step.axes]]
        veil = canvas.palette.fade(canvas.palette.surface, 0.6)
        for a in doubtful:
            plot.add_vrect(x0=a - 0.5, x1=a + 0.5, line_width=0, layer="above", fillcolor=veil)
        words = "axis of the view" + (" (faded: may be noise)" if len(doubtful) else "")
        size = NUMBER_SIZE if len(names) <= _NAMED else 9
        short = [spell_name(shorten(name, _NAME)) for name in names]
        plot.update_xaxes(tickvals=axis, ticktext=[str(a) for a in axis], tickangle=0)
        plot.update_xaxes(range=[0.5, step.axes + 0.5], showgrid=False, title_text=words)
        plot.update_yaxes(tickvals=np.arange(len(names)), ticktext=short, tickfont={"size": size})
        plot.update_yaxes(autorange="reversed", showgrid=False)

    def table(self, domain: Domain) -> pd.DataFrame:
        """Every axis with its spread, and how much of each column is in it."""
        step = self.step
        axes = np.arange(1, len(self.step.projection.basis) + 1)
        table = pd.DataFrame({"axis": axes, "noisy variance (unit coordinates²)": step.projection.captured})
        table["noise alone makes"] = step.noise_edge
        table["may be noise"], table["in the view"] = ~find_clear_axes(step), axes <= step.axes
        parts = pd.DataFrame(step.projection.basis, columns=[f"part of {name}" for name in domain.columns])
        return pd.concat([table, parts], axis=1)

    def words(self, domain: Domain) -> str:
        return f"{self.finding(domain)}; the view has {format_things(self.step.axes, 'axis', 'axes')}."

    def _columns(self) -> Codes:
        """Columns with the largest parts in the axes of the view, in the order of the table."""
        weight = (self.step.projection.basis[: self.step.axes] ** 2).sum(axis=0)
        return np.sort(np.argsort(-weight, kind="stable")[:_MOST_COLUMNS]).astype(np.int64)


class DistanceHistogram(Drawing[ProjectionStep]):
    """The noisy histogram of distances from the middle, with the clipping radius that was chosen on it."""

    def finding(self, domain: Domain) -> str:
        clipping_radius = self.step.projection.clipping_radius
        possible = format_number(self.step.outer_radius)
        if clipping_radius >= self.step.outer_radius:
            return f"Noise hides how far rows reach: all of {possible} is kept"
        return f"Nearly all rows lie within {format_number(clipping_radius)} of their middle, of {possible} possible"

    def note(self, context: RenderContext) -> str:
        band = f"grey band: within 1 sd = {format_number(self._sd)} rows"
        return join_clauses(band, "dashed: the clipping radius, beyond which hardly any row was found")

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        step, plot = self.step, canvas.plot
        bins = len(self.step.noisy_radii)
        edges = self._edges()
        middle = (edges[1:] + edges[:-1]) / 2
        width = np.diff(edges)
        hover = "%{y:.4g} rows (released), %{x:.3g} from the middle"
        inside = self._inside()
        for name, which, strength in (("rows within the clipping radius", inside, 0.9), ("beyond it", ~inside, 0.35)):
            if which.any():
                x, y, wide = (values[which].astype(SCREEN) for values in (middle, step.noisy_radii, width))
                canvas.bars(x, y, wide, name, "released", strength=strength, hover=hover)
        canvas.band(-self._sd, self._sd, strength=_BAND)
        plot.add_vline(
            x=step.projection.clipping_radius, line={"color": canvas.palette.text, "width": 1.5, "dash": "dash"}
        )
        rows = context.find_rows(context.view.domain.region)
        if rows is not None:
            far = np.linalg.norm(rows - step.projection.middle, axis=1)
            place = np.minimum(far / step.outer_radius * bins, bins - 1).astype(np.int64)
            true = np.bincount(place, minlength=bins).astype(np.float64)
            canvas.ticks(middle, true, "true counts", hover="%{y:,.0f} rows (revealed), %{x:.3g} from the middle")
        words = "distance from the middle (unit coordinates)"
        plot.update_xaxes(range=[0, step.outer_radius], title_text=words, zeroline=False)
        plot.update_yaxes(title_text="rows per bin (noisy)", zeroline=True, zerolinecolor=canvas.palette.muted)
        plot.update_layout(bargap=0)

    def table(self, domain: Domain) -> pd.DataFrame:
        """Bins of distances with their noisy counts."""
        edges = self._edges()
        bins = {"from (unit coordinates)": edges[:-1], "to": edges[1:], "noisy count": self.step.noisy_radii}
        return pd.DataFrame(bins | {"noise sd": self._sd, "within the clipping radius": self._inside()})

    def words(self, domain: Domain) -> str:
        return f"{self.finding(domain)}. Noise sd of a bin: {format_number(self._sd)} rows."

    def _edges(self) -> npt.NDArray[np.float64]:
        return np.linspace(0, self.step.outer_radius, len(self.step.noisy_radii) + 1)

    def _inside(self) -> npt.NDArray[np.bool_]:
        """Which bins lie within the clipping radius."""
        inside: npt.NDArray[np.bool_] = self._edges()[1:] <= self.step.projection.clipping_radius * (1 + 1e-9)
        return inside

    @property
    def _sd(self) -> float:
        return float(np.sqrt(2) * self.step.radii_scale)


def find_clear_axes(step: ProjectionStep) -> npt.NDArray[np.bool_]:
    """Axes whose variance is more than noise alone makes; all, where they are public."""
    clear: npt.NDArray[np.bool_] = (step.projection.captured > step.noise_edge) | (not _is_bought(step))
    return clear


def _is_bought(step: ProjectionStep) -> bool:
    """Whether the axes were bought; else they come from public coins."""
    return step.noise_edge > 0
