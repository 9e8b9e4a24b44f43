"""The non-private reference on its own: open diamonds, marked as revealed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.baselines.kmeans_plus_plus import ReferenceStep
from dpviz.charts.canvas import canvas, name_kinds, show_plane
from dpviz.charts.pictures.centers import draw_cells, draw_reference
from dpviz.charts.revealed import RevealedView, draw_rows
from dpviz.charts.theme import Palette
from dpviz.charts.view import View
from dpviz.charts.wording import clauses, opening, things
from dpviz.table.domain import Domain


def draw_reference_step(
    step: ReferenceStep, *, view: View, palette: Palette, reveal: RevealedView | None = None
) -> go.Figure:
    """k-means++ centres over their cells."""
    subtitle = clauses("computed from the rows themselves: revealed, never a release", view.about)
    figure = canvas(palette, title=_finding(step), subtitle=subtitle)
    if reveal is not None:
        draw_rows(figure, reveal.points, view, palette)
    draw_cells(figure, step.centers, view, palette, tinted=False)
    draw_reference(figure, step.centers, view, palette)
    show_plane(figure, view, palette)
    figure.update_layout(showlegend=True)
    return name_kinds(figure, palette)


def reference_table(step: ReferenceStep, *, domain: Domain) -> pd.DataFrame:
    """Revealed centres in data units."""
    table = pd.DataFrame(domain.from_unit(step.centers), columns=list(domain.columns))
    table.insert(0, "centre", np.arange(1, len(table) + 1))
    return table


def describe_reference(step: ReferenceStep, *, domain: Domain) -> str:
    """The picture in words."""
    return f"{_finding(step)} over {', '.join(domain.columns[:4])}: revealed, never a release."


def _finding(step: ReferenceStep) -> str:
    return opening(f"{things(len(step.centers), 'centre')} of k-means++, without any privacy")
