"""Templates: what is put into one stays text, and a value that is missing is an error."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from dpviz.words import wording
from dpviz.words.wording import render
from tests.cases import about

_FOLDER = Path(wording.__file__).with_name("templates")


def test_a_value_is_escaped_wherever_it_stands() -> None:
    table = {"name": '"><script>', "heads": ["<b>"], "rows": [], "numbers": (), "notes": ["'&"]}
    made = render("table.html.j2", table=table)
    assert 'aria-label="&#34;&gt;&lt;script&gt;"' in made and "&lt;b&gt;" in made and "&#39;&amp;" in made


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("table.html.j2", table={"name": "A table"})


def test_only_markup_of_our_own_is_put_in_as_it_is() -> None:
    trusted = {
        name.strip()
        for path in _FOLDER.glob("*.j2")
        for name in re.findall(r"{{([^}]*)\|\s*safe\s*}}", path.read_text("utf-8"))
    }
    assert trusted == {"figure", "font", "one.markup", "packed", "player", "script", "style"}


def test_the_markup_of_a_table_is_written_once() -> None:
    repository = _FOLDER.parents[2]
    files = [path for folder in ("dpviz", "benchmarks") for path in (repository / folder).rglob("*")]
    written = [
        path.name for path in files if path.suffix in {".py", ".j2", ".html"} and "<table" in path.read_text("utf-8")
    ]
    assert written == ["tables.html.j2"]


def test_every_template_is_used() -> None:
    used = {
        node.value
        for path in _FOLDER.parents[1].rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith(".j2")
    }
    for path in _FOLDER.glob("*.j2"):
        used |= set(re.findall(r'{%-?\s*(?:include|extends|import|from)\s+"([^"]+)"', path.read_text("utf-8")))
    for path in _FOLDER.glob("*.j2"):
        with about(path.name):
            assert path.name in used
