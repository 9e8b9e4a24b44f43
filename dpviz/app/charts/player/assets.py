"""What the browser is given, as text: the player's own markup, style and script, and the drawing library, packed."""

from __future__ import annotations

import base64
import gzip
from functools import cache
from importlib.resources import files
from pathlib import Path

_HERE = Path(__file__).parent


@cache
def read_asset(name: str) -> str:
    """A file of this folder."""
    return (_HERE / name).read_text(encoding="utf-8")


@cache
def pack_library() -> str:
    """Plotly.js of the installed package: two megabytes in place of five."""
    return zip_text((files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8"))


def zip_text(text: str) -> str:
    """A text as gzip in base64, which a page unpacks by itself."""
    return base64.b64encode(gzip.compress(text.encode("utf-8"), mtime=0)).decode()
