"""Another page cannot talk to the app, nor frame it; paths of the machine stand behind a switch."""

import asyncio
import socket
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import streamlit as st

from dpviz.app.ui.same_origin import HEADERS, SameOrigin, may_name_paths
from dpviz.tables import GIVEN
from tests import waiting
from tests.browser.server import ROOT, own_environment, served
from tests.cases import about, for_each
from tests.pages.site import fine, open_form, visit

HERE = "localhost:8501"
FOREIGN = ["http://example.org", "http://localhost:8502", "http://localhost", "null", "", "file://"]
FOREIGN += ["http://localhost:8501.example.org"]


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


@for_each("origin", [None, f"http://{HERE}", f"https://{HERE.upper()}"])
def test_pages_of_its_own_and_programs_are_answered(origin):
    assert answer("websocket", origin=origin) == [{"type": "websocket.accept"}]
    (start,) = answer("http", origin=origin)
    said = {name.decode(): value.decode() for name, value in start["headers"]}
    assert start["status"] == 200
    assert said == {name.lower(): value for name, value in HEADERS.items()}, "one of each, and ours"


@for_each("origin", FOREIGN)
def test_a_foreign_page_is_refused(origin):
    assert answer("websocket", origin=origin) == [{"type": "websocket.close", "code": 1008}]
    assert answer("http", origin=origin)[0]["status"] == 403


@for_each(("origin", "status"), {"https://dpviz.example.org": 200, "": 403}.items())
def test_another_name_of_the_server_is_declared(origin, status):
    assert answer("http", origin=origin)[0]["status"] == 403
    assert answer("http", origin=origin, allowed=(origin,))[0]["status"] == status


def test_a_running_server_lets_no_foreign_page_connect(tmp_path: Path) -> None:
    environment = own_environment() | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true", "--server.port"]
    with served(command, tmp_path / "log.txt", ROOT, environment) as address:
        here = urlsplit(address).netloc
        origins = (f"http://{here}", "http://example.org", "http://localhost:1", "null")
        assert [_handshake(here, origin) for origin in origins] == [101, 403, 403, 403]


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


PROXIES = ("X-Forwarded-For", "x-forwarded-proto", "Forwarded", "Via", "X-Real-IP", "CF-Connecting-IP")


@pytest.fixture
def come(monkeypatch: pytest.MonkeyPatch):
    """A visit with the address of the server, and the headers that came with it."""
    option = st.get_option

    def come(address: str | None, *headers: str) -> None:
        monkeypatch.setattr(st, "get_option", lambda name: address if name == "server.address" else option(name))
        said = dict.fromkeys(("Host", "User-Agent", *headers), "localhost")
        monkeypatch.setattr(type(st.context), "headers", property(lambda _: said))

    return come


def test_the_switch_is_on_where_nobody_else_can_see_the_pages(come) -> None:
    elsewhere = (None, "", "0.0.0.0", "::", "192.168.0.7", "localhost.example.org")
    visits = [(True, address) for address in ("localhost", "127.0.0.1", "::1")]
    visits += [(False, address) for address in elsewhere] + [(False, "localhost", header) for header in PROXIES]
    for alone, *visit_ in visits:
        with about(*visit_):
            come(*visit_)
            assert may_name_paths() == alone


@for_each("headers", [(), PROXIES[:1]])
def test_every_path_stands_behind_it(headers: tuple[str, ...], come, monkeypatch, tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text("age,income\n31,1000\n44,2000\n")
    monkeypatch.delenv(GIVEN, raising=False)
    come("localhost", *headers)
    for at, key in ((open_form(visit(), "table"), "file_here_path"), (visit("release.py"), "release:account_path")):
        assert (key in {box.key for box in at.text_input}) == (not headers)
    monkeypatch.setenv(GIVEN, str(table))
    at = visit("data.py")
    assert ("visit:undeclared" in at.session_state) == (not headers)
    assert any("others may see these pages" in error.value for error in fine(at).error) == bool(headers)
