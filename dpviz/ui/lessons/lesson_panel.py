"""One scene of a lesson on the page: text, question and guess at the left, the picture at the right."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dpviz.charts.printed_lesson import printed_lesson
from dpviz.lessons.computed import Computed, refusals
from dpviz.lessons.facts import wrong_says
from dpviz.lessons.lesson import Lesson
from dpviz.lessons.reading import Shelved
from dpviz.ui.escape import plain
from dpviz.ui.lessons.guesses import ask, compare, forget_guesses, guess_of, is_revealed, reveal_scene, score_of
from dpviz.ui.lessons.lesson_file import file_button, file_progress
from dpviz.ui.lessons.lesson_link import Place, go_to
from dpviz.ui.lessons.lesson_shelf import computed_on, shelf
from dpviz.ui.lessons.scene_picture import begin_runs, scene_picture
from dpviz.ui.session import once


def lesson_panel(lesson: Lesson, place: Place) -> None:
    """Draw the scene that the address asks for."""
    reasons = once("lessons:refusals", lesson, lambda: refusals(lesson, computed_on), most=8)
    for sentence in reasons:
        st.error(plain(sentence), title="This lesson cannot be given", icon=":material/block:")
    if reasons:
        st.button("All lessons", key="lesson:all", on_click=go_to, args=(None,))
        return
    scene = max(1, min(place.scene, len(lesson.scenes)))
    here, computed = Place(lesson.id, scene, place.presented), computed_on(lesson.subject(lesson.scenes[scene - 1]))
    begin_runs(lesson.scenes[scene - 1], computed)
    # Large type needs room.
    words, picture = st.columns([2, 3] if place.presented else [1, 2], gap="large")
    with words:
        _head(lesson, here)
        _scene(lesson, here)
        if is_revealed(lesson, scene):
            _answer(lesson, here, computed)
        if scene == len(lesson.scenes) and is_revealed(lesson, scene):
            _farewell(lesson, here)
        _walk(lesson, here)
        if not place.presented:
            _ways(lesson, here)
    with picture:
        scene_picture(lesson, scene, computed)


def _say(text: str, presented: bool) -> None:
    """Text of a lesson, paragraph by paragraph; larger for a class."""
    for paragraph in text.split("\n\n"):
        if presented:
            st.header(plain(paragraph), anchor=False)
        else:
            st.markdown(plain(paragraph))


def _head(lesson: Lesson, here: Place) -> None:
    many = len(lesson.scenes)
    st.progress(here.scene / many, text=f"{plain(lesson.title)} · {here.scene:d} of {many:d}")
    st.title(plain(lesson.scenes[here.scene - 1].title), anchor=False)


def _scene(lesson: Lesson, here: Place) -> None:
    scene = lesson.scenes[here.scene - 1]
    _say(scene.told(scene.text), here.presented)
    if scene.question is None:
        return
    st.header(plain(scene.told(scene.question.ask)), anchor=False)
    if not is_revealed(lesson, here.scene):
        ask(lesson, here.scene)
    else:
        compare(lesson, here.scene)


def _walk(lesson: Lesson, here: Place) -> None:
    """Back, and what comes next: the answer, or the next scene. For a class the arrow keys do the same."""
    revealed, many = is_revealed(lesson, here.scene), len(lesson.scenes)
    with st.container(horizontal=True, gap="small"):
        _mover("Back", "Left", lesson, here, here.scene - 1, disabled=here.scene == 1)
        if not revealed:
            # A class answers aloud.
            waits = guess_of(lesson, here.scene) is None and not here.presented
            st.button(
                "Reveal",
                key="lesson:reveal",
                type="primary",
                icon=":material/visibility:",
                on_click=reveal_scene,
                args=(lesson, here.scene),
                disabled=waits,
                shortcut="Right" if here.presented else None,
                help="Predict first: then the answer appears." if waits else None,
            )
        else:
            _mover("Next", "Right", lesson, here, here.scene + 1, disabled=here.scene == many)
        if here.presented:
            st.button(
                "End", key="lesson:end", type="tertiary", on_click=go_to, args=(lesson.id, here.scene), shortcut="Esc"
            )


def _mover(label: str, shortcut: str, lesson: Lesson, here: Place, scene: int, *, disabled: bool) -> None:
    st.button(
        label,
        key=f"lesson:{label.lower()}",
        type="primary" if label == "Next" else "secondary",
        on_click=go_to,
        args=(lesson.id, scene),
        kwargs={"present": here.presented},
        disabled=disabled,
        shortcut=shortcut if here.presented and not disabled else None,
    )


def _answer(lesson: Lesson, here: Place, computed: Computed) -> None:
    scene = lesson.scenes[here.scene - 1]
    if scene.answer:
        _say(scene.told(scene.answer), here.presented)
    if any(say.grid is not None and not computed.knows(say.grid) for say in scene.says.values()):
        return  # its runs are under way
    for sentence in once("lessons:wrong", (lesson, here.scene), lambda: wrong_says(scene, computed), most=20):
        st.error(plain(f"This lesson is not right any more: {sentence}"), icon=":material/error:")


def _farewell(lesson: Lesson, here: Place) -> None:
    """The sentence to remember, and how many predictions came true."""
    with st.container(border=True):
        st.markdown(":small[:gray[To remember]]")
        st.header(plain(lesson.sentence), anchor=False)
        score = score_of(lesson)
        if score.asked and not here.presented:
            st.caption(f"{score.right:d} of {score.asked:d} predictions came true. Nobody but you sees this.")


def _ways(lesson: Lesson, here: Place) -> None:
    """Ways out of a scene."""

    def sheet() -> str:
        return printed_lesson(lesson)

    with st.container(horizontal=True, gap="small"):
        _way("All lessons", ":material/apps:", "all", go_to, None)
        present: Callable[[], None] = lambda: go_to(lesson.id, here.scene, present=True)  # noqa: E731
        st.button("Present", icon=":material/co_present:", key="lesson:present", type="tertiary", on_click=present)
        st.download_button(
            "Sheet to print (HTML)",
            sheet,
            f"{lesson.id}_sheet.html",
            "text/html",
            icon=":material/print:",
            key="lesson:sheet",
            type="tertiary",
            on_click="ignore",
        )
        file_button(lesson)
        _way("Begin again", ":material/restart_alt:", "again", forget_guesses, lesson)
    file_progress(lesson)


def _way(label: str, icon: str, key: str, act: Callable[..., None], *given: object) -> None:
    st.button(label, icon=icon, key=f"lesson:{key}", type="tertiary", on_click=act, args=given)


def lessons_list(shelved: Shelved) -> None:
    """A card for each lesson, and a sentence for each file that is none."""
    with st.grid(min_column_width=220, key="lessons"):
        for lesson in shelved.lessons.values():
            with st.container(border=True, height="stretch"):
                st.button(
                    plain(lesson.title),
                    key=f"lesson:begin:{lesson.id}",
                    on_click=go_to,
                    args=(lesson.id,),
                    width="stretch",
                )
                st.markdown(plain(lesson.sentence))
                st.caption(f"{lesson.minutes:d} minutes · {len(lesson.scenes):d} scenes")
    for sentence in shelved.refused:
        st.error(plain(sentence), title="A file that is no lesson", icon=":material/block:")


def lessons_page(place: Place | None) -> None:
    """The list of lessons, or the scene that the address asks for."""
    shelved = shelf()
    if place is not None and place.lesson in shelved.lessons:
        lesson_panel(shelved.lessons[place.lesson], place)
        return
    st.title("Lessons", anchor=False)
    if place is not None:
        st.info("There is no lesson of this name here: choose another one.", icon=":material/search_off:")
    st.markdown("Predict, then see. Each lesson has one sentence to remember; a class can take it together.")
    lessons_list(shelved)
