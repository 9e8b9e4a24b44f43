"""Rows are out of reach of whatever makes or checks the files of a release, by its types; planted, that is found."""

from functools import cache

import pytest

from tests.house_rules import PACKAGE, PAGES, Source
from tests.row_reach import HOLDERS, READERS, READS, Types, holders, is_above, readers

MAKES_FILES = (
    *("render", "playing", "release_request", "package", "verifying"),
    *("release_texts", "promise", "segments_report", "signature", "tallies"),
)


@cache
def types() -> Types:
    return Types.of(PACKAGE)


@cache
def reaching() -> set[str]:
    return types().reaching()


def test_those_who_hold_rows_on_the_way_of_a_release_are_listed():
    assert holders(PACKAGE, reaching()).keys() == HOLDERS.keys()


def test_those_who_name_rows_above_the_core_are_listed():
    assert readers([*PACKAGE, *PAGES]) == READERS.keys()


def test_what_is_read_of_a_value_with_rows_is_listed():
    above = [source for source in (*PACKAGE, *PAGES) if is_above(source)]
    assert {read for source in above for read in types().reads(source)} == READS.keys()


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("def f(table: OpenTable): return table.loaded.frame['age'].mean()", "frame"),
        ("def f(table: OpenTable | None): return table.private._rows", "_rows"),
        ("class A:\n    table: OpenTable\n    def f(self): return self.table.loaded.n_rows", "n_rows"),
        ("def f(source: Source): return source.content.raw", "raw"),
        # Whatever it is called on the way, and whoever hands it over.
        ("def f(table: OpenTable):\n    one = table.loaded\n    other = one\n    return other.frame", "frame"),
        ("def f(tables: list[OpenTable]): return [one.loaded.frame for one in tables]", "frame"),
        ("def f(table: OpenTable):\n    if (rows := table.private.reveal(note='x')): return rows.points", "points"),
        ("def f(source): return declare(source, None).loaded.frame", "frame"),
        ("def f(content, d):\n    with declare(content, d) as table: return table.private._values", "_values"),
        ("def f(table: OpenTable): return vars(table.loaded)", "vars()"),
        ("def f(table: OpenTable, how): return getattr(table.private, how)", "getattr()"),
        ("def f(table: OpenTable):\n    def g(): return table.loaded.frame\n    return g", "frame"),
    ],
)
def test_a_row_that_is_read_is_found(text: str, read: str):
    imports = "from dpviz.runs.open_table import OpenTable, declare\nfrom dpviz.app.ui.session import Source\n"
    planted = Source("dpviz/app/ui/a.py", imports + text)
    assert f"dpviz.app.ui.a: {read}" in set(types().beside(Types.of([planted])).reads(planted))


def test_a_row_behind_a_door_is_found():
    imports = "from dpviz.runs import OpenTable as Opened, declare\nfrom dpviz.tables import LoadedTable\n"
    for text in (
        "def f(table: Opened): return table.loaded.frame",
        "def f(source): return declare(source, None).loaded.frame",
        "def f(table: LoadedTable): return table.frame",
    ):
        planted = Source("dpviz/app/ui/a.py", imports + text)
        assert "dpviz.app.ui.a: frame" in set(types().beside(Types.of([planted])).reads(planted)), text
    for text in (
        "from dpviz.tables import LoadedTable",
        "from dpviz import tables\ndef f(x: tables.LoadedTable): ...",
        "import dpviz.tables as t\ndef f(x): return t.LoadedTable(x)",
        "import dpviz.tables\ndef f(x): return dpviz.tables.LoadedTable(x)",
    ):
        assert readers([Source("dpviz/app/ui/a.py", text)]) == {"dpviz.app.ui.a"}, text
        assert holders([Source("dpviz/releases/render.py", text)], reaching()), text
    field = Source("dpviz/releases/playing.py", "from dpviz.runs import OpenTable\nclass Seen:\n    x: OpenTable")
    assert "dpviz.releases.playing.Seen" in types().beside(Types.of([field])).reaching()


def test_whatever_makes_or_checks_a_file_holds_none():
    modules = {source.module for source in PACKAGE}
    for name in MAKES_FILES:
        assert f"dpviz.releases.{name}" in modules and f"dpviz.releases.{name}" not in HOLDERS


def test_what_is_rendered_reaches_no_row():
    for name in (
        "playing.Played",
        "release_parts.Parts",
        "transcript.Transcript",
        "release_request.Asked",
        "playing.CardColumn",
    ):
        assert f"dpviz.releases.{name}" in types().made_of and f"dpviz.releases.{name}" not in reaching()
    for name in (
        "dpviz.runs.open_table.OpenTable",
        "dpviz.releases.releasing.Preflight",
        "dpviz.app.ui.release.page.ReleaseSubject",
    ):
        assert name in reaching()


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("render", "from dpviz.runs.open_table import OpenTable"),
        ("render", "from dpviz.tables.named import Content\ndef render(played, content: Content): ..."),
        ("release_texts", "import pandas as pd\ndef card_page(facts, rows: pd.DataFrame | None = None): ..."),
        ("promise", "from dpviz.releases import releasing\ndef promise(facts, ready: releasing.Preflight): ..."),
        ("verifying", "from dpviz.tables.loaded_table import LoadedTable\nclass Found:\n    table: 'LoadedTable'"),
        (
            "release_request",
            "from collections.abc import Callable\nfrom dpviz.core.private_session import PrivateSession\n"
            "x: Callable[[], PrivateSession]",
        ),
    ],
)
def test_a_row_within_reach_is_found(module: str, text: str):
    planted = Source(f"dpviz/releases/{module}.py", text)
    assert f"dpviz.releases.{module}" in holders([planted], reaching())


def test_a_field_that_reaches_a_row_makes_its_class_one_that_does():
    column = Source(
        "dpviz/releases/playing.py",
        "from dpviz.runs.open_table import OpenTable\nclass CardColumn:\n    table: OpenTable\n",
    )
    assert "dpviz.releases.playing.CardColumn" in types().beside(Types.of([column])).reaching()
