"""What a room exports says what each argument is and what comes back, no section repeats a signature, examples hold."""

import ast
import doctest
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module

import pytest

from dpviz.runs.audits.auditing import list_handed_on
from tests.house_rules import PACKAGE, ROOMS, ROOT, Source

_NOTHING = {"None", "NoReturn"}
EXPORTED = {home for room in ROOMS for home in list_handed_on(f"dpviz.{room}").values()}
Function = tuple[Source, ast.ClassDef | None, ast.FunctionDef]


def list_functions(sources: Iterable[Source]) -> Iterator[Function]:
    """Public functions and methods, and the class that each is of."""

    def walk(source: Source, body: list[ast.stmt], inside: ast.ClassDef | None) -> Iterator[Function]:
        for node in body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                yield source, inside, node
            elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield from walk(source, node.body, node)

    for source in sources:
        yield from walk(source, source.tree.body, None)


def list_arguments(function: ast.FunctionDef) -> list[str]:
    """What it takes besides itself."""
    spelled = function.args
    every = [*spelled.posonlyargs, *spelled.args, *spelled.kwonlyargs, spelled.vararg, spelled.kwarg]
    return [one.arg for one in every if one is not None and one.arg not in ("self", "cls")]


def list_unspoken(function: ast.FunctionDef) -> list[str]:
    """What its docstring leaves out: arguments by name, and what comes back."""
    text = ast.get_docstring(function) or ""
    section = text.partition("Parameters\n----------\n")[2]
    names = set(re.findall(r"\w+", " ".join(re.findall(r"^(\*{0,2}\w[^:\n]*?)(?: :|$)", section, flags=re.MULTILINE))))
    missing = [name for name in list_arguments(function) if name not in names]
    returned = "None" if function.returns is None else ast.unparse(function.returns)
    if returned not in _NOTHING and not re.search(r"^(Returns|Yields)\n-", text, flags=re.MULTILINE):
        missing.append("Returns")
    return missing


def list_undocumented(sources: Iterable[Source], is_asked: Callable[..., bool]) -> Iterator[str]:
    """Of the functions that are asked each that says too little; what a base class says of a method holds for all."""
    functions = list(list_functions(sources))
    bases: dict[str, list[str]] = defaultdict(list)  # classes of one name are taken together
    for one in (one for source in sources for one in source.all(ast.ClassDef)):
        bases[one.name] += map(_name_of, one.bases)
    spoken = {
        (inside.name, function.name)
        for _, inside, function in functions
        if inside is not None and not list_unspoken(function)
    }
    promised = {
        (function.name, tuple(list_arguments(function)))
        for _, inside, function in functions
        if inside is not None and {"Protocol", "ABC"} & set(bases[inside.name]) and not list_unspoken(function)
    }
    for source, inside, function in functions:
        arguments = tuple(list_arguments(function))
        if not is_asked(source, inside, function):
            continue
        if len(arguments) < 2 or any(_name_of(mark) == "overload" for mark in function.decorator_list):
            continue
        if inside is not None and (
            any((base, function.name) in spoken for base in _all_bases(inside.name, bases))
            or any(name == function.name and arguments[: len(said)] == said for name, said in promised)
        ):
            continue
        missing = list_unspoken(function)
        if missing:
            place = f"{inside.name}.{function.name}" if inside is not None else function.name
            yield f"{source.name}:{function.lineno}: {place} says nothing of {', '.join(missing)}"


def _name_of(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript | ast.Call):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _all_bases(name: str, bases: dict[str, list[str]]) -> set[str]:
    found: set[str] = set()
    ahead = list(bases.get(name, []))
    while ahead:
        base = ahead.pop()
        if base not in found:
            found.add(base)
            ahead += bases.get(base, [])
    return found


def is_for_others(source: Source, inside: ast.ClassDef | None, node: ast.FunctionDef) -> bool:
    """Whether a door exports it, its class or its module, or a protocol asks for it: callers read no body."""
    name = node.name if inside is None else inside.name
    promises = inside is not None and "Protocol" in map(_name_of, inside.bases)
    return promises or bool({source.module, f"{source.module}.{name}"} & EXPORTED)


def has_to_say_all(source: Source, inside: ast.ClassDef | None, node: ast.FunctionDef) -> bool:
    """Of the core methods, too; elsewhere those of a class that a door exports follow from what the class says."""
    exported = f"{source.module}.{node.name}" in EXPORTED
    return is_for_others(source, inside, node) if source.room == "core" else exported and inside is None


def list_needless_sections(sources: Iterable[Source]) -> Iterator[str]:
    """Functions that nobody outside of their room calls, with sections that repeat the signature."""
    for source in sources:
        spared = {node for _, inside, node in list_functions([source]) if is_for_others(source, inside, node)}
        for node in source.all(ast.FunctionDef):
            sections = re.search(r"^(Parameters|Returns|Yields|Raises)\n-", ast.get_docstring(node) or "", re.MULTILINE)
            if sections and node not in spared:
                yield f"{source.name}:{node.lineno}: {node.name} has a section {sections[1]} for its room alone"


def test_what_others_call_says_what_it_takes_and_what_comes_back() -> None:
    left = list(list_undocumented(PACKAGE, has_to_say_all))
    assert not left, "\n".join(left)


def test_what_only_its_room_calls_says_what_the_signature_does_not() -> None:
    left = list(list_needless_sections(PACKAGE))
    assert not left, "\n".join(left)


def test_what_says_too_little_is_seen() -> None:
    planted = Source(
        "dpviz/planted.py",
        '''
from typing import Protocol

class Asked(Protocol):
    def ask(self, query, share) -> int:
        """Ask.\n\nParameters\n----------\nquery, share : object\n\nReturns\n-------\nint"""

class Follows:
    def ask(self, query, share) -> int: ...

class Lags:
    def ask_more(self, query, share) -> int: ...

def half(one: int, other: int) -> int:
    """Half of it.\n\nParameters\n----------\none : int"""

def alone(one: int) -> int: ...
''',
    )
    assert [line.split(": ", 1)[1] for line in list_undocumented([planted], lambda *function: True)] == [
        "Lags.ask_more says nothing of query, share, Returns",
        "half says nothing of other, Returns",
    ]


FILES = sorted(path for path in (ROOT / "dpviz").rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))
# What its room alone calls has one sentence: each example stands under it there.
FILES += sorted((ROOT / "tests").glob("*/examples.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_examples_of_a_module_hold(path, monkeypatch: pytest.MonkeyPatch) -> None:
    if path.suffix == ".txt":
        tried = doctest.testfile(str(path), module_relative=False, encoding="utf-8")
    else:
        module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        # What the package exports says that it is of the package: its examples are not passed over for that.
        for one in vars(module).values():
            if getattr(one, "__module__", "") == "dpviz" and ">>> " in (one.__doc__ or ""):
                monkeypatch.setattr(one, "__module__", module.__name__)
        tried = doctest.testmod(module)
    assert tried.attempted and not tried.failed
