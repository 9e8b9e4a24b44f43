"""The page *Playground* and its board: what somebody paints is asked of real private algorithms.

Its pictures are those of their steps. Its script is a file that the browser keeps: text that came with the component
would travel with every answer.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal, get_args

import numpy as np
import streamlit as st

from dpviz.algorithms import CARDS
from dpviz.app.charts.animation import Animation, TitleNumber, choose_colors
from dpviz.app.charts.canvas import RevealedView
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.player.player_page import PlayerScene, animate, make_player_page
from dpviz.app.charts.plot import MADE_UP_MARK, pack
from dpviz.app.charts.view import make_view
from dpviz.app.lessons.facts import Computed
from dpviz.app.lessons.lesson import BOARD_ALGORITHMS, BOARD_EPSILONS, LEAST_BOARD_K, MOST_BOARD_K, TOOLS, BoardView
from dpviz.app.ui.addresses import COMPARE, RUN
from dpviz.app.ui.controls import choose_epsilon
from dpviz.app.ui.data.table_link import open_painted
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import SENTENCES, draw_caption_with_badge, draw_download, look_of, say_refusal
from dpviz.app.ui.same_origin import BOARD_FILES
from dpviz.app.ui.session import choose, recall, remember
from dpviz.core import Array, Domain, PrivateTable, RequestError
from dpviz.runs import Contender, Crowd, Request, Run, declare, export, run_request
from dpviz.tables import drawings, format_csv, make_painted_table
from dpviz.words import Palette, choose_palette, format_number, format_percent, format_plus_minus, format_things, render

DOMAIN = Domain.of(drawings.COLUMNS, 0.0, float(drawings.SIDE), scaling="common")
TREE, GRID = "balcan", "eugkm"
_ROOM_BELOW = 76  # pixels of a wide page, for what stands under the board
WORLD_DRAWS = 12
"""Draws with me in the table, and as many without."""
_FINE = "Painted points are simulated: nobody's. The noise is study noise."
_FULL = f"The board holds {drawings.MOST_POINTS:,} points and is full: erase some first."
_NO_SCRIPT = "The board cannot be drawn: start the app with app.py, which serves its script."
_GARBLED = "The board said something that cannot be read: reload the page."


# --- what is asked


@dataclass(frozen=True, eq=False)
class Ask:
    """A question of a board: what is painted, what is to run on it, and what of that is looked at."""

    token: int
    draw: int
    drawing: drawings.PointDrawing
    request: Request
    step: int | None = None
    view: BoardView = "run"
    fresh: bool = False

    @classmethod
    def read(cls, said: object, params: Mapping[str, Any] | None = None, of: str = "") -> Ask:
        """Read a question that a browser asks."""
        if not isinstance(said, Mapping):
            raise RequestError(_GARBLED)
        algorithm, epsilon = said.get("algorithm"), said.get("epsilon")
        if not isinstance(algorithm, str) or algorithm not in BOARD_ALGORITHMS:
            raise RequestError(f"The board runs {', '.join(BOARD_ALGORITHMS.values())}: choose one of them.")
        k, view = _read_whole(said.get("k")), said.get("view")
        if not LEAST_BOARD_K <= k <= MOST_BOARD_K:
            raise RequestError(f"The board draws {LEAST_BOARD_K} to {MOST_BOARD_K} centres: choose such a k.")
        if epsilon not in BOARD_EPSILONS:
            low, *_, high = BOARD_EPSILONS
            raise RequestError(f"The board knows ε from {low:g} to {high:g}: take the slider.")
        request = Request(Contender.of(algorithm, params if algorithm == of else None), k, float(epsilon))
        token, number, step = _read_whole(said.get("token")), _read_whole(said.get("draw")), said.get("step")
        drawing = drawings.PointDrawing.of(_read_points(said.get("points")), _read_place(said.get("me")))
        at = None if step is None else _read_whole(step)
        seen: Any = next((known for known in get_args(BoardView) if known == view), "run")
        return cls(token, number, drawing, request, at, seen, said.get("fresh") is True)


def _read_whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**31 or value % 1:
        raise RequestError(_GARBLED)
    return int(value)


def _read_place(value: Any) -> tuple[int, int] | None:
    if value is None:
        return None
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise RequestError(_GARBLED)
    return _read_whole(value[0]), _read_whole(value[1])


def _read_points(text: Any) -> np.ndarray[Any, np.dtype[np.uint8]]:
    if not isinstance(text, str) or len(text) > 4 * drawings.MOST_POINTS:
        most = f"{drawings.MOST_POINTS:,}"
        raise RequestError(f"More than {most} points are painted; the board holds no more: erase some.")
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), np.uint8).reshape(-1, 2)
    except ValueError:  # no base64, or half a point
        raise RequestError(_GARBLED) from None


# --- what comes of it


@dataclass(frozen=True, eq=False)
class BoardAnswer:
    """A question and the run that answers it, or why there is none; its pictures by theme, each drawn once."""

    ask: Ask
    run: Run | None
    refused: str = ""
    pictures: dict[str, str] = field(default_factory=dict)

    @cached_property
    def twin_draws(self) -> list[Array]:
        """Centres (draws, k, 2), data units, with me and without, if they are looked at; each has noise of its own."""
        drawing = self.ask.drawing
        both = (drawing.everybody, drawing.others) if self.ask.view == "worlds" and drawing.me is not None else ()
        return [np.stack([run_on(rows, self.ask.request).centers for _ in range(WORLD_DRAWS)]) for rows in both]

    @cached_property
    def crowd(self) -> Crowd | None:
        """What the tree makes of a crowd at my place, if that is looked at: of this run, or of one at the same ε."""
        drawing, asked = self.ask.drawing, self.ask.request
        if self.ask.view != "crowd" or drawing.me is None or self.run is None:
            return None
        run = self.run
        if asked.algorithm != TREE:
            run = run_on(drawing.everybody, Request(Contender.of(TREE), asked.k, asked.epsilon))
        return Crowd.measure(DOMAIN.to_unit(drawing.mine)[0], DOMAIN.to_unit(drawing.others), run)


def run_on(rows: np.ndarray[Any, np.dtype[np.float64]], request: Request, seed: int | None = None) -> Run:
    """Run on painted rows (n, 2), data units: (ε, δ)-DP for a row that is added or removed, as every run."""
    return run_request(replace(request, seed=seed), PrivateTable(rows, DOMAIN))


def draw(ask: Ask, before: BoardAnswer | None = None, *, seed: int | None = None) -> BoardAnswer:
    """Answer a question of the board."""
    if before is not None and before.run is not None and before.ask.draw == ask.draw:
        return BoardAnswer(ask, before.run)
    try:
        return BoardAnswer(ask, run_on(ask.drawing.everybody, ask.request, seed))
    except RequestError as error:
        return BoardAnswer(ask, None, str(error))


def make_answer(drawn: BoardAnswer, theme: str | None, *, linked: bool = True) -> str:
    """What the board is told: the picture of the step that it shows, and what it says of the draw."""
    ask, run = drawn.ask, drawn.run
    told: dict[str, Any] = {"token": ask.token, "draw": ask.draw, "refused": drawn.refused}
    told["fine"] = _FULL if len(ask.drawing.points) >= drawings.MOST_POINTS else _FINE
    if run is None or drawn.refused:
        return pack(told)
    at = len(run.frames) - 1 if ask.step is None else min(ask.step, len(run.frames) - 1)
    final = np.round(run.centers, 1).tolist()
    step = run.frames[at].step
    told |= {
        "at": at,
        "steps": [frame.step.title for frame in run.frames],
        "picture": Animation.of_run(run, _look_at(run, ask.drawing, choose_palette(theme))).draw_still(at),
        "centers": np.round(DOMAIN.from_unit(step.centers), 1).tolist() if hasattr(step, "centers") else [],
        "final": final,
        "found": "; ".join(f"centre {place} at x {x:.0f}, y {y:.0f}" for place, (x, y) in enumerate(final, 1)) + ".",
        "epsilon": run.epsilon,
        "fresh": ask.fresh,
        "link": format_board_link(ask) if linked else None,
    }
    if drawn.twin_draws:
        told["worlds"] = [np.round(centers, 1).tolist() for centers in drawn.twin_draws]
    if (crowd := drawn.crowd) is not None:
        told["crowd"] = {"box": DOMAIN.from_unit(crowd.box).tolist(), **describe_crowd(crowd)}
    return pack(told)


def _look_at(run: Run, drawing: drawings.PointDrawing, palette: Palette) -> RenderContext:
    """A draw's pictures: its rows are nobody's, so where something speaks against it, its loss is looked at first."""
    context = RenderContext(make_view(run.domain), palette, epsilon=run.epsilon, mark=MADE_UP_MARK)
    if not drawing.size or run.verdict is None or run.verdict.fine:
        return context
    loss = Computed(declare(*make_painted_table(drawing))).compute_loss_ratio(run.unit_centers)
    return replace(context, ratio=lambda centers: loss if np.array_equal(centers, run.unit_centers) else None)


def describe_crowd(crowd: Crowd) -> dict[str, str]:
    """How many people hide one, in words: a finding, and what is to be said with it."""
    needed = crowd.needed
    sizes = [] if needed is None else sorted({max(2, needed // 2), needed, min(2 * needed, Crowd.MOST)})
    chances = [(size, format_percent(crowd.chance(size))) for size in sizes]
    least, noise = format_number(crowd.threshold), format_plus_minus(crowd.noise_sd)
    alone, hidden = format_percent(crowd.chance(1)), needed and format_things(needed - 1, "person", "people")
    given = {"least": least, "noise": noise, "alone": alone, "hidden": hidden, "chances": chances}
    title, says = render("crowd.txt.j2", is_alone=bool(crowd.alone), **given).splitlines()
    return {"title": title, "says": says}


# --- as a link

DRAWING_LINK, ASKED_LINK = "drawing", "asked"
"""What a link calls the drawing, and what is asked: the algorithm, ε and k."""


def format_board_link(ask: Ask) -> dict[str, str]:
    """What an address says of a board."""
    drawn, asked = drawings.encode_drawing(ask.drawing), ask.request
    return {DRAWING_LINK: drawn, ASKED_LINK: f"{asked.algorithm},{asked.epsilon:g},{asked.k}"}


# --- the component


@dataclass(frozen=True, eq=False)
class Board:
    """How a board begins, and what may be done on it."""

    drawing: drawings.PointDrawing
    request: Request
    step: int | None = None
    view: BoardView = "run"
    tools: tuple[str, ...] = TOOLS
    preview: bool = True
    locked: bool = False
    linked: bool = False
    level: Literal[1, 2] = 2

    @property
    def first(self) -> Ask:
        """The question that nobody has to ask."""
        return Ask(0, 0, self.drawing, self.request, self.step, self.view)

    def read(self, said: object) -> Ask:
        """What its browser said."""
        return Ask.read(said, self.request.params, self.request.algorithm)


@dataclass(eq=False)
class BoardState:
    """What stands on a board now, and how often it was begun anew.

    A download is made when it is asked for, outside of the visit: it is given this.
    """

    drawn: BoardAnswer | None = None
    begun: int = 0


def find_standing(key: str) -> BoardState:
    """What stands on the board of that ``key`` in this visit."""
    standing: BoardState = st.session_state.setdefault(f"{key}:standing", BoardState())
    return standing


@st.fragment
def draw_board(begins: Board, *, key: str) -> None:
    """Draw a board; only it runs again when somebody paints. It stays as it was left while the visit lasts."""
    # Said before this run, and gone where another page was open meanwhile: then the board is told how it stood.
    standing = find_standing(key)
    if begins.locked and standing.drawn is not None:  # a lesson that begins again, with what it has to show
        standing.drawn, standing.begun = None, standing.begun + 1
    part = f"{key}:{standing.begun}"
    said = (st.session_state.get(part) or {}).get("ask")
    held = standing.drawn = None if begins.locked else _answer(begins, said, standing.drawn)
    theme, answer = str(st.context.theme.type), None
    if held is not None:
        if theme not in held.pictures:
            held.pictures[theme] = make_answer(held, theme, linked=begins.linked)
        answer = held.pictures[theme]
    stands = begins.first if held is None else held.ask
    told = {
        "answer": answer,
        "start": None if said is not None else _start(stands, begins),
        "colors": choose_colors(choose_palette(theme)),
        "dress": {
            "tools": [tool for tool in TOOLS if tool in begins.tools],
            **{name: getattr(begins, name) for name in ("preview", "locked", "linked", "level")},
            "below": _ROOM_BELOW if begins.linked else 0,
        },
    }
    _declare_component()(data=told, key=part, on_ask_change=lambda: None)


def _answer(begins: Board, said: Any, held: BoardAnswer | None) -> BoardAnswer:
    if held is None:
        held = draw(begins.first, seed=begins.request.seed)
    token = said.get("token") if isinstance(said, Mapping) else None
    if said is None or token == held.ask.token:
        return held  # a run of the page for another reason is no new draw
    try:
        return draw(begins.read(said), held)
    except RequestError as error:
        # Its number goes back with the answer: the board waits for that.
        number = token if isinstance(token, int) else held.ask.token
        return BoardAnswer(replace(held.ask, token=number), held.run, str(error))


def _start(stands: Ask, begins: Board) -> str:
    presets = {name: drawings.load_preset(name) for name in drawings.PRESETS} if begins.tools else {}
    return pack(
        {
            **_describe_board(stands.drawing),
            **{name: getattr(stands.request, name) for name in ("k", "epsilon", "algorithm")},
            **{name: getattr(stands, name) for name in ("view", "step", "token", "draw")},
            "limits": {
                "epsilons": BOARD_EPSILONS,
                "most": drawings.MOST_POINTS,
                "algorithms": BOARD_ALGORITHMS,
                "titles": {name: CARDS[name].title for name in BOARD_ALGORITHMS},
            },
            "presets": {
                name: {"title": one.title, "k": one.k, **_describe_board(one.drawing)} for name, one in presets.items()
            },
        }
    )


def _describe_board(drawing: drawings.PointDrawing) -> dict[str, Any]:
    return {"points": base64.b64encode(drawing.points.tobytes()).decode(), "me": drawing.me}


@st.cache_resource(show_spinner=False)
def _declare_component() -> Any:
    version = blake2b(b"".join(path.read_bytes() for path in sorted(BOARD_FILES.iterdir())), digest_size=6).hexdigest()
    loads = f'''const board = import(new URL("/board/board.js?{version}", location.origin).href);
export default (component) => {{
  board.then(({{ mount }}) => mount(component), () => {{
    component.parentElement.querySelector(".board").textContent = "{_NO_SCRIPT}";
  }});
}};
'''
    box = '<section class="board" aria-label="Playground" style="min-height: 640px"></section>'
    return st.components.v2.component("dpviz_board", html=box, js=loads, isolate_styles=False)


KEY = "playground:board"
FIRST = "blobs"
"""The picture that a visit begins with."""
_CUT, _SCENES = "playground:cut", {"lesson": "paint-the-town"}
_PAGES = (("Run it", RUN, ":material/travel_explore:"), ("Compare on it", COMPARE, ":material/compare:"))


def draw_playground_page() -> None:
    """The board, and ways to take what is on it elsewhere."""
    begins, standing = _begin_board(), find_standing(KEY)
    if (standing.drawn is None or standing.drawn.ask.token == 0) and (words := recall(_CUT, "")):
        st.warning(escape_markdown(words), icon=":material/link_off:")
    draw_board(begins, key=KEY)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for label, page, icon in _PAGES:
            if st.button(label, icon=icon, key=f"playground:{page}"):
                ask = _draw_run(standing).ask
                with say_refusal(icon=":material/brush:"):
                    open_painted(ask.drawing, ask.request.k)
                    choose("algorithm", ask.request.algorithm)
                    choose_epsilon(ask.request.epsilon)
                    st.switch_page(page)
        draw_download("Points (CSV)", lambda: _format_points(standing), "painted.csv", key="playground:csv")
        make, name = (lambda: make_animation_page(_draw_run(standing))), export.name_revealed_file("painted", "html")
        draw_download(content=make, name=name, **look_of("animation", key="playground:animation"))
        st.page_link("lessons.py", label="Five scenes on this board", icon=":material/school:", query_params=_SCENES)
    draw_caption_with_badge("public", SENTENCES.fill("painted"))


def _begin_board() -> Board:
    """The board of the link, said once a visit, or of the first picture."""
    usual = drawings.load_preset(FIRST)
    drawing, request = usual.drawing, Request(Contender.of(GRID), usual.k, 1.0)
    if find_standing(KEY).drawn is None and (text := st.query_params.get(DRAWING_LINK)):
        try:
            drawing = drawings.decode_drawing(text)
            request = read_link(st.query_params.get(ASKED_LINK, ""), request)
            remember(_CUT, "")
        except RequestError as error:
            remember(_CUT, str(error))
    return Board(drawing, request, linked=True, level=1)


def read_link(text: str, usual: Request) -> Request:
    """Read a link to a board.

    >>> read_link("balcan,0.5,4", Request(Contender.of("eugkm"), 3, 1.0)).k
    4
    """
    algorithm, _, rest = text.partition(",")
    epsilon, _, k = rest.partition(",")
    near = [one for one in BOARD_EPSILONS if f"{one:g}" == epsilon]
    allowed = k.isdecimal() and LEAST_BOARD_K <= int(k[:3]) <= MOST_BOARD_K
    if algorithm not in BOARD_ALGORITHMS or not near or not allowed:
        return usual
    return Request(Contender.of(algorithm), int(k[:3]), near[0])


def _format_points(standing: BoardState) -> str:
    return format_csv([drawings.COLUMNS, *_draw_run(standing).ask.drawing.everybody.tolist()])


def _draw_run(standing: BoardState) -> BoardAnswer:
    assert standing.drawn is not None  # the board answers before anything else of the page is drawn
    return standing.drawn


def make_animation_page(drawn: BoardAnswer) -> str:
    """A draw as one HTML file."""
    run, drawing = drawn.run, drawn.ask.drawing
    if run is None:
        raise RequestError(drawn.refused)
    rows = RevealedView.of(DOMAIN.to_unit(drawing.everybody), "painted points are simulated")
    numbers = [
        TitleNumber("public", f"{drawing.size:,}", "painted points"),
        TitleNumber("released", f"ε {run.spent_epsilon:.3g}", f"spent, {len(run.entries)} charges"),
    ]
    animation = animate(run, replace(_look_at(run, drawing, choose_palette("light")), reveal=rows), numbers)
    note = "Painted points are simulated: nobody's."
    return make_player_page([PlayerScene(animation=animation, run=run, table="Painted town", note=note)])
