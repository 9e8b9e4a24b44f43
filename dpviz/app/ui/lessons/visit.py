"""Where a visit is in its lessons, by its address, and what it predicts: asked first, and kept beside the truth."""

from typing import Any, NamedTuple, TypeAlias, cast

import streamlit as st

from dpviz.app.lessons.lesson import CurveGuess, Lesson, NumberGuess, Options, StudyReveal
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.session import recall, remember
from dpviz.words import format_number

_LESSON, _SCENE, _PRESENT = "lesson", "scene", "present"


class Place(NamedTuple):
    """A lesson by its id, a scene counted from 1, and whether it is shown to a class."""

    lesson: str
    scene: int
    presented: bool


def read_place() -> Place | None:
    """What the address asks for; None without a lesson. What is no number of a scene is the first one."""
    lesson = st.query_params.get(_LESSON, "")
    if not lesson:
        return None
    scene = st.query_params.get(_SCENE, "1")
    return Place(lesson, int(scene) if scene.isdecimal() and len(scene) < 4 else 1, is_presented())


def is_presented() -> bool:
    """Whether the address asks for a lesson as a class sees it: no menu, large type, arrow keys."""
    return _LESSON in st.query_params and st.query_params.get(_PRESENT) == "1"


def name_place(place: Place) -> dict[str, str]:
    """A place as a link says it."""
    return {_LESSON: place.lesson, _SCENE: str(place.scene)} | ({_PRESENT: "1"} if place.presented else {})


def name_shown(path: str) -> str:
    """The page at an address and, of a lesson, its scene: what is begun at its top when it comes to be shown."""
    return " ".join((path, *(st.query_params.get(name, "") for name in (_LESSON, _SCENE, _PRESENT))))


def go_to(lesson: str | None, scene: int = 1, *, present: bool = False) -> None:
    """Open a scene; call it from a callback."""
    asked = {} if lesson is None else name_place(Place(lesson, scene, present))
    for name in (_LESSON, _SCENE, _PRESENT):
        if name in asked:
            st.query_params[name] = asked[name]
        else:
            st.query_params.pop(name, None)


Guess: TypeAlias = str | float | tuple[float, ...] | None

LOSSES = (1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0)
"""What can be guessed of a loss, as a multiple of that of k-means++."""
FIRST_LOSS = 3.0
"""Where its sliders stand at first."""


def read_guess(lesson: Lesson, scene: int) -> Guess:
    """What was guessed in a scene."""
    return cast("Guess", recall(_make_key(lesson, scene, "guess"), None))


def is_revealed(lesson: Lesson, scene: int) -> bool:
    """Whether the answer of a scene is shown."""
    return lesson.scenes[scene - 1].question is None or recall(_make_key(lesson, scene, "revealed"), False)


def reveal_scene(lesson: Lesson, scene: int) -> None:
    """Show the answer from now on; call it from a callback."""
    remember(_make_key(lesson, scene, "revealed"), True)


def forget_guesses(lesson: Lesson) -> None:
    """Begin again; call it from a callback."""
    for scene in range(1, len(lesson.scenes) + 1):
        remember(_make_key(lesson, scene, "guess"), None)
        remember(_make_key(lesson, scene, "revealed"), False)


def ask(lesson: Lesson, place: int) -> None:
    """Draw the question of a scene; what is answered is kept."""
    scene = lesson.scenes[place - 1]
    guess, key = read_guess(lesson, place), _make_key(lesson, place, "widget")
    match scene.question:
        case Options() as question:
            at = question.options.index(guess) if guess in question.options else None
            asked, *texts = [escape_markdown(scene.fill_text(text)) for text in (question.ask, *question.options)]
            look: dict[str, Any] = {"key": key, "label_visibility": "collapsed"}
            chosen = st.radio(asked, range(len(texts)), at, format_func=lambda one: texts[one], **look)
            if chosen is not None:
                remember(_make_key(lesson, place, "guess"), question.options[chosen])
        case NumberGuess() as question:
            asked = escape_markdown(scene.fill_text(question.ask))
            here = f"{format_number(question.low)} to {format_number(question.high)} {question.unit}".strip()
            number: Any = int if question.step.is_integer() and question.low.is_integer() else float
            low, high, step = map(number, (question.low, question.high, question.step))
            first: Any = number(guess) if isinstance(guess, float) else None
            look = {"placeholder": here, "label_visibility": "collapsed", "key": key}
            typed: float | None = st.number_input(asked, low, high, first, step, **look)
            st.caption(f"A number from {escape_markdown(here)}.")
            remember(_make_key(lesson, place, "guess"), None if typed is None else float(typed))
        case CurveGuess():
            assert isinstance(scene.reveal, StudyReveal)
            _ask_curve(lesson, place, scene.reveal.grid.epsilons, guess)


def _ask_curve(lesson: Lesson, place: int, epsilons: tuple[float, ...], guess: Guess) -> None:
    first = [FIRST_LOSS] * len(epsilons)
    losses = list(guess) if isinstance(guess, tuple) else first.copy()
    for at, epsilon in enumerate(epsilons):
        key, text = _make_key(lesson, place, f"widget:{at}"), "{:g}×".format
        losses[at] = float(st.select_slider(f"loss at ε = {epsilon:g}", LOSSES, losses[at], text, key=key))
    if guess is not None or losses != first:
        remember(_make_key(lesson, place, "guess"), tuple(losses))


def compare(lesson: Lesson, place: int) -> None:
    """The guess beside the truth; the truth alone where a class has answered aloud."""
    scene, guess = lesson.scenes[place - 1], read_guess(lesson, place)
    if not scene.truth:
        return
    said, verdict = "", "as you said" if _is_right(lesson, place) else ""
    match scene.question:
        case Options() if isinstance(guess, str):
            said = scene.fill_text(guess)
        case NumberGuess(unit=unit, right=right) if isinstance(guess, float):
            said = f"{format_number(guess)} {unit}".strip()
            verdict = verdict or f"off by {format_number(abs(guess - scene.says[right].value))}"
    with st.container(horizontal=True, gap="small"):
        if said:
            _draw_line("You said", said)
        _draw_line(f"It is · {verdict}" if verdict else "It is", scene.truth)


def _draw_line(head: str, words: str) -> None:
    with st.container(border=True, width="stretch", gap="xsmall"):
        st.markdown(f":small[:gray[{head}]]  \n**{escape_markdown(words)}**")


def _is_right(lesson: Lesson, place: int) -> bool:
    """Whether the guess is the truth."""
    scene, guess = lesson.scenes[place - 1], read_guess(lesson, place)
    match scene.question:
        case Options(right=right):
            return guess == right
        case NumberGuess(right=right, step=step):
            return isinstance(guess, int | float) and abs(guess - scene.says[right].value) <= step / 2
        case _:
            return False


def compute_score(lesson: Lesson) -> tuple[int, int]:
    """How many predictions came true in this visit, and of how many."""
    asked = [place for place, one in enumerate(lesson.scenes, 1) if isinstance(one.question, Options | NumberGuess)]
    places = [place for place in asked if is_revealed(lesson, place) and read_guess(lesson, place) is not None]
    return (sum(_is_right(lesson, place) for place in places), len(places))


def _make_key(lesson: Lesson, scene: int, what: str) -> str:
    return f"lesson:{lesson.id}:{scene}:{what}"
