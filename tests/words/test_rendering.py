"""Templates: what is put into one stays text, and a value that is missing is an error."""

import ast
import re
from pathlib import Path
from string import Formatter

import pytest
from jinja2 import UndefinedError

import dpviz
from dpviz.words import Sentences, wording
from dpviz.words.wording import render

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


# Sentences stand in a list of their room: each is asked for, and given all that it needs.


_FILES = [f"{room}/sentences.toml" for room in ("releases", "runs", "api", "app/ui")] + ["tables/refusals.toml"]
LISTS = [Path(dpviz.__file__).parent / path for path in _FILES]
_LINES = {"together", "cannot_tell", "privacy"}  # of a list
_TITLES = {"risk"}  # or a part of a sentence
_REFUSE = {"IntakeError.of", "TooLarge.of", "make_refusal", "SENTENCES.fill"}


def _list_places(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name}


def _list_nodes(room: Path) -> list[tuple[str, ast.AST]]:
    files = sorted(room.rglob("*.py"))
    return [(file.name, node) for file in files for node in ast.walk(ast.parse(file.read_text("utf-8")))]


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.parent.name)
def test_every_sentence_is_asked_for_and_whole(path):
    sentences = Sentences(str(path), path.name).by_key
    nodes = [node for _, node in _list_nodes(path.parent)]
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    parts = {name for sentence in sentences.values() for name in _list_places(sentence) if name.startswith("_")}
    # Words of a family, after what they are of: f"next_{gap}".
    heads = [node.values[0] for node in nodes if isinstance(node, ast.JoinedStr) and node.values]
    heads = tuple(head.value for head in heads if isinstance(head, ast.Constant) and head.value.endswith("_"))
    families = {key for key in sentences if key.startswith(heads)}
    assert sentences.keys() <= texts | parts | families
    whole = sentences.keys() - parts - families - _LINES - _TITLES
    assert [key for key in whole if not sentences[key].endswith((".", ":s}"))] == []


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.parent.name)
def test_whoever_refuses_says_all_that_the_sentence_needs(path):
    sentences = Sentences(str(path), path.name).by_key
    asked = [
        (f"{file}:{node.lineno}", node.args[0].value, {word.arg for word in node.keywords} - {"kind"})
        for file, node in _list_nodes(path.parent)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in _REFUSE and isinstance(node.args[0], ast.Constant)
    ]
    assert len(asked) > 10
    for place, key, said in asked:
        places = {name for name in _list_places(sentences[key]) if not name.startswith("_")}
        assert said == places or (None in said and said - {None} <= places), place  # None: a mapping of several


def test_names_from_elsewhere_are_quoted_and_their_lists_cut_short(tmp_path):
    (tmp_path / "told.toml").write_text(
        'wrong = "{names} is not {name}; {_kinds:s}; {many:,} {own:s}."\n_kinds = "{a: 1}"\n'
    )
    told = Sentences(str(tmp_path / "told.py"), "told.toml")
    said = told.fill("wrong", names=[f"c\n{place}" for place in range(20)], name="x" * 99, many=1000, own=5)
    assert said.startswith('"c\\n0", "c\\n1"')
    assert said.endswith(f'and 8 more is not "{"x" * 57}..."; {{a: 1}}; 1,000 5.')
    with pytest.raises(KeyError):
        told.fill("wrong", names=[])
