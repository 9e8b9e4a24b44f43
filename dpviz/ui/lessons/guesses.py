"""What somebody predicts: asked for before anything is shown, and kept beside the truth, in this visit only."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias, cast

import streamlit as st

from dpviz.charts.wording import number
from dpviz.lessons.lesson import CurveGuess, Lesson, NumberGuess, Options, Scene, StudyReveal
from dpviz.ui.escape import plain
from dpviz.ui.session import remember, remembered

Guess: TypeAlias = str | float | tuple[float, ...] | None

LOSSES = (1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0)
"""What can be guessed of a loss, as a multiple of that of k-means++."""
FIRST_LOSS = 3.0
"""Where its sliders stand at first."""


class Score(NamedTuple):
    """Of the scenes that have a right answer and have been revealed, how many there are, and how many were guessed."""

    right: int
    asked: int


def guess_of(lesson: Lesson, scene: int) -> Guess:
    """What was guessed in a scene, counted from 1; None if nothing was."""
    return cast("Guess", remembered(_key(lesson, scene, "guess"), None))


def is_revealed(lesson: Lesson, scene: int) -> bool:
    """Whether its answer is shown: at once where nothing is asked."""
    return lesson.scenes[scene - 1].question is None or remembered(_key(lesson, scene, "revealed"), False)


def reveal_scene(lesson: Lesson, scene: int) -> None:
    """Show the answer from now on; call it from a callback."""
    remember(_key(lesson, scene, "revealed"), True)


def forget_guesses(lesson: Lesson) -> None:
    """Begin again; call it from a callback."""
    for scene in range(1, len(lesson.scenes) + 1):
        remember(_key(lesson, scene, "guess"), None)
        remember(_key(lesson, scene, "revealed"), False)


def ask(lesson: Lesson, place: int) -> None:
    """Draw the question of a scene; what is answered is kept."""
    scene = lesson.scenes[place - 1]
    guess, key = guess_of(lesson, place), _key(lesson, place, "widget")
    match scene.question:
        case Options() as question:
            at = question.options.index(guess) if guess in question.options else None
            chosen = st.radio(
                plain(scene.told(question.ask)),
                range(len(question.options)),
                at,
                format_func=lambda place: plain(scene.told(question.options[place])),
                key=key,
                label_visibility="collapsed",
            )
            if chosen is not None:
                remember(_key(lesson, place, "guess"), question.options[chosen])
        case NumberGuess() as question:
            _ask_number(lesson, place, scene, question, guess)
        case CurveGuess():
            assert isinstance(scene.reveal, StudyReveal)
            _ask_curve(lesson, place, scene.reveal.grid.epsilons, guess)


def _ask_number(lesson: Lesson, place: int, scene: Scene, question: NumberGuess, guess: Guess) -> None:
    key, asked = _key(lesson, place, "widget"), scene.told(question.ask)
    here = f"{number(question.low)} to {number(question.high)} {question.unit}".strip()
    typed: float | None
    if question.step.is_integer() and question.low.is_integer():
        low, high, step = int(question.low), int(question.high), int(question.step)
        at = int(guess) if isinstance(guess, float) else None
        typed = st.number_input(
            plain(asked), low, high, at, step, key=key, placeholder=here, label_visibility="collapsed"
        )
    else:
        low_, high_, at_ = question.low, question.high, guess if isinstance(guess, float) else None
        typed = st.number_input(
            plain(asked), low_, high_, at_, question.step, key=key, placeholder=here, label_visibility="collapsed"
        )
    st.caption(f"A number from {plain(here)}.")
    remember(_key(lesson, place, "guess"), None if typed is None else float(typed))


def _ask_curve(lesson: Lesson, place: int, epsilons: tuple[float, ...], guess: Guess) -> None:
    first = [FIRST_LOSS] * len(epsilons)
    losses = list(guess) if isinstance(guess, tuple) else first.copy()
    for at, epsilon in enumerate(epsilons):
        losses[at] = float(
            st.select_slider(
                f"loss at ε = {epsilon:g}",
                LOSSES,
                losses[at],
                lambda value: f"{value:g}×",
                key=_key(lesson, place, f"widget:{at}"),
            )
        )
    if guess is not None or losses != first:
        remember(_key(lesson, place, "guess"), tuple(losses))


def compare(lesson: Lesson, place: int) -> None:
    """The guess beside the truth; the truth alone where a class has answered aloud."""
    scene, guess = lesson.scenes[place - 1], guess_of(lesson, place)
    if not scene.truth:
        return
    said, verdict = "", "as you said" if is_right(lesson, place) else ""
    match scene.question:
        case Options() if isinstance(guess, str):
            said = scene.told(guess)
        case NumberGuess(unit=unit, right=right) if isinstance(guess, float):
            said = f"{number(guess)} {unit}".strip()
            verdict = verdict or f"off by {number(abs(guess - scene.says[right].value))}"
    with st.container(horizontal=True, gap="small"):
        if said:
            _told("You said", said)
        _told(f"It is · {verdict}" if verdict else "It is", scene.truth)


def _told(head: str, words: str) -> None:
    with st.container(border=True, width="stretch", gap="xsmall"):
        st.markdown(f":small[:gray[{head}]]  \n**{plain(words)}**")


def is_right(lesson: Lesson, place: int) -> bool:
    """Whether the guess is the truth."""
    scene, guess = lesson.scenes[place - 1], guess_of(lesson, place)
    match scene.question:
        case Options(right=right):
            return guess == right
        case NumberGuess(right=right, step=step):
            return isinstance(guess, int | float) and abs(guess - scene.says[right].value) <= step / 2
        case _:
            return False


def score_of(lesson: Lesson) -> Score:
    """How many predictions came true in this visit."""
    places = [
        place
        for place, scene in enumerate(lesson.scenes, start=1)
        if isinstance(scene.question, Options | NumberGuess)
        and is_revealed(lesson, place)
        and guess_of(lesson, place) is not None
    ]
    return Score(sum(is_right(lesson, place) for place in places), len(places))


def _key(lesson: Lesson, scene: int, what: str) -> str:
    return f"lesson:{lesson.id}:{scene}:{what}"
