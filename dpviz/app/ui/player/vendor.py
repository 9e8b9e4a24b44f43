"""What scripts of a page load from this server: the drawing library of the installed package, and the board."""

from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

BOARD_FILES = Path(__file__).parents[1] / "playground" / "static"
"""The script of the board, its markup and its style."""


class _Asked(StaticFiles):
    """Files that a browser keeps, and asks about each time: those of another version are not taken for them."""

    def file_response(self, *given: Any, **named: Any) -> Response:
        """The file, with a word on how long it is good for."""
        response = super().file_response(*given, **named)
        response.headers["Cache-Control"] = "no-cache"
        return response


def mount_vendor() -> Mount:
    """What the server answers under ``/vendor``."""
    return Mount("/vendor", StaticFiles(directory=str(files("plotly") / "package_data")))


def mount_board() -> Mount:
    """What the server answers under ``/board``."""
    return Mount("/board", _Asked(directory=str(BOARD_FILES)))
