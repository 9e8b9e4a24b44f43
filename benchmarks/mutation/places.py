"""Possible mistakes of one token: found by cosmic-ray's operators, without those that change no behaviour."""

from __future__ import annotations

import ast
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import parso.tree
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import MutationVisitor
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator

from benchmarks.mutation.forked import ROOT

PARTS = ("core", "releases", "tables", "algorithms", "runs")

# What somebody may well write instead. Of cosmic-ray's other pairs most end in a TypeError at once (+ for >>), or are
# the same (`is` for == of small numbers).
_BINARY = [
    "Add_Sub",
    "Sub_Add",
    "Mul_Div",
    "Mul_Add",
    "Mul_Pow",
    "Div_Mul",
    "Div_FloorDiv",
    "FloorDiv_Div",
    "FloorDiv_Mul",
    "Mod_FloorDiv",
    "Pow_Mul",
    "RShift_LShift",
    "LShift_RShift",
    "BitOr_BitAnd",
    "BitAnd_BitOr",
    "BitXor_BitOr",
]
_COMPARISON = [
    "Eq_NotEq",
    "NotEq_Eq",
    "Lt_LtE",
    "Lt_GtE",
    "LtE_Lt",
    "LtE_Gt",
    "Gt_GtE",
    "Gt_LtE",
    "GtE_Gt",
    "GtE_Lt",
    "Is_IsNot",
    "IsNot_Is",
]
_UNARY = ("USub_UAdd", "Delete_Not", "Delete_Invert")
_OTHERS = [
    "AddNot",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
    "ExceptionReplacer",
    "NumberReplacer",
    "RemoveDecorator",
    "ZeroIterationForLoop",
]
_OF_SUMS = tuple(f"ReplaceBinaryOperator_{pair}" for pair in _BINARY)
_NAMES = (
    *_OF_SUMS,
    *(f"ReplaceComparisonOperator_{pair}" for pair in _COMPARISON),
    *(f"ReplaceUnaryOperator_{pair}" for pair in _UNARY),
    *_OTHERS,
)
# Without these a function does the same, only slower, or is the same to all but a type checker; without the second ones
# everything turns red at once.
_DECORATORS_LEFT_OUT = (
    *("cache", "lru_cache", "override", "overload", "abstractmethod", "final"),
    *("property", "classmethod", "staticmethod", "dataclass"),
)
_LOGGERS = ("logging", "logger", "log", "_log", "_logger", "warnings")

Position = tuple[int, int]


@dataclass(frozen=True)
class Place:
    """One token of a file that one operator can change."""

    file: str
    operator: str
    occurrence: int
    start: Position
    end: Position
    text: str

    @property
    def line(self) -> int:
        return self.start[0]

    @property
    def key(self) -> str:
        """What stays the same where other lines change: file, operator and the line's text with its column."""
        return (
            f"{self.file} | {self.operator}:{self.variant} | {self.start[1] - _indent(self.text)} | {self.text.strip()}"
        )

    @property
    def variant(self) -> int:
        """Which of the changes that one operator makes of one token: a number may grow or shrink."""
        return self.occurrence % 2 if self.operator == "NumberReplacer" else 0

    def mutated(self) -> str:
        changed = MutationVisitor.mutate_code(
            source_of(self.file), get_operator(f"core/{self.operator}")(), self.occurrence
        )
        assert changed is not None
        return str(changed)


