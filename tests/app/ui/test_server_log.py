"""The server's log and the page hold the type of an exception and its place, never its text."""

import io
import logging
import shutil
import subprocess
import sys
import threading
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_cache import populate_hash_if_needed
from streamlit.testing.v1 import AppTest

from dpviz.app.ui.server_log import format_type_and_place, keep_texts_out
from tests.browser.server import ROOT, own_environment, running_app
from tests.browser.visitor import Visitor
from tests.waiting import eventually

SECRET = "row 17 is 42.4242"
LOGGER = logging.getLogger("dpviz")


# What Streamlit does around each run of a page.
RUNS = """
import sys
from app import app
from streamlit.runtime.scriptrunner.exec_code import modified_sys_path
before = [*sys.path]
with modified_sys_path(str(app.script_path)):
    assert sys.path == before
"""


def test_runs_of_pages_leave_the_folders_of_modules_as_they_are_for_threads_that_load_ahead() -> None:
    said = {"env": own_environment() | {"PYTHONPATH": str(ROOT)}, "cwd": ROOT, "check": True}
    subprocess.run([sys.executable, "-c", RUNS], **said)


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What is printed by the log of a process whose logs hold no texts; all is as it was afterwards."""
    for place, name in ((sys, "excepthook"), (threading, "excepthook"), (sys, "unraisablehook")):
        monkeypatch.setattr(place, name, getattr(place, name))
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr(logging, "raiseExceptions", True)
    factory, handler = logging.getLogRecordFactory(), logging.StreamHandler(io.StringIO())
    LOGGER.addHandler(handler)
    keep_texts_out()
    yield handler.stream
    LOGGER.removeHandler(handler)
    logging.setLogRecordFactory(factory)


def failed() -> Exception:
    try:
        try:
            raise KeyError(SECRET)
        except KeyError as first:
            raise ValueError(SECRET) from first
    except ValueError as error:
        return error


def test_type_cause_and_place_are_told_and_nothing_else_in_the_log_or_on_the_page():
    def page() -> None:
        from dpviz.app.ui.server_log import say_defect

        assert say_defect(ValueError("row 17 is 42.4242"))

    said = format_type_and_place(failed())
    assert said.startswith("ValueError from KeyError\n")
    assert "app/ui/test_server_log.py:" in said and "in failed" in said
    assert SECRET not in said and "raise" not in said
    (shown,) = AppTest.from_function(page).run().error
    assert "(ValueError)" in shown.value and SECRET not in shown.value


def test_no_way_of_logging_an_exception_prints_its_text(printed, capsys):
    error = failed()
    LOGGER.error("Uncaught app execution", exc_info=error)
    LOGGER.error("It failed: %s", error)
    LOGGER.error("It failed: %(why)s", {"why": error})
    LOGGER.error(error)
    LOGGER.error("twice %s %d", error, 3, exc_info=(type(error), error, error.__traceback__))
    try:
        raise error
    except ValueError:
        LOGGER.exception("again")
    said = printed.getvalue()
    assert SECRET not in said + capsys.readouterr().err
    assert said.count("in failed") == 3 and "twice ValueError 3" in said


@pytest.mark.filterwarnings("default")
def test_what_nobody_catches_and_what_is_warned_of_is_told_by_type(printed, capsys):
    class Stubborn:
        def __del__(self) -> None:
            raise failed()

    thread = threading.Thread(target=lambda: (_ for _ in ()).throw(failed()))
    thread.start()
    thread.join()
    sys.excepthook(ValueError, failed(), None)
    warnings.warn(SECRET, RuntimeWarning, stacklevel=1)
    Stubborn()
    said = printed.getvalue()
    assert SECRET not in said + capsys.readouterr().err
    assert said.count("Uncaught: ValueError") == 3 and "RuntimeWarning at " in said


def test_no_other_library_prints_a_traceback():
    """Rich would, where somebody has it: beside the log, and with the text."""
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert settings["logger"]["enableRich"] is False


def test_what_a_page_draws_is_sent_whole_never_as_one_that_the_browser_has_kept() -> None:
    message = ForwardMsg(delta={"new_element": {"code": {"code_text": "x" * 1_000_000}}})
    populate_hash_if_needed(message)
    assert message.hash and not message.metadata.cacheable


HOSTILE = f"""
import warnings
import streamlit as st

def wrong():
    raise ValueError("{SECRET}")

@st.fragment
def part():
    if st.toggle("in a part"):
        wrong()

def main():
    warnings.warn("{SECRET}", RuntimeWarning)
    st.title("Here")
    st.button("in a callback", on_click=wrong)
    part()
    if st.toggle("on the page"):
        wrong()

if __name__ == "__main__":
    main()
"""


@pytest.mark.slow
@pytest.mark.browser
def test_a_running_server_neither_prints_nor_shows_the_text(browser: Browser, tmp_path: Path) -> None:
    shutil.copy(ROOT / "app.py", tmp_path)
    shutil.copytree(ROOT / ".streamlit", tmp_path / ".streamlit")
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "_router.py").write_text(HOSTILE)
    log = tmp_path / "log.txt"
    with running_app(log, folder=tmp_path) as address:
        visit = Visitor(browser.new_context(), address)
        before = 0
        for label in ("in a callback", "in a part", "on the page"):
            visit.goes_to("/")
            visit.page.get_by_text(label).click()
            visit.sees("A defect of dpviz stopped this page (ValueError)")
            assert SECRET not in visit.page.content()
            expect(visit.page.get_by_test_id("stException")).to_have_count(0)
            assert eventually(lambda before=before: "in wrong" in log.read_text()[before:]), label
            before = len(log.read_text())
        visit.page.context.close()
    said = log.read_text()
    assert "ValueError" in said and "pages/_router.py:" in said and "RuntimeWarning at " in said
    assert SECRET not in said and "Traceback" not in said
