"""The picture of a scene: rows or a first animation while a question is open, then what answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import streamlit as st

from dpviz.app.charts.animation import Animation
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.player.lesson_page import (
    describe_sample,
    describe_seeds,
    draw_guessed_curve,
    draw_sample,
    draw_strip,
    make_context,
    make_walk,
)
from dpviz.app.charts.plot import pack
from dpviz.app.charts.studies.compare import CenterDraws
from dpviz.app.lessons.computed import Computed, find_step
from dpviz.app.lessons.lesson import (
    CurveGuess,
    DrawsReveal,
    Lesson,
    LessonBoard,
    PartReveal,
    RunReveal,
    Scene,
    StudyReveal,
)
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import show, show_wide
from dpviz.app.ui.job_panel import draw_job_panel, open_job_registry
from dpviz.app.ui.lessons.guesses import FIRST_LOSS, is_revealed, read_guess
from dpviz.app.ui.meaning.parts import PARTS
from dpviz.app.ui.meaning.stage import open_stage
from dpviz.app.ui.player.player import play
from dpviz.app.ui.playground.board import Board, draw_board
from dpviz.app.ui.session import make_once
from dpviz.runs import Row, StudyGrid, membership, tidy
from dpviz.tables import drawings
from dpviz.words import choose_palette

_JOBS, _ANIMATIONS, _KEPT_ANIMATIONS, _KEPT_JOBS = "lessons:jobs", "lessons:animation", 6, 8


def begin_runs(scene: Scene, computed: Computed) -> None:
    """Begin the many runs of a scene as soon as it opens, so that they are there when they are due."""
    if isinstance(scene.reveal, DrawsReveal | StudyReveal):
        grid = scene.reveal.grid
        rows = _read_rows(grid, computed)
        if rows:
            computed.take(grid, rows)


def draw_scene_picture(lesson: Lesson, place: int, computed: Computed) -> None:
    """Draw what the scene shows now."""
    scene, revealed = lesson.scenes[place - 1], is_revealed(lesson, place)
    if scene.board is not None and (scene.reveal is None or not revealed):
        _draw_board(lesson, place, scene.board, computed, revealed=revealed)
        return
    if not revealed:
        _draw_before(lesson, place, scene, computed)
        return
    match scene.reveal:
        case RunReveal() as run:
            _draw_animation(lesson, place, run, computed, whole=True)
        case DrawsReveal(grid=grid):
            _draw_many(grid, computed, partial(_draw_draws, lesson, place, scene, computed), "Draws")
        case StudyReveal(grid=grid):
            _draw_many(grid, computed, partial(_draw_curve, lesson, place, grid), "The curve")
        case PartReveal() as part:
            _draw_part(part, computed)
        case None:
            _draw_before(lesson, place, scene, computed)


def _draw_before(lesson: Lesson, place: int, scene: Scene, computed: Computed) -> None:
    """What may be seen while the question is open."""
    if scene.shows is not None:
        _draw_animation(lesson, place, scene.shows, computed, whole=False)
    elif isinstance(scene.question, CurveGuess) and isinstance(scene.reveal, StudyReveal):
        _draw_curve(lesson, place, scene.reveal.grid, None)
    else:
        title = f"{computed.table.title}: its rows"
        shown = make_once(
            "lessons:rows",
            (computed.table.key, st.context.theme.type),
            lambda: draw_sample(_make_context(computed), title),
            most=2,
        )
        show_wide(shown, alt=f"The {len(computed.rows.points):,} rows of {title}.", key="lesson:rows", stem=lesson.id)


def _draw_board(lesson: Lesson, place: int, shown: LessonBoard, computed: Computed, *, revealed: bool) -> None:
    """A board, which may wait for the prediction; its first draw is the lesson's, those after it are fresh."""
    locked = shown.guess and not revealed
    step = None if locked or shown.step is None else find_step(computed.run(shown.request), shown.step)
    begins = Board(
        drawings.decode_drawing(shown.drawing),
        shown.request,
        step,
        shown.view,
        shown.tools,
        shown.preview,
        locked=locked,
    )
    draw_board(begins, key=f"lesson:{lesson.id}:{place}:board")
    if locked:
        st.caption("Painted points are simulated: nobody's.")
    else:
        st.caption(f"The first draw has seed {shown.request.seed:d}, the same for everybody; after it noise is fresh.")


