"""A coarse noisy histogram of the whole domain, and the box that it found nearly all rows in."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from dpviz.algorithms.auto.view_synopsis import ZoomStep
from dpviz.charts.pictures.grid import describe_grid, draw_grid, outline_box
from dpviz.charts.revealed import RevealedView
from dpviz.charts.theme import Palette
from dpviz.charts.view import View
from dpviz.charts.wording import percent
from dpviz.table.domain import Domain


def draw_zoom(step: ZoomStep, *, view: View, palette: Palette, reveal: RevealedView | None = None) -> go.Figure:
    """The coarse cells, and a frame around the box if there is one."""
    figure = draw_grid(step, view=view, palette=palette, reveal=reveal, title=_finding(step))
    if step.box is not None:
        outline_box(figure, step.box, view.boxes(), palette)
    return figure


def describe_zoom(step: ZoomStep, *, domain: Domain) -> str:
    """The picture in words."""
    return f"{_finding(step)}. {describe_grid(step, domain=domain)}"


def _finding(step: ZoomStep) -> str:
    if step.box is None:
        return "No small box holds nearly all rows: the whole domain stays"
    part = float(np.prod(np.ptp(step.box, axis=0) / (2 * step.grid.half)))
    return f"Nearly all rows lie in a box of {percent(part)} of the domain"
