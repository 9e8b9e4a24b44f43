"""Which tests are tried on a changed line: those that run it, the cheap ones first, and of these the most specific."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from functools import cache
from pathlib import Path

from benchmarks.mutation.places import Place, source_of
from benchmarks.mutation.reached import ReachedLines

# Of the processor, without the change. Whatever lives that long is looked at by a person.
SECONDS = 20.0
_SHARE_OF_OWN = 0.5
# A test that takes no longer is cheap, and tried before all others.
_CHEAP = 0.5


def chosen_tests(place: Place, reached: ReachedLines, *, seconds: float = SECONDS) -> list[str]:
    """As many as fit into the time, and once more the time for those that are not cheap."""
    reaching = _reaching(place, reached.tests_of(place.file))
    cheap = {test for test in reaching if reached.seconds[test] <= _CHEAP}
    return [
        *_by_file(place, cheap, reached, seconds=seconds),
        *_by_file(place, reaching - cheap, reached, seconds=seconds),
    ]


def _by_file(place: Place, reaching: Set[str], reached: ReachedLines, *, seconds: float) -> list[str]:
    """File by file: of the file's own tests first, then a case of each function."""
    own = [test for test in reaching if _mirrors(test, place.file)]
    chosen = _as_fit(own, reached.seconds, seconds * _SHARE_OF_OWN)
    rest = sorted(reaching - {*chosen})
    chosen += _as_fit(rest, reached.seconds, seconds - sum(reached.seconds[test] for test in chosen))
    by_file: dict[str, list[str]] = defaultdict(list)
    for test in chosen:
        by_file[test.partition("::")[0]].append(test)
    ranks = {file: (not _mirrors(file, place.file), -reached.focus(file).get(place.file, 0), file) for file in by_file}
    return [test for file in sorted(by_file, key=lambda file: ranks[file]) for test in by_file[file]]


def _as_fit(tests: Sequence[str], seconds: dict[str, float], left: float) -> list[str]:
    """The cheapest case of each function first, then the second cheapest of each."""
    cases: dict[str, list[str]] = defaultdict(list)
    for test in sorted(tests, key=lambda test: (seconds[test], test)):
        cases[test.partition("[")[0]].append(test)
    turn = {test: turn for family in cases.values() for turn, test in enumerate(family)}
    chosen = []
    for test in sorted(tests, key=lambda test: (turn[test], seconds[test], test)):
        if seconds[test] <= left:
            left -= seconds[test]
            chosen.append(test)
    return chosen


def _mirrors(test: str, file: str) -> bool:
    """``tests/core/test_private_session.py`` is about ``dpviz/core/private_session.py``."""
    path = Path(test.partition("::")[0])
    return path.name == f"test_{Path(file).name}" and Path(file).parts[1] in path.parts


def _reaching(place: Place, tests_of: dict[int, frozenset[str]]) -> frozenset[str]:
    """The tests of the line, or, where it runs as the module is imported, of the lines that it has an effect on."""
    for lines in _lines_of_effect(place):
        found = frozenset().union(*(tests_of.get(line, frozenset()) for line in lines))
        if found:
            return found
    return frozenset()


def _lines_of_effect(place: Place) -> Iterator[Sequence[int]]:
    """Stretches of lines, the narrowest first."""
    tree = _tree(place.file)
    around = [node for node in ast.walk(tree) if _first(node) <= place.line <= getattr(node, "end_lineno", 0)]
    statements = [node for node in around if isinstance(node, ast.stmt)]
    statements.sort(key=lambda node: (node.end_lineno or 0) - _first(node))
    innermost = statements[0] if statements else None
    if innermost is not None and not isinstance(innermost, ast.ClassDef | ast.FunctionDef):
        own = range(_first(innermost), (innermost.end_lineno or 0) + 1)
        if any(isinstance(node, ast.FunctionDef) for node in statements):
            # A statement of several lines is seen at its first.
            yield range(place.line, place.line + 1)
            if not hasattr(innermost, "body"):
                yield own
        else:
            # It ran for whichever test was the first to import the module: what counts is who uses it.
            names = {node.id for node in ast.walk(innermost) if isinstance(node, ast.Name) and _is_stored(node)}
            uses = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in names}
            yield [line for use in uses.difference(own) for line in _statement_lines(tree, use)]
            statements = statements[1:]
    for statement in statements:
        yield range(_first(statement), (statement.end_lineno or 0) + 1)
    yield range(1, len(source_of(place.file).splitlines()) + 1)


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _statement_lines(tree: ast.Module, line: int) -> range:
    """The whole statement without a body that holds a line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not hasattr(node, "body") and node.lineno <= line <= (node.end_lineno or 0):
            return range(node.lineno, (node.end_lineno or 0) + 1)
    return range(line, line + 1)


def _first(node: ast.AST) -> int:
    """With its decorators."""
    decorators = getattr(node, "decorator_list", [])
    first: int = min([made.lineno for made in decorators], default=getattr(node, "lineno", 1 << 30))
    return first


@cache
def _tree(file: str) -> ast.Module:
    return ast.parse(source_of(file))
