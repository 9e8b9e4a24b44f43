"""What an algorithm's source must not do, read from its syntax tree: reach behind the room's doors, draw on its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.util import find_spec
from inspect import unwrap
from pathlib import Path

from dpviz.algorithms.card import Card

Offence = tuple[int, str]
"""A line, and what is wrong there."""

_OF_TUPLES = {"_replace", "_asdict"}
_SECRETS = {"reveal", "looks", "entries", "cap"}
_BACK_DOORS = {
    "__globals__",
    "__closure__",
    "__self__",
    "__dict__",
    "__getattribute__",
    "f_back",
    "f_locals",
    "gi_frame",
}
_ROUND_IT = {"getattr", "setattr", "vars", "eval", "exec", "globals", "open", "__import__"}
_HIDDEN = {"dpviz.table.rows", "dpviz.privacy.room.PrivateTable", "dpviz.privacy.room.Revealed"}
_MEMORY = {"gc", "ctypes"}
# RandomState is a type that scikit-learn's users pass; to look at a state draws nothing from it.
_DRAWS_NOTHING = {"Generator", "SeedSequence", "default_rng", "RandomState", "get_state"}


def dotted(node: ast.expr) -> str:
    """A name with its attributes, as it is written; "" for whatever else."""
    match node:
        case ast.Attribute():
            return f"{dotted(node.value)}.{node.attr}"
        case ast.Name():
            return node.id
        case _:
            return ""


def named_by(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The modules, and what is taken from them, of an import; of a relative one nothing."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if node.level or node.module is None:
        return []
    return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]


def imports_in(tree: ast.AST) -> Iterator[Offence]:
    """Every import, those inside functions included, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((node.lineno, module) for module in named_by(node))


def goes_round_the_front_door(tree: ast.AST) -> Iterator[Offence]:
    """No private attribute of anything but oneself, no revealed rows, no way round a module's front door."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            private = node.attr.startswith("_") and not node.attr.startswith("__")
            anothers = (
                private and node.attr not in ("_replace", "_asdict") and dotted(node.value) not in ("self", "cls")
            )
            if anothers or node.attr in _SECRETS | _BACK_DOORS:
                yield node.lineno, f"reaches for {node.attr}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ROUND_IT:
            yield node.lineno, f"calls {node.func.id}"
    for line, module in imports_in(tree):
        if module in _HIDDEN or module.partition(".")[0] in _MEMORY:
            yield line, f"imports {module}"


def draws_from_a_global_state(tree: ast.AST) -> Iterator[Offence]:
    """No draw that a seed does not repeat, or that somebody else's draws move."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            name = dotted(node)
            if name.startswith(("np.random.", "numpy.random.")) and name.split(".")[2] not in _DRAWS_NOTHING:
                yield node.lineno, f"{name} draws from a global state"
    yield from ((line, "imports random") for line, module in imports_in(tree) if module.split(".")[0] == "random")


def sources_of(card: Card) -> list[Path]:
    """The files that an algorithm is written in: of a package's, all of the package; of ours, that of its plan.

    None where there is no Python source, as of compiled code.
    """
    module = unwrap(card.plan).__module__
    spec = find_spec(module.partition(".")[0] if card.brought_by else module)
    if spec is None or spec.origin is None or Path(spec.origin).suffix != ".py":
        return []
    return sorted(Path(spec.origin).parent.rglob("*.py")) if spec.submodule_search_locations else [Path(spec.origin)]
