"""Where errors are from: who pays, by which part of an algorithm, and how much at each ε and n."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, log10
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpviz.app.charts.canvas import NUMBER_SIZE, Diagram, add_note, new_plot, place_below_plot, spell_name
from dpviz.app.charts.plot import WORDS, Data, Plot, make_epsilon_axis, make_log_axis
from dpviz.app.charts.studies.curves import describe_runs
from dpviz.core import Array
from dpviz.runs import error_parts, find_crossing
from dpviz.words import CLUSTER_MARKS, Palette, format_number, format_percent, format_ratio, join_clauses, shorten

# Missed in more draws than these: hollow.
_MISSED = 0.2
_MOST_NAMED, _NAME = 14, 12
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
        plot = new_plot(palette, height=378, legend_lines=1)
        shown = [one for one in paid.payers if isfinite(one.loss) and one.loss > 0]
        for kind, symbol, told in _KINDS:
            some = [one for one in shown if one.kind == kind]
            named, rim = len(some) <= _MOST_NAMED, {"width": 1.6, "color": palette.revealed}
            colors = [palette.surface if one.missed > _MISSED else palette.revealed for one in some]
            marker = {"symbol": symbol, "size": 11, "color": colors, "line": rim}
            words: dict[str, Any] = {"textposition": "top center", "textfont": {"size": 11, "color": palette.text}}
            words["text"] = [spell_name(shorten(one.name, _NAME)) for one in some] if named else None
            look = {"customdata": [_describe_payer(one) for one in some], "marker": marker, "meta": "revealed", **words}
            x, y, mode = [one.rows for one in some], [one.loss for one in some], "markers+text" if named else "markers"
            if some:
                plot.add_scatter(x, y, mode, listed=f"◉ {told}", hover="%{customdata}", **look)
        sizes = np.log10([one.rows for one in shown] or [1, 10])
        # The axis of losses goes at least so far: nearly the same loss should look nearly the same.
        losses = np.log10([*[one.loss for one in shown], 1.0, 2.0])
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

    runs, hollow = describe_runs([paid.draws]), f"hollow: missed in more than {format_percent(_MISSED)} of the draws"
    note = join_clauses("loss over that of k-means++, medians", runs, name, hollow, smallest)
    words = f"{finding}. {', '.join(each)}. {smallest}".rstrip(". ") + "."
    return Diagram("who-pays", finding, note, words, paint, tabulate)


def _describe_payer(one: error_parts.Payer) -> str:
    size = f"<br>size off by {format_percent(one.size_error)}" if isfinite(one.size_error) else ""
    head = f"{one.kind} {spell_name(one.name)}: {one.rows:,} rows"
    return f"{head}<br>loses {format_ratio(one.loss)}, missed {format_percent(one.missed)}{size}"


def _make_axis(values: Array) -> dict[str, Any]:
    """An axis of powers of ten, with room for marks and their names."""
    low, high = float(values.min()), float(values.max())
    air = 0.12 * max(float(np.ptp(values)), 0.5)
    return {**make_log_axis(low, high), "range": [low - air, high + air]}


# Beside the longest bar, for its number.
_AIR, _LITTLE_AIR = 0.36, 0.03
# Parts below this share of the loss of k-means++ are not worth naming; below the other they are rounding.
_NOTHING, _ROUNDING = 0.005, 1e-9


class _Bar(NamedTuple):
    """From ``base`` on, in units of the loss of k-means++ above it; the number beside it."""

    name: str
    base: float
    length: float
    text: str
    about: str = ""

    @property
    def tip(self) -> float:
        return self.base + self.length


def draw_waterfall(error: error_parts.ErrorParts, name: str, epsilon: float) -> Diagram:
    """Bars from top to bottom, each beginning where the one before ends; in percent of the loss of k-means++, above it.

    Where k-means++ loses nothing, the unit is the loss per row itself.
    """
    relative = error.kmeans > 0
    unit, scale = (error.kmeans, 100) if relative else (1.0, 1)
    finding, clipping = f"At ε = {epsilon:g}, {_describe_excess(error, name)}", "judged on rows inside the bounds"
    if error.clip is not None:
        moved = f"clipping alone moves them by {format_number(error.clip.value)} a row (unit coordinates²)"
        clipping = f"judged on clipped rows; {moved}" if error.clip.value else "the bounds clip no row"
    bars = _list_bars(error, unit)

    def paint(palette: Palette) -> Plot:
        plot = new_plot(palette, height=358, legend_lines=0)
        inner = [palette.revealed if bar.length >= 0 else CLUSTER_MARKS[2].color for bar in bars[1:-1]]
        colors, places = [palette.public, *inner, palette.public], list(range(len(bars)))
        drawn: Data = {"x": [scale * one.length for one in bars], "base": [scale * one.base for one in bars]}
        drawn["y"] = places
        drawn |= {"type": "bar", "orientation": "h", "width": 0.62, "marker": {"color": colors}, "meta": "bars"}
        hover = "<b>%{customdata[0]}</b>: %{x:.3g}<br>%{customdata[1]}"
        plot.add_drawn(drawn, hover=hover, customdata=[(bar.name, bar.about) for bar in bars])
        for place, bar in enumerate(bars):
            # The number stands right of the bar, whichever way the bar goes.
            right = scale * max(bar.base, bar.tip)
            add_note(plot, bar.text, palette.text, {"x": right, "y": place, "xanchor": "left", "xshift": 5})
        dotted = {"color": palette.muted, "width": 1, "dash": "dot"}
        for place, bar in enumerate(bars[:-1]):
            x = {"x0": scale * bar.tip, "x1": scale * bar.tip}
            plot.add_shape(type="line", **x, y0=place - 0.31, y1=place + 1.31, line=dotted, layer="below")
        ends = [scale * end for bar in bars for end in (bar.base, bar.tip)]
        span = (max(ends) - min(ends)) or 1.0
        axis = "loss above k-means++ (%)" if relative else "loss per row (unit coordinates²)"
        plot.update_xaxes(range=[min(ends) - _LITTLE_AIR * span, max(ends) + _AIR * span], title_text=axis)
        plot.update_xaxes(zeroline=True, zerolinecolor=palette.muted)
        plot.update_yaxes(range=[len(bars) - 0.5, -0.5], tickvals=places, ticktext=[bar.name for bar in bars])
        plot.update_yaxes(showgrid=False, zeroline=False)
        return plot

    def tabulate() -> pd.DataFrame:
        """Losses per row in unit coordinates squared, with what was switched off for each."""
        rows = [("k-means++", error.kmeans, error.kmeans, error.kmeans, "on the clipped rows, without privacy")]
        rows += [(part.name, part.value, part.q25, part.q75, part.about) for part in error.parts]
        rows.append(("private", error.private, error.private, error.private, f"median of {error.runs} runs"))
        if (clip := error.clip) is not None:
            rows.append((f"beside these: {clip.name}", clip.value, clip.q25, clip.q75, clip.about))
        names = ["part", "loss per row", "25 % of runs", "75 % of runs", "how it is measured"]
        table = pd.DataFrame(rows, columns=names)
        table.insert(2, "of k-means++", table["loss per row"] / unit)
        return table

    runs, at = describe_runs([error.runs]), f"{name}, ε = {epsilon:g}"
    whole = "" if error.quantised else "no synopsis: rows are read to the end, so quantising loses nothing"
    note = join_clauses("bars: differences of median losses", runs, at, whole, clipping)
    first, *parts, last = bars
    steps = ", ".join(f"{bar.name} {bar.text}" for bar in parts)
    words = f"{finding}. Median loss from {first.text} to {last.text}: {steps}. {clipping[:1].upper()}{clipping[1:]}."
    return Diagram("where-the-error-comes-from", finding, note, words, paint, tabulate)


def _describe_excess(error: error_parts.ErrorParts, name: str) -> str:
    """How much is lost on top of k-means++, and to what the largest part."""
    excess, relative = error.private - error.kmeans, error.kmeans > 0
    unit = error.kmeans if relative else 1.0
    if abs(excess) <= _NOTHING * unit:
        return f"{name} loses next to nothing against k-means++"
    lost = format_percent(abs(excess) / unit) if relative else format_number(abs(excess))
    if excess < 0:
        return f"{name} beats k-means++ by {lost}"
    largest = max(error.parts, key=lambda part: part.value)
    return f"{name} loses {lost} on top of k-means++, the largest part to {WORDS.by_key[f'cause_{largest.name}']}"


def _list_bars(error: error_parts.ErrorParts, unit: float) -> list[_Bar]:
    """k-means++, what each part adds, and the private loss."""
    whole, part_of = (format_ratio, format_percent) if error.kmeans > 0 else (format_number, format_number)
    bars = [_Bar("k-means++", 0.0, 0.0, whole(error.kmeans / unit))]
    for part in error.parts:
        length = part.value / unit
        shown = 0.0 if abs(length) <= _ROUNDING else length
        sign = "+" if shown > 0 else "−" if shown < 0 else "±"
        bars.append(_Bar(part.name, bars[-1].tip, length, sign + part_of(abs(shown)), part.about))
    return [*bars, _Bar("private", 0.0, error.private / unit - error.kmeans / unit, whole(error.private / unit))]


# Lines of equal utility, as losses over that of k-means++; the first is what the title speaks of.
ISO = (1.1, 1.02, 1.5, 3.0)
# Seen on yellow and on blue, and not the orange of what was revealed.
_LINE = "#d4145a"
# A label's part of the width of a plot on a phone, twice as it may lie on either side, and its height in pixels.
_LABEL_SHARE, _LABEL_PIXELS = 0.3, 16
# Losses from here on look alike.
_WORST = 10.0


class Crossing(NamedTuple):
    """Where a line of equal utility crosses one n."""

    loss: float
    n: int
    epsilon: float


def draw_epsilon_n_map(
    runs: pd.DataFrame, name: str, epsilons: Sequence[float], ns: Sequence[int], own: int | None = None
) -> Diagram:
    """A cell for each ε and n with its median loss over that of k-means++; lines along which the loss is the same."""
    crossings = find_crossings(runs)
    n = min(ns, key=lambda one: abs(log10(one / (own or max(ns)))))
    finding = _describe_own(runs[runs["n"] == n], name, n, crossings)
    ten = [f"n = {one.n:,}: ε = {one.epsilon:.2g}" for one in crossings if one.loss == ISO[0]]
    line = f" Within {format_percent(ISO[0] - 1)}: {'; '.join(ten)}." if ten else ""

    def paint(palette: Palette) -> Plot:
        plot = new_plot(palette, height=478, legend_lines=2)
        cells = runs.pivot_table("ratio", index="n", columns="epsilon", aggfunc="median")
        # NaN where nothing has run yet.
        medians: Array = cells.reindex(index=list(ns), columns=list(epsilons)).to_numpy(np.float64)
        shades = np.log10(np.clip(medians, 1.0, _WORST))
        right, top = _find_edges(epsilons), _find_edges(ns)
        bar: Data = {"tickvals": [log10(level) for level in (1, 1.5, 2, 3, 5, 10)], "thickness": 10}
        bar |= {"ticktext": ["1×", "1.5×", "2×", "3×", "5×", "≥10×"], "tickfont": {"size": NUMBER_SIZE}}
        bar["ticklabeloverflow"] = "allow"
        drawn: Data = {"type": "heatmap", "x": right, "y": top, "z": shades, "zmin": 0.0, "zmax": log10(_WORST)}
        drawn |= {"colorscale": palette.sequential, "reversescale": True, "xgap": 1, "ygap": 1, "meta": "cells"}
        drawn |= {"customdata": medians, "colorbar": place_below_plot(plot.layout) | bar}
        plot.add_drawn(drawn, hover="median loss %{customdata:.3g} × k-means++", showlegend=None)
        _add_equal_lines(plot, crossings, log10(max(epsilons) / min(epsilons)), palette)
        if len(epsilons) <= 9:  # over the lines, so that every number can be read
            row, column = np.nonzero(np.isfinite(medians))
            x, y = np.asarray(epsilons)[column], np.asarray(ns)[row]
            # White on the dark end of the scale, of large losses, and black on the pale one.
            inks = ["#ffffff" if shade > 0.5 else "#000000" for shade in shades[row, column]]
            font, text = {"size": 10, "color": inks}, [f"{100 * (loss - 1):.0f}" for loss in medians[row, column]]
            # Lines of equal loss meet in the middles of cells.
            plot.add_scatter(x, y, "text", text=text, textposition="top center", textfont=font, meta="numbers")
        across, up = np.log10(right), np.log10(top)
        plot.update_xaxes(**make_epsilon_axis(min(epsilons), max(epsilons)))
        plot.update_xaxes(range=[across[0], across[-1]], showgrid=False)
        plot.update_yaxes(**make_log_axis(up[0], up[-1]), range=[up[0], up[-1]], title_text="n, rows", showgrid=False)
        plot.update_yaxes(tickvals=list(ns), ticktext=[f"{n:,}" for n in ns])
        if own is not None and own <= max(ns):
            # A frame around the row of cells with the user's n; a line where it lies between two that were tried.
            mine = min(range(len(ns)), key=lambda place: abs(log10(ns[place] / own)))
            # An n that differs by this part is the same row of cells.
            near = abs(ns[mine] / own - 1) <= 0.05
            low, high = (top[mine], top[mine + 1]) if near else (own, own)
            line = {"color": palette.text, "width": 2.5, "dash": "solid" if near else "dot"}
            plot.add_shape(type="rect", x0=right[0], x1=right[-1], y0=low, y1=high, line=line)
            at = {"xref": "paper", "x": 1.0, "y": log10(high), "xanchor": "right", "yanchor": "bottom"}
            add_note(plot, f"yours: n = {own:,}", palette.text, at | {"bgcolor": palette.surface})
        return plot

    def tabulate() -> pd.DataFrame:
        """A line for each n and ε."""
        medians = runs.astype({"n": int}).groupby(["n", "epsilon"])["ratio"].agg(["median", "size"]).reset_index()
        return medians.set_axis(["n", "ε", "median loss / k-means++", "runs"], axis=1)

    number = describe_runs([len(some) for _, some in runs.groupby(["epsilon", "n"])])
    note = join_clauses("number: median loss above k-means++, in %", "red lines: equal loss", number)
    words = f"Median loss over that of k-means++ by ε and n. {finding}.{line}"
    return Diagram("epsilon-n-map", finding, note, words, paint, tabulate)


def find_crossings(runs: pd.DataFrame) -> list[Crossing]:
    """The smallest ε for each loss of ``ISO`` and each n, where it lies within what was tried."""
    crossings = []
    for n, some in runs.groupby("n"):
        usual = some.groupby("epsilon")["ratio"].median()
        epsilons, losses = usual.index.to_numpy(np.float64), usual.to_numpy(np.float64)
        at = [Crossing(level, int(float(str(n))), find_crossing(epsilons, losses, level)) for level in ISO]
        crossings += [one for one in at if epsilons[0] < one.epsilon < inf]
    return crossings


def _describe_own(runs: pd.DataFrame, name: str, n: int, crossings: Sequence[Crossing]) -> str:
    """The ε for a loss of 10 % at this n."""
    at = [one.epsilon for one in crossings if one.n == n and one.loss == ISO[0]]
    near, within = f"With n = {n:,}, {name}", f"within {format_percent(ISO[0] - 1)} of k-means++"
    if at:
        return f"{near} comes {within} from ε = {at[0]:.2g} on"
    if runs.empty:
        return f"No run with n = {n:,} yet"
    always = runs.groupby("epsilon")["ratio"].median().max() <= ISO[0]
    return f"{near} stays {within} at every ε of this map" if always else f"{near} comes {within} at no ε of this map"


def _add_equal_lines(plot: Plot, crossings: Sequence[Crossing], span: float, palette: Palette) -> None:
    """The lines along which the loss is the same, from the fewest rows on.

    A label goes to a row of its own below those that are taken nearby, on an axis that spans so many powers of ten.
    """
    taken: list[tuple[int, float, int]] = []  # n, log10 ε, and how many rows of text below the end of a line
    for level in sorted({one.loss for one in crossings}):
        line = sorted((one for one in crossings if one.loss == level), key=lambda one: one.n)
        above = f"{format_percent(level - 1)} above k-means++"
        stroke = {"color": _LINE, "width": 3.5 if level == ISO[0] else 1.8}
        look = {"name": above, "line": stroke, "marker": {"size": 4, "color": _LINE}, "meta": "iso"}
        epsilons, ns = [one.epsilon for one in line], [one.n for one in line]
        plot.add_scatter(epsilons, ns, "lines+markers", hover=f"{above}: ε = %{{x:.2g}} with n = %{{y:,}}", **look)
        # Lines of less loss lie further right: labels that grow away from each other do not meet.
        end, side = line[0], "right" if level >= ISO[0] else "left"
        at: dict[str, Any] = {"x": log10(end.epsilon), "y": log10(end.n), "xanchor": side, "yanchor": "top"}
        near = {row for n, x, row in taken if n == end.n and abs(at["x"] - x) < _LABEL_SHARE * span}
        row = next(row for row in range(len(ISO)) if row not in near)
        taken.append((end.n, at["x"], row))
        at |= {"yshift": -5 - _LABEL_PIXELS * row, "bgcolor": palette.surface, "opacity": 0.92}
        add_note(plot, f"+{format_percent(level - 1)}", palette.text, at)


def _find_edges(places: Sequence[float]) -> Array:
    """Borders of cells around ``places`` on a logarithmic axis."""
    logs = np.log10(np.asarray(places, dtype=np.float64))
    middle = (logs[1:] + logs[:-1]) / 2
    ends = (2 * logs[0] - middle[0], 2 * logs[-1] - middle[-1]) if len(logs) > 1 else (logs - 0.15, logs + 0.15)
    return np.asarray(10 ** np.r_[ends[0], middle, ends[1]], dtype=np.float64)
