"""The picture of a scene: rows or a first film while a question is open, then what answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import streamlit as st

from dpviz.charts.film import Film
from dpviz.charts.lesson_pictures import (
    about_sample,
    about_seeds,
    draw_guessed_curve,
    draw_sample,
    draw_strip,
    look_at,
    strip_of,
    title_of_curve,
    walk_of,
    words_of_curve,
    words_of_strip,
)
from dpviz.charts.picture import Look
from dpviz.charts.plot import packed
from dpviz.charts.studies.draws import Draws
from dpviz.charts.theme import palette
from dpviz.lessons.computed import Computed, step_place
from dpviz.lessons.lesson import Board, CurveGuess, DrawsReveal, Lesson, PartReveal, RunReveal, Scene, StudyReveal
from dpviz.meaning.worlds import farthest
from dpviz.runs.study.grid import Grid
from dpviz.runs.study.study import Row, tidy
from dpviz.table.drawing import decode_drawing
from dpviz.ui.escape import plain
from dpviz.ui.figure import show, show_wide
from dpviz.ui.job_panel import job_panel, job_shelf
from dpviz.ui.lessons.guesses import FIRST_LOSS, guess_of, is_revealed
from dpviz.ui.meaning.parts import PARTS
from dpviz.ui.meaning.stage import stage_on
from dpviz.ui.player.player import play
from dpviz.ui.playground.board import Board as PaintBoard
from dpviz.ui.playground.board import board
from dpviz.ui.session import once

_JOBS, _FILMS, _KEPT_FILMS, _KEPT_JOBS = "lessons:jobs", "lessons:film", 6, 8


def begin_runs(scene: Scene, computed: Computed) -> None:
    """Begin the many runs of a scene as soon as it opens, so that they are there when they are due."""
    if isinstance(scene.reveal, DrawsReveal | StudyReveal):
        grid = scene.reveal.grid
        rows = _rows(grid, computed)
        if rows:
            computed.take(grid, rows)


def scene_picture(lesson: Lesson, place: int, computed: Computed) -> None:
    """Draw what the scene shows now."""
    scene, revealed = lesson.scenes[place - 1], is_revealed(lesson, place)
    if scene.board is not None and (scene.reveal is None or not revealed):
        _board(lesson, place, scene.board, computed, revealed=revealed)
        return
    if not revealed:
        _before(lesson, place, scene, computed)
        return
    match scene.reveal:
        case RunReveal() as run:
            _film(lesson, place, run, computed, whole=True)
        case DrawsReveal(grid=grid):
            _many(grid, computed, partial(_draws, lesson, place, scene, computed), "Draws")
        case StudyReveal(grid=grid):
            _many(grid, computed, partial(_curve, lesson, place, grid), "The curve")
        case PartReveal() as part:
            _part(part, computed)
        case None:
            _before(lesson, place, scene, computed)


def _before(lesson: Lesson, place: int, scene: Scene, computed: Computed) -> None:
    """What may be seen while the question is open."""
    if scene.shows is not None:
        _film(lesson, place, scene.shows, computed, whole=False)
    elif isinstance(scene.question, CurveGuess) and isinstance(scene.reveal, StudyReveal):
        _curve(lesson, place, scene.reveal.grid, None)
    else:
        title = f"{computed.table.title}: its rows"
        figure = once(
            "lessons:rows",
            (computed.table.key, st.context.theme.type),
            lambda: draw_sample(_look(computed), title),
            most=2,
        )
        show_wide(figure, alt=f"The {len(computed.rows.points):,} rows of {title}.", key="lesson:rows", stem=lesson.id)


def _board(lesson: Lesson, place: int, shown: Board, computed: Computed, *, revealed: bool) -> None:
    """A board, which may wait for the prediction; its first draw is the lesson's, those after it are fresh."""
    locked = shown.guess and not revealed
    step = None if locked or shown.step is None else step_place(computed.run(shown.request), shown.step)
    begins = PaintBoard(
        decode_drawing(shown.drawing), shown.request, step, shown.view, shown.tools, shown.preview, locked=locked
    )
    board(begins, key=f"lesson:{lesson.id}:{place}:board")
    if locked:
        st.caption("Painted points are simulated: nobody's.")
    else:
        st.caption(f"The first draw has seed {shown.request.seed:d}, the same for everybody; after it noise is fresh.")


