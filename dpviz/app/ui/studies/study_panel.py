"""What stands around a study on a page: the button, its job, its picture with the numbers behind it, and its file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.app.charts.canvas import Diagram, TitledPlot
from dpviz.app.charts.player.player_page import Figured, PlayerScene, make_player_page
from dpviz.app.charts.studies.compare import CenterDraws
from dpviz.app.charts.studies.curves import find_measure
from dpviz.app.ui import figure
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.job_panel import draw_job_panel
from dpviz.app.ui.session import recall, remember
from dpviz.app.ui.studies.study_job import StudyJob, StudyQuestion, begin_study, find_job
from dpviz.runs import MEASURES, JobState, Study, count_cores, export
from dpviz.tables import FileKind
from dpviz.words import Palette, capitalize_first, format_duration

_SKELETON = 560
# Starting workers, and k-means++ before the first run.
_SECONDS_TO_BEGIN = 1.5


@dataclass(frozen=True)
class Invitation:
    """What stands in place of a study that nobody has asked for yet; ``what`` is its name, as a noun.

    ``button`` computes it: a page that has two of them gives each a name of its own.
    """

    what: str
    title: str
    words: str
    icon: str
    button: str = "Compute"


def draw_study_button(
    question: StudyQuestion,
    *,
    invitation: Invitation | None = None,
    with_centers: bool = False,
    problem: str | None = None,
    said: DeltaGenerator | None = None,
) -> None:
    """Draw the button that starts a study."""
    problem, words = problem or question.problem, ""
    if problem is None:
        about = format_duration(_SECONDS_TO_BEGIN + question.seconds / count_cores())
        words = f"{len(question.grid.list_trials()):,} runs, about {about}{question.provided}"
    begin = partial(begin_study, with_centers=with_centers)
    label = "Compute" if invitation is None else invitation.button
    draw_ask_button(question, begin, words=words, problem=problem, label=label, said=said)


def draw_ask_button(
    question: StudyQuestion,
    begin: Callable[[StudyQuestion], None],
    *,
    words: str,
    problem: str | None,
    label: str = "Compute",
    said: DeltaGenerator | None = None,
) -> None:
    """Draw a button that begins something long."""
    key, barred = f"{question.key}:compute", problem is not None
    pressed = st.button(label, type="primary", icon=":material/play_circle:", key=key, disabled=barred, width="stretch")
    place = st.container() if said is None else said
    barred_by = f":red-badge[:material/cancel: cannot run] {escape_markdown(problem)}"
    place.caption(barred_by if problem else escape_markdown(words))
    if pressed:
        with figure.say_refusal("This cannot run"):
            begin(question)


def draw_study_half(question: StudyQuestion, *, invitation: Invitation, pictures: Callable[[StudyJob], None]) -> None:
    """Draw what came of a question: its last study, or an invitation."""
    study = find_job(question)
    if study is None:
        st.info(invitation.words, icon=invitation.icon)
        return

    def draw() -> None:
        now = study.take_snapshot()
        if now.rows:
            pictures(now)
        else:
            st.skeleton(height=_SKELETON)

    if not study.is_answer_to(question):
        older = ":yellow-badge[:material/history: older settings]"
        st.markdown(f"{older} Press **{invitation.button}** to apply the new ones.")
    draw_job_panel(study.job, label=invitation.what, key=question.key, live=draw)
    badge = figure.format_badge("revealed" if study.source.kind is not FileKind.SIMULATED else "public")
    standing = _draw_standing(study, question, invitation)
    st.markdown(f"{badge} losses on {escape_markdown(study.source.title)} {standing}")


def _draw_standing(study: StudyJob, question: StudyQuestion, invitation: Invitation) -> str:
    """Whether it is what the form asks for now, and whether that is all; older settings are told of above."""
    if not study.is_answer_to(question):
        return ""
    if study.job.state is JobState.CANCELLED and isinstance(study.job, Study):
        stopped = ":yellow-badge[:material/pause_circle: not complete]"
        return f"{stopped} Press **{invitation.button}** to go on where it stopped."
    return ":green-badge[:material/check: matches the settings]"


def ask_measure(frame: pd.DataFrame, key: str, *, without: Sequence[str] = ()) -> str:
    """Ask which measure is drawn."""
    offered = [name for name in MEASURES if name not in without and frame[name].notna().any()] or ["ratio"]
    offered.sort(key=lambda name: name != "ratio")
    look: dict[str, Any] = {"default": "ratio", "required": True, "wrap": True, "key": f"{key}:measure"}
    look["format_func"] = lambda name: capitalize_first(find_measure(name).short)
    return str(st.pills("Measure", offered, **look) or "ratio")


def show_picture(picture: Diagram, study: StudyJob, *, beneath: Callable[[], None] = lambda: None) -> None:
    """Show a picture of a study as wide as the page, and the numbers behind it to unfold."""
    key, shown = f"{study.question.key}:figure", draw_marked(picture, study, figure.read_palette())
    figure.show_wide(shown, alt=picture.words, key=key, stem=picture.stem)
    beneath()
    draw_numbers(picture, study)


def draw_marked(picture: Diagram, study: StudyJob, palette: Palette) -> TitledPlot:
    """The picture, marked where its losses were read from the rows of a file."""
    drawn = picture.draw(palette)
    if study.source.kind is not FileKind.SIMULATED:
        drawn.plot.mark_revealed()
    return drawn


def draw_numbers(picture: Diagram | CenterDraws, study: StudyJob, *, growing: bool = False) -> None:
    """Draw a table to unfold, and its file where its rows may leave."""
    key = study.question.key
    behind = st.expander("The numbers behind it", icon=":material/table:", key=f"{key}:table", on_change="rerun")
    if not behind.open:
        return
    with behind:
        table = picture.table()
        figure.draw_data_table(table, alt=f"The numbers behind the picture: {picture.finding}", height="auto")
        if _may_leave(study) and not (study.running or growing):
            content, name = export.format_frame_csv(table, note=export.REVEALED_NOTE), picture.stem
            figure.draw_download("These numbers (CSV)", content, export.name_revealed_file(name), key=f"{key}:csv")


def draw_study_download(study: StudyJob, picture: Diagram) -> None:
    """Offer all runs of a study as CSV and its picture as a page, unless they are losses of a private file."""
    if not _may_leave(study):
        return
    number = len(study.rows)
    if study.running:  # a file that every picture replaces would be gone before the browser has seen it
        st.caption(f"A file of all runs comes with the last of them; {number:,} have arrived.")
        return
    key = study.question.key
    label = f"All {number:,} runs (CSV)" if number > 1 else "One run (CSV)"
    with st.container(horizontal=True, vertical_alignment="center"):
        draw_page_button(study, picture)
        name = export.name_revealed_file(f"{key.replace(':', '_')}_k{study.grid.ks[0]}")
        figure.draw_download(label, format_study(study), name, key=f"{key}:download")


def draw_page_button(study: StudyJob, picture: Diagram) -> None:
    """Offer a picture of a study as a page, which is made when it is asked for."""
    help = "The picture, its numbers and what was asked, in one file of about 2 MB that needs no network."
    look = {"icon": ":material/public:", "key": f"{study.question.key}:page", "help": help}
    make, name = partial(draw_study_page, study, picture), export.name_revealed_file(picture.stem, "html")
    figure.draw_download("See it anywhere (HTML)", make, name, **look)


def format_study(study: StudyJob) -> bytes:
    """One line a run; each says that it was read from rows."""
    study.refuse_to_export_private()
    return export.format_frame_csv(study.make_frame(), note=export.REVEALED_NOTE)


def _may_leave(study: StudyJob) -> bool:
    """Whether its losses may be taken away; says so if they may not."""
    if not study.source.kind.may_be_shown:
        figure.draw_caption_with_badge(
            "revealed", "Losses of a private file are for your eyes: there is no file of them."
        )
    return study.source.kind.may_be_shown


def draw_study_page(study: StudyJob, picture: Diagram) -> bytes:
    """The picture of a study as a page, which needs no network and no server."""
    study.refuse_to_export_private()
    simulated = study.source.kind is FileKind.SIMULATED
    drawn = Figured.of(partial(draw_marked, picture, study), picture.words, "public" if simulated else "revealed")
    asked, note = [_describe_asked(study)], export.REVEALED_NOTE
    scene = PlayerScene(figures=[drawn], paragraphs=asked, note=note, numbers=picture.table())
    return make_player_page([scene], title=f"{picture.finding} · {study.source.title}").encode("utf-8")


def _describe_asked(study: StudyJob) -> str:
    """What was run, on what, and whom ε protects."""
    grid, source = study.grid, study.source
    epsilons, deltas, ks = (", ".join(f"{one:g}" for one in some) for some in (grid.epsilons, grid.deltas, grid.ks))
    who = ", ".join(contender.label for contender in grid.contenders)
    return (
        f"Losses on {source.title}, {len(study.rows):,} runs: {who}; ε = {epsilons}; δ = {deltas}; k = {ks}; "
        f"protects {source.private.unit}."
    )


MOST_REPEATS = 50


def ask_repeats(key: str, label: str, usual: int, why: str) -> int:
    """Ask how often each runs."""
    name = f"{key}:repeats"
    if name not in st.session_state:
        st.session_state[name] = recall(name, usual)
    return remember(name, int(st.slider(label, 1, MOST_REPEATS, key=name, help=why)))
