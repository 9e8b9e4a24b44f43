"""From a YAML file to a lesson: every field is checked, and what is not known is refused in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, get_args

from dpviz import foreign
from dpviz.algorithms.registry import AUTO, CARDS
from dpviz.check import LEAST_EPSILON, RequestError, format_value
from dpviz.lessons.entry import Entry, LessonError
from dpviz.lessons.facts import FACTS
from dpviz.lessons.lesson import (
    BOARD_ALGORITHMS,
    BOARD_EPSILONS,
    LEAST_BOARD_K,
    MOST_BOARD_K,
    PLACEHOLDER,
    TOOLS,
    Board,
    BoardView,
    CurveGuess,
    DrawsReveal,
    Lesson,
    NumberGuess,
    Options,
    PartReveal,
    Question,
    Reveal,
    RunReveal,
    Say,
    Scene,
    StudyReveal,
)
from dpviz.resources import RESOURCES
from dpviz.runs.request import Contender, Request
from dpviz.runs.study.grid import Grid
from dpviz.table.drawing import MOST_LETTERS, PRESETS, SIDE, Drawing, decode_drawing, encode_drawing, load_preset
from dpviz.table.samples import SAMPLES

FOLDER = RESOURCES / "lessons"
"""The lessons that ship; a file that is put here is a lesson at the next look."""
PARTS = ("odds", "attack", "worlds", "again", "others")
"""The parts of the page *What ε means* that a lesson can show."""
# Sparse rows cannot be drawn, and rows that are pairs are another subject.
TABLES = tuple(one.id for one in SAMPLES if one.id not in ("words", "laboratories"))
"""The samples that a lesson can be about."""

_HEAD = ("title", "minutes", "sample", "settings", "sentence", "order", "scenes")
_SCENE = ("title", "text", "question", "shows", "reveal", "answer", "says", "board")
_RUN = ("algorithm", "k", "epsilon", "delta", "seed", "set")
_BOARD = ("drawing", "me", "algorithm", "k", "epsilon", "seed", "set", "step", "view", "tools", "preview", "guess")
_REVEALS = ("run", "draws", "study", "part")
_MOST_BYTES, _MOST_SCENES = 100_000, 12
_MOST_K, _MOST_EPSILON, _MOST_RUNS = 100, 100.0, 400
_USUAL_SEED, _LAST, _USUAL_CLUSTERS = 7, 99, 3


class LessonCollection(NamedTuple):
    """What lies in a folder: lessons by id, and a sentence for each file that is none."""

    lessons: dict[str, Lesson]
    refused: tuple[str, ...]


def read_lessons(folder: Path = FOLDER) -> LessonCollection:
    """All lessons of a folder, in their order; a file that cannot be read keeps no other from it."""
    lessons, refused = {}, []
    for path in sorted(folder.glob("*.yaml")):
        try:
            lesson = read_lesson(path)
            lessons[lesson.id] = lesson
        except LessonError as error:
            refused.append(str(error))
    ordered = sorted(lessons.values(), key=lambda lesson: (lesson.order, lesson.id))
    return LessonCollection({lesson.id: lesson for lesson in ordered}, tuple(refused))


def read_lesson(path: Path) -> Lesson:
    """The lesson of a file.

    Raises
    ------
    LessonError
        If it is none: which file, which scene, which field, what is allowed and what to do.
    """
    name = foreign.format_name(path)
    with foreign.refuse_as(LessonError(f"{name}: this cannot be read as a lesson; begin with one that ships.")):
        return read_lesson_fields(Path(name).stem, _read_yaml(path, name), name=name)


def _read_yaml(path: Path, name: str) -> Any:
    try:
        text = foreign.read_bytes(path, _MOST_BYTES).decode("utf-8")
    except (OSError, ValueError):
        raise LessonError(f"{name}: this file cannot be read; a text in UTF-8 is allowed. Save it as one.") from None
    try:
        return foreign.read_yaml(text, most=_MOST_BYTES)
    except foreign.NoYaml as error:
        line = "" if error.line is None else f", line {error.line}"
        raise LessonError(
            f"{name}{line}: this is no YAML; lines of `name: value` are allowed. Look for a missing space after a "
            "colon, or put a text with a colon in it between quotation marks; write a repeated part out."
        ) from None


def read_lesson_fields(lesson_id: str, said: Any, *, name: str) -> Lesson:
    """The lesson of what a file with that ``name`` says.

    Parameters
    ----------
    lesson_id : str
        Its name in addresses.
    said : object
        What the file says.
    name : str
        Of the file, for a sentence.

    Returns
    -------
    Lesson
        Checked.

    Raises
    ------
    LessonError
        If it is none.
    """
    head = Entry.of(name, said, allowed=_HEAD, needed=("title", "minutes", "sentence", "scenes"))
    scenes = head.said["scenes"]
    if not isinstance(scenes, list) or not 1 <= len(scenes) <= _MOST_SCENES:
        head.refuse("scenes", f"a list of 1 to {_MOST_SCENES} scenes is allowed. Begin each with `- title: …`.")
    sample = "" if not head.has("sample") and all(map(_has_board, scenes)) else head.read_choice("sample", TABLES)
    clusters = next((one.clusters for one in SAMPLES if one.id == sample), _USUAL_CLUSTERS)
    request = _read_request(
        head.read_part("settings", allowed=_RUN), Request(Contender(AUTO), clusters, 1.0, seed=_USUAL_SEED)
    )
    sentence = head.read_text("sentence", most=200)
    if PLACEHOLDER.search(sentence):
        head.refuse("sentence", "it quotes a number; words are allowed, which last longer. Take the braces out.")
    return Lesson(
        lesson_id,
        head.read_text("title", most=60),
        int(head.read_number("minutes", 1, 90, whole=True)),
        sample,
        request,
        sentence,
        tuple(_read_scene(f"{name}, scene {place}", one, request) for place, one in enumerate(scenes, start=1)),
        int(head.read_number("order", 1, 99, whole=True)) if head.has("order") else _LAST,
    )


def _read_scene(place: str, said: Any, request: Request) -> Scene:
    entry = Entry.of(place, said, allowed=_SCENE, needed=("title", "text"))
    reveal = _read_reveal(entry, request) if entry.has("reveal") else None
    shows = None
    if entry.has("shows"):
        shows = _read_run_reveal(entry.read_part("shows", allowed=("run",), needed=("run",)), request)
    about = reveal or shows
    grid = about.grid if isinstance(about, DrawsReveal | StudyReveal) else None
    board = _read_board(entry, request) if entry.has("board") else None
    base = request if board is None else board.request
    if isinstance(about, RunReveal | PartReveal):
        base = about.request
    elif grid is not None:
        base = _find_first_run(grid, request)
    says = _read_says(entry, base, grid)
    question = _read_question(entry, says, reveal) if entry.has("question") else None
    answer = entry.read_text("answer")
    if question is not None and not answer:
        entry.refuse("answer", "it is missing; a scene with a question says what came out. Add a line for it.")
    if board is not None and (shows is not None or isinstance(reveal, PartReveal)):
        entry.refuse("board", "it stands in the place of `shows`, and of a `part`. Take one of them out.")
    if question is None and answer and reveal is None:
        entry.refuse("answer", "there is nothing that it answers. Put it into the text, or add a question.")
    scene = Scene(
        entry.read_text("title", most=60), entry.read_text("text"), question, shows, reveal, answer, says, board
    )
    for text in scene.texts:
        for quoted in PLACEHOLDER.findall(text):
            if quoted not in says:
                entry.refuse(
                    f"{{{quoted}}}", f"no number of this name is in `says`, which has {_format_names(says)}. Add it."
                )
    return scene


def _has_board(scene: Any) -> bool:
    return isinstance(scene, Mapping) and scene.get("board") is not None


def _read_board(entry: Entry, request: Request) -> Board:
    """A board to paint on; what is not said of its first draw is as in the lesson, without a δ."""
    told = entry.read_part("board", allowed=_BOARD, needed=("drawing",))
    drawing = _read_drawing(told)
    usual = replace(request, delta=0.0)
    if told.has("algorithm"):
        told.read_choice("algorithm", [*BOARD_ALGORITHMS])
    asked = _read_request(told, usual)
    if asked.algorithm not in BOARD_ALGORITHMS:
        told.refuse("algorithm", f"a board runs {', '.join(BOARD_ALGORITHMS)}. Choose one of them.")
    if asked.epsilon not in BOARD_EPSILONS:
        allowed = ", ".join(f"{one:g}" for one in BOARD_EPSILONS)
        told.refuse("epsilon", f"it is {asked.epsilon:g}; a board has {allowed}. Choose one of them.")
    if not LEAST_BOARD_K <= asked.k <= MOST_BOARD_K:
        told.refuse("k", f"it is {asked.k}; a board has {LEAST_BOARD_K} to {MOST_BOARD_K}. Change it.")
    view = told.read_choice("view", get_args(BoardView)) if told.has("view") else "run"
    tools = told.read_texts("tools", least=0, most=len(TOOLS)) if told.has("tools") else TOOLS
    for tool in tools:
        if tool not in TOOLS:
            told.refuse("tools", f"{format_value(tool)} is none of {', '.join(TOOLS)}. Choose some of them.")
    if view != "run" and drawing.me is None:
        told.refuse("view", f"{view} is about me, and nobody on the board is me. Add `me: [x, y]`.")
    step = _read_step(told) if told.has("step") else None
    return Board(
        encode_drawing(drawing),
        asked,
        step,
        next(one for one in get_args(BoardView) if one == view),
        tools,
        told.read_yes_or_no("preview", usual=True),
        told.read_yes_or_no("guess", usual=True),
    )


def _read_drawing(told: Entry) -> Drawing:
    """What is painted: the text of a link, or the name of a picture to begin with."""
    text = told.read_text("drawing", most=MOST_LETTERS)
    try:
        drawing = load_preset(text).drawing if text in PRESETS else decode_drawing(text)
        if told.has("me"):
            place = told.said["me"]
            if not isinstance(place, list) or len(place) != 2:
                told.refuse("me", "two numbers are allowed, x and y. Write `me: [226, 34]`.")
            x, y = (int(told.check_number("me", one, 0, SIDE - 1, whole=True)) for one in place)
            drawing = Drawing.of(drawing.points, (x, y))
    except RequestError as error:
        if isinstance(error, LessonError):
            raise
        told.refuse("drawing", f"{error} The names {', '.join(PRESETS)} are allowed, too.")
    if not drawing.size:
        told.refuse("drawing", "nobody is on it. Paint at least one point, or put `me: [x, y]` there.")
    return drawing


def _read_step(told: Entry) -> int | str:
    """A step by its place, or by words of its title."""
    if isinstance(told.said["step"], str):
        return told.read_text("step", most=80)
    return int(told.read_number("step", 1, 500, whole=True))


def _find_first_run(grid: Grid, request: Request) -> Request:
    """The run that a grid begins with, for facts about one run."""
    return replace(request, contender=grid.contenders[0], k=grid.ks[0], epsilon=grid.epsilons[0], delta=grid.deltas[0])


def _read_request(entry: Entry, usual: Request) -> Request:
    """The run that is asked for; what is not said is as ``usual``, parameters too while the algorithm is the same."""
    algorithm = entry.read_choice("algorithm", [*CARDS]) if entry.has("algorithm") else usual.algorithm
    params = dict(usual.params) if algorithm == usual.algorithm else {}
    if entry.has("set"):
        if not isinstance(entry.said["set"], Mapping):
            entry.refuse("set", "these are no fields; lines of `parameter: value` are allowed. Write them.")
        params |= {str(name): value for name, value in entry.said["set"].items()}
    request = replace(
        usual,
        k=int(entry.read_number("k", 1, _MOST_K, whole=True)) if entry.has("k") else usual.k,
        epsilon=float(entry.read_number("epsilon", LEAST_EPSILON, _MOST_EPSILON))
        if entry.has("epsilon")
        else usual.epsilon,
        delta=float(entry.read_number("delta", 0.0, 0.1)) if entry.has("delta") else usual.delta,
        seed=int(entry.read_number("seed", 0, 2**32, whole=True)) if entry.has("seed") else usual.seed,
    )
    try:
        contender = Contender.parse(algorithm, params)
        contender.check_budget(request.epsilon, request.delta)
        if contender.settings.points_per_row(request.k) > 1:
            raise RequestError("It reads several points from each row: choose another setting.")
    except RequestError as error:
        entry.refuse("set" if entry.has("set") else "algorithm", str(error))
    return replace(request, contender=contender)


def _read_reveal(entry: Entry, request: Request) -> Reveal:
    asked = entry.read_part("reveal", allowed=_REVEALS)
    if len(asked.said) != 1:
        entry.refuse("reveal", f"it has {len(asked.said)} kinds; one of {', '.join(_REVEALS)} is allowed. Keep one.")
    if asked.has("run"):
        return _read_run_reveal(asked, request)
    if asked.has("draws"):
        told = asked.read_part("draws", allowed=("times", *_RUN), needed=("times",))
        one = _read_request(told, request)
        times = int(told.read_number("times", 2, 100, whole=True))
        return DrawsReveal(_read_grid(told, one, (one.epsilon,), times))
    if asked.has("study"):
        told = asked.read_part("study", allowed=("epsilons", "repeats", *_RUN), needed=("epsilons", "repeats"))
        epsilons = told.read_numbers("epsilons", LEAST_EPSILON, _MOST_EPSILON, least=2, most=9)
        repeats = int(told.read_number("repeats", 1, 100, whole=True))
        if told.has("epsilon"):
            told.refuse("epsilon", "a study has `epsilons`. Take this line out.")
        return StudyReveal(
            _read_grid(told, replace(_read_request(told, request), epsilon=epsilons[0]), epsilons, repeats)
        )
    if isinstance(asked.said["part"], str):
        return PartReveal(asked.read_choice("part", PARTS), request)
    told = asked.read_part("part", allowed=("name", *_RUN), needed=("name",))
    return PartReveal(told.read_choice("name", PARTS), _read_request(told, request))


def _read_run_reveal(entry: Entry, request: Request) -> RunReveal:
    told = entry.read_part("run", allowed=("step", *_RUN))
    return RunReveal(_read_request(told, request), _read_step(told) if told.has("step") else None)


def _read_grid(entry: Entry, request: Request, epsilons: tuple[float, ...], repeats: int) -> Grid:
    runs = len(epsilons) * repeats
    if runs > _MOST_RUNS:
        entry.refuse("repeats", f"these are {runs:,} runs; up to {_MOST_RUNS} are allowed. Ask for fewer.")
    assert request.seed is not None
    return Grid((request.contender,), (request.k,), epsilons, (request.delta,), repeats=repeats, seed=request.seed)


def _read_question(entry: Entry, says: Mapping[str, Say], reveal: Reveal | None) -> Question:
    asked = entry.read_part("question", allowed=("ask", "options", "right", "number", "curve"), needed=("ask",))
    ask = asked.read_text("ask", most=300)
    kinds = [kind for kind in ("options", "number", "curve") if asked.has(kind)]
    if len(kinds) != 1:
        asked.refuse("ask", f"{len(kinds)} kinds of answer are given; one of options, number, curve is. Keep one.")
    if kinds == ["curve"]:
        if not isinstance(reveal, StudyReveal):
            asked.refuse("curve", "the scene reveals no study; a curve is guessed at its ε. Add `reveal: study:`.")
        if asked.said["curve"] is not True or asked.has("right"):
            asked.refuse("curve", "the study says what is right. Write `curve: true`, without `right`.")
        return CurveGuess(ask)
    if kinds == ["options"]:
        options = asked.read_texts("options", least=2, most=5)
        return Options(ask, options, asked.read_choice("right", options))
    told = asked.read_part("number", allowed=("from", "to", "step", "unit"), needed=("from", "to"))
    low, high = (float(told.read_number(end, -1e9, 1e9)) for end in ("from", "to"))
    step = float(told.read_number("step", 1e-6, 1e9)) if told.has("step") else 1.0
    if high <= low or (high - low) / step > 10_000:
        told.refuse("to", f"from {low:g} to {high:g} is no range of at most 10,000 steps. Change the ends or the step.")
    right = asked.read_choice("right", [*says])
    if not low <= says[right].value <= high:
        told.refuse("to", f"{right} is {says[right].text}; the range must have it. Widen it.")
    return NumberGuess(ask, low, high, step, right, told.read_text("unit", most=20))


def _read_says(entry: Entry, request: Request, grid: Grid | None) -> dict[str, Say]:
    said = entry.said.get("says")
    if said is None:
        return {}
    if not isinstance(said, Mapping) or not all(PLACEHOLDER.fullmatch(f"{{{name}}}") for name in said):
        entry.refuse("says", "names in small letters, with fields, are allowed. Write `found: {what: …, is: 3}`.")
    told = Entry(f"{entry.place}, says", said)
    return {name: _read_say(told, name, request, grid) for name in said}


def _read_say(says: Entry, name: str, request: Request, grid: Grid | None) -> Say:
    first = Entry.of(f"{says.place}, {name}", says.said[name], allowed=(*_list_fields(),), needed=("what", "is"))
    what = first.read_choice("what", [*FACTS])
    fact = FACTS[what]
    changes = _RUN if fact.of == "run" else ()
    told = says.read_part(name, allowed=("what", "is", *fact.needs, *changes), needed=("what", "is", *fact.needs))
    if fact.of == "many runs" and grid is None:
        told.refuse("what", f"{what!r} is about many runs, and the scene reveals no draws and no study. Add one.")
    value = told.said["is"]
    if isinstance(value, bool) or not isinstance(value, int | float):
        told.refuse("is", f"{format_value(value)} is no number. Write digits.")
    options = {
        need: told.read_text(need) if need == "column" else told.read_number(need, LEAST_EPSILON, 1e6)
        for need in fact.needs
    }
    return Say(name, what, options, _read_request(told, request) if changes else request, grid, value)


def _list_fields() -> list[str]:
    return ["what", "is", *_RUN, *sorted({need for fact in FACTS.values() for need in fact.needs} - {*_RUN})]


def _format_names(says: Mapping[str, Say]) -> str:
    return ", ".join(says) or "none"
