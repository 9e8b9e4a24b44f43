"""What may hold a name reaches a page through ``escape_markdown`` only (read from their syntax trees).

A text that Streamlit reads as Markdown is built of literals, of numbers, of the program's own words, and of whatever
went through ``dpviz.app.ui.escape.escape_markdown``. Everything else is refused: a name from a file, a link or an error
could format itself, become a link, or fetch a picture.
"""

import ast
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from string import Formatter
from typing import NamedTuple

import pytest

from dpviz.app.ui.figure import SENTENCES

ROOT = Path(__file__).resolve().parents[3]
FILES = [*sorted((ROOT / "dpviz" / "app" / "ui").rglob("*.py")), *sorted((ROOT / "pages").glob("*.py"))]
MODULES = {path.stem: path for path in FILES}
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}

# Streamlit's functions by what they read as Markdown: places of arguments; keywords are the same everywhere.
FIRST = (
    *("markdown", "caption", "title", "header", "subheader", "badge", "toast", "dialog", "status", "spinner"),
    *("error", "info", "warning", "success", "button", "download_button", "form_submit_button", "link_button"),
    *("toggle", "checkbox", "tabs", "expander", "popover", "file_uploader", "selectbox", "multiselect", "slider"),
    *("number_input", "text_input", "text_area", "date_input"),
)
# Their options are Markdown, too.
SPELLED = ("radio", "pills", "segmented_control", "select_slider")
PLACES = {**dict.fromkeys(FIRST, (0,)), **dict.fromkeys(SPELLED, (0, 1)), "latex": (0,)}
PLACES |= {"metric": (0, 1, 2), "progress": (1,)}
KEYWORDS = {"label", "body", "help", "title", "captions", "text", "delta", "format_func"}
NO_DOOR = {"write", "html", "echo", "exception", "table"}
# A file has a header, too: of Streamlit's own only the one of the page itself is used.
OF_THE_PAGE = {"header"}

# Made of numbers, of literals, or of what was escaped before.
WORDING = {
    *("b64encode", "escape_markdown", "strip_markdown", "explain_term", "explain_words", "describe_shares", "times"),
    "look_of",
    *("format_number", "format_percent", "format_plus_minus", "format_ratio", "format_count", "format_things"),
    *("format_duration", "len", "round", "int", "float"),
}
# The program's own texts: cards, parameters, samples, claims, measures, presets, words of the glossary. No file, link
# or error is in them.
OWN = {"card", "param_field", "term", "sample", "picture", "invitation", "invite", "contender", "find_measure", "_card"}
# What they give is as spelled as what they are given.
KEEPING = {
    *("capitalize_first", "list", "tuple", "sorted", "str", "partial", "join_unbroken", "join_clauses", "reversed"),
    "filter",
}
# What reads how a control looks from a file; what they are given beside that is here.
LOOKS = {"look_of", "dress"}
# Templates of Markdown: they write names with a function that escapes them (tests/browser/test_hostile_names.py).
RENDERED = {"assumptions.txt.j2", "clipping.txt.j2"}
OWN_PARTS = {"icon", "color"}
METHODS = {
    *("decode", "replace", "splitlines", "strip", "lower", "capitalize", "rstrip", "lstrip", "removeprefix"),
    *("keys", "values", "items"),
}
NUMBERS = {"int", "float", "bool", "Kind", "int | None", "float | None"}


class Scope(NamedTuple):
    """Where a name stands: its file, and the functions around it, the innermost last."""

    path: Path
    functions: tuple[ast.FunctionDef | ast.Lambda, ...]


def _name(node: ast.expr) -> str:
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


# Expressions that are as spelled as these parts of them.
MADE_OF: dict[type[ast.expr], tuple[str, ...]] = {
    **dict.fromkeys((ast.JoinedStr, ast.BoolOp), ("values",)),
    **dict.fromkeys((ast.Tuple, ast.List, ast.Set), ("elts",)),
    **dict.fromkeys((ast.Starred, ast.NamedExpr), ("value",)),
    **dict.fromkeys((ast.ListComp, ast.GeneratorExp, ast.SetComp), ("elt",)),
    **{ast.IfExp: ("body", "orelse"), ast.BinOp: ("left", "right")},
    **{ast.Dict: ("keys", "values"), ast.DictComp: ("key", "value")},
}


