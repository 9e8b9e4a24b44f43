"""The pictures of one step: the plane on the left, and beside it whatever explains that kind of step best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpviz.algorithms.auto.polishing import PolishStep
from dpviz.algorithms.balcan2017.candidate_centers import TreeStep
from dpviz.algorithms.balcan2017.local_swap import SwapStep
from dpviz.algorithms.baselines.kmeans_plus_plus import ReferenceStep
from dpviz.algorithms.cohen2021.tested_tuples import TupleTestStep
from dpviz.algorithms.steps import CentersStep, GridStep, Step
from dpviz.arrays import Array
from dpviz.charts.pictures.activation import draw_activation
from dpviz.charts.pictures.draw import describe, draw, table_of
from dpviz.charts.pictures.grid import draw_true_grid
from dpviz.charts.pictures.revealed_tuples import RevealedTuples
from dpviz.charts.pictures.swaps import draw_swap_trace
from dpviz.charts.pictures.tree_diagram import draw_tree_diagram
from dpviz.charts.pictures.tuple_balls import draw_made_up_balls
from dpviz.charts.pictures.tuple_votes import draw_votes
from dpviz.charts.pictures.tuple_zoom import draw_revealed_balls
from dpviz.charts.revealed import RevealedView
from dpviz.charts.theme import Kind, Palette, config
from dpviz.charts.view import View
from dpviz.runs.evaluation import Reference
from dpviz.runs.export import picture_stem
from dpviz.runs.found import Found
from dpviz.runs.run import Run
from dpviz.table.domain import Domain
from dpviz.ui.badges import badge_text
from dpviz.ui.escape import plain
from dpviz.ui.explore.auto_companions import Companion, companions, more_tables

_TABLE, _BESIDE, _TREE, _CURVE, _TRACE = "Table", "k-means++", "Tree", "Activation", "Swap trace"
_TRUTH, _BALLS, _VOTES, _ASKED = "True counts", "Balls", "Votes", "What is asked"
_MOST_TABLE_ROWS = 5_000
_TABLE_HEIGHT, _HEAD_HEIGHT = 480, 44


@dataclass(frozen=True, eq=False)
class Looking:
    """How a run is looked at: the plane, the colours, and what the owner lets be shown.

    ``found`` says how many clusters of the reference some centres find.
    """

    view: View
    palette: Palette
    reveal: RevealedView | None = None
    reference: Reference | None = None
    reference_over: bool = True
    reference_coming: bool = False
    found: Callable[[Array], Found | None] | None = None


def step_pictures(run: Run, place: int, looking: Looking, *, key: str) -> None:
    """The figure of a step, and one companion of it at a time."""
    step = run.frames[place].step
    main, side = st.columns(2, gap="medium")
    made = _main_figure(run, step, looking)
    with main:
        with st.container(horizontal=True, vertical_alignment="center", height=_HEAD_HEIGHT, border=False):
            st.markdown(" ".join(badge_text(kind) for kind in kinds_of(step, made)))
        show(made, alt=describe(step, domain=run.domain), key=f"{key}:main", stem=picture_stem(run))
    with side:
        _companion(run, place, looking, key)


def kinds_of(step: Step, made: go.Figure) -> list[Kind]:
    """What a picture shows: public before any row was read, released afterwards; revealed where it has such marks."""
    if isinstance(step, ReferenceStep):
        return ["revealed"]
    first: Kind = "public" if step.public else "released"
    return [first, "revealed"] if any(trace.meta == "revealed" for trace in made.data) else [first]


def show(
    figure: go.Figure,
    *,
    alt: str,
    key: str,
    stem: str,
    bare: bool = False,
    on_click: Callable[[], None] | None = None,
) -> None:
    """A figure in the app's own colours, without buttons that would send it anywhere; without any if it is ``bare``.

    ``on_click`` is called when a mark is chosen, which then stands in the session under ``key``.
    """
    look: dict[str, Any] = {"theme": None, "key": key, "alt": alt, "config": config(stem)}
    if bare:
        look["config"] |= {"displayModeBar": False}
    if on_click is not None:
        look |= {"on_select": on_click, "selection_mode": "points"}
    st.plotly_chart(figure, **look)


def data_table(table: pd.DataFrame, *, alt: str, height: int | Literal["auto"] = _TABLE_HEIGHT) -> None:
    """A table, cut where a browser would choke on it."""
    if len(table) > _MOST_TABLE_ROWS:
        st.caption(f"The first {_MOST_TABLE_ROWS:,} of {len(table):,} rows.")
    st.dataframe(_rounded(table.head(_MOST_TABLE_ROWS)), hide_index=True, height=height, alt=alt)


def _main_figure(run: Run, step: Step, looking: Looking) -> go.Figure:
    over = looking.reference_over and looking.reference is not None
    found = looking.found(step.centers) if over and looking.found and isinstance(step, CentersStep) else None
    return draw(
        step,
        view=looking.view,
        palette=looking.palette,
        reveal=looking.reveal,
        reference=looking.reference if over else None,
        found=found,
        epsilon=run.epsilon if run.private else None,
    )


def _companion(run: Run, place: int, looking: Looking, key: str) -> None:
    step = run.frames[place].step
    offered = _offered(run, place, looking, key)
    kept = f"{key}:beside:{type(step).__name__}"
    first = next(iter(offered))
    with st.container(horizontal=True, vertical_alignment="center", height=_HEAD_HEIGHT, border=False):
        chosen = st.segmented_control(
            "Beside the picture",
            list(offered),
            format_func=plain,
            default=first,
            required=True,
            key=kept,
            label_visibility="collapsed",
        )
    offered.get(str(chosen), offered[first])()


def _offered(run: Run, place: int, looking: Looking, key: str) -> dict[str, Callable[[], None]]:
    """What can stand beside a step, the most telling first."""
    step = run.frames[place].step
    stem = picture_stem(run)
    offered: dict[str, Callable[[], None]] = {}

    def figure(made: go.Figure, alt: str, name: str) -> None:
        show(made, alt=alt, key=f"{key}:{name}", stem=f"{stem}-{name}")

    if isinstance(step, TreeStep):
        offered[_TREE] = lambda: figure(
            draw_tree_diagram(step, palette=looking.palette), "The partition tree by level", "tree"
        )
        offered[_CURVE] = lambda: figure(
            draw_activation(step, palette=looking.palette), "How many rows wake a cube", "activation"
        )
    rows = looking.reveal.rows_in(looking.view.region, None) if looking.reveal is not None else None
    beside = _companion_figures(run, place, looking, key)
    if not isinstance(step, PolishStep):
        offered |= beside
    if isinstance(step, GridStep) and rows is not None and not looking.view.flat and _TRUTH not in offered:
        offered[_TRUTH] = lambda: figure(
            draw_true_grid(step, rows, view=looking.view, palette=looking.palette),
            *("True rows in every cell of the grid: revealed", "truth"),
        )
    if isinstance(step, TupleTestStep):
        if rows is not None and len(rows) and len(step.anchors) > 1:
            offered |= _revealed_tuples(step, rows, looking, figure)
        offered[_ASKED] = lambda: figure(
            draw_made_up_balls(step, palette=looking.palette),
            *("Balls around the points of a made-up tuple, and other tuples in them", "asked"),
        )
    if isinstance(step, SwapStep):
        every = [frame.step for frame in run.frames if isinstance(frame.step, SwapStep)]
        so_far = [frame.step for frame in run.frames[: place + 1] if isinstance(frame.step, SwapStep)]
        offered[_TRACE] = lambda: figure(
            draw_swap_trace(so_far, palette=looking.palette, of=every), "How far each swap moved a centre", "swaps"
        )
    if isinstance(step, CentersStep) and (looking.reference is not None or looking.reference_coming):
        offered[_BESIDE] = lambda: _reference(looking, key, stem)
    # Of a round of polishing, k-means++ tells more.
    offered |= beside
    offered[_TABLE] = lambda: _tables(step, run.domain)
    return offered


def _tables(step: Step, domain: Domain) -> None:
    data_table(table_of(step, domain=domain), alt="The numbers behind the picture")
    for what, table in more_tables(step, domain=domain).items():
        data_table(table, alt=f"The numbers behind {what}")


def _companion_figures(run: Run, place: int, looking: Looking, key: str) -> dict[str, Callable[[], None]]:
    """What ``auto`` has beside its steps."""
    steps = [frame.step for frame in run.frames]
    found = companions(steps, place, view=looking.view, palette=looking.palette, reveal=looking.reveal)

    def shown(what: str, beside: Companion) -> None:
        show(beside.make(), alt=beside.words, key=f"{key}:{what}", stem=f"{picture_stem(run)}-{what}")

    return {what: partial(shown, what, beside) for what, beside in found.items()}


def _revealed_tuples(
    step: TupleTestStep, rows: Array, looking: Looking, figure: Callable[[go.Figure, str, str], None]
) -> dict[str, Callable[[], None]]:
    """What the test saw, from revealed rows: tuples in balls, and votes where it could be asked."""

    def shown(draw_them: Callable[..., go.Figure], alt: str, name: str) -> Callable[[], None]:
        def draw_now() -> None:
            revealed = RevealedTuples.of(step, rows, looking.view.region)
            figure(draw_them(step, revealed, palette=looking.palette), f"{alt}: revealed", name)

        return draw_now

    offered = {_BALLS: shown(draw_revealed_balls, "How far tuples lie from the balls of one of them", "balls")}
    if step.sampled:
        offered[_VOTES] = shown(draw_votes, "Misfits of tried tuples against their limit", "votes")
    return offered


def _reference(looking: Looking, key: str, stem: str) -> None:
    if looking.reference is None:
        st.caption("k-means++ is being computed and will appear here.")
        return
    step = ReferenceStep(title="k-means++: the rows themselves, no privacy", centers=looking.reference.centers)
    made = draw(step, view=looking.view, palette=looking.palette, reveal=looking.reveal)
    show(made, alt="k-means++ without privacy", key=f"{key}:reference", stem=f"{stem}-reference")


def _rounded(table: pd.DataFrame) -> pd.DataFrame:
    """Numbers with four significant digits: what a reader takes in; files carry all of them."""
    rounded = table.copy()
    for name in [name for name, kind in table.dtypes.items() if kind == np.float64]:
        values = table[name].to_numpy(dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            unit = 10.0 ** (np.floor(np.log10(np.abs(values))) - 3)
            rounded[name] = np.where(np.isfinite(unit) & (unit > 0), np.round(values / unit) * unit, values)
    return rounded
