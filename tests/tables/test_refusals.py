"""Why a table is refused stands in one list: each sentence is asked for, and whoever asks says all that it needs."""

from __future__ import annotations

import ast
from pathlib import Path
from string import Formatter

import pytest

from dpviz.tables import loaded_table
from dpviz.tables.loaded_table import IntakeError

REFUSALS = loaded_table._load_refusals()
_NODES = [
    (path.name, node)
    for path in sorted(Path(loaded_table.__file__).parent.glob("*.py"))
    for node in ast.walk(ast.parse(path.read_text("utf-8")))
]


def _list_places(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name}


def test_every_sentence_is_asked_for_and_whole():
    texts = {node.value for _, node in _NODES if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    parts = {name for sentence in REFUSALS.values() for name in _list_places(sentence)} & REFUSALS.keys()
    assert REFUSALS.keys() <= texts | parts
    assert [key for key in REFUSALS.keys() - parts if not REFUSALS[key].endswith((".", ":s}"))] == []


def test_whoever_refuses_says_all_that_the_sentence_needs():
    asked = [
        (f"{file}:{node.lineno}", node.args[0].value, {word.arg for word in node.keywords})
        for file, node in _NODES
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("IntakeError.of", "TooLarge.of")
        if isinstance(node.args[0], ast.Constant)
    ]
    assert len(asked) > 100
    for place, key, said in asked:
        assert said <= _list_places(REFUSALS[key]) <= said | REFUSALS.keys(), place


def test_names_from_elsewhere_are_quoted_and_their_lists_cut_short():
    columns = [f"c\n{place}" for place in range(20)]
    assert str(IntakeError.of("no_text", wrong=columns)).startswith('"c\\n0", "c\\n1"')
    assert "and 8 more" in str(IntakeError.of("no_text", wrong=columns))
    assert str(IntakeError.of("no_npz", name="x" * 99)).startswith(f'There is no file "{"x" * 57}...":')
    with pytest.raises(KeyError):
        IntakeError.of("no_npz")
