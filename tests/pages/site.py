"""The app under test: one visit, and everything it shows as text."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from dpviz.app.ui.bench.hand import Hand
from dpviz.runs import OpenTable, declare
from dpviz.tables import Declaration, FileKind, sample
from tests import waiting

ROUTER = Path(__file__).resolve().parents[2] / "pages" / "_router.py"


def visit(page: str = "home.py", *, table: OpenTable | None = None) -> AppTest:
    """A visit that has opened ``page``, with ``table`` open if one is given."""
    at = AppTest.from_file(str(ROUTER), default_timeout=waiting.SECONDS)
    if table is not None:
        at.session_state["visit:table"] = table
    return fine(turn_to(at, page).run())


# Parts of the bench, by the names that they had as pages, and what opens each.
_CLOSED = {"bench:word": "", "bench:releasing": False}
_PARTS = {"data.py": {"bench:word": "table"}, "release.py": {"bench:releasing": True}, "explore.py": {}}


def turn_to(at: AppTest, page: str) -> AppTest:
    """Turn to a page or to a part of the bench; the visit has still to run."""
    if page in _PARTS:
        for name, opened in (_CLOSED | _PARTS[page]).items():
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
    """Drop a file on the bench; where the table's word is open, as if nothing had been proposed of it."""
    at.file_uploader(key="csv").upload(name, content)
    fine(at.run())
    return declare_bare(at) if at.session_state.get("bench:word") == "table" else at


def declare_bare(at: AppTest) -> AppTest:
    """Forget what was proposed of the dropped file, and say whose rows they are and that nobody says how many."""
    hand = at.session_state["bench:hand"]
    bare = Hand(hand.number, hand.content, Declaration(title=hand.content.name), hand.request, person_said=True)
    at.session_state["bench:hand"], at.session_state["bench:refused"] = bare.buy_rows(), ""
    return open_form(open_form(at, ""), "table")  # a form that is opened says what is in hand


def open_form(at: AppTest, word: str) -> AppTest:
    """Open the form of a word of the sentence."""
    at.session_state["bench:word"] = word
    return fine(at.run())


def press(at: AppTest, label: str) -> AppTest:
    """Press the one button with that label."""
    (button,) = (button for button in at.button if button.label == label)
    return fine(button.click().run())


def paste_bounds(at: AppTest, text: str) -> AppTest:
    """Paste JSON into the form of the table's word and use it."""
    open_form(at, "table").text_area(key="bounds_json").set_value(text)
    return press(at, "Use these")


def tick(at: AppTest, *columns: str) -> AppTest:
    """Have exactly these columns clustered, by the form of the columns' word."""
    open_form(at, "columns").multiselect(key=_name_widget(at, "chosen")).set_value(list(columns))
    return press(at, "So it is")


def declared(widgets: Iterable[Any], name: str) -> Any:
    """The widget of a form of the bench with that name."""
    (widget,) = (w for w in widgets if re.fullmatch(rf"bench:\d+:{re.escape(name)}", w.key or ""))
    return widget


def read_as(at: AppTest, **said: Any) -> AppTest:
    """Say in the form of the table's word how the file is read, and use it."""
    open_form(at, "table")
    for name, value in said.items():
        declared([*at.selectbox, *at.text_area, *at.text_input, *at.checkbox], name).set_value(value)
    return press(at, "So it is")


def of_kind(at: AppTest, kind: str) -> AppTest:
    """Say what kind of file it is."""
    return fine(open_form(at, "kind").radio(key=_name_widget(at, "kind")).set_value(FileKind(kind)).run())


def type_bound(at: AppTest, column: str, end: str, value: float | str | None) -> AppTest:
    """Type a bound into the sentence, or several at once; ``None`` empties it."""
    typed = "" if value is None else value if isinstance(value, str) else f"{value:g}"
    hand = at.session_state["bench:hand"]
    if column not in hand.declaration.columns:
        hand = hand.choose_columns((*hand.declaration.columns, column))
    at.session_state["bench:hand"] = hand.type_in(f"{'low' if end == 'lower' else 'high'}:{column}", typed)
    return fine(at.run())


def _name_widget(at: AppTest, name: str) -> str:
    return f"bench:{at.session_state['bench:hand'].number}:{name}"


def everything_shown(at: AppTest) -> str:
    """All that the page and its sidebar send to the browser, tables and figures included."""
    return "\n".join(str(getattr(node, "proto", "")) for node in at._tree)


def sample_table(sample_id: str = "fifteen", kind: FileKind = FileKind.PUBLIC) -> OpenTable:
    """A sample with what its declaration file declares, as if it were of ``kind``."""
    table, declaration = sample(sample_id).load()
    return declare(table, replace(declaration, kind=kind))