def _look(computed: Computed) -> Look:
    return look_at(computed, palette(st.context.theme.type))


def _film(lesson: Lesson, place: int, shown: RunReveal, computed: Computed, *, whole: bool) -> None:
    """A run, stopped at a step; if not ``whole``, without what comes after it, which would give the answer away."""
    request = shown.request
    run, look, numbers = walk_of(computed, request, palette(st.context.theme.type), whole=whole)
    start = step_place(run, shown.step)

    def made() -> str:
        data = Film(run, look).data()
        steps = data["steps"] if whole else data["steps"][: start + 1]
        return packed({**data, "steps": steps, "start": start})

    given = (computed.table.key, request.to_query(), request.seed, shown.step, whole, st.context.theme.type)
    film = once(_FILMS, given, made, most=_KEPT_FILMS)
    play(film, numbers, None, key=f"lesson:{lesson.id}:{place}:{'film' if whole else 'first'}")
    st.caption(plain(about_sample(computed, request)))


def _begun(grid: Grid, computed: Computed) -> Any:
    """The job that answers a study, begun once a visit."""
    given = (computed.table.key, grid.to_query())
    return once(
        _JOBS,
        given,
        lambda: job_shelf().study(computed.judged, grid, key=computed.table.key, with_centers=True),
        most=_KEPT_JOBS,
    )


def _rows(grid: Grid, computed: Computed) -> list[Row]:
    """All runs of a study, once they are there."""
    job = _begun(grid, computed)
    if not job.state.final or job.error is not None:
        return []
    rows = cast("list[Row]", [item for item in job.items if isinstance(item, dict)])
    if len(rows) < len(grid.trials()):
        return []
    return sorted(rows, key=lambda row: (row["epsilon"], row["repeat"]))


def _many(grid: Grid, computed: Computed, draw: Callable[[list[Row]], None], label: str) -> None:
    """What many runs came to, once they have."""
    rows = _rows(grid, computed)
    if not rows:
        job_panel(_begun(grid, computed), label=label, key="lesson:study")
        return
    draw(rows)
    st.caption(plain(about_seeds(computed, len(rows), grid)))


def _curve(lesson: Lesson, place: int, grid: Grid, rows: list[Row] | None) -> None:
    guess = guess_of(lesson, place)
    guessed = guess if isinstance(guess, tuple) else None if rows else (FIRST_LOSS,) * len(grid.epsilons)
    runs = None if rows is None else tidy(rows)
    figure = draw_guessed_curve(grid.epsilons, guessed, runs, palette=palette(st.context.theme.type))
    words = words_of_curve(grid.epsilons, guessed, runs)
    st.markdown(f"**{plain(title_of_curve(runs))}**")
    show(figure, alt=words, key=f"lesson:{lesson.id}:{place}:curve", stem=f"{lesson.id}-curve")


def _draws(lesson: Lesson, place: int, scene: Scene, computed: Computed, rows: list[Row]) -> None:
    """A strip of what is asked about, and the cloud of all centres."""
    values, what = strip_of(scene, rows, computed)
    guess, colors = guess_of(lesson, place), palette(st.context.theme.type)
    guessed = guess if isinstance(guess, float) else None
    strip = draw_strip(values, str(rows[0]["contender"]), what=what, guess=guessed, palette=colors)
    key = f"lesson:{lesson.id}:{place}"
    st.markdown(f"**{plain(words_of_strip(values, what))}**")
    show(strip, alt=words_of_strip(values, what), key=f"{key}:strip", stem=f"{lesson.id}-strip", bare=True)
    look = _look(computed)
    centers = np.stack([row["centers"] for row in rows])
    losses = np.array([row["ratio"] for row in rows])
    reference = computed.reference(centers.shape[1])
    cloud = Draws(centers, losses, replace(look, reference=reference))
    show_wide(cloud.draw(), alt=cloud.words(), key=f"{key}:cloud", stem=f"{lesson.id}-draws")


def _part(shown: PartReveal, computed: Computed) -> None:
    """A part of the page *What ε means*, about the person of the sample who is hardest to hide."""
    table = computed.table
    stage = stage_on(table, farthest(table), shown.request)
    if isinstance(stage, str):
        st.info(plain(stage), icon=":material/block:")
    else:
        PARTS[shown.part].draw(stage)
