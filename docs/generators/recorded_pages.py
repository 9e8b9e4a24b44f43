"""What the first page plays without a server: a town of the playground, and a lesson; the third run is a card's.

Each is one HTML file with everything inside; nothing is computed in the browser but what is shown of it.
"""

from __future__ import annotations

from pathlib import Path

from dpviz.app.charts.player.lesson_page import make_lesson_page
from dpviz.app.lessons.reading import read_lesson
from dpviz.app.ui.playground.board import FIRST, Board, draw, make_animation_page
from dpviz.runs import Contender, Request
from dpviz.tables import drawings

_LESSON, _ALGORITHM, _EPSILON, _SEED = "why-noise", "eugkm", 1.0, 7


def make_pages(root: Path) -> dict[str, str | bytes]:
    """The files, beside the first page."""
    town = drawings.load_preset(FIRST)
    board = Board(town.drawing, Request(Contender.of(_ALGORITHM), town.k, _EPSILON))
    *_, lesson = make_lesson_page(read_lesson(root / "lessons" / f"{_LESSON}.yaml"))
    return {
        "players/town.html": make_animation_page(draw(board.first, seed=_SEED)).encode(),
        f"players/{_LESSON}.html": str(lesson).encode(),
    }
