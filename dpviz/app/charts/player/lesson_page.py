"""A lesson as a page of its own: each question is a scene, and its answer the one after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from dpviz.app.charts.canvas import TitledPlot
from dpviz.app.charts.lesson_pictures import (
    describe_sample,
    describe_seeds,
    draw_guessed_curve,
    draw_sample,
    draw_strip,
    make_context,
    make_walk,
)
from dpviz.app.charts.meaning.part_figures import make_part_figures
from dpviz.app.charts.player.player_page import Figured, PlayerScene, animate, make_player_page
from dpviz.app.charts.studies.draws import CenterDraws
from dpviz.app.lessons import lesson as told
from dpviz.app.lessons.computed import Computed, find_step
from dpviz.app.lessons.lesson import (
    CurveGuess,
    DrawsReveal,
    Lesson,
    NumberGuess,
    Options,
    PartReveal,
    RunReveal,
    StudyReveal,
)
from dpviz.runs import Progress, StudyGrid, tidy
from dpviz.words import Palette, choose_palette


def make_lesson_page(lesson: Lesson) -> Iterator[Progress | str]:
    """HTML that plays a lesson without network or server, at the end; on the way there its runs are computed."""
    known = {
        subject: Computed.open_subject(subject) for subject in {lesson.find_subject(scene) for scene in lesson.scenes}
    }
    scenes = list[PlayerScene]()
    for place, scene in enumerate(lesson.scenes, start=1):
        yield Progress(place - 1, len(lesson.scenes), f"scene {place} of {len(lesson.scenes)}")
        scenes += _make_pages(lesson, place, scene, known[lesson.find_subject(scene)])
    remembered = PlayerScene("To remember", [lesson.sentence], turn="To remember")
    yield Progress(len(lesson.scenes), len(lesson.scenes), "put together")
    yield make_player_page([*scenes, remembered], title=lesson.title)


def _make_pages(lesson: Lesson, place: int, scene: told.Scene, computed: Computed) -> Iterator[PlayerScene]:
    """The question and the answer, or a scene without a question."""
    heading, texts = scene.fill_text(scene.title), _format_paragraphs(scene, scene.text)
    turn = f"{place}. {heading}"
    if scene.question is None:
        shown = _fill_answer(scene, computed) if scene.reveal is not None else _draw_before(scene, computed)
        yield replace(shown, heading=heading, paragraphs=[*texts, *_format_answer(scene), *shown.paragraphs], turn=turn)
        return
    first = _draw_before(scene, computed)
    asked = [*texts, *_format_question(scene)]
    yield replace(first, heading=heading, paragraphs=[*asked, *first.paragraphs], turn=turn, leads="Reveal")
    then = _fill_answer(scene, computed)
    paragraphs = [scene.fill_text(scene.question.ask), *_format_truth(scene), *_format_answer(scene), *then.paragraphs]
    yield replace(then, heading=f"{heading}: the answer", paragraphs=paragraphs, turn="answer")


def _format_question(scene: told.Scene) -> Iterator[str]:
    match scene.question:
        case Options(ask=ask, options=options):
            yield scene.fill_text(ask)
            yield "\n".join(f"□ {scene.fill_text(option)}" for option in options)
        case NumberGuess(ask=ask, low=low, high=high, unit=unit):
            yield f"{scene.fill_text(ask)} A number from {low:g} to {high:g} {unit}".rstrip() + "."
        case CurveGuess(ask=ask):
            yield scene.fill_text(ask)


def _format_truth(scene: told.Scene) -> list[str]:
    return [f"It is: {scene.truth}"] if scene.truth else []


def _format_answer(scene: told.Scene) -> list[str]:
    return _format_paragraphs(scene, scene.answer) if scene.answer else []


def _format_paragraphs(scene: told.Scene, text: str) -> list[str]:
    """Without the line breaks of its file, which would be seen here."""
    return [" ".join(paragraph.split()) for paragraph in scene.fill_text(text).split("\n\n")]


def _draw_before(scene: told.Scene, computed: Computed) -> PlayerScene:
    """What may be seen while the question is open."""
    if scene.shows is not None:
        return _draw_animation(scene.shows, computed, whole=False)
    if isinstance(scene.question, CurveGuess) and isinstance(scene.reveal, StudyReveal):
        return PlayerScene()
    title = f"{computed.table.title}: its rows"
    draw = partial(_draw_sample, computed, title)
    return PlayerScene(figures=[Figured.of(draw, f"The rows of {title}", "revealed")])


def _draw_sample(computed: Computed, title: str, colors: Palette) -> TitledPlot:
    return draw_sample(make_context(computed, colors), title)


def _fill_answer(scene: told.Scene, computed: Computed) -> PlayerScene:
    """What answers the question."""
    match scene.reveal:
        case RunReveal() as shown:
            return _draw_animation(shown, computed, whole=True)
        case DrawsReveal(grid=grid):
            return _draw_draws(scene, grid, computed)
        case StudyReveal(grid=grid):
            return _draw_curve(grid, computed)
        case PartReveal(part=part, request=request):
            return PlayerScene(figures=make_part_figures(part, computed.table, request))
        case None if scene.board is not None:
            return _draw_animation(RunReveal(scene.board.request, scene.board.step), computed, whole=True)
        case None:
            return PlayerScene()


def _draw_animation(shown: RunReveal, computed: Computed, *, whole: bool) -> PlayerScene:
    run, context, numbers = make_walk(computed, shown.request, choose_palette("light"), whole=whole)
    at = find_step(run, shown.step)
    animation = animate(run, context, numbers, at=at)
    if not whole:  # what comes after would give the answer away
        animation["steps"] = {theme: steps[: at + 1] for theme, steps in animation["steps"].items()}
    return PlayerScene(animation=animation, paragraphs=[describe_sample(computed, shown.request)])


def _draw_draws(scene: told.Scene, grid: StudyGrid, computed: Computed) -> PlayerScene:
    rows = computed.run_study(grid)
    strip = draw_strip(scene, rows, computed)
    centers, losses = np.stack([row["centers"] for row in rows]), np.array([row["ratio"] for row in rows])
    reference = computed.compute_reference(centers.shape[1])

    def cloud(colors: Palette) -> CenterDraws:
        return CenterDraws(centers, losses, replace(make_context(computed, colors), reference=reference))

    figures = [
        Figured.of(strip.draw, strip.words, "revealed"),
        Figured.of(lambda colors: cloud(colors).draw(), cloud(choose_palette("light")).words(), "released", "revealed"),
    ]
    return PlayerScene(figures=figures, paragraphs=[describe_seeds(computed, len(rows), grid)])


def _draw_curve(grid: StudyGrid, computed: Computed) -> PlayerScene:
    rows = computed.run_study(grid)
    curve = draw_guessed_curve(grid.epsilons, None, tidy(rows))
    return PlayerScene(
        figures=[Figured.of(curve.draw, curve.words, "revealed")],
        paragraphs=[describe_seeds(computed, len(rows), grid)],
    )
