"""Several algorithms at one ε: a form, a study in workers, scores, small multiples and a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dpviz.app.charts.canvas import Diagram
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.studies.compare import Typical, draw_compare, draw_scores
from dpviz.app.charts.studies.curves import find_measure
from dpviz.app.charts.studies.stored_verdicts import read_runs, read_verdicts
from dpviz.app.ui.controls import draw_epsilon_control
from dpviz.app.ui.data_access import reveal_view
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import (
    ask_plane,
    draw_caption_with_badge,
    draw_python_section,
    draw_tabs,
    format_badge,
    read_palette,
    show,
    show_diagram,
)
from dpviz.app.ui.studies.study_job import StudyJob, StudyQuestion
from dpviz.app.ui.studies.study_panel import (
    Invitation,
    ask_measure,
    draw_study_download,
    draw_study_form,
    draw_study_half,
)
from dpviz.runs import MEASURES, OpenTable, Script, summarise
from dpviz.words import capitalize_first, glossary

_KEY = "compare"
# The stored runs that are shown before anybody has computed any: a table of this claim, at this ε.
_CLAIM, _TABLE, _EPSILON = "su-epsilon", "S1", 1.0
# Pixels of a character of a table, and of the air beside it.
_CHARACTER, _AIR = 7.5, 24
_INVITATION = Invitation(
    "Comparison",
    "Which algorithm loses least here?",
    "Press **Compute**: each of the chosen algorithms runs several times at the same ε, on the table that is open. "
    "Then their losses and their centres stand here on one set of axes.",
    icon=":material/compare_arrows:",
)


def draw_compare_setup(table: OpenTable) -> StudyQuestion:
    """The form, and what it asks for now."""
    return draw_study_form(
        _KEY,
        table,
        epsilons=draw_epsilon_control,
        runs="Runs of each",
        usual=10,
        why="One run says little: noise makes each run different. Medians and quartiles need several.",
        with_centers=True,
    )


def draw_compare_study(question: StudyQuestion) -> None:
    """Scores, centres and their table, or an invitation."""
    draw_study_half(question, invitation=_INVITATION, pictures=_draw_pictures, example=_draw_example)


def _draw_example() -> None:
    """What a comparison looks like: runs on a public file, stored with the claims of the papers."""
    found = next((claim for claim in read_verdicts().claims if claim.id == _CLAIM), None)
    if found is None:
        return
    table = read_runs(_CLAIM)
    runs = table[(table["data"] == _TABLE) & (table["epsilon"] == _EPSILON)]
    losses = {"contender": runs["line"], "epsilon": runs["epsilon"], "ratio": runs["nicv"] / runs["kmeans"]}
    scores = draw_scores(pd.DataFrame(losses))
    about = f"An example: stored runs of {escape_markdown(found.paper)}, on its table {_TABLE}."
    draw_caption_with_badge("public", about)
    show_diagram(scores, key=f"{_KEY}:example", stem=f"{scores.stem}-example")


def _draw_pictures(study: StudyJob) -> None:
    frame = study.make_frame()
    picture = st.container()
    measure = ask_measure(frame, _KEY)
    scores = draw_scores(frame, measure)
    with picture:
        show_diagram(scores, key=f"{_KEY}:scores", first=True)

    def draw_files() -> None:
        draw_study_download(study, scores)
        table = study.question.table
        script = partial(Script.for_sweep, table.loaded.name, table.declaration, study.grid)
        draw_python_section(script, key=_KEY, stem="comparison")

    tabs = {"Centres": partial(_draw_centers, study), "Table": partial(_draw_scores, scores, measure)}
    draw_tabs(tabs | {"Take away": draw_files}, key=f"{_KEY}:below")


def _draw_scores(scores: Diagram, measure: str) -> None:
    """The medians of every measure."""
    table = scores.table()
    alt = f"Medians of every measure by algorithm, with the quartiles of {find_measure(measure).short}"
    shown = [str(name) for name in table if name != "runs" or table["runs"].nunique() > 1]
    looks = {"algorithm": st.column_config.Column(pinned=True)}
    for name in [name for name in MEASURES if name in table]:
        heading = capitalize_first(find_measure(name).short)
        # Pixels for the heading and the longest cell.
        width = round(_CHARACTER * max(map(len, [heading, *table[name]])) + _AIR)
        looks[name] = st.column_config.Column(heading, help=find_measure(name).name, width=width)
    st.dataframe(table, hide_index=True, alt=alt, column_order=shown, height="content", column_config=looks)
    st.caption(
        "Medians of the runs; of the measure chosen above also the quartiles in brackets. Hover a heading for its unit."
    )


def _draw_centers(study: StudyJob) -> None:
    """Small multiples: of each algorithm a run of typical loss, over the same rows and k-means++ centres.

    The number at a picture is the median of all runs, the one of the chart above and the table below.
    """
    view = ask_plane(study.source.domain, _KEY)
    medians = summarise(study.make_frame()).set_index("contender")["median"]
    drawn = find_median_runs(study.rows)
    releases = {name: Typical(row["centers"], float(medians[name])) for name, row in drawn.items()}
    reference = study.yardstick.reference if study.yardstick is not None else None
    reveal = reveal_view(study.source, "rows under Compare")
    made = draw_compare(releases, RenderContext(view, read_palette(), reveal, reference))
    st.markdown(f"**{escape_markdown(made.title)}**")
    about = escape_markdown(made.about)
    st.caption(f"{about}. Drawn is the run of each algorithm whose loss is nearest to its median.")
    with st.grid(min_column_width=made.least_width, gap="small"):
        for panel in made.panels:
            with st.container(height="stretch", vertical_alignment="bottom", gap="xsmall"):
                st.markdown(f":small[**{escape_markdown(panel.name)}**  \n{escape_markdown(panel.score)}]")
                alt = f"Centres of {panel.name}: in the median {panel.score} the loss of k-means++"
                key, stem = f"{_KEY}:centers:{panel.name}", f"compare-{panel.name}"
                show(panel.plot, alt=alt, key=key, stem=stem, bare=True)
    # What the marks of all pictures are.
    over, rows = reference is not None, reveal is not None
    revealed = [words for words, drawn in (("open diamonds: k-means++", over), ("dots: rows", rows)) if drawn]
    truth = f" {format_badge('revealed')} {', '.join(revealed)}." if revealed else ""
    legend = f":small[{format_badge('released')} Filled circles: centres.{truth}]"
    st.markdown(legend, help=glossary.explain_words(legend))


def find_median_runs(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Of each algorithm the run whose loss is nearest to the median of its runs, the better one of two."""
    losses = pd.DataFrame({"name": [row["contender"] for row in rows], "nicv": [row["nicv"] for row in rows]})
    losses["off"] = (losses["nicv"] - losses.groupby("name")["nicv"].transform("median")).abs()
    nearest = losses.sort_values(["off", "nicv"], kind="stable").groupby("name", sort=False).head(1)
    return {str(losses["name"][place]): rows[place] for place in nearest.index.sort_values()}
