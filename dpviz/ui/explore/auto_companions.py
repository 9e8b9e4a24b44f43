"""What can stand beside the steps of ``auto``: each a figure that is made when it is asked for, with its words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pandas as pd
import plotly.graph_objects as go

from dpviz.algorithms.auto.first_look import LookStep
from dpviz.algorithms.auto.polishing import PolishStep, SplitStep
from dpviz.algorithms.auto.view_synopsis import SynopsisStep
from dpviz.algorithms.steps import Step
from dpviz.charts.pictures.look import (
    axes_table,
    describe_axes,
    describe_distances,
    distances_table,
    draw_axes,
    draw_distances,
)
from dpviz.charts.pictures.polish import describe_rounds, draw_rounds
from dpviz.charts.pictures.split import describe_split, draw_gains
from dpviz.charts.pictures.synopsis import describe_kept, draw_kept, draw_true_synopsis, in_its_box
from dpviz.charts.revealed import RevealedView
from dpviz.charts.theme import Palette
from dpviz.charts.view import View
from dpviz.table.domain import Domain


class Companion(NamedTuple):
    """A figure beside the main one, and what it shows in words."""

    make: Callable[[], go.Figure]
    words: str


def companions(
    steps: Sequence[Step], place: int, *, view: View, palette: Palette, reveal: RevealedView | None
) -> dict[str, Companion]:
    """By what their buttons say, the most telling first; ``steps`` are those of the whole run."""
    step = steps[place]
    if isinstance(step, LookStep):
        return _of_look(step, view, palette, reveal)
    if isinstance(step, SynopsisStep):
        return _of_synopsis(step, view, palette, reveal)
    if isinstance(step, PolishStep):
        done = [each for each in steps[: place + 1] if isinstance(each, PolishStep)]
        rounds = sum(isinstance(each, PolishStep) for each in steps)
        return {
            "Rounds": Companion(lambda: draw_rounds(done, rounds=rounds, palette=palette), describe_rounds(done)),
        }
    if isinstance(step, SplitStep):
        words = describe_split(step, domain=view.domain)
        return {"Gains and costs": Companion(lambda: draw_gains(step, palette=palette), words)}
    return {}


def more_tables(step: Step, *, domain: Domain) -> dict[str, pd.DataFrame]:
    """The numbers behind companions that are not in the step's own table."""
    if not isinstance(step, LookStep):
        return {}
    if step.noise_edge == 0:
        return {"the axes": axes_table(step, domain=domain)}
    return {"the distances": distances_table(step)}


def _of_look(step: LookStep, view: View, palette: Palette, reveal: RevealedView | None) -> dict[str, Companion]:
    domain = view.domain
    offered = {
        "Axes": Companion(lambda: draw_axes(step, palette=palette, domain=domain), describe_axes(step, domain=domain)),
        "Distances": Companion(
            lambda: draw_distances(step, palette=palette, domain=domain, reveal=reveal), describe_distances(step)
        ),
    }
    if step.noise_edge == 0:
        # They are the main picture then.
        del offered["Distances"]
    return offered


def _of_synopsis(step: SynopsisStep, view: View, palette: Palette, reveal: RevealedView | None) -> dict[str, Companion]:
    words = describe_kept(step)
    offered = {"What is kept": Companion(lambda: draw_kept(step, view=view, palette=palette), words)}
    if step.around is not None:
        offered["In the box"] = Companion(
            lambda: in_its_box(draw_kept(step, view=view, palette=palette), step, view), words
        )
    rows = reveal.rows_in(view.domain.region, None) if reveal is not None else None
    if rows is not None and view.domain.dim > 1:
        offered["True counts"] = Companion(
            lambda: draw_true_synopsis(step, rows, view=view, palette=palette),
            "True rows in every cell of the histogram: revealed",
        )
    return offered