def _spelled(node: ast.expr, scope: Scope, seen: frozenset[int] = frozenset()) -> bool:
    """Whether an expression is made of literals, numbers, own words and escaped names."""
    if id(node) in seen:
        return True
    seen |= {id(node)}
    again = partial(_spelled, scope=scope, seen=seen)
    parts = [getattr(node, name) for name in MADE_OF.get(type(node), ())]
    if parts:
        listed = [one for part in parts for one in (part if isinstance(part, list) else [part])]
        return all(again(one) for one in listed if one is not None)
    match node:
        case ast.Constant() | ast.Compare() | ast.UnaryOp():
            return True
        case ast.FormattedValue(value=value, format_spec=spec):
            return _numeric(spec) or again(value)
        case ast.Lambda(body=body):
            return _spelled(body, Scope(scope.path, (*scope.functions, node)), seen)
        case ast.Call():
            return _call_is_spelled(node, scope, seen)
        case ast.Attribute() | ast.Subscript():
            return _own(node) or (isinstance(node, ast.Subscript) and again(node.value))
        case ast.Name():
            return _name_is_spelled(node, scope, seen)
    return False


def _numeric(spec: ast.expr | None) -> bool:
    """A format that text would not survive."""
    return isinstance(spec, ast.JoinedStr) and ast.unparse(spec)[-2:-1] in set("gdefn,%")


def _own(node: ast.expr) -> bool:
    if (isinstance(node, ast.Attribute) and node.attr in OWN_PARTS) or ast.unparse(node).endswith("kind.value"):
        return True
    if isinstance(node, ast.Attribute) and node.attr.isupper():  # a constant of a module or of a class
        return True
    return _root(node) in OWN or _root(node).lstrip("_").isupper() or "asked.card." in ast.unparse(node)


def _call_is_spelled(node: ast.Call, scope: Scope, seen: frozenset[int]) -> bool:
    again = partial(_spelled, scope=scope, seen=seen)
    name = _name(node.func)
    if ast.unparse(node.func) == "SENTENCES.fill":
        return all(again(one.value) for one in node.keywords if one.arg not in _list_numbers(node.args[0]))
    if name == "render":
        return ast.literal_eval(node.args[0]) in RENDERED
    if isinstance(node.func, ast.Attribute):
        if name in {"join", "sub"}:
            return all(map(again, node.args))
        if name in METHODS:
            return all(map(again, (node.func.value, *node.args)))
        if node.func.attr in WORDING:
            return True
        module = MODULES.get(ast.unparse(node.func.value))
        return _own(node.func) or (module is not None and _function_is_spelled(name, module, seen))
    if name == "map":
        return _name(node.args[0]) in WORDING or again(node.args[0])
    if name in KEEPING:
        return all(map(again, node.args))
    if name in WORDING or name in OWN:
        return True
    return _function_is_spelled(name, scope.path, seen)


def _list_numbers(key: ast.expr) -> set[str]:
    """The places of a sentence with a format that text would not survive."""
    said = SENTENCES.by_key[key.value] if isinstance(key, ast.Constant) and key.value in SENTENCES.by_key else ""
    return {str(name) for _, name, spec, _ in Formatter().parse(said) if (spec or "s")[-1] in "gdefn,%"}


def _function_is_spelled(name: str, here: Path, seen: frozenset[int]) -> bool:
    """Whether every result of a function of these files is; one of the same file goes first."""
    found = [(path, node) for path, node in _functions() if node.name == name]
    found = [(path, node) for path, node in found if path == here] or found
    returns = [
        (path, node, inner.value) for path, node in found for inner in _within(node) if isinstance(inner, ast.Return)
    ]
    given = [(Scope(path, (node,)), value) for path, node, value in returns if value is not None]
    return bool(given) and all(_spelled(value, scope, seen) for scope, value in given)