@cache
def source_of(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8")


def places(part: str) -> list[Place]:
    """All of one folder, in order."""
    files = sorted((ROOT / "dpviz" / part).rglob("*.py"))
    return [place for path in files for place in places_of(str(path.relative_to(ROOT)))]


def places_of(file: str) -> Iterator[Place]:
    """All of one file whose change a program can notice."""
    source = source_of(file)
    lines = source.splitlines()
    tree = ast.parse(source)
    silent = list(_silent(tree))
    sums = [_span(node) for node in ast.walk(tree) if isinstance(node, ast.BinOp | ast.AugAssign)]
    nodes = list(ast_nodes(get_ast(source)))
    for name in _NAMES:
        operator: Operator = get_operator(f"core/{name}")()
        for occurrence, (start, end) in enumerate(_positions(operator, nodes)):
            if _within(silent, start, end):
                continue
            # A star before arguments is no product.
            if name in _OF_SUMS and not _within(sums, start, end):
                continue
            yield Place(file, name, occurrence, start, end, lines[start[0] - 1])


def sample(parts: Sequence[str], number: int, seed: int) -> list[Place]:
    """So many changes, as many of each folder, at most one of each token; a larger sample holds the smaller."""
    found = []
    for index, part in enumerate(parts):
        rng = random.Random(f"{seed} {part}")
        at: dict[tuple[str, Position], list[Place]] = defaultdict(list)
        for place in places(part):
            at[place.file, place.start].append(place)
        tokens = sorted(at)
        rng.shuffle(tokens)
        share = number // len(parts) + (index < number % len(parts))
        chosen = (_compiled(rng.sample(at[token], len(at[token]))) for token in tokens)
        found += [place for place, _ in zip((one for one in chosen if one), range(share), strict=False)]
    return found


def _compiled(options: Sequence[Place]) -> Place | None:
    """The first option that makes another program."""
    for place in options:
        try:
            if ast.dump(ast.parse(place.mutated())) != ast.dump(ast.parse(source_of(place.file))):
                return place
        except (SyntaxError, ValueError):
            continue
    return None


def _positions(operator: Operator, nodes: Sequence[parso.tree.NodeOrLeaf]) -> Iterator[tuple[Position, Position]]:
    for node in nodes:
        yield from operator.mutation_positions(node)


def _silent(tree: ast.Module) -> Iterator[tuple[Position, Position]]:
    """Stretches of the source that say something to readers and type checkers alone."""
    for node in ast.walk(tree):
        for part in _silent_parts(node):
            yield _span(part)
        for made in getattr(node, "decorator_list", []):
            if _is_left_out(made):
                start, (last, _) = _span(made)
                yield start, (last + 1, 0)  # the end of the line goes with it
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and (_is_all(statement) or _is_type(statement.value)):
            yield _span(statement)


def _silent_parts(node: ast.AST) -> Iterator[ast.AST | None]:
    match node:
        case ast.arg() | ast.AnnAssign():
            yield node.annotation
            if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation).endswith("TypeAlias"):
                yield node
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield getattr(node, "returns", None)
        case ast.Raise():
            yield node.exc  # the text of an error
        case ast.Assert():
            yield node  # tells the type checker what is known
        case ast.Expr(value=ast.Constant(value=str())):
            yield node
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))) if name in _LOGGERS:
            yield node
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            yield node
        case ast.keyword(arg="strict", value=ast.Constant(value=True)):
            yield node  # of zip: it guards against what does not happen
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass" | "cast" | "TypeVar" | "NewType")):
            yield from node.args[1:] if getattr(node.func, "id", "").startswith("is") else node.args


def _within(spans: Sequence[tuple[Position, Position]], start: Position, end: Position) -> bool:
    return any(first <= start and end <= last for first, last in spans)


def _is_left_out(decorator: ast.expr) -> bool:
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(named).rpartition(".")[2] in _DECORATORS_LEFT_OUT


def _is_all(statement: ast.Assign) -> bool:
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in statement.targets)


def _is_type(value: ast.expr) -> bool:
    """``A | B`` and ``Callable[[int], str]`` of names."""
    match value:
        case ast.BinOp(op=ast.BitOr()):
            return _is_type(value.left) and _is_type(value.right)
        case ast.Subscript(value=ast.Name() | ast.Attribute()):
            return True
        case ast.Name() | ast.Attribute() | ast.Constant(value=None):
            return True
    return False


def _span(node: ast.AST | None) -> tuple[Position, Position]:
    if node is None:
        return (0, 0), (0, 0)
    # A decorator begins with the @ before it.
    column = max(0, getattr(node, "col_offset") - 1)  # noqa: B009 -- not all nodes have a place
    return (getattr(node, "lineno"), column), (getattr(node, "end_lineno"), getattr(node, "end_col_offset") + 1)  # noqa: B009


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
