"""A lesson as its YAML file has it; an empty line is as if it were left out."""

from itertools import pairwise
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Strict, StringConstraints, Tag

from dpviz.core import RequestError, check
from dpviz.words import documents

_MOST_SCENES = 12


def _read_number(said: Any) -> Any:
    """YAML takes 1e-6 for a text."""
    try:
        return float(said) if isinstance(said, str) else said
    except ValueError:
        return said


def _read_whole(said: Any) -> Any:
    number = _read_number(said)
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _refuse_same(texts: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(texts)) < len(texts):
        raise RequestError("two of them are the same; write different texts.")
    return texts


def _refuse_falling(numbers: tuple[float, ...]) -> tuple[float, ...]:
    if any(later <= earlier for earlier, later in pairwise(numbers)):
        raise RequestError("they do not rise; write different numbers from small to large.")
    return numbers


_Whole = Annotated[int, BeforeValidator(_read_whole)]
_Real = Annotated[float, BeforeValidator(_read_number)]
_Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]
_Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
_Ask = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
_Unit = Annotated[str, StringConstraints(strip_whitespace=True, max_length=20)]
_Drawing = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_900)]
_Prose = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
_Seed = Annotated[_Whole, Field(ge=0, le=2**32)]
_Epsilon = Annotated[_Real, Field(ge=check.LEAST_EPSILON, le=100)]
_End = Annotated[_Real, Field(ge=-1e9, le=1e9)]
_Amount = Annotated[int | float, BeforeValidator(_read_number), Field(ge=check.LEAST_EPSILON, le=1e6)]
_Place = Annotated[_Whole, Field(ge=0, le=255)]


_StepPlace = Annotated[_Whole, Field(ge=1, le=500)]
_StepWords = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]
_Step = Annotated[
    Annotated[_StepWords, Tag("text")] | Annotated[_StepPlace, Tag("whole")],
    Discriminator(lambda said: "text" if isinstance(said, str) else "whole"),
]


class DrawDocument(documents.Document):
    """The settings of a run without δ."""

    shown: ClassVar = "{algorithm: eugkm, k: 15}"
    algorithm: str | None = documents.key(None, "the id of an algorithm", "what runs", shown="auto")
    k: Annotated[_Whole, Field(ge=1, le=100)] | None = documents.key(None, "a whole number", "clusters")
    epsilon: _Epsilon | None = documents.key(None, "a number", "the budget ε")
    seed: _Seed | None = documents.key(None, "a whole number from 0 on", "of its noise")
    set: dict[Any, Any] | None = documents.key(None, "fields", "parameters of the algorithm", shown={"theta": 30})


class SettingsDocument(DrawDocument):
    """The settings of a run; what is left out is as in the lesson."""

    delta: Annotated[_Real, Field(ge=0, le=0.1)] | None = documents.key(None, "a number", "the budget δ")


class RunRevealDocument(SettingsDocument):
    """A run, stopped at a step."""

    step: _Step | None = documents.key(None, "a whole number", "the place of the step, or words of its title")


class DrawsDocument(SettingsDocument):
    """The same run with new noise."""

    shown: ClassVar = "{times: 20}"
    times: Annotated[_Whole, Field(ge=2, le=100)] = documents.key(..., "a whole number", "draws")


class StudyRevealDocument(SettingsDocument):
    """Loss against ε."""

    shown: ClassVar = "{epsilons: [0.1, 1, 10], repeats: 10}"
    epsilons: Annotated[
        tuple[_Epsilon, ...], Strict(False), Field(min_length=2, max_length=9), AfterValidator(_refuse_falling)
    ] = documents.key(..., "a list of 2 to 9 numbers", "the budgets, rising", each="a number", shown=[0.1, 1, 10])
    repeats: Annotated[_Whole, Field(ge=1, le=100)] = documents.key(..., "a whole number", "draws at each ε")


class PartDocument(SettingsDocument):
    """A part of the page *What ε means*, about a run of its own."""

    shown: ClassVar = "{name: odds}"
    name: str = documents.key(..., "the name of a part", "the part", shown="odds")


_Part = Annotated[
    Annotated[str, Tag("text")] | Annotated[PartDocument, Tag("PartDocument")],
    Discriminator(lambda said: "PartDocument" if isinstance(said, dict | PartDocument) else "text"),
]


class RevealDocument(documents.Document):
    """What answers the question: one of these."""

    shown: ClassVar = "{run: {}}"
    run: RunRevealDocument | None = documents.key(None, "fields", "a run")
    draws: DrawsDocument | None = documents.key(None, "fields", "draws of it")
    study: StudyRevealDocument | None = documents.key(None, "fields", "loss against ε")
    part: _Part | None = documents.key(None, "the name of a part", "of the page What ε means", shown="odds")


class ShowsDocument(documents.Document):
    """What may be seen while the question is open."""

    shown: ClassVar = "{run: {step: 1}}"
    run: RunRevealDocument = documents.key(..., "fields", "a run")