@cache
def _functions() -> list[tuple[Path, ast.FunctionDef]]:
    return [(path, n) for path, tree in TREES.items() for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]


def _within(function: ast.AST) -> Iterator[ast.AST]:
    """What belongs to a function itself, not to one inside it."""
    for child in ast.iter_child_nodes(function):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            yield from _within(child)


def _name_is_spelled(node: ast.Name, scope: Scope, seen: frozenset[int]) -> bool:
    """Every value that a name is given in the functions around it, and every argument where it is a parameter."""
    if node.id in WORDING or node.id.lstrip("_").isupper():
        return True
    for depth in range(len(scope.functions), 0, -1):
        function, around = scope.functions[depth - 1], Scope(scope.path, scope.functions[:depth])
        given = list(_given(function, node.id))
        parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        mine = next((one for one in parameters if one.arg == node.id), None)
        if mine is None and not given:
            continue
        if not all(_spelled(value, around, seen) for value in given):
            return False
        return mine is None or _parameter_is_spelled(mine, function, scope.path, seen)
    return _function_is_spelled(node.id, scope.path, seen)


def _given(function: ast.AST, name: str) -> Iterator[ast.expr]:
    """Every value that a name is given."""
    for node in _within(function):
        match node:
            case ast.Assign(targets=targets, value=value):
                pass
            case ast.AnnAssign(target=target, value=value) | ast.AugAssign(target=target, value=value):
                targets = [target]
            case ast.NamedExpr(target=target, value=value):
                targets = [target]
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                targets = [target]
            case _:
                continue
        bound = {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
        if value is not None and name in bound:
            yield value


def _parameter_is_spelled(
    mine: ast.arg, function: ast.FunctionDef | ast.Lambda, here: Path, seen: frozenset[int]
) -> bool:
    """By its type, or by what every call passes."""
    if mine.annotation is not None and ast.unparse(mine.annotation) in NUMBERS:
        return True
    if isinstance(function, ast.Lambda):
        return False
    calls = _calls_of(function, here)
    place = [one.arg for one in function.args.args].index(mine.arg) if mine in function.args.args else None
    place = place - 1 if place is not None and function.args.args[0].arg == "self" else place
    defaults = zip(reversed(function.args.args), reversed(function.args.defaults), strict=False)
    stands = [*defaults, *zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)]
    passed = [(Scope(here, ()), value) for one, value in stands if one is mine and value is not None]
    for scope, call in calls:
        named = [keyword.value for keyword in call.keywords if keyword.arg == mine.arg]
        at_place = [] if place is None or place >= len(call.args) else [call.args[place]]
        passed += [(scope, value) for value in [*named, *at_place]]
    return bool(passed) and all(_spelled(value, scope, seen) for scope, value in passed)


def _calls_of(function: ast.FunctionDef, here: Path) -> list[tuple[Scope, ast.Call]]:
    """All calls of that name; of a private one those in its file."""
    own = function.name.startswith("_")
    return [each for each in _calls() if _name(each[1].func) == function.name and (not own or each[0].path == here)]


@cache
def _calls() -> list[tuple[Scope, ast.Call]]:
    return [(scope, node) for path, tree in TREES.items() for scope, node in _calls_in(tree, Scope(path, ()))]


def _calls_in(tree: ast.AST, scope: Scope) -> Iterator[tuple[Scope, ast.Call]]:
    for child in ast.iter_child_nodes(tree):
        inner = scope
        if isinstance(child, ast.FunctionDef | ast.Lambda):
            inner = Scope(scope.path, (*scope.functions, child))
        if isinstance(child, ast.Call):
            yield scope, child
        yield from _calls_in(child, inner)