def _make_context(computed: Computed) -> RenderContext:
    return make_context(computed, choose_palette(st.context.theme.type))


def _draw_animation(lesson: Lesson, place: int, shown: RunReveal, computed: Computed, *, whole: bool) -> None:
    """A run, stopped at a step; if not ``whole``, without what comes after it, which would give the answer away."""
    request = shown.request
    run, context, numbers = make_walk(computed, request, choose_palette(st.context.theme.type), whole=whole)
    start = find_step(run, shown.step)

    def made() -> str:
        data = Animation.of_run(run, context).to_data()
        steps = data["steps"] if whole else data["steps"][: start + 1]
        return pack({**data, "steps": steps, "start": start})

    given = (computed.table.key, request.to_query(), request.seed, shown.step, whole, st.context.theme.type)
    animation = make_once(_ANIMATIONS, given, made, most=_KEPT_ANIMATIONS)
    play(animation, numbers, None, key=f"lesson:{lesson.id}:{place}:{'animation' if whole else 'first'}")
    st.caption(escape_markdown(describe_sample(computed, request)))


def _find_begun(grid: StudyGrid, computed: Computed) -> Any:
    """The job that answers a study, begun once a visit."""
    given = (computed.table.key, grid.to_query())
    return make_once(
        _JOBS,
        given,
        lambda: open_job_registry().start_study(computed.judged, grid, key=computed.table.key, with_centers=True),
        most=_KEPT_JOBS,
    )


def _read_rows(grid: StudyGrid, computed: Computed) -> list[Row]:
    """All runs of a study, once they are there."""
    job = _find_begun(grid, computed)
    if not job.state.final or job.error is not None:
        return []
    rows = cast("list[Row]", [item for item in job.items if isinstance(item, dict)])
    if len(rows) < len(grid.list_trials()):
        return []
    return sorted(rows, key=lambda row: (row["epsilon"], row["repeat"]))


def _draw_many(grid: StudyGrid, computed: Computed, draw: Callable[[list[Row]], None], label: str) -> None:
    """What many runs came to, once they have."""
    rows = _read_rows(grid, computed)
    if not rows:
        draw_job_panel(_find_begun(grid, computed), label=label, key="lesson:study")
        return
    draw(rows)
    st.caption(escape_markdown(describe_seeds(computed, len(rows), grid)))


def _draw_curve(lesson: Lesson, place: int, grid: StudyGrid, rows: list[Row] | None) -> None:
    guess = read_guess(lesson, place)
    guessed = guess if isinstance(guess, tuple) else None if rows else (FIRST_LOSS,) * len(grid.epsilons)
    runs = None if rows is None else tidy(rows)
    curve = draw_guessed_curve(grid.epsilons, guessed, runs)
    st.markdown(f"**{escape_markdown(curve.finding)}**")
    plot = curve.paint(choose_palette(st.context.theme.type))
    show(plot, alt=curve.words, key=f"lesson:{lesson.id}:{place}:curve", stem=f"{lesson.id}-{curve.stem}")


def _draw_draws(lesson: Lesson, place: int, scene: Scene, computed: Computed, rows: list[Row]) -> None:
    """A strip of what is asked about, and the cloud of all centres."""
    guess, key = read_guess(lesson, place), f"lesson:{lesson.id}:{place}"
    strip = draw_strip(scene, rows, computed, guess if isinstance(guess, float) else None)
    st.markdown(f"**{escape_markdown(strip.finding)}**")
    plot = strip.paint(choose_palette(st.context.theme.type))
    show(plot, alt=strip.words, key=f"{key}:strip", stem=f"{lesson.id}-{strip.stem}", bare=True)
    context = _make_context(computed)
    centers = np.stack([row["centers"] for row in rows])
    losses = np.array([row["ratio"] for row in rows])
    reference = computed.compute_reference(centers.shape[1])
    cloud = CenterDraws(centers, losses, replace(context, reference=reference))
    show_wide(cloud.draw(), alt=cloud.words(), key=f"{key}:cloud", stem=f"{lesson.id}-draws")


def _draw_part(shown: PartReveal, computed: Computed) -> None:
    """A part of the page *What ε means*, about the person of the sample who is hardest to hide."""
    table = computed.table
    stage = open_stage(table, membership.find_farthest_row(table), shown.request)
    if isinstance(stage, str):
        st.info(escape_markdown(stage), icon=":material/block:")
    else:
        PARTS[shown.part].draw(stage)
