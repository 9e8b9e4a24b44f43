"""Several algorithms at one ε: a form, a study in workers, scores, small multiples and a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dpviz.charts.picture import Look
from dpviz.charts.studies.compare import Scores, Typical, draw_compare
from dpviz.charts.studies.contenders import measure_of
from dpviz.charts.theme import palette
from dpviz.charts.wording import opening
from dpviz.glossary import words_of
from dpviz.runs.open_table import OpenTable
from dpviz.runs.study.study import MEASURES, summarise
from dpviz.ui.badges import badge_text
from dpviz.ui.controls import epsilon_control
from dpviz.ui.escape import plain
from dpviz.ui.figure import show, show_wide
from dpviz.ui.looks import revealed_view
from dpviz.ui.plane_choice import plane_choice
from dpviz.ui.studies.study_form import study_form
from dpviz.ui.studies.study_job import Question, StudyJob
from dpviz.ui.studies.study_panel import Invitation, measure_choice, study_download, study_half

_KEY = "compare"
# Pixels of a character of a table, and of the air beside it.
_CHARACTER, _AIR = 7.5, 24
_INVITATION = Invitation(
    "Comparison",
    "Nothing to compare yet",
    "Choose algorithms and press **Compute**: each runs several times at the same ε, and their centres appear here on "
    "one set of axes, with their scores.",
    icon=":material/compare_arrows:",
)


def compare_setup(table: OpenTable) -> Question:
    """The form, and what it asks for now."""
    return study_form(
        _KEY,
        table,
        epsilons=epsilon_control,
        runs="Runs of each",
        usual=10,
        why="One run says little: noise makes each run different. Medians and quartiles need several.",
        with_centers=True,
    )


def compare_study(question: Question) -> None:
    """Scores, centres and their table, or an invitation."""
    study_half(question, invitation=_INVITATION, pictures=_pictures)


def _pictures(study: StudyJob) -> None:
    frame = study.frame()
    picture = st.container()
    scores = Scores(frame, measure_choice(frame, _KEY))
    with picture:
        drawn = scores.draw(palette(st.context.theme.type))
        show_wide(drawn, alt=scores.words(), key=f"{_KEY}:scores", stem=scores.stem, first=True)
    centers, numbers, files = st.tabs(["Centres", "Table", "Take away"], key=f"{_KEY}:below", on_change="rerun")
    if centers.open:
        with centers:
            _centers(study)
    if numbers.open:
        with numbers:
            _scores(scores)
    if files.open:
        with files:
            study_download(study, scores)


def _scores(scores: Scores) -> None:
    """The medians of every measure."""
    table = scores.table()
    st.dataframe(
        table,
        hide_index=True,
        alt=f"Medians of every measure by algorithm, with the quartiles of {measure_of(scores.measure).short}",
        column_order=[str(name) for name in table if name != "runs" or table["runs"].nunique() > 1],
        height="content",
        column_config={"algorithm": st.column_config.Column(pinned=True)}
        | {
            name: st.column_config.Column(_heading(name), help=measure_of(name).name, width=_width(name, table[name]))
            for name in MEASURES
            if name in table
        },
    )
    st.caption(
        "Medians of the runs; of the measure chosen above also the quartiles in brackets. Hover a heading for its unit."
    )


def _centers(study: StudyJob) -> None:
    """Small multiples: of each algorithm a run of typical loss, over the same rows and k-means++ centres.

    The number at a picture is the median of all runs, the one of the chart above and the table below.
    """
    view = plane_choice(study.source.domain, _KEY)
    medians = summarise(study.frame()).set_index("contender")["median"]
    drawn = median_runs(study.rows)
    releases = {name: Typical(row["centers"], float(medians[name])) for name, row in drawn.items()}
    reference = study.yardstick.reference if study.yardstick is not None else None
    reveal = revealed_view(study.source, "rows under Compare")
    made = draw_compare(releases, Look(view, palette(st.context.theme.type), reveal, reference))
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
    legend = _legend(over=reference is not None, rows=reveal is not None)
    st.markdown(legend, help=words_of(legend))


def _legend(*, over: bool, rows: bool) -> str:
    """What the marks of all pictures are."""
    revealed = [words for words, drawn in (("open diamonds: k-means++", over), ("dots: rows", rows)) if drawn]
    truth = f" {badge_text('revealed')} {', '.join(revealed)}." if revealed else ""
    return f":small[{badge_text('released')} Filled circles: centres.{truth}]"


def median_runs(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Of each algorithm the run whose loss is nearest to the median of its runs, the better one of two."""
    losses = pd.DataFrame({"name": [row["contender"] for row in rows], "nicv": [row["nicv"] for row in rows]})
    losses["off"] = (losses["nicv"] - losses.groupby("name")["nicv"].transform("median")).abs()
    nearest = losses.sort_values(["off", "nicv"], kind="stable").groupby("name", sort=False).head(1)
    return {str(losses["name"][place]): rows[place] for place in nearest.index.sort_values()}


def _heading(measure: str) -> str:
    return opening(measure_of(measure).short)


def _width(measure: str, cells: Iterable[str]) -> int:
    """Pixels for the heading and the longest cell."""
    return round(_CHARACTER * max(map(len, [_heading(measure), *cells])) + _AIR)