def _keywords_of(call: ast.Call, scope: Scope) -> Iterator[tuple[str, ast.expr]]:
    """Those that stand in a call, and those of a look that is passed with ``**``."""
    for keyword in call.keywords:
        if keyword.arg is not None:
            yield keyword.arg, keyword.value
        elif isinstance(keyword.value, ast.Call) and _name(keyword.value.func) in LOOKS:
            yield from _keywords_of(keyword.value, scope)
        elif isinstance(keyword.value, ast.Name):
            given = [value for one in scope.functions for value in _given(one, keyword.value.id)]
            looks = [inner for value in given for inner in ast.walk(value) if isinstance(inner, ast.Call)]
            yield from (each for one in looks if _name(one.func) in LOOKS for each in _keywords_of(one, scope))


def _said(call: ast.Call, scope: Scope) -> Iterator[ast.expr]:
    """What a call of Streamlit reads as Markdown."""
    name = call.func.attr
    keywords = list(_keywords_of(call, scope))
    formatted = any(keyword == "format_func" for keyword, _ in keywords)
    for place in PLACES[name]:
        if place < len(call.args) and not (place == 1 and name in SPELLED and formatted):
            yield call.args[place]
    plain_options = {"format_func"} if name in {"selectbox", "multiselect"} else set()
    yield from (value for keyword, value in keywords if keyword in KEYWORDS - plain_options)


def _wrong_in(path: Path) -> list[str]:
    """Every Markdown text of a file into which a name could come unescaped."""
    wrong = []
    for scope, call in _calls():
        if scope.path != path or not isinstance(call.func, ast.Attribute):
            continue
        if _root(call.func) == "st" and call.func.attr in NO_DOOR:
            wrong.append(f"{path.name}:{call.lineno}: st.{call.func.attr}")
        if call.func.attr in PLACES and (call.func.attr not in OF_THE_PAGE or _root(call.func) == "st"):
            wrong += [f"{path.name}:{v.lineno}: {ast.unparse(v)}" for v in _said(call, scope) if not _spelled(v, scope)]
    return wrong


def test_a_name_reaches_the_page_through_the_escaping_function_only():
    wrong = [offence for path in FILES for offence in _wrong_in(path)]
    assert not wrong, "spell names with escape_markdown():\n" + "\n".join(wrong)


SLIPS = (
    "st.markdown(f'**{table.title}**')",
    "st.info(escape_markdown('a') + loaded.name)",
    "def _say(words):\n    st.info(words)\ndef page(table):\n    _say('fine')\n    _say(table.title)",
    "def _words(table):\n    return table.title\ndef page(table):\n    st.info(f'open: {_words(table)}')",
    "place.radio('Which?', loaded.columns)",
    "st.pills('Which?', ['a'], format_func=lambda one: names[one])",
    "def page(table):\n    look = look_of('run', help=table.title)\n    st.button('Fine', **look)",
    "st.info(SENTENCES.fill('page_reveals', title=table.title))",
    "st.markdown(render('headline.txt.j2', unit=table.unit))",
    "st.write(table.title)",
    "st.tabs([table.title for _ in range(3)])",
)
FINE = (
    "st.markdown(f'**{escape_markdown(table.title)}** {n:,} {share:.3g}')",
    "def _say(words):\n    st.info(words)\ndef page(table):\n    _say('fine')\n    _say(escape_markdown(table.title))",
    "place.radio('Which?', loaded.columns, format_func=escape_markdown)",
    "st.button(**look_of('run', help=escape_markdown(table.title)))",
    "st.info(SENTENCES.fill('fair_sample', shown=rows.shown, rows=rows.number))",
    "file.header(declared)",
)


def test_the_rule_sees_a_name_that_slips_through_and_lets_escaped_names_pass(monkeypatch: pytest.MonkeyPatch):
    made_up = {Path(f"made_up_{place}.py"): source for place, source in enumerate((*SLIPS, *FINE))}
    with monkeypatch.context() as patched:
        for path, source in made_up.items():
            patched.setitem(TREES, path, ast.parse(source))
        for found in (_calls, _functions):
            found.cache_clear()
        refused = [source for path, source in made_up.items() if _wrong_in(path)]
    for found in (_calls, _functions):
        found.cache_clear()
    assert refused == [*SLIPS]
