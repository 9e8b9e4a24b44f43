"""Local search by private swaps: which centre gave way to which candidate, one by one and as a trace."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.balcan2017.local_swap import SwapStep
from dpviz.arrays import Array
from dpviz.charts.canvas import canvas, legend_name, line_xy, marks_xy, name_kinds, panels, show_plane
from dpviz.charts.cells import segments
from dpviz.charts.pictures.candidates import space_view
from dpviz.charts.pictures.centers import draw_center_marks, marks_of
from dpviz.charts.revealed import RevealedView, draw_rows
from dpviz.charts.theme import Palette
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, count, number, opening, things
from dpviz.table.domain import Domain

_CANDIDATES_SHOWN = 4000
_CENTER_SIZE = 18.0


def draw_swap(step: SwapStep, *, view: View, palette: Palette, reveal: RevealedView | None = None) -> go.Figure:
    """The centres after a swap; the removed one hollow, the added one ringed, an arrow between them."""
    view = space_view(view, step.region, projected=step.frame is not None)
    figure = canvas(palette, title=_finding(step), subtitle=clauses(step.title, view.about))
    if reveal is not None:
        draw_rows(figure, reveal.drawn_in(step.region, step.frame), view, palette)
    shown = step.candidates[np.linspace(0, len(step.candidates) - 1, _CANDIDATES_SHOWN).astype(np.int64)]
    figure.add_trace(
        go.Scatter(
            **marks_xy(view.plane(step.candidates if len(step.candidates) <= _CANDIDATES_SHOWN else shown)),
            mode="markers",
            name=legend_name("candidates", "released"),
            marker={"size": 4, "color": palette.faded(palette.released, 0.45)},
            hoverinfo="skip",
            meta="released",
        )
    )
    size = min(_CENTER_SIZE, marks_of(len(step.centers)).largest)
    draw_center_marks(figure, step.centers, np.full(len(step.centers), size), view, palette)
    if _changed(step).any():
        _draw_change(figure, step, view, palette)
    show_plane(figure, view, palette)
    return name_kinds(figure, palette)


def draw_swap_trace(
    steps: Sequence[SwapStep],
    *,
    palette: Palette,
    true_losses: Sequence[float] | None = None,
    of: Sequence[SwapStep] | None = None,
) -> go.Figure:
    """How far each swap moved a centre; with ``true_losses`` (revealed, one a swap) the loss below it.

    ``of`` are all swaps of the run: with them the axes stay where they are from one swap to the next.
    """
    moved, every = (np.array([_moved(step) for step in some]) for some in (steps, of or steps))
    number_of = np.arange(1, len(steps) + 1)
    figure = canvas(
        palette,
        title=_trace_finding(moved),
        subtitle=clauses("each swap is one choice by the exponential mechanism", "circle: a swap that changed nothing"),
        legend_lines=0 if true_losses is None else 2,
    )
    if true_losses is not None:
        panels(figure, palette, 2, 1, shared_xaxes=True, vertical_spacing=0.08)
    at = {"row": 1, "col": 1} if true_losses is not None else {}
    figure.add_trace(
        go.Bar(
            x=number_of,
            y=moved,
            width=0.5,
            marker={"color": palette.released, "line": {"width": 0}},
            name=legend_name("moves", "released"),
            hovertemplate="swap %{x}: %{y:.3g}<extra></extra>",
            meta="released",
        ),
        **at,
    )
    idle = moved == 0
    figure.add_trace(
        go.Scatter(
            **{"x": number_of[idle], "y": moved[idle], "mode": "markers", "showlegend": False, "cliponaxis": False},
            marker={"symbol": "circle-open", "size": 9, "color": palette.released, "line": {"width": 2}},
            hovertemplate="swap %{x}: nothing moved<extra></extra>",
            meta="released",
        ),
        **at,
    )
    top = 1.1 * float(every.max()) or 1.0
    figure.update_yaxes(title_text="distance moved<br>(unit coordinates)", range=[-0.04 * top, top], **at)
    if not every.any():
        figure.update_yaxes(tickvals=[0], **at)
    if true_losses is not None:
        figure.add_trace(
            go.Scatter(
                x=number_of,
                y=np.asarray(true_losses, dtype=np.float64),
                mode="lines+markers",
                line={"color": palette.revealed, "width": 2},
                name=legend_name("loss", "revealed"),
                meta="revealed",
            ),
            **{"row": 2, "col": 1},
        )
        figure.update_yaxes(title_text="true loss per row", **{"row": 2, "col": 1})
    figure.update_xaxes(range=[0.4, len(every) + 0.6], tickmode="linear", dtick=max(1, len(every) // 10), tick0=1)
    last = {"row": 2, "col": 1} if true_losses is not None else {}
    figure.update_xaxes(title_text="swap", **last)
    return name_kinds(figure, palette)


def swap_table(step: SwapStep, *, domain: Domain) -> pd.DataFrame:
    """Centres after the swap with what changed; data units, or projected coordinates."""
    projected = step.frame is not None
    names = [f"projected axis {j + 1}" for j in range(step.centers.shape[1])] if projected else list(domain.columns)
    table = pd.DataFrame(step.centers if projected else domain.from_unit(step.centers), columns=names)
    table.insert(0, "centre", np.arange(1, len(table) + 1))
    table["change"] = np.where(_changed(step), "new", "")
    return table


def describe_swap(step: SwapStep, *, domain: Domain) -> str:
    """The picture in words."""
    return f"{_finding(step)}, out of {things(len(step.candidates), 'candidate')}; {len(step.centers)} centres remain."


def _draw_change(figure: go.Figure, step: SwapStep, view: View, palette: Palette) -> None:
    changed = _changed(step)
    old, new = view.plane(step.previous[changed]), view.plane(step.centers[changed])
    arrows = len(old)
    figure.add_trace(
        go.Scatter(
            **line_xy(segments(old, new)),
            mode="lines+markers",
            line={"color": palette.muted, "width": 1.5},
            marker={
                "symbol": ["circle", "arrow", "circle"] * arrows,
                "size": [0, 11, 0] * arrows,
                "standoff": [0, 14, 0] * arrows,
                "angleref": "previous",
                "color": palette.muted,
            },
            showlegend=False,
            hoverinfo="skip",
        )
    )
    for what, points, symbol, size in (("removed", old, "circle-open-dot", 18), ("added", new, "circle-open", 30)):
        figure.add_trace(
            go.Scatter(
                **marks_xy(points),
                mode="markers",
                name=what,
                marker={"symbol": symbol, "size": size, "color": palette.text, "line": {"width": 2}},
                hovertemplate=f"{what} (released)<extra></extra>",
                meta="released",
            )
        )


def _changed(step: SwapStep) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which centres are not where they were."""
    changed: np.ndarray[tuple[int], np.dtype[np.bool_]] = (step.previous != step.centers).any(axis=1)
    return changed


def _moved(step: SwapStep) -> float:
    """The longest way of a centre."""
    return float(np.linalg.norm(step.previous - step.centers, axis=1).max())


def _finding(step: SwapStep) -> str:
    changed = np.flatnonzero(_changed(step))
    if len(changed) == 0:
        return "All centres stay where they are"
    if len(changed) > 1:
        return f"{opening(things(len(changed), 'centre'))} change at once"
    return f"Centre {changed[0] + 1} gives way to a candidate {number(_moved(step))} away"


def _trace_finding(moved: Array) -> str:
    still = int((moved == 0).sum())
    if still == len(moved):
        return f"None of {things(len(moved), 'swap')} moved a centre"
    largest = int(np.argmax(moved))
    some = f"{count(len(moved) - still)} of {things(len(moved), 'swap')} moved a centre"
    return opening(f"{some}; swap {largest + 1} moved it farthest")
