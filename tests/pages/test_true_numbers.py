"""No page shows how many rows a private table has, until its owner asks for a look."""

import re
from pathlib import Path

import pytest

from dpviz.runs import declare
from dpviz.tables import open_file
from dpviz.tables.declarations import FileKind, apply_declaration
from tests.pages.site import everything_shown
from tests.pages.tables import app_on

DRAWERS = {"home": "ledger", "compare": "sweep"}
# As many as no widget, size or seed on any page has; within the digest that a widget is known by they are no number.
ROWS = 7_919
SHOWN = re.compile(r"(?<![\da-f.])7[,. \u202f]?919(?![\da-f])|7[.]9 ?[kK]\b|7[,.]92\d? ?[kK]\b")


@pytest.mark.parametrize("page", ["home", "data", "explore", "compare", "meaning", "release", "learn"])
def test_no_page_shows_the_number_of_rows_of_a_private_table(tmp_path: Path, page: str) -> None:
    data = tmp_path / "people.csv"
    data.write_text("age,income\n" + "\n".join(f"{place % 90},{place}" for place in range(ROWS)) + "\n")
    said = apply_declaration('{"bounds": {"age": [0, 100], "income": [0, 90000]}, "bounds_origin": "law"}').validate()
    table = declare(open_file(data), said)
    assert table.kind == FileKind.PRIVATE and table.loaded.n_rows == ROWS and table.n_public is None
    shown = everything_shown(app_on(f"{page}.py", table, drawer=DRAWERS.get(page, "")))
    assert not SHOWN.search(re.sub(r"H4sI[\w+/=]+", "", shown)), "frames of noise, packed as letters, hold any digits"
