"""Whom the server talks to, what scripts of a page load from it, and whether a visit may name files of the machine.

Only pages of this app talk to it, and no page of another place may frame it. Streamlit asks an outside service for the
machine's own address before it refuses a foreign page. Here the origin is judged first, by the two headers that the
browser sends: nothing is asked of anybody, and another port of this machine is foreign.
"""

from collections.abc import Callable, Iterable, MutableMapping
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpviz.words import read_toml

# What the pages need and no more: their own files, styles and small scripts set inline by Streamlit and Plotly,
# pictures and workers made in the page, and the connection to this server.
HEADERS: dict[str, str] = read_toml(__file__, "headers.toml")


class SameOrigin:
    """Refuse what a foreign page asks, and tell the browser what the app's own pages may load."""

    def __init__(self, app: ASGIApp, *, allowed: Callable[[], Iterable[str]] = tuple) -> None:
        self._app = app
        self._allowed = allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request or one connection."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
        elif self._is_foreign(Headers(scope=scope)):
            await _refuse(scope, receive, send)
        else:
            await self._app(scope, receive, _with_headers(send))

    def _is_foreign(self, headers: Headers) -> bool:
        """Whether a browser says that a page of another host, port or none at all is asking."""
        host = headers.get("host", "").lower()
        origins = [urlsplit(origin).netloc.lower() for origin in headers.getlist("origin")]
        if all(origin and origin == host for origin in origins):
            return False
        known = {host, *(urlsplit(origin).netloc.lower() for origin in self._allowed())} - {""}
        return not known.issuperset(origins)


async def _refuse(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
    else:
        said = PlainTextResponse("A page of another origin asked. Open dpviz at its own address.\n", status_code=403)
        await said(scope, receive, send)


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
        await send(message)

    return sent


BOARD_FILES = Path(__file__).parent / "playground" / "static"
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


_LOOPBACK = ("localhost", "127.0.0.1", "::1")
# What a proxy adds to what it hands on; names that begin with x-forwarded- or cf- are all of this kind.
_OF_PROXIES = frozenset(
    ("forwarded", "via", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "true-client-ip", "x-original-host")
)
_BEGINNINGS = ("x-forwarded", "cf-", "x-envoy-")


def may_name_paths() -> bool:
    """Whether this visit may name files of the machine: it listens to itself alone, and nobody hands pages on."""
    # Off as soon as one header of a proxy is seen: whoever sits behind it could be anybody.
    if st.get_option("server.address") not in _LOOPBACK:
        return False
    names = {name.lower() for name in st.context.headers}
    return names.isdisjoint(_OF_PROXIES) and not any(name.startswith(_BEGINNINGS) for name in names)
