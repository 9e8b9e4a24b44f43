"""What many runs tell beside a comparison: sweeps over ε, k and n, causes, who pays, and draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import streamlit as st

from dpviz.app.charts.animation import TitleNumber
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.studies.compare import CenterDraws, draw_epsilon_n_map, draw_payers, draw_waterfall
from dpviz.app.charts.studies.curves import Curves, draw_curves
from dpviz.app.ui.controls import ROUND_EPSILONS
from dpviz.app.ui.data_access import reveal_view
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import ask_plane, draw_caption_with_badge, read_palette, show_wide
from dpviz.app.ui.page_sentences import SENTENCES
from dpviz.app.ui.player import play, zip_steps
from dpviz.app.ui.runner import find_recovery
from dpviz.app.ui.session import find_known_clusters, make_once, recall, remember
from dpviz.app.ui.studies import study_panel
from dpviz.app.ui.studies.judged_rows import ask_larger_rows
from dpviz.app.ui.studies.study_job import StudyJob, StudyQuestion, ask_contender, ask_one_setting, has_contenders, send
from dpviz.app.ui.studies.study_panel import Invitation
from dpviz.runs import OpenTable, StudyGrid, error_parts
from dpviz.tables import FileKind
from dpviz.words import format_duration, format_number, format_ratio, glossary

# The whole table, and halves of halves; fewer rows than this many, or than twice k, tell nothing.
_PARTS, _FEWEST = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2), 50
_CLUSTERS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100)
_PRIVATE_N = "The number of rows is private: say it on the bench, or take a synthetic table."


@dataclass(frozen=True)
class _Sweep:
    """What is varied: k or n at one ε, or n beside all ε for one algorithm."""

    key: str
    over: Literal["k", "n", "epsilon and n"]
    invitation: Invitation


_DRAWN = "Press **Draw the map**: the loss at every ε and number of rows."
_BY_K = "Press **Try every k**: the loss for each number of clusters, at one ε."
_BY_N = "Press **Try every n**: the loss for each number of rows, at one ε."
_GRID, _LINES = ":material/grid_on:", ":material/ssid_chart:"
_MAP_INVITATION = Invitation("Map of ε and n", "What would more rows buy?", _DRAWN, _GRID, "Draw the map")
_MAP = _Sweep("map", "epsilon and n", _MAP_INVITATION)
_KS = _Sweep("ks", "k", Invitation("Sweep over k", "What would more clusters cost?", _BY_K, _LINES, "Try every k"))
_NS = _Sweep("ns", "n", Invitation("Sweep over n", "What would fewer rows cost?", _BY_N, _LINES, "Try every n"))


VARIED = {sweep.key: sweep for sweep in (_MAP, _KS, _NS)}
"""What ε buys with how many rows, for one algorithm; and how the loss moves with k, or with n, at one ε."""


def draw_varied_section(sweep: _Sweep, question: StudyQuestion) -> None:
    """The form of a sweep, and its picture or an invitation."""
    if not has_contenders(question.grid.contenders):
        return
    (k,), source = question.grid.ks, question.source
    changes: dict[str, Any] = {}
    with st.container(border=True):
        left, right = st.columns(2, gap="medium")
        with left:
            if sweep is _MAP:
                changes = {"contenders": (ask_contender(sweep.key, question.grid.contenders),)}
                changes["epsilons"] = ask_epsilons(sweep.key)
            else:
                st.markdown(f"At ε = {question.grid.epsilons[0]:g}, as above.")
        with right:
            if sweep is _KS:
                changes["ks"] = _draw_clusters(sweep.key, k)
            else:
                source = ask_larger_rows(sweep.key, question.table, source, k=k)
                changes["ns"] = _draw_sizes(source, k)
        narrowed = replace(question.narrow(sweep.key, **changes), source=source)
        private_n = sweep is not _KS and source is not None and source.n_public is None
        study_panel.draw_study_button(narrowed, invitation=sweep.invitation, problem=_PRIVATE_N if private_n else None)
    own = k if sweep is _KS else question.table.n_public
    draw = partial(_draw_sweep, sweep, own=own)
    study_panel.draw_study_half(narrowed, invitation=sweep.invitation, pictures=draw)


def _draw_sweep(sweep: _Sweep, study: StudyJob, own: int | None) -> None:
    frame, grid, whole = study.make_frame(), study.grid, study.source.n_public or 1  # a study over n has a public one
    frame["n"] = frame["n"].astype(float).fillna(float(whole))
    ns = [n or whole for n in grid.ns]
    if sweep.over == "epsilon and n":
        picture = draw_epsilon_n_map(frame, grid.contenders[0].label, grid.epsilons, ns, own)
    else:
        measure = study_panel.ask_measure(frame, sweep.key)
        places = list(grid.ks) if sweep.over == "k" else ns
        inside = own is not None and min(places) <= own <= max(places)
        curves = Curves(frame, measure, sweep.over, places, grid.epsilons[0], own if inside else None)
        picture = draw_curves(curves)
    study_panel.show_picture(picture, study)
    if sweep is not _MAP:
        st.caption(
            f"Every {escape_markdown(sweep.over)} is measured against k-means++ with the same "
            f"{escape_markdown(sweep.over)}."
        )
    elif own is None:
        st.caption("Your number of rows is private, and is not marked.")
    study_panel.draw_study_download(study, picture)


def _draw_sizes(source: OpenTable | None, k: int) -> tuple[int | None, ...]:
    """Numbers of rows of subsamples, two digits each, and None for the whole table."""
    whole = source.n_public if source is not None else None
    if whole is None:
        return (None,)
    rounded = [int(float(f"{part * whole:.2g}")) for part in _PARTS]
    return (*(n for n in rounded if max(_FEWEST, 2 * k) <= n < whole), None)


def _draw_clusters(key: str, k: int) -> tuple[int, ...]:
    """A range of k, and k itself; at first from about a third of it to twice as many."""
    offered = sorted({*_CLUSTERS, k})
    first = max(one for one in offered if one <= max(2, k // 3))
    last = max(one for one in offered if one <= max(2 * k, 4))
    ends = (min(first, k), max(k, last))
    low, high = st.select_slider("Range of k", offered, ends, lambda k: f"{k:d}", key=f"{key}:range:{k}")
    return tuple(sorted({k, *(one for one in _CLUSTERS if low <= one <= high)}))


_DRAWS_KEY = "draws"
_AGAIN = "Press **Draw again and again**: the same release, drawn again and again."
DRAWS_INVITATION = Invitation("Draws", "How much do draws differ?", _AGAIN, ":material/replay:", "Draw again and again")


def draw_draws_section(question: StudyQuestion) -> None:
    """One algorithm at one ε, drawn many times."""
    button = partial(study_panel.draw_study_button, invitation=DRAWS_INVITATION, with_centers=True)
    _draw_one_setting(question, _DRAWS_KEY, ("Draws", 5, 100, 30), DRAWS_INVITATION, button, _draw_draws)


def _draw_one_setting(
    question: StudyQuestion,
    key: str,
    runs: tuple[str, int, int, int],
    invitation: Invitation,
    draw_button: Callable[[StudyQuestion], None],
    pictures: Callable[[StudyJob], None],
) -> None:
    """The form for one algorithm at one ε, with the slider of its ``runs``, and the picture of the last answer."""
    if not has_contenders(question.grid.contenders):
        return
    with st.container(border=True):
        one = ask_one_setting(question, key, *runs)
        draw_button(one)
    study_panel.draw_study_half(one, invitation=invitation, pictures=pictures)


def _draw_draws(study: StudyJob) -> None:
    reference = study.yardstick.reference if study.yardstick is not None else None
    view = ask_plane(study.source.domain, _DRAWS_KEY)
    rows = reveal_view(study.source, "rows under repeated draws")
    counted = reference is not None and find_known_clusters(study.source) == study.grid.ks[0]
    found = None if reference is None or not counted else partial(find_recovery, study.source, reference=reference)
    (contender,), (epsilon,) = study.grid.contenders, study.grid.epsilons
    spends = epsilon if contender.card.private else None
    context = RenderContext(view, read_palette(), rows, reference, found=found, epsilon=spends)
    draws = CenterDraws.of(study.rows, context)
    if study.running:
        show_wide(draws.draw(), alt=draws.words(), key=f"{_DRAWS_KEY}:cloud", stem="cloud-of-centres")
        return
    _play(study, draws)
    if reference is not None:
        study_panel.draw_numbers(draws, study)


def _play(study: StudyJob, draws: CenterDraws) -> None:
    """The draws in the player that runs are played in."""
    context = draws.context
    shown = (context.view.name, st.context.theme.type, context.reveal is None, context.reference is None)
    given = (study.job, len(draws.centers), *shown)
    animation = make_once(f"{_DRAWS_KEY}:animation", given, lambda: zip_steps(draws.animate().to_data()))
    low, high = (format_ratio(float(end)) for end in (draws.losses.min(), draws.losses.max()))
    losses = TitleNumber("revealed", low if low == high else f"{low} to {high}", "the loss of k-means++")
    play(animation, [losses], key=f"{_DRAWS_KEY}:player")


_PAYERS_KEY = "payers"
_BY_GROUP = "Press **Measure**: what draws cost each cluster by its size, and each declared group."
PAYERS_INVITATION = Invitation("Who pays", "Who pays for privacy?", _BY_GROUP, ":material/groups:", "Measure")


def draw_payers_section(question: StudyQuestion) -> None:
    """What draws cost each cluster and each group; nothing of a private file."""
    if question.grid.contenders and question.source is not None and question.source.kind is FileKind.PRIVATE:
        st.info(SENTENCES.fill("payers_private"), icon=":material/visibility_off:")
        return
    runs = ("Runs", 5, 50, 20)
    _draw_one_setting(question, _PAYERS_KEY, runs, PAYERS_INVITATION, _draw_payers_button, _draw_picture)


def _draw_payers_button(one: StudyQuestion) -> None:
    access = f"{one.grid.repeats} runs by cluster and by group, k = {one.grid.ks[0]}"
    begin = partial(send, work=error_parts.measure_payer_rows, access=access)
    words = f"{one.grid.repeats:,} runs, about {format_duration(0.0 if one.problem else one.seconds)}"
    study_panel.draw_ask_button(one, begin, words=words, problem=one.problem, label="Measure")


def _draw_picture(study: StudyJob) -> None:
    if study.source.kind is FileKind.PRIVATE:  # it was public when it was asked
        st.info(SENTENCES.fill("payers_private"), icon=":material/visibility_off:")
        return
    paid = error_parts.summarise_payers(study.rows)
    (contender,), (epsilon,) = study.grid.contenders, study.grid.epsilons
    picture = draw_payers(paid, contender.label, epsilon)
    told = "Not even the largest cluster is found in eight of ten draws."
    if (shown := paid.smallest_shown) is not None:
        rows = format_number(shown)
        told = f"The smallest cluster that eight of ten draws find, as they do all larger ones, has {rows} rows."
    study_panel.show_picture(picture, study, beneath=lambda: draw_caption_with_badge("revealed", told))
    if not study.running:
        study_panel.draw_page_button(study, picture)


_PARTS_KEY = "causes"
# A private run, the same without noise, and two solutions from many starts.
_RUNS_EACH = 4
_EACH = "Press **Measure**: what the grid, the noise and the solver each add."
_CAUSES = ("Where the error comes from", "Where does the loss come from?")
PARTS_INVITATION = Invitation(*_CAUSES, _EACH, ":material/waterfall_chart:", "Measure")


def draw_parts_section(question: StudyQuestion) -> None:
    """What quantising, noise and solver each add."""
    runs = ("Runs", 3, 50, 10)
    _draw_one_setting(question, _PARTS_KEY, runs, PARTS_INVITATION, _draw_parts_button, _draw_bars)


def _draw_parts_button(one: StudyQuestion) -> None:
    access = f"error of {one.grid.repeats} runs taken apart, k = {one.grid.ks[0]}"
    begin = partial(send, work=error_parts.measure_error_rows, access=access)
    problem = error_parts.explain_refusal(one.grid.contenders[0], one.grid.ks[0]) or one.problem
    about = "" if problem else f", about {format_duration(_RUNS_EACH * one.seconds)}{one.provided}"
    words = f"{one.grid.repeats:,} runs with noise and without{about}"
    study_panel.draw_ask_button(one, begin, words=words, problem=problem, label="Measure")


def _draw_bars(study: StudyJob) -> None:
    assert study.yardstick is not None  # it comes before any row
    error = error_parts.compute_error_parts(study.yardstick, study.rows)
    if study.source.kind is FileKind.PRIVATE:  # bounds are not to be chosen by it
        error = replace(error, clip=None)
    (contender,), (epsilon,) = study.grid.contenders, study.grid.epsilons
    bars = draw_waterfall(error, contender.label, epsilon)
    study_panel.show_picture(bars, study, beneath=_draw_explanation)
    if study.source.kind.may_be_shown and not study.running:
        study_panel.draw_page_button(study, bars)


def _draw_explanation() -> None:
    with st.expander("How each part is measured", icon=":material/help:"):
        st.markdown(SENTENCES.fill("causes"))
        draw_caption_with_badge("revealed", "Every bar is read from rows; a run without noise is thrown away at once.")


def ask_epsilons(key: str) -> tuple[float, ...]:
    """Round values of ε between two ends; those of a link or a file as long as its ends stay."""
    kept, loaded = f"{key}:epsilons", recall(f"{key}:loaded", 0)
    # Whenever settings are loaded, a new slider takes the place of the one before.
    widget = f"{key}:range:{loaded}" if loaded else f"{key}:range"
    epsilons = recall(kept, StudyGrid.list_epsilons(0.1, 10.0))
    # A slider with two ends takes them from its first value alone: it must not change while the slider lives.
    if widget not in st.session_state:
        st.session_state[f"first:{widget}"] = (min(epsilons), max(epsilons))
    first: tuple[float, float] = st.session_state[f"first:{widget}"]
    look: dict[str, Any] = {"key": widget, "help": glossary.explain_term("epsilon")}
    offered = sorted({*ROUND_EPSILONS, *first})
    low, high = st.select_slider("Range of ε", offered, first, format_func=lambda one: f"{one:g}", **look)
    if (low, high) != (min(epsilons), max(epsilons)):
        epsilons = remember(kept, StudyGrid.list_epsilons(low, high))
    return epsilons


def load_epsilons(key: str, epsilons: tuple[float, ...]) -> None:
    """Set what ``ask_epsilons`` asks; call it from a callback, or before it is drawn."""
    remember(f"{key}:epsilons", epsilons)
    remember(f"{key}:loaded", recall(f"{key}:loaded", 0) + 1)
