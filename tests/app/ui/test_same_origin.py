"""Another page cannot talk to the app, nor frame it, and nobody outside is asked about that."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from dpviz.app.ui.same_origin import HEADERS, SameOrigin
from tests import waiting
from tests.browser.server import ROOT, own_environment, served

HERE = "localhost:8501"
FOREIGN = [
    "http://example.org",
    "http://localhost:8502",
    "http://localhost",
    "null",
    "",
    "file://",
    "http://localhost:8501.example.org",
]


def answer(kind: str, *, origin: str | None, host: str = HERE, allowed: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """What is sent to whoever asks from ``origin``; the app behind answers 200, or accepts."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if kind == "websocket":
            await send({"type": "websocket.accept"})
        else:
            await send({"type": "http.response.start", "status": 200, "headers": [(b"x-frame-options", b"ALLOW")]})

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect" if kind == "websocket" else "http.request"}

    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", host.encode())] + ([] if origin is None else [(b"origin", origin.encode())])
    scope = {"type": kind, "headers": headers, "method": "GET", "path": "/"}
    asyncio.run(SameOrigin(app, allowed=lambda: allowed)(scope, receive, send))
    return sent


@pytest.mark.parametrize("origin", [None, f"http://{HERE}", f"https://{HERE.upper()}"])
def test_pages_of_its_own_and_programs_are_answered(origin):
    assert answer("websocket", origin=origin) == [{"type": "websocket.accept"}]
    (start,) = answer("http", origin=origin)
    assert start["status"] == 200
    said = {name.decode(): value.decode() for name, value in start["headers"]}
    assert said == {name.lower(): value for name, value in HEADERS.items()}, "one of each, and ours"


@pytest.mark.parametrize("origin", FOREIGN)
def test_a_foreign_page_is_refused(origin):
    assert answer("websocket", origin=origin) == [{"type": "websocket.close", "code": 1008}]
    assert answer("http", origin=origin)[0]["status"] == 403


def test_another_name_of_the_server_is_declared():
    there = "https://dpviz.example.org"
    assert answer("http", origin=there)[0]["status"] == 403
    assert answer("http", origin=there, allowed=(there,))[0]["status"] == 200
    assert answer("http", origin="", allowed=("",))[0]["status"] == 403


RESOLVER = """
import socket
asked, known = open({log!r}, "a", buffering=1), socket.getaddrinfo
def getaddrinfo(host, *rest, **more):
    print(host, file=asked)
    return known(host, *rest, **more)
socket.getaddrinfo = getaddrinfo
"""


@pytest.mark.slow
def test_a_running_server_asks_nobody_whether_a_foreign_page_may_connect(tmp_path: Path) -> None:
    asked = tmp_path / "asked.txt"
    (tmp_path / "sitecustomize.py").write_text(RESOLVER.format(log=str(asked)))
    environment = own_environment() | {"PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))}
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true", "--server.port"]
    with served(command, tmp_path / "log.txt", ROOT, environment) as address:
        here = urlsplit(address).netloc
        statuses = [
            _handshake(here, origin)
            for origin in (f"http://{here}", "http://example.org", "http://localhost:1", "null")
        ]
    assert statuses == [101, 403, 403, 403]
    assert set(asked.read_text().split()) <= {"localhost", "127.0.0.1"}, "the server looked another name up"


def _handshake(here: str, origin: str) -> int:
    """The status with which the server answers a page that wants to connect."""
    host, _, port = here.partition(":")
    with socket.create_connection((host, int(port)), timeout=waiting.SECONDS) as line:
        line.sendall(
            f"GET /_stcore/stream HTTP/1.1\r\nHost: {here}\r\nOrigin: {origin}\r\nConnection: Upgrade\r\n"
            "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n"
            "Sec-WebSocket-Protocol: streamlit\r\n\r\n".encode()
        )
        return int(line.recv(64).split()[1])