class NumberDocument(documents.Document):
    """A range to guess a number in."""

    shown: ClassVar = "{from: 0, to: 15}"
    low: _End = documents.key(..., "a number", "its lower end", alias="from")
    high: _End = documents.key(..., "a number", "its upper end", alias="to")
    step: Annotated[_Real, Field(ge=1e-6, le=1e9)] | None = documents.key(None, "a number", "of the slider")
    unit: _Unit | None = documents.key(None, "text", "what stands behind it")


class QuestionDocument(documents.Document):
    """A question with one kind of answer."""

    shown: ClassVar = "{ask: Which?, options: [This, That], right: That}"
    ask: _Ask = documents.key(..., "text", "what is asked")
    options: (
        Annotated[tuple[_Words, ...], Strict(False), Field(min_length=2, max_length=5), AfterValidator(_refuse_same)]
        | None
    ) = documents.key(None, "a list of 2 to 5 texts", "answers to choose from", each="text", shown=["This", "That"])
    right: str | None = documents.key(None, "text", "one of the options, or the name of a number")
    number: NumberDocument | None = documents.key(None, "fields", "a number is guessed")
    curve: bool | None = documents.key(None, "true or false", "the loss is drawn at each ε of the study")


class SayDocument(SettingsDocument):
    """A number that texts say."""

    shown: ClassVar = "{what: rows, is: 5000}"
    epsilon: _Amount | None = documents.key(None, "a number", "of the run, or that the fact is about")
    what: str = documents.key(..., "a fact", "what it is of", shown="rows")
    value: float | int = documents.key(..., "a number", "what it is, with the digits that are shown", alias="is")
    charge: _Amount | None = documents.key(None, "a number", "which charge of the ledger")
    column: str | None = documents.key(None, "text", "which column")
    crowd: _Amount | None = documents.key(None, "a number", "people beside me")
    times: _Amount | None = documents.key(None, "a number", "how often")


class BoardDocument(DrawDocument):
    """A board to paint on, and its first draw."""

    shown: ClassVar = "{drawing: hermit}"
    drawing: _Drawing = documents.key(
        ..., "text", "a picture to begin with, by its name or as in the link of a playground"
    )
    me: Annotated[tuple[_Place, _Place], Strict(False)] | None = documents.key(
        None, "two whole numbers, x and y,", "where I am", each="a whole number", shown=[226, 34]
    )
    step: _Step | None = documents.key(None, "a whole number", "the place of the step, or words of its title")
    view: str | None = documents.key(None, "text", "run, worlds or crowd")
    tools: Annotated[tuple[_Words, ...], Strict(False), Field(max_length=4), AfterValidator(_refuse_same)] | None = (
        documents.key(None, "a list of texts", "what one can paint with", each="text", shown=["erase"])
    )
    preview: bool | None = documents.key(None, "true or false", "whether it is drawn while one paints")
    guess: bool | None = documents.key(None, "true or false", "whether it waits for the prediction")


class SceneDocument(documents.Document):
    """A scene: one idea."""

    shown: ClassVar = "{title: …, text: …}"
    title: _Line = documents.key(..., "text", "of the scene")
    text: _Prose = documents.key(..., "text", "plain words; a blank line begins a paragraph")
    question: QuestionDocument | None = documents.key(None, "fields", "what is to be predicted")
    shows: ShowsDocument | None = documents.key(None, "fields", "what may be seen while the question is open")
    reveal: RevealDocument | None = documents.key(None, "fields", "what answers it")
    answer: _Prose | None = documents.key(None, "text", "what came out")
    says: dict[str, SayDocument] | None = documents.key(
        None,
        "numbers by their names",
        "what texts quote as {name}",
        shown={"found": {"what": "clusters found", "is": 3}},
    )
    board: BoardDocument | None = documents.key(None, "fields", "a board to paint on")


class LessonDocument(documents.Document):
    """A lesson."""

    called: ClassVar = "lesson"
    shown: ClassVar = '{"title": "…", "minutes": 5, "sentence": "…", "scenes": []}'
    title: _Line = documents.key(..., "text", "of the lesson")
    minutes: Annotated[_Whole, Field(ge=1, le=90)] = documents.key(..., "a whole number", "how long it takes")
    sample: str | None = documents.key(None, "the name of a sample", "the table", shown="fifteen")
    settings: SettingsDocument | None = documents.key(None, "fields", "of every run that says nothing else")
    sentence: _Words = documents.key(..., "text", "what is to be remembered; no number")
    order: Annotated[_Whole, Field(ge=1, le=99)] | None = documents.key(
        None, "a whole number", "its place among others"
    )
    scenes: Annotated[tuple[SceneDocument, ...], Strict(False), Field(min_length=1, max_length=_MOST_SCENES)] = (
        documents.key(
            ..., f"a list of 1 to {_MOST_SCENES} scenes", "one idea each", shown=[{"title": "…", "text": "…"}]
        )
    )
