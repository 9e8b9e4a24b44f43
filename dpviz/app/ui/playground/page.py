"""The page *Playground*: paint a town, see what privacy lets through, take one person out."""

from __future__ import annotations

import streamlit as st

from dpviz.app.charts.animation import TitleNumber
from dpviz.app.charts.canvas import RevealedView
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.player.player_page import PlayerScene, animate, make_player_page
from dpviz.app.charts.view import make_view
from dpviz.app.lessons.lesson import BOARD_ALGORITHMS, BOARD_EPSILONS, LEAST_BOARD_K, MOST_BOARD_K
from dpviz.app.ui.controls import choose_epsilon
from dpviz.app.ui.data.named_tables import open_painted
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import draw_caption_with_badge
from dpviz.app.ui.playground.board import (
    ASKED_LINK,
    DOMAIN,
    DRAWING_LINK,
    GRID,
    Board,
    BoardAnswer,
    BoardState,
    draw_board,
    find_standing,
)
from dpviz.app.ui.session import choose, recall, remember
from dpviz.core import RequestError
from dpviz.runs import Contender, Request, export
from dpviz.tables import drawings, format_csv
from dpviz.words import choose_palette

KEY = "playground:board"
FIRST = "blobs"
"""The picture that a visit begins with."""
_CUT, _SCENES = "playground:cut", {"lesson": "paint-the-town"}
_PAGES = (
    ("Explore it", "explore.py", ":material/travel_explore:"),
    ("Compare on it", "compare.py", ":material/compare:"),
    ("Trade-off on it", "tradeoff.py", ":material/show_chart:"),
)


def draw_playground_page() -> None:
    """The board, and ways to take what is on it elsewhere."""
    begins, standing = _begin_board(), find_standing(KEY)
    untouched = standing.drawn is None or standing.drawn.ask.token == 0
    if untouched and (words := recall(_CUT, "")):
        st.warning(escape_markdown(words), icon=":material/link_off:")
    draw_board(begins, key=KEY)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for label, page, icon in _PAGES:
            if st.button(label, icon=icon, key=f"playground:{page}"):
                _open_on(page, standing)
        st.download_button(
            "Points (CSV)",
            lambda: format_csv([drawings.COLUMNS, *_draw_run(standing).ask.drawing.everybody.tolist()]).encode(),
            "painted.csv",
            "text/csv",
            icon=":material/download:",
            key="playground:csv",
            on_click="ignore",
        )
        st.download_button(
            "Play it anywhere (HTML)",
            lambda: make_animation_page(_draw_run(standing)).encode(),
            export.name_revealed_file("painted", "html"),
            "text/html",
            icon=":material/play_circle:",
            key="playground:animation",
            on_click="ignore",
            help="All steps of this draw in one file: it opens in any browser, without network or server.",
        )
        st.page_link("lessons.py", label="Five scenes on this board", icon=":material/school:", query_params=_SCENES)
    draw_caption_with_badge(
        "public",
        "Painted points are simulated: nobody's. That is why they may be drawn from again and again here: with real "
        "rows, draws beside each other cost the sum of their ε.",
    )


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
    if (
        algorithm not in BOARD_ALGORITHMS
        or not near
        or not k.isdecimal()
        or not LEAST_BOARD_K <= int(k[:3]) <= MOST_BOARD_K
    ):
        return usual
    return Request(Contender.of(algorithm), int(k[:3]), near[0])


def _draw_run(standing: BoardState) -> BoardAnswer:
    assert standing.drawn is not None  # the board answers before anything else of the page is drawn
    return standing.drawn


def _open_on(page: str, standing: BoardState) -> None:
    """Make the drawing the table of this visit, and go there with the settings of the board."""
    ask = _draw_run(standing).ask
    try:
        open_painted(ask.drawing, ask.request.k)
        choose("algorithm", ask.request.algorithm)
        choose_epsilon(ask.request.epsilon)
    except RequestError as error:
        st.error(escape_markdown(error), icon=":material/brush:")
        return
    st.switch_page(page)


def make_animation_page(drawn: BoardAnswer) -> str:
    """A draw as one HTML file."""
    run, drawing = drawn.run, drawn.ask.drawing
    if run is None:
        raise RequestError(drawn.refused)
    points = DOMAIN.to_unit(drawing.everybody)
    context = RenderContext(
        make_view(DOMAIN),
        choose_palette("light"),
        epsilon=run.epsilon,
        reveal=RevealedView.of(points, "painted points are simulated"),
    )
    numbers = [
        TitleNumber("public", f"{drawing.size:,}", "painted points"),
        TitleNumber("released", f"ε {run.spent_epsilon:.3g}", f"spent, {len(run.entries)} charges"),
    ]
    animation = animate(run, context, numbers)
    note = "Painted points are simulated: nobody's."
    return make_player_page([PlayerScene(animation=animation, run=run, table="Painted town", note=note)])
