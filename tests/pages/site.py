"""The app under test: one visit, and everything it shows as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from dpviz.runs.open_table import OpenTable, declare
from dpviz.tables.declarations import FileKind
from dpviz.tables.named import sample
from tests import waiting

ROUTER = Path(__file__).resolve().parents[2] / "pages" / "_router.py"


def visit(page: str = "home.py", *, table: OpenTable | None = None) -> AppTest:
    """A visit that has opened ``page``, with ``table`` open if one is given."""
    at = AppTest.from_file(str(ROUTER), default_timeout=waiting.SECONDS)
    if table is not None:
        at.session_state["visit:table"] = table
    if page != "home.py":
        at.switch_page(page)
    return fine(at.run())


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
    """Upload a file on the Data page."""
    at.file_uploader(key="csv").upload(name, content)
    return fine(at.run())


def press(at: AppTest, label: str) -> AppTest:
    """Press the one button with that label."""
    (button,) = (button for button in at.button if button.label == label)
    return fine(button.click().run())


def paste_bounds(at: AppTest, text: str) -> AppTest:
    """Paste JSON into the bounds editor and use it."""
    at.text_area(key="bounds_json").set_value(text)
    return press(at, "Use these")


def tick(at: AppTest, *columns: str) -> AppTest:
    """Have exactly these columns clustered, by the boxes on the Data page."""
    for box in at.checkbox:
        if ":use" in (box.key or ""):
            box.set_value(box.label in columns)
    return fine(at.run())


def ticked(at: AppTest) -> list[str]:
    """The columns on the Data page that are to be clustered."""
    return [box.label for box in at.checkbox if ":use" in (box.key or "") and box.value]


def declared(widgets: Iterable[Any], name: str) -> Any:
    """The widget of the declaration form with that name."""
    (widget,) = (w for w in widgets if (w.key or "").startswith("declare:") and (w.key or "").endswith(f":{name}"))
    return widget


def of_kind(at: AppTest, kind: str) -> AppTest:
    """Say on the Data page what kind of file it is."""
    return fine(declared(at.get("button_group"), "kind").set_value(kind).run())


def type_bound(at: AppTest, column: str, end: str, value: float | None) -> AppTest:
    """Type the lower or upper bound of a column on the Data page."""
    (box,) = (box for box in at.number_input if box.label == f"{column}, {end} bound")
    return fine(box.set_value(value).run())


def everything_shown(at: AppTest) -> str:
    """All that the page and its sidebar send to the browser, tables and figures included."""
    return "\n".join(str(getattr(node, "proto", "")) for node in at._tree)


def sample_table(sample_id: str = "fifteen", kind: FileKind = FileKind.PUBLIC) -> OpenTable:
    """A sample with what its declaration file declares, as if it were of ``kind``."""
    table, declaration = sample(sample_id).load()
    return declare(table, replace(declaration, kind=kind))
