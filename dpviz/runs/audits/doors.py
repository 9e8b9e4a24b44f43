"""Where a name comes from that a door hands on: whoever judges imports wants the module, not the door.

A door is what other folders import from a package, a line a name in its ``__init__.pyi``; the head of ``dpviz`` is one,
too. A module hands on whatever it imports itself: behind that, as behind a door, a name is looked for at its home.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]
_HEAD = "dpviz"


def find_home(name: str) -> str:
    """The full name where a thing is made: ``dpviz.core.Rows`` is ``dpviz.core.rows.Rows``; any other is itself."""
    passed: set[str] = set()
    while name not in passed:
        passed.add(name)
        module, _, last = name.rpartition(".")
        name = list_handed_on(module).get(last, name)
    return name


def is_door(module: str) -> bool:
    """Whether a module only hands on what others may import."""
    return module == _HEAD or (_is_ours(module) and (_place(module) / "__init__.pyi").is_file())


@cache
def list_handed_on(module: str) -> Mapping[str, str]:
    """What a module of ours names that it took from elsewhere, with the full name that it took; a door: all of it."""
    if not _is_ours(module):
        return {}
    place = _place(module)
    files = (place / "__init__.pyi", place / "__init__.py", place.with_suffix(".py"))
    return next((_read_imports(file, module) for file in files if file.is_file()), {})


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == _HEAD


def _place(module: str) -> Path:
    return _ROOT.joinpath(*module.split("."))


def _read_imports(file: Path, module: str) -> Mapping[str, str]:
    package = module.split(".") if file.stem == "__init__" else module.split(".")[:-1]
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {
        alias.asname or alias.name: ".".join(filter(None, (*_find_base(node, package), node.module, alias.name)))
        for node in _list_imports(tree.body)
        for alias in node.names
    }


def _find_base(node: ast.ImportFrom, package: list[str]) -> list[str]:
    """Where a relative import starts from; of another one nothing."""
    return package[: len(package) - node.level + 1] if node.level else []


def _list_imports(body: Iterable[ast.stmt]) -> Iterator[ast.ImportFrom]:
    """Imports of names that a module holds from then on, those for type checkers included."""
    for node in body:
        if isinstance(node, ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If | ast.Try):
            yield from _list_imports([*node.body, *node.orelse])
