"""Several algorithms at one ε: a form, a study in a worker, small multiples, scores and their table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dpviz.arrays import Array
from dpviz.charts.studies.compare import draw_compare
from dpviz.charts.studies.contenders import measure_of
from dpviz.charts.studies.scores import describe_scores, draw_scores
from dpviz.charts.theme import Palette, palette
from dpviz.charts.wording import opening
from dpviz.runs.open_table import OpenTable
from dpviz.runs.study.study import MEASURES, summarise, tidy
from dpviz.ui.badges import badge_text
from dpviz.ui.controls import epsilon_control, k_delta_row
from dpviz.ui.escape import plain
from dpviz.ui.figure import show
from dpviz.ui.plane_choice import plane_choice
from dpviz.ui.revealed_rows import revealed_view
from dpviz.ui.studies.contender_choice import contender_picker
from dpviz.ui.studies.judged_rows import judged_rows
from dpviz.ui.studies.study_panel import (
    Invitation,
    Plan,
    Study,
    measure_choice,
    study_button,
    study_download,
    study_half,
)
from dpviz.ui.table_words import unit_line
from dpviz.ui.wide_figure import show_wide

_KEY = "compare"
# Pixels of a character of a table, and of the air beside it.
_CHARACTER, _AIR = 7.5, 24
_INVITATION = Invitation(
    "Nothing to compare yet",
    "Choose algorithms and press **Compute**: each runs several times at the same ε, and their centres appear here on "
    "one set of axes, with their scores.",
    icon=":material/compare_arrows:",
)


def compare_setup(table: OpenTable) -> tuple[Plan, OpenTable | None]:
    """The form; what is asked for now, and on which rows it would be judged."""
    with st.container(border=True):
        whom = st.container()
        left, right = st.columns(2, gap="medium")
        with left:
            epsilon = epsilon_control()
        with right:
            k, delta = k_delta_row()
        with left:
            repeats = st.slider(
                "Runs of each",
                1,
                50,
                value=10,
                key=f"{_KEY}:repeats",
                persist_state="session",
                help="One run says little: noise makes each run different. Medians and quartiles need several.",
            )
        st.caption(f"ε and δ protect {unit_line(table)}.")
        source = judged_rows(table, _KEY, k=k)
        with whom:
            contenders = contender_picker(_KEY, source or table, k=k, epsilons=(epsilon,), delta=delta)
        plan = Plan(tuple(contenders), k, (epsilon,), delta, repeats)
        study_button(_KEY, table, source, plan, with_centers=True)
    return plan, source


def compare_study(table: OpenTable, plan: Plan, source: OpenTable | None) -> None:
    """Scores, centres and their table, or an invitation."""
    study_half(
        *(_KEY, table, plan, source),
        invitation=_INVITATION,
        label=lambda study: f"Comparison at ε = {study.plan.epsilons[0]:g}",
        pictures=_pictures,
    )


def _pictures(study: Study) -> None:
    frame = tidy(study.rows)
    colors = palette(st.context.theme.type)
    measure = measure_choice(frame, _KEY)
    made = draw_scores(frame, measure, palette=colors)
    show_wide(made, alt=describe_scores(frame, measure), key=f"{_KEY}:scores", stem=f"compare-{measure}")
    _centers(study, colors)
    scores = score_table(frame, measure)
    st.dataframe(
        scores,
        hide_index=True,
        alt=f"Medians of every measure by algorithm, with the quartiles of {measure_of(measure).short}",
        column_order=[str(name) for name in scores if name != "runs" or scores["runs"].nunique() > 1],
        height="content",
        column_config={"algorithm": st.column_config.Column(pinned=True)}
        | {
            name: st.column_config.Column(_heading(name), help=measure_of(name).name, width=_width(name, scores[name]))
            for name in MEASURES
            if name in scores
        },
    )
    st.caption(
        "Medians of the runs; of the measure chosen above also the quartiles in brackets. Hover a heading for its unit."
    )
    study_download(study, _KEY)


def _centers(study: Study, colors: Palette) -> None:
    """Small multiples: of each algorithm a run of typical loss, over the same rows and k-means++ centres.

    The number at a picture is the median of all runs, the one of the chart above and the table below.
    """
    view = plane_choice(study.source.domain, _KEY)
    drawn = median_runs(study.rows)
    results: dict[str, Array] = {name: row["centers"] for name, row in drawn.items()}
    medians = summarise(tidy(study.rows))
    losses = {str(name): float(loss) for name, loss in zip(medians["contender"], medians["median"], strict=True)}
    reference = study.yardstick.reference if study.yardstick is not None else None
    reveal = revealed_view(study.source, "rows under Compare")
    made = draw_compare(results, view=view, palette=colors, reference=reference, reveal=reveal, losses=losses)
    st.markdown(f"**{plain(made.title)}**")
    st.caption(f"{plain(made.about)}. Drawn is the run of each algorithm whose loss is nearest to its median.")
    with st.grid(min_column_width=made.least_width, gap="small"):
        for panel in made.panels:
            with st.container(height="stretch", vertical_alignment="bottom", gap="xsmall"):
                st.markdown(f":small[**{plain(panel.name)}**  \n{plain(panel.score)}]")
                show(
                    panel.figure,
                    alt=f"Centres of {panel.name}: in the median {panel.score} the loss of k-means++",
                    key=f"{_KEY}:centers:{panel.name}",
                    stem=f"compare-{panel.name}",
                    bare=True,
                )
    st.caption(_legend(over=reference is not None, rows=reveal is not None))


def _legend(*, over: bool, rows: bool) -> str:
    """What the marks of all pictures are."""
    revealed = [words for words, drawn in (("open diamonds: k-means++", over), ("dots: rows", rows)) if drawn]
    truth = f" {badge_text('revealed')} {', '.join(revealed)}." if revealed else ""
    return f"{badge_text('released')} Filled circles: centres.{truth}"


def median_runs(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Of each algorithm the run whose loss is nearest to the median of its runs, the better one of two."""
    by_name: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_name.setdefault(str(row["contender"]), []).append(row)
    return {name: _nearest_to_median(runs) for name, runs in by_name.items()}


def _nearest_to_median(runs: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    ordered = sorted(runs, key=lambda row: float(row["nicv"]))
    middle = float(np.median([float(row["nicv"]) for row in ordered]))
    return min(ordered, key=lambda row: abs(float(row["nicv"]) - middle))


def _heading(measure: str) -> str:
    return opening(measure_of(measure).short)


def _width(measure: str, cells: Iterable[str]) -> int:
    """Pixels for the heading and the longest cell."""
    return round(_CHARACTER * max(map(len, [_heading(measure), *cells])) + _AIR)


def score_table(frame: pd.DataFrame, chosen: str) -> pd.DataFrame:
    """Medians of every measure in words, of the ``chosen`` one with quartiles; a line an algorithm, the best first."""
    known = [chosen, *(measure for measure in MEASURES if measure != chosen and frame[measure].notna().any())]
    found = {measure: summarise(frame, measure) for measure in {"ratio", *known}}
    table = pd.DataFrame({"algorithm": found["ratio"]["contender"], "runs": found["ratio"]["runs"]})
    for measure in known:
        words = measure_of(measure)
        lines = found[measure][["median", "q25", "q75"]].to_numpy(dtype=float)
        table[measure] = [
            words.text(mid) + (f" [{words.text(low)}, {words.text(high)}]" if measure == chosen else "")
            for mid, low, high in lines
        ]
    return table.iloc[found["ratio"]["median"].to_numpy().argsort(kind="stable")]
