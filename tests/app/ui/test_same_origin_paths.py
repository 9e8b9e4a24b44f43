"""Paths of the machine stand behind one switch: off for all who may sit elsewhere."""

from pathlib import Path

import pytest
import streamlit as st

from dpviz.app.ui.same_origin import may_name_paths
from dpviz.tables import GIVEN
from tests.cases import about
from tests.pages.site import fine, visit

PROXIES = ("X-Forwarded-For", "x-forwarded-proto", "Forwarded", "Via", "X-Real-IP", "CF-Connecting-IP")


class Visit:
    """What is known of a visit: the address of the server, and the headers that came with it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch, self._option = monkeypatch, st.get_option

    def come(self, address: str | None, *headers: str) -> None:
        self._monkeypatch.setattr(
            st, "get_option", lambda name: address if name == "server.address" else self._option(name)
        )
        said = dict.fromkeys(("Host", "User-Agent", *headers), "localhost")
        self._monkeypatch.setattr(type(st.context), "headers", property(lambda _: said))


@pytest.fixture
def visitor(monkeypatch: pytest.MonkeyPatch) -> Visit:
    return Visit(monkeypatch)


def test_the_switch_is_on_where_nobody_else_can_see_the_pages(visitor: Visit) -> None:
    for address in ("localhost", "127.0.0.1", "::1"):
        visitor.come(address)
        assert may_name_paths()
    for address in (None, "", "0.0.0.0", "::", "192.168.0.7", "localhost.example.org"):
        with about(address):
            visitor.come(address)
            assert not may_name_paths()
    for header in PROXIES:
        with about(header):
            visitor.come("localhost", header)
            assert not may_name_paths()


@pytest.mark.parametrize("headers", [(), PROXIES[:1]], ids=["alone", "behind a proxy"])
def test_every_path_stands_behind_it(
    headers: tuple[str, ...], visitor: Visit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = tmp_path / "people.csv"
    table.write_text("age,income\n31,1000\n44,2000\n")
    visitor.come("localhost", *headers)
    at = visit()
    at.session_state["bench:word"] = "table"
    keys = {box.key for box in fine(at.run()).text_input}
    assert ("file_here_path" in keys) == (not headers)
    keys = {box.key for box in visit("release.py").text_input}
    assert ("release:account_path" in keys) == (not headers)
    monkeypatch.setenv(GIVEN, str(table))
    at = visit("data.py")
    assert ("visit:undeclared" in at.session_state) == (not headers)
    assert any("others may see these pages" in error.value for error in fine(at).error) == bool(headers)
