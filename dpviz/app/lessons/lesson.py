"""What a lesson is: scenes with a text, a question, what is then shown, and the numbers that its texts say."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from dpviz.runs import Request, StudyGrid

PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
"""How a text quotes a number by its name."""


@dataclass(frozen=True)
class Options:
    """A question with a few answers, of which one is right."""

    ask: str
    options: tuple[str, ...]
    right: str


@dataclass(frozen=True)
class NumberGuess:
    """A question for a number from ``low`` to ``high``; ``right`` names the number of the scene that answers it."""

    ask: str
    low: float
    high: float
    step: float
    right: str
    unit: str = ""


@dataclass(frozen=True)
class CurveGuess:
    """A question for a curve: the loss at each ε of the study that is then shown."""

    ask: str


Question: TypeAlias = Options | NumberGuess | CurveGuess


@dataclass(frozen=True)
class RunReveal:
    """The animation of one run, stopped at a ``step``: its place from 1, or words of its title; None is the last."""

    request: Request
    step: int | str | None = None


@dataclass(frozen=True)
class DrawsReveal:
    """The same request drawn again and again: a grid with one algorithm and one ε."""

    grid: StudyGrid


@dataclass(frozen=True)
class StudyReveal:
    """Losses against ε: a grid with several ε."""

    grid: StudyGrid


@dataclass(frozen=True)
class PartReveal:
    """A part of the page *What ε means*, by its name, and the run that it is about."""

    part: str
    request: Request


BoardView: TypeAlias = Literal["run", "worlds", "crowd"]
"""What is looked at on a board: one draw, draws with me beside draws without me, or how many people hide one."""
TOOLS = ("brush", "spray", "erase", "me")
"""What one can paint with on a board."""
BOARD_ALGORITHMS = {"eugkm": "Grid", "balcan": "Tree", "dplloyd": "Rounds", "auto": "Auto"}
"""What a board runs, as its buttons call it."""
BOARD_EPSILONS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 10.0)
LEAST_BOARD_K, MOST_BOARD_K = 2, 10


@dataclass(frozen=True)
class LessonBoard:
    """A board to paint on: what is painted at first, as its text, and how the first draw of it is made and seen.

    ``step`` is a place from 1, or words of a title; None is the last. ``guess`` says that it waits for the prediction:
    until then it is a picture, and nothing is drawn on it.
    """

    drawing: str
    request: Request
    step: int | str | None = None
    view: BoardView = "run"
    tools: tuple[str, ...] = TOOLS
    preview: bool = True
    guess: bool = True


Reveal: TypeAlias = RunReveal | DrawsReveal | StudyReveal | PartReveal


@dataclass(frozen=True)
class Say:
    """A number that a scene says: what it is of, and what it is, with as many decimals as it is said with."""

    name: str
    what: str
    options: Mapping[str, float | str] = field(hash=False)
    request: Request
    grid: StudyGrid | None
    value: float | int

    @property
    def decimals(self) -> int:
        """Digits after the point."""
        return 0 if isinstance(self.value, int) else len(f"{self.value!r}".partition(".")[2])

    @property
    def text(self) -> str:
        """The number as texts show it."""
        return f"{self.value:,.{self.decimals}f}"

    def is_true_of(self, found: float) -> bool:
        """Whether ``found``, written with as many decimals, is what is said."""
        return f"{found:.{self.decimals}f}" == f"{self.value:.{self.decimals}f}"


@dataclass(frozen=True)
class Scene:
    """One idea: a text, perhaps a question, what is shown before the answer and with it, and what to say of it.

    ``shows`` stands beside the question; without it, the rows of the sample do. A ``board`` stands there in place of
    both, with a table of its own: what is painted on it.
    """

    title: str
    text: str
    question: Question | None
    shows: RunReveal | None
    reveal: Reveal | None
    answer: str
    says: Mapping[str, Say] = field(hash=False)
    board: LessonBoard | None = None

    def fill_text(self, text: str) -> str:
        """``text`` with its numbers in the places of their names."""
        return PLACEHOLDER.sub(lambda place: self.says[place[1]].text, text)

    @property
    def texts(self) -> Iterator[str]:
        """All texts of it, numbers by their names."""
        yield from (self.title, self.text, self.answer)
        if self.question is not None:
            yield self.question.ask
        if isinstance(self.question, Options):
            yield from self.question.options

    @property
    def truth(self) -> str:
        """The right answer in words; "" where a picture gives it."""
        match self.question:
            case Options(right=right):
                return self.fill_text(right)
            case NumberGuess(right=right, unit=unit):
                return f"{self.says[right].text} {unit}".strip()
            case _:
                return ""


@dataclass(frozen=True)
class Lesson:
    """A lesson: ``id`` is the name of its file, ``sample`` that of the table; ``sentence`` is to be remembered.

    ``sample`` is "" where every scene has a board. ``order`` is its place among others; those of the same order stand
    by their ids.
    """

    id: str
    title: str
    minutes: int
    sample: str
    request: Request
    sentence: str
    scenes: tuple[Scene, ...]
    order: int

    def find_subject(self, scene: Scene) -> str:
        """What a scene is about: the text of its drawing, or the id of the sample."""
        return self.sample if scene.board is None else scene.board.drawing
