"""One scene of a lesson on the page: text, question and guess at the left, the picture at the right."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

import streamlit as st

from dpviz.app.charts.animation import Animation
from dpviz.app.charts.player import lesson_page
from dpviz.app.lessons import lesson as told
from dpviz.app.lessons import reading
from dpviz.app.lessons.facts import Computed, find_step, list_refusals, list_wrong_says
from dpviz.app.lessons.reading import LessonCollection, read_lessons
from dpviz.app.ui.addresses import LEARN, LESSONS
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import draw_download, look_of, read_palette, say_refusal, show_plot, show_wide
from dpviz.app.ui.job_panel import draw_job_panel, open_job_registry
from dpviz.app.ui.lessons import visit
from dpviz.app.ui.meaning import PARTS, open_stage
from dpviz.app.ui.player import play, zip_steps
from dpviz.app.ui.playground.board import Board, draw_board
from dpviz.app.ui.session import make_once
from dpviz.runs import Row, StudyGrid, Work, membership, tidy
from dpviz.tables import drawings

_JOBS, _ANIMATIONS, _KEPT_ANIMATIONS, _KEPT_JOBS = "lessons:jobs", "lessons:animation", 6, 8


def draw_scene_picture(lesson: told.Lesson, place: int, computed: Computed) -> None:
    """Draw what the scene shows now."""
    scene, revealed = lesson.scenes[place - 1], visit.is_revealed(lesson, place)
    if scene.board is not None and (scene.reveal is None or not revealed):
        # A board, which may wait for the prediction; its first draw is the lesson's, those after it are fresh.
        shown = scene.board
        locked = shown.guess and not revealed
        step = None if locked or shown.step is None else find_step(computed.run(shown.request), shown.step)
        drawing = drawings.decode_drawing(shown.drawing)
        begins = Board(drawing, shown.request, step, shown.view, shown.tools, shown.preview, locked=locked)
        draw_board(begins, key=f"lesson:{lesson.id}:{place}:board")
        drawn = f"The first draw has seed {shown.request.seed:d}, the same for everybody; after it noise is fresh."
        st.caption("Painted points are simulated: nobody's." if locked else drawn)
        return
    match scene.reveal if revealed else None:
        case told.RunReveal() as run:
            _draw_animation(lesson, place, run, computed, whole=True)
        case told.DrawsReveal(grid=grid):
            _draw_many(grid, computed, partial(_draw_draws, lesson, place, scene, computed), "Draws")
        case told.StudyReveal(grid=grid):
            _draw_many(grid, computed, partial(_draw_curve, lesson, place, grid), "The curve")
        case told.PartReveal() as part:
            _draw_part(part, computed)
        case None:
            _draw_before(lesson, place, scene, computed)


def _draw_before(lesson: told.Lesson, place: int, scene: told.Scene, computed: Computed) -> None:
    """What may be seen while the question is open."""
    if scene.shows is not None:
        _draw_animation(lesson, place, scene.shows, computed, whole=False)
    elif isinstance(scene.question, told.CurveGuess) and isinstance(scene.reveal, told.StudyReveal):
        _draw_curve(lesson, place, scene.reveal.grid, None)
    else:
        title = f"{computed.table.title}: its rows"
        given = (computed.table.key, st.context.theme.type)
        context = lesson_page.make_context(computed, read_palette())
        shown = make_once("lessons:rows", given, lambda: lesson_page.draw_sample(context, title), most=2)
        show_wide(shown, alt=f"The {len(computed.rows.points):,} rows of {title}.", key="lesson:rows", stem=lesson.id)


def _draw_animation(lesson: told.Lesson, place: int, shown: told.RunReveal, computed: Computed, *, whole: bool) -> None:
    """A run, stopped at a step; if not ``whole``, without what comes after it, which would give the answer away."""
    request = shown.request
    run, context, numbers = lesson_page.make_walk(computed, request, read_palette(), whole=whole)
    start = find_step(run, shown.step)

    def made() -> str:
        data = Animation.of_run(run, context).to_data()
        steps = data["steps"] if whole else data["steps"][: start + 1]
        return zip_steps({**data, "steps": steps, "start": start})

    given = (computed.table.key, request.to_query(), request.seed, shown.step, whole, st.context.theme.type)
    animation = make_once(_ANIMATIONS, given, made, most=_KEPT_ANIMATIONS)
    play(animation, numbers, key=f"lesson:{lesson.id}:{place}:{'animation' if whole else 'first'}")
    st.caption(escape_markdown(lesson_page.describe_sample(computed, request)))


def _find_begun(grid: StudyGrid, computed: Computed) -> Any:
    """The job that answers a study, begun once a visit."""
    key = computed.table.key
    begin = partial(open_job_registry().start_study, computed.judged, grid, key=key, with_centers=True)
    return make_once(_JOBS, (key, grid.to_query()), begin, most=_KEPT_JOBS)


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
    st.caption(escape_markdown(lesson_page.describe_seeds(computed, len(rows), grid)))


def _draw_curve(lesson: told.Lesson, place: int, grid: StudyGrid, rows: list[Row] | None) -> None:
    guess = visit.read_guess(lesson, place)
    guessed = guess if isinstance(guess, tuple) else None if rows else (visit.FIRST_LOSS,) * len(grid.epsilons)
    curve = lesson_page.draw_guessed_curve(grid.epsilons, guessed, None if rows is None else tidy(rows))
    st.markdown(f"**{escape_markdown(curve.finding)}**")
    show_plot(curve, key=f"lesson:{lesson.id}:{place}:curve", stem=f"{lesson.id}-{curve.stem}")


def _draw_draws(lesson: told.Lesson, place: int, scene: told.Scene, computed: Computed, rows: list[Row]) -> None:
    """A strip of what is asked about, and the cloud of all centres."""
    guess, key = visit.read_guess(lesson, place), f"lesson:{lesson.id}:{place}"
    strip = lesson_page.draw_strip(scene, rows, computed, guess if isinstance(guess, float) else None)
    st.markdown(f"**{escape_markdown(strip.finding)}**")
    show_plot(strip, key=f"{key}:strip", stem=f"{lesson.id}-{strip.stem}", bare=True)
    cloud = lesson_page.make_cloud(computed, rows, read_palette())
    show_wide(cloud.cloud.draw(), alt=cloud.words(), key=f"{key}:cloud", stem=f"{lesson.id}-draws")


def _draw_part(shown: told.PartReveal, computed: Computed) -> None:
    """A part of the page *What ε means*, about the person of the sample who is hardest to hide."""
    table = computed.table
    stage = open_stage(table, membership.find_farthest_row(table), shown.request)
    if isinstance(stage, str):
        st.info(escape_markdown(stage), icon=":material/block:")
    else:
        PARTS[shown.part].draw(stage)


def _draw_lesson_panel(lesson: told.Lesson, place: visit.Place) -> None:
    """Draw the scene that the address asks for."""
    reasons = make_once("lessons:refusals", lesson, lambda: list_refusals(lesson, open_computed), most=8)
    for sentence in reasons:
        st.error(escape_markdown(sentence), title="This lesson cannot be given", icon=":material/block:")
    if reasons:
        st.button("All lessons", key="lesson:all", on_click=visit.go_to, args=(None,))
        return
    scene = max(1, min(place.scene, len(lesson.scenes)))
    here = visit.Place(lesson.id, scene, place.presented)
    computed = open_computed(lesson.find_subject(lesson.scenes[scene - 1]))
    # The many runs of a scene begin as soon as it opens, so that they are there when they are due.
    reveal = lesson.scenes[scene - 1].reveal
    if isinstance(reveal, told.DrawsReveal | told.StudyReveal) and (rows := _read_rows(reveal.grid, computed)):
        computed.take(reveal.grid, rows)
    # Large type needs room.
    words, picture = st.columns([2, 3] if place.presented else [1, 2], gap="large")
    with words:
        _draw_head(lesson, here)
        draw_scene(lesson, here)
        if visit.is_revealed(lesson, scene):
            _draw_answer(lesson, here, computed)
        if scene == len(lesson.scenes) and visit.is_revealed(lesson, scene):
            # The sentence to remember, and how many predictions came true.
            with st.container(border=True):
                st.markdown(":small[:gray[To remember]]")
                st.header(escape_markdown(lesson.sentence), anchor=False)
                right, asked = visit.compute_score(lesson)
                if asked and not here.presented:
                    st.caption(f"{right:d} of {asked:d} predictions came true. Nobody but you sees this.")
        _draw_walk(lesson, here)
        if not place.presented:
            _draw_ways(lesson, here)
    with picture:
        draw_scene_picture(lesson, scene, computed)


def _say(text: str, presented: bool) -> None:
    """Text of a lesson, paragraph by paragraph; larger for a class."""
    say = partial(st.header, anchor=False) if presented else st.markdown
    for paragraph in text.split("\n\n"):
        say(escape_markdown(paragraph))


def _draw_head(lesson: told.Lesson, here: visit.Place) -> None:
    many = len(lesson.scenes)
    st.progress(here.scene / many, text=f"{escape_markdown(lesson.title)} · {here.scene:d} of {many:d}")
    st.title(escape_markdown(lesson.scenes[here.scene - 1].title), anchor=False)


def draw_scene(lesson: told.Lesson, here: visit.Place) -> None:
    """What a scene tells and asks; once it is revealed, the guess beside the truth."""
    scene = lesson.scenes[here.scene - 1]
    _say(scene.fill_text(scene.text), here.presented)
    if scene.question is None:
        return
    st.header(escape_markdown(scene.fill_text(scene.question.ask)), anchor=False)
    answer = visit.compare if visit.is_revealed(lesson, here.scene) else visit.ask
    answer(lesson, here.scene)


PREDICT_FIRST = "Predict first: then the answer appears."


def _draw_walk(lesson: told.Lesson, here: visit.Place) -> None:
    """Back, and what comes next: the answer, or the next scene. For a class the arrow keys do the same."""
    revealed, many = visit.is_revealed(lesson, here.scene), len(lesson.scenes)
    with st.container(horizontal=True, gap="small"):
        _draw_mover("Back", "Left", lesson, here, here.scene - 1, disabled=here.scene == 1)
        if not revealed:
            # A class answers aloud.
            waits = visit.read_guess(lesson, here.scene) is None and not here.presented
            help, right = PREDICT_FIRST if waits else None, "Right" if here.presented else None
            look = look_of("reveal", key="lesson:reveal", disabled=waits, shortcut=right, help=help)
            st.button(on_click=visit.reveal_scene, args=(lesson, here.scene), **look)
        else:
            _draw_mover("Next", "Right", lesson, here, here.scene + 1, disabled=here.scene == many)
        if here.presented:
            back = (lesson.id, here.scene)
            st.button("End", key="lesson:end", type="tertiary", on_click=visit.go_to, args=back, shortcut="Esc")


def _draw_mover(
    label: str, shortcut: str, lesson: told.Lesson, here: visit.Place, scene: int, *, disabled: bool
) -> None:
    look: dict[str, Any] = {"type": "primary" if label == "Next" else "secondary", "disabled": disabled}
    look["shortcut"] = shortcut if here.presented and not disabled else None
    move = partial(visit.go_to, lesson.id, scene, present=here.presented)
    st.button(label, key=f"lesson:{label.lower()}", on_click=move, **look)


def _draw_answer(lesson: told.Lesson, here: visit.Place, computed: Computed) -> None:
    scene = lesson.scenes[here.scene - 1]
    if scene.answer:
        _say(scene.fill_text(scene.answer), here.presented)
    if any(say.grid is not None and not computed.knows(say.grid) for say in scene.says.values()):
        return  # its runs are under way
    for sentence in make_once("lessons:wrong", (lesson, here.scene), lambda: list_wrong_says(scene, computed), most=20):
        st.error(escape_markdown(f"This lesson is not right any more: {sentence}"), icon=":material/error:")


def _draw_ways(lesson: told.Lesson, here: visit.Place) -> None:
    """Ways out of a scene."""
    with st.container(horizontal=True, gap="small"):
        _draw_way("All lessons", ":material/apps:", "all", visit.go_to, None)
        present = partial(visit.go_to, present=True)
        _draw_way("Present", ":material/co_present:", "present", present, lesson.id, here.scene)
        make = partial(lesson_page.make_printed_lesson, lesson)
        draw_download(content=make, name=f"{lesson.id}_sheet.html", **look_of("sheet", key="lesson:sheet"))
        draw_file_button(lesson)
        _draw_way("Begin again", ":material/restart_alt:", "again", visit.forget_guesses, lesson)
    job = _find_job(lesson)
    if job is None:
        return
    draw_job_panel(job, label="The lesson as a file", key="lesson:file:job")
    if job.items:
        st.caption(f"The file is there: press {look_of('lesson_file')['label']} once more.")


def _draw_way(label: str, icon: str, key: str, act: Callable[..., None], *given: object) -> None:
    st.button(label, icon=icon, key=f"lesson:{key}", type="tertiary", on_click=act, args=given)


def draw_lessons_list(collection: LessonCollection) -> None:
    """A card for each lesson, and a sentence for each file that is none."""
    with st.grid(min_column_width=220, key="lessons"):
        for lesson in collection.lessons.values():
            with st.container(border=True, height="stretch"):
                if st.button(escape_markdown(lesson.title), key=f"lesson:begin:{lesson.id}", width="stretch"):
                    st.switch_page(LESSONS, query_params=visit.name_place(visit.Place(lesson.id, 1, presented=False)))
                st.markdown(escape_markdown(lesson.sentence))
                st.caption(f"{lesson.minutes:d} minutes · {len(lesson.scenes):d} scenes")
    for sentence in collection.refused:
        st.error(escape_markdown(sentence), title="A file that is no lesson", icon=":material/block:")


def draw_lessons_page(place: visit.Place | None) -> None:
    """The scene that the address asks for; without one the page with all lessons."""
    if place is None:
        st.switch_page(LEARN)
    collection = read_collection()
    if place.lesson in collection.lessons:
        _draw_lesson_panel(collection.lessons[place.lesson], place)
        return
    st.title("Lessons", anchor=False)
    st.info("There is no lesson of this name here: choose another one.", icon=":material/search_off:")
    draw_lessons_list(collection)


OWN = "DPVIZ_LESSONS"
"""The environment variable that names a folder of more lessons."""


def read_collection() -> LessonCollection:
    """All lessons: a file that is put into a folder, or changed there, is seen at the next look."""
    own = os.environ.get(OWN, "")
    folders = [reading.FOLDER, *([Path(own)] if own else [])]
    found = [_read(folder, tuple(map(_read_stamp, sorted(folder.glob("*.yaml"))))) for folder in folders]
    lessons = {name: lesson for collection in found for name, lesson in collection.lessons.items()}
    return LessonCollection(lessons, tuple(sentence for collection in found for sentence in collection.refused))


def _read_stamp(path: Path) -> tuple[str, int, int]:
    """What tells that a file has changed; also of a link that leads nowhere, as editors make them to lock a file."""
    try:
        state = path.stat()
    except OSError:
        return path.name, 0, 0
    return path.name, state.st_mtime_ns, state.st_size


@st.cache_resource(max_entries=8, show_spinner=False)
def _read(folder: Path, stamps: tuple[tuple[str, int, int], ...]) -> LessonCollection:
    del stamps  # they tell files that changed apart, for the cache
    return read_lessons(folder)


@st.cache_resource(max_entries=8, show_spinner=False)
def open_computed(subject: str) -> Computed:
    """The sample or the drawing of a scene and what was computed on it: the same for everybody, so once a server."""
    return Computed.open_subject(subject)


def draw_file_button(lesson: told.Lesson) -> None:
    """Asks for the page, or hands it over once it is there."""
    job = _find_job(lesson)
    page = next((item for item in job.items if isinstance(item, str)), None) if job is not None else None
    look = look_of("lesson_file", key="lesson:file")
    if page is not None:
        draw_download(content=page, name=f"{lesson.id}_lesson.html", **look)
    elif st.button(disabled=job is not None and not job.state.final, **look):
        with say_refusal(icon=":material/hourglass:"):
            st.session_state[_make_key(lesson)] = open_job_registry().submit(lesson_page.make_lesson_page, lesson)
            st.rerun()


def _make_key(lesson: told.Lesson) -> str:
    return f"lessons:file:{lesson.id}"


def _find_job(lesson: told.Lesson) -> Work[Any] | None:
    return cast("Work[Any] | None", st.session_state.get(_make_key(lesson)))
