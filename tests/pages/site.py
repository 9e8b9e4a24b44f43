"""The app under test: one visit, and everything it shows as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from dpviz.runs.open_table import OpenTable, declare
from dpviz.tables.declarations import Declaration, FileKind
from dpviz.tables.named import sample
from tests import waiting

ROUTER = Path(__file__).resolve().parents[2] / "pages" / "_router.py"


def visit(page: str = "home.py", *, table: OpenTable | None = None) -> AppTest:
    """A visit that has opened ``page``, with ``table`` open if one is given."""
    at = AppTest.from_file(str(ROUTER), default_timeout=waiting.SECONDS)
    if table is not None:
        at.session_state["visit:table"] = table
    return fine(turn_to(at, page).run())


# Parts of the bench, by the names that they had as pages, and what opens each.
_PARTS = {"data.py": {"bench:whole": True}, "release.py": {"bench:releasing": True}, "explore.py": {}}


def turn_to(at: AppTest, page: str) -> AppTest:
    """Turn to a page or to a part of the bench; the visit has still to run."""
    if page in _PARTS:
        for name, opened in ({"bench:whole": False, "bench:releasing": False} | _PARTS[page]).items():
            at.session_state[name] = opened
        page = "home.py"
    if page != "home.py" or "bench:hand" in at.session_state:
        at.switch_page(page)
    return at


def fine(at: AppTest) -> AppTest:
    """The same visit, which must not show a traceback."""
    assert not at.exception, [error.message for error in at.exception]
    return at


def open_ledger(at: AppTest) -> AppTest:
    """Turn to what this visit has spent."""
    at.query_params["drawer"] = "ledger"
    at.switch_page("home.py")
    return fine(at.run())


def upload(at: AppTest, content: bytes, name: str = "people.csv") -> AppTest:
    """Drop a file on the bench."""
    at.file_uploader(key="csv").upload(name, content)
    fine(at.run())
    return declare_whole(at) if at.session_state.get("bench:whole") else at


def declare_whole(at: AppTest, declared: Declaration | None = None) -> AppTest:
    """Open everything that can be declared of the dropped file, as if nothing had been proposed of it."""
    hand = at.session_state["bench:hand"]
    start = declared or Declaration(title=hand.content.name)
    at.session_state["bench:hand"] = replace(hand, declaration=start, proposal=None)
    at.session_state["bench:whole"] = True
    return fine(at.run())


def open_by_word(at: AppTest, sample_id: str) -> AppTest:
    """Open a sample by the form of the table's word."""
    at.session_state["bench:word"], at.session_state["bench:whole"] = "table", False
    fine(at.run())
    (choice,) = (box for box in at.selectbox if box.label == "A public sample")
    return fine(choice.set_value(sample_id).run())


def press(at: AppTest, label: str) -> AppTest:
    """Press the one button with that label."""
    (button,) = (button for button in at.button if button.label == label)
    return fine(button.click().run())


def paste_bounds(at: AppTest, text: str) -> AppTest:
    """Paste JSON into the bounds editor and use it."""
    at.text_area(key="bounds_json").set_value(text)
    return press(at, "Use these")


def tick(at: AppTest, *columns: str) -> AppTest:
    """Have exactly these columns clustered, by the boxes in the whole declaration."""
    for box in at.checkbox:
        if ":use" in (box.key or ""):
            box.set_value(box.label in columns)
    return fine(at.run())


def ticked(at: AppTest) -> list[str]:
    """The columns in the whole declaration that are to be clustered."""
    return [box.label for box in at.checkbox if ":use" in (box.key or "") and box.value]


def declared(widgets: Iterable[Any], name: str) -> Any:
    """The widget of the declaration form with that name."""
    (widget,) = (w for w in widgets if (w.key or "").startswith("declare:") and (w.key or "").endswith(f":{name}"))
    return widget


def of_kind(at: AppTest, kind: str) -> AppTest:
    """Say in the whole declaration what kind of file it is."""
    return fine(declared(at.get("button_group"), "kind").set_value(kind).run())


def type_bound(at: AppTest, column: str, end: str, value: float | None) -> AppTest:
    """Type the lower or upper bound of a column in the whole declaration."""
    (box,) = (box for box in at.number_input if box.label == f"{column}, {end} bound")
    return fine(box.set_value(value).run())


def everything_shown(at: AppTest) -> str:
    """All that the page and its sidebar send to the browser, tables and figures included."""
    return "\n".join(str(getattr(node, "proto", "")) for node in at._tree)


def sample_table(sample_id: str = "fifteen", kind: FileKind = FileKind.PUBLIC) -> OpenTable:
    """A sample with what its declaration file declares, as if it were of ``kind``."""
    table, declaration = sample(sample_id).load()
    return declare(table, replace(declaration, kind=kind))
