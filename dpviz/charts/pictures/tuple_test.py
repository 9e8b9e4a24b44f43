"""What the private test of tuples said: noisy centres on the plane, or ⊥, with the public numbers that decide."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.cohen2021.tested_tuples import TupleTestStep
from dpviz.arrays import Array
from dpviz.charts.canvas import canvas, legend_name, line_xy, marks_xy, name_kinds, show_plane
from dpviz.charts.cells import joined
from dpviz.charts.pictures.centers import draw_cells, draw_center_marks, draw_halos, marks_of
from dpviz.charts.revealed import RevealedView, draw_rows
from dpviz.charts.theme import Palette
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, number, opening, things
from dpviz.table.domain import Domain

_BOTTOM_SIZE = 120
# Tuples whose points are joined by lines.
_TUPLES_DRAWN = 300


def draw_tuple_test(
    step: TupleTestStep, *, view: View, palette: Palette, reveal: RevealedView | None = None
) -> go.Figure:
    """Released centres with their typical noise, or a large ⊥ over the stand-ins that know no data."""
    figure = canvas(palette, title=_finding(step), subtitle=_subtitle(step, view))
    if reveal is not None:
        draw_rows(figure, reveal.points, view, palette)
        if step.given and reveal.everyone is not None and not view.flat:
            _draw_tuples(figure, reveal.everyone.reshape(-1, *step.anchors.shape), view, palette)
    if step.centers is not None:
        draw_cells(figure, step.centers, view, palette)
        if step.center_noise_sd is not None:
            draw_halos(figure, step.centers, step.center_noise_sd, view, palette)
        draw_center_marks(figure, step.centers, _sizes(step.centers), view, palette)
    else:
        _draw_bottom(figure, step.anchors, view, palette)
    show_plane(figure, view, palette)
    figure.update_layout(showlegend=True)
    return name_kinds(figure, palette)


def tuple_test_table(step: TupleTestStep, *, domain: Domain) -> pd.DataFrame:
    """The public numbers of the test, its answer, and the released centres in data units."""
    lines: list[tuple[str, str, float]] = [
        ("tuples", "public", step.number),
        ("tuples needed", "public", step.needed),
        *([] if step.given else [("rows of a block, on average", "public", step.rows_per_tuple)]),
        ("Δ, radii between balls", "public", step.far),
        ("m, tuples tried", "public", step.sampled),
        ("limit of noisy misfits", "public", step.misfit_limit),
        ("noise scale of misfits", "public", step.misfit_scale),
        ("limit of noisy votes", "public", step.vote_limit),
        ("noise scale of votes", "public", step.vote_scale),
        ("passed (1) or not (0)", "released", float(step.passed)),
    ]
    if step.centers is not None:
        for i, center in enumerate(domain.from_unit(step.centers), start=1):
            lines += [(f"centre {i}, {name}", "released", v) for name, v in zip(domain.columns, center, strict=True)]
    return pd.DataFrame(lines, columns=["what", "kind", "value"])


def describe_tuple_test(step: TupleTestStep, *, domain: Domain) -> str:
    """The picture in words."""
    where = ", ".join(domain.columns[:4])
    if step.centers is not None:
        return f"{_finding(step)}, over {where}. A tuple passed with up to {number(step.misfit_limit)} noisy misfits."
    return f"The answer is bottom, over {where}. {step.title}."


def _finding(step: TupleTestStep) -> str:
    who = "tuples" if step.given else "blocks"
    if step.passed:
        return opening(f"the {who} agree: {things(len(step.anchors), 'noisy centre')} released")
    if not step.sampled:
        return "Answer ⊥: too few tuples to be asked"
    return f"Answer ⊥: the {who} do not agree on far-apart centres"


def _subtitle(step: TupleTestStep, view: View) -> str:
    made = "" if step.given else f" of about {number(step.rows_per_tuple)} rows"
    about = f"{step.number:,} tuples{made} ({step.needed:,} needed)"
    halo = "halo: typical noise" if step.center_noise_sd is not None else ""
    return clauses(about, f"Δ = {number(step.far)}", halo, view.about)


def _sizes(centers: Array) -> Array:
    return np.full(len(centers), marks_of(len(centers)).largest)


def _draw_tuples(figure: go.Figure, tuples: Array, view: View, palette: Palette) -> None:
    """Lines through the points of some tuples."""
    picked = tuples[np.random.default_rng(0).permutation(len(tuples))[:_TUPLES_DRAWN]]
    figure.add_trace(
        go.Scatter(
            **line_xy(joined([view.plane(one) for one in picked])),
            mode="lines",
            name=legend_name(f"{things(len(picked), 'tuple')}", "revealed"),
            line={"color": palette.faded(palette.revealed, 0.25), "width": 1},
            hoverinfo="skip",
            meta="revealed",
        )
    )


def _draw_bottom(figure: go.Figure, anchors: Array, view: View, palette: Palette) -> None:
    figure.add_trace(
        go.Scatter(
            **marks_xy(view.plane(anchors)),
            mode="markers",
            name=legend_name("stand-ins, packed without data", "public"),
            marker={"symbol": "circle-open", "size": 14, "color": palette.public, "line": {"width": 2}},
            hovertemplate="stand-in (public)<br>%{x:.4g}, %{y:.4g}<extra></extra>",
            meta="public",
        )
    )
    figure.add_annotation(
        text="⊥",
        showarrow=False,
        **{"x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper"},
        font={"size": _BOTTOM_SIZE, "color": palette.faded(palette.released, 0.55)},
    )
