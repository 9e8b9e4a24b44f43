"""From a YAML file to a lesson: every field is checked, and what is not known is refused in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, get_args

from dpviz.algorithms import AUTO, CARDS
from dpviz.app.lessons import lesson as told
from dpviz.app.lessons.facts import FACTS
from dpviz.core import RequestError, check
from dpviz.runs import Contender, Request, StudyGrid
from dpviz.tables import drawings, list_samples
from dpviz.words import RESOURCES, foreign

if TYPE_CHECKING:
    from dpviz.app.lessons import lesson_document as written

FOLDER = RESOURCES / "lessons"
"""The lessons that ship; a file that is put here is a lesson at the next look."""
PARTS = ("odds", "attack", "worlds", "again", "others")
"""The parts of the page *What ε means* that a lesson can show."""
# Sparse rows cannot be drawn, and rows that are pairs are another subject.
TABLES = tuple(one.id for one in list_samples() if one.id not in ("words", "laboratories"))
"""The samples that a lesson can be about."""

_MOST_BYTES, _MOST_RUNS = foreign.LESSON.most_bytes, 400
_USUAL_SEED, _LAST, _USUAL_CLUSTERS = 7, 99, 3


class LessonError(RequestError):
    """A lesson that cannot be read: which file, which scene, which field, what is allowed and what to do."""


class LessonCollection(NamedTuple):
    """What lies in a folder: lessons by id, and a sentence for each file that is none."""

    lessons: dict[str, told.Lesson]
    refused: tuple[str, ...]


def read_lessons(folder: Path = FOLDER) -> LessonCollection:
    """All lessons of a folder, in their order; a file that cannot be read keeps no other from it."""
    lessons, refused = {}, []
    for path in sorted(folder.glob("*.yaml")):
        try:
            lesson = read_lesson(path)
            lessons[lesson.id] = lesson
        except (LessonError, foreign.ReaderDefect) as error:
            refused.append(str(error))
    ordered = sorted(lessons.values(), key=lambda lesson: (lesson.order, lesson.id))
    return LessonCollection({lesson.id: lesson for lesson in ordered}, tuple(refused))


def read_lesson(path: Path) -> told.Lesson:
    """The lesson of a file."""
    name = foreign.format_name(path)
    unreadable = LessonError(f"{name}: this cannot be read as a lesson; begin with one that ships.")
    with foreign.refuse_as(unreadable, foreign.LESSON, called=name):
        try:
            text = foreign.read_bytes(path, _MOST_BYTES).decode("utf-8")
        except ValueError:
            why = "this file cannot be read; a text in UTF-8 is allowed. Save it as one."
            raise LessonError(f"{name}: {why}") from None
        try:
            said = foreign.read_yaml(text, most=_MOST_BYTES)
        except foreign.NoYaml as error:
            line = "" if error.line is None else f", line {error.line}"
            raise LessonError(
                f"{name}{line}: this is no YAML; lines of `name: value` are allowed. Look for a missing space after a "
                "colon, or put a text with a colon in it between quotation marks; write a repeated part out."
            ) from None
        return read_lesson_fields(Path(name).stem, said, name=name)


def read_lesson_fields(lesson_id: str, said: Any, *, name: str) -> told.Lesson:
    """The lesson of what a file with that ``name`` says."""
    from dpviz.app.lessons.lesson_document import LessonDocument
    from dpviz.words import documents  # slow to import

    document = documents.read_document(LessonDocument, said, LessonError, at=name)
    sample = document.sample or ""
    if document.sample is not None or not all(scene.board is not None for scene in document.scenes):
        sample = _choose(name, "sample", document.sample, TABLES)
    clusters = next((one.clusters for one in list_samples() if one.id == sample), _USUAL_CLUSTERS)
    usual = Request(Contender(AUTO), clusters, 1.0, seed=_USUAL_SEED)
    settings = document.settings
    request = usual if settings is None else _read_request(f"{name}, settings", settings, usual)
    if told.PLACEHOLDER.search(document.sentence):
        _refuse(name, "sentence", "it quotes a number; words are allowed, which last longer. Take the braces out.")
    scenes = tuple(_read_scene(f"{name}, scene {i}", one, request) for i, one in enumerate(document.scenes, start=1))
    head = (lesson_id, document.title, document.minutes, sample, request, document.sentence)
    return told.Lesson(*head, scenes, _LAST if document.order is None else document.order)


def _refuse(place: str, field: str, problem: str) -> NoReturn:
    """Say that a field cannot stay as it is: ``problem`` ends with what to do."""
    raise LessonError(f"{place}, {field}: {problem}")


def _choose(place: str, field: str, value: str | None, allowed: Sequence[str]) -> str:
    """One of a few words."""
    if value is None or value not in allowed:
        _refuse(place, field, f"{check.format_value(value)} is none of {', '.join(allowed)}. Choose one of them.")
    return value


def _read_scene(place: str, said: written.SceneDocument, request: Request) -> told.Scene:
    reveal = None if said.reveal is None else _read_reveal(f"{place}, reveal", said.reveal, request)
    shows = None if said.shows is None else _read_run_reveal(f"{place}, shows, run", said.shows.run, request)
    about = reveal or shows
    grid = about.grid if isinstance(about, told.DrawsReveal | told.StudyReveal) else None
    board = None if said.board is None else _read_board(f"{place}, board", said.board, request)
    base = request if board is None else board.request
    if isinstance(about, told.RunReveal | told.PartReveal):
        base = about.request
    elif grid is not None:  # facts about one run are about that with which it begins
        k, epsilon, delta = grid.ks[0], grid.epsilons[0], grid.deltas[0]
        base = replace(request, contender=grid.contenders[0], k=k, epsilon=epsilon, delta=delta)
    says = _read_says(f"{place}, says", said.says or {}, base, grid)
    question = None if said.question is None else _read_question(f"{place}, question", said.question, says, reveal)
    if question is not None and not said.answer:
        _refuse(place, "answer", "it is missing; a scene with a question says what came out. Add a line for it.")
    if board is not None and (shows is not None or isinstance(reveal, told.PartReveal)):
        _refuse(place, "board", "it stands in the place of `shows`, and of a `part`. Take one of them out.")
    if question is None and said.answer and reveal is None:
        _refuse(place, "answer", "there is nothing that it answers. Put it into the text, or add a question.")
    scene = told.Scene(said.title, said.text, question, shows, reveal, said.answer or "", says, board)
    for text in scene.texts:
        for quoted in told.PLACEHOLDER.findall(text):
            if quoted not in says:
                names = ", ".join(says) or "none"
                _refuse(place, f"{{{quoted}}}", f"no number of this name is in `says`, which has {names}. Add it.")
    return scene


def _read_board(place: str, said: written.BoardDocument, request: Request) -> told.LessonBoard:
    """A board to paint on; what is not said of its first draw is as in the lesson, without a δ."""
    # What is painted: the text of a link, or the name of a picture to begin with.
    try:
        named = said.drawing in drawings.PRESETS
        drawing = drawings.load_preset(said.drawing).drawing if named else drawings.decode_drawing(said.drawing)
        if said.me is not None:
            drawing = drawings.PointDrawing.of(drawing.points, said.me)
    except RequestError as error:
        _refuse(place, "drawing", f"{error} The names {', '.join(drawings.PRESETS)} are allowed, too.")
    if not drawing.size:
        _refuse(place, "drawing", "nobody is on it. Paint at least one point, or put `me: [x, y]` there.")
    if said.algorithm is not None:
        _choose(place, "algorithm", said.algorithm, [*told.BOARD_ALGORITHMS])
    asked = _read_request(place, said, replace(request, delta=0.0))
    if asked.algorithm not in told.BOARD_ALGORITHMS:
        _refuse(place, "algorithm", f"a board runs {', '.join(told.BOARD_ALGORITHMS)}. Choose one of them.")
    if asked.epsilon not in told.BOARD_EPSILONS:
        allowed = ", ".join(f"{one:g}" for one in told.BOARD_EPSILONS)
        _refuse(place, "epsilon", f"it is {asked.epsilon:g}; a board has {allowed}. Choose one of them.")
    if not told.LEAST_BOARD_K <= asked.k <= told.MOST_BOARD_K:
        _refuse(place, "k", f"it is {asked.k}; a board has {told.LEAST_BOARD_K} to {told.MOST_BOARD_K}. Change it.")
    view = "run" if said.view is None else _choose(place, "view", said.view, get_args(told.BoardView))
    tools = told.TOOLS if said.tools is None else said.tools
    for tool in tools:
        _choose(place, "tools", tool, told.TOOLS)
    if view != "run" and drawing.me is None:
        _refuse(place, "view", f"{view} is about me, and nobody on the board is me. Add `me: [x, y]`.")
    seen: told.BoardView = next(one for one in get_args(told.BoardView) if one == view)
    preview, guess = (one is not False for one in (said.preview, said.guess))
    return told.LessonBoard(drawings.encode_drawing(drawing), asked, said.step, seen, tools, preview, guess)


def _read_request(place: str, said: written.DrawDocument, usual: Request) -> Request:
    """The run that is asked for; what is not said is as ``usual``, parameters too while the algorithm is the same."""
    algorithm = usual.algorithm if said.algorithm is None else _choose(place, "algorithm", said.algorithm, [*CARDS])
    params = dict(usual.params) if algorithm == usual.algorithm else {}
    params |= {str(name): value for name, value in (said.set or {}).items()}
    numbers = {name: getattr(said, name, None) for name in ("k", "epsilon", "delta", "seed")}
    if numbers["epsilon"] is not None:
        numbers["epsilon"] = float(numbers["epsilon"])
    request = replace(usual, **{name: value for name, value in numbers.items() if value is not None})
    try:
        contender = Contender.parse(algorithm, params)
        contender.check_budget(request.epsilon, request.delta)
        if contender.settings.points_per_row(request.k) > 1:
            raise RequestError("It reads several points from each row: choose another setting.")
    except RequestError as error:
        _refuse(place, "set" if said.set is not None else "algorithm", str(error))
    return replace(request, contender=contender)


def _read_reveal(place: str, said: written.RevealDocument, request: Request) -> told.Reveal:
    kinds = [name for name, value in said.list_given().items() if value is not None]
    if len(kinds) != 1:
        raise LessonError(f"{place}: it has {len(kinds)} kinds; one of {', '.join(said.list_keys())} is. Keep one.")
    if said.run is not None:
        return _read_run_reveal(f"{place}, run", said.run, request)
    if said.draws is not None:
        inside, one = f"{place}, draws", _read_request(f"{place}, draws", said.draws, request)
        return told.DrawsReveal(_make_grid(inside, one, (one.epsilon,), said.draws.times))
    if said.study is not None:
        inside, epsilons = f"{place}, study", said.study.epsilons
        if said.study.epsilon is not None:
            _refuse(inside, "epsilon", "a study has `epsilons`. Take this line out.")
        one = replace(_read_request(inside, said.study, request), epsilon=epsilons[0])
        return told.StudyReveal(_make_grid(inside, one, epsilons, said.study.repeats))
    if isinstance(said.part, str):
        return told.PartReveal(_choose(place, "part", said.part, PARTS), request)
    assert said.part is not None  # it is the one kind that is left
    name = _choose(f"{place}, part", "name", said.part.name, PARTS)
    return told.PartReveal(name, _read_request(f"{place}, part", said.part, request))


def _read_run_reveal(place: str, said: written.RunRevealDocument, request: Request) -> told.RunReveal:
    return told.RunReveal(_read_request(place, said, request), said.step)


def _make_grid(place: str, request: Request, epsilons: tuple[float, ...], repeats: int) -> StudyGrid:
    runs = len(epsilons) * repeats
    if runs > _MOST_RUNS:
        _refuse(place, "repeats", f"these are {runs:,} runs; up to {_MOST_RUNS} are allowed. Ask for fewer.")
    assert request.seed is not None
    return StudyGrid((request.contender,), (request.k,), epsilons, (request.delta,), repeats=repeats, seed=request.seed)


def _read_question(
    place: str, said: written.QuestionDocument, says: Mapping[str, told.Say], reveal: told.Reveal | None
) -> told.Question:
    kinds = [kind for kind in ("options", "number", "curve") if getattr(said, kind) is not None]
    if len(kinds) != 1:
        _refuse(place, "ask", f"{len(kinds)} kinds of answer are given; one of options, number, curve is. Keep one.")
    if said.options is not None:
        return told.Options(said.ask, said.options, _choose(place, "right", said.right, said.options))
    if said.number is None:
        if not isinstance(reveal, told.StudyReveal):
            _refuse(place, "curve", "the scene reveals no study; a curve is guessed at its ε. Add `reveal: study:`.")
        if said.curve is not True or said.right is not None:
            _refuse(place, "curve", "the study says what is right. Write `curve: true`, without `right`.")
        return told.CurveGuess(said.ask)
    low, high, step = said.number.low, said.number.high, said.number.step or 1.0
    if high <= low or (high - low) / step > 10_000:
        fit = f"from {low:g} to {high:g} is no range of at most 10,000 steps. Change the ends or the step."
        _refuse(f"{place}, number", "to", fit)
    right = _choose(place, "right", said.right, [*says])
    if not low <= says[right].value <= high:
        _refuse(f"{place}, number", "to", f"{right} is {says[right].text}; the range must have it. Widen it.")
    return told.NumberGuess(said.ask, low, high, step, right, said.number.unit or "")


def _read_says(
    place: str, said: Mapping[str, written.SayDocument], request: Request, grid: StudyGrid | None
) -> dict[str, told.Say]:
    if not all(told.PLACEHOLDER.fullmatch(f"{{{name}}}") for name in said):
        write = "Write `found: {what: …, is: 3}`."
        raise LessonError(f"{place}: names in small letters, with fields, are allowed. {write}")
    says = {}
    for name, say in said.items():
        here = f"{place}, {name}"
        what = _choose(here, "what", say.what, [*FACTS])
        fact, given = FACTS[what], {key: value for key, value in say.list_given().items() if value is not None}
        allowed = ("what", "value", *fact.needs, *(_RUN if fact.of == "run" else ()))
        if strangers := [one for one in given if one not in allowed]:
            keys = ", ".join("is" if one == "value" else one for one in allowed)
            _refuse(here, strangers[0], f"it is no field of {what!r}; allowed are {keys}. Take it out.")
        if missing := [one for one in fact.needs if one not in given]:
            _refuse(here, missing[0], f"it is missing, and {what!r} needs it. Add a line for it.")
        if fact.of == "many runs" and grid is None:
            _refuse(here, "what", f"{what!r} is about many runs, and the scene reveals no draws and no study. Add one.")
        about = _read_request(here, say, request) if fact.of == "run" else request
        says[name] = told.Say(name, what, {need: given[need] for need in fact.needs}, about, grid, say.value)
    return says


_RUN = ("algorithm", "k", "epsilon", "delta", "seed", "set")
