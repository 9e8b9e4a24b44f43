"""The house's rules, read from the syntax tree: rows in one room, imports downward, small files, public docstrings."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "dpviz"
FILES = sorted(PACKAGE.rglob("*.py"))
PAGES = [ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py"))]
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in [*FILES, *PAGES]}

# Folders are floors: each imports only what stands before it here, and itself.
FLOORS = ["check", "arrays", "table", "privacy", "algorithms", "runs", "claims", "estimators", "charts", "cli", "ui"]
# Beside each other on one floor: neither imports the other.
APART = [{"claims", "estimators"}, {"charts", "estimators"}, {"ui", "cli"}]
# Of the command line, only what writes pages of figures draws.
DRAWS = "cli/claim_folder.py"
MOST_LINES = 450
ROOMS = {"privacy/room.py", "table/rows.py"}


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _inside(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def _floor(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{_name(path)} imports relatively"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _attributes(path: Path) -> Iterator[ast.Attribute]:
    yield from (node for node in ast.walk(TREES[path]) if isinstance(node, ast.Attribute))


def _dotted(node: ast.expr) -> str:
    match node:
        case ast.Attribute():
            return f"{_dotted(node.value)}.{node.attr}"
        case ast.Name():
            return node.id
        case _:
            return ""


parametrize = pytest.mark.parametrize
each_file = parametrize("path", FILES, ids=_name)
each_file_and_page = parametrize("path", [*FILES, *PAGES], ids=_name)


@each_file_and_page
def test_rows_are_named_in_the_room_only(path):
    if path in FILES and _inside(path) in ROOMS:
        return
    secret = {"_rows", "_values", "_true_answers", "_answer", "_draw", "_noise"}
    reached = {node.attr for node in _attributes(path) if _dotted(node.value) != "self"} & secret
    assert not reached, f"{_name(path)} reaches for {sorted(reached)}: rows are read through the room's doors"
    assert (
        "non_private" not in {node.attr for node in _attributes(path)}
        or _inside(path) == "algorithms/baselines/kmeans_plus_plus.py"
    )
    heirs = {_dotted(base) for node in ast.walk(TREES[path]) if isinstance(node, ast.ClassDef) for base in node.bases}
    assert not heirs & {"DataRoom", "PrivateTable", "Rows"}


@parametrize("path", [path for path in FILES if _floor(path) == "algorithms"], ids=_name)
def test_an_algorithm_asks_by_public_names_only(path):
    """No private attribute of anything but oneself, no revealed rows, no way round a module's front door."""
    for node in _attributes(path):
        if node.attr.startswith("_") and not node.attr.startswith("__") and node.attr not in ("_replace", "_asdict"):
            assert _dotted(node.value) in ("self", "cls"), f"{_name(path)}:{node.lineno} reaches for {node.attr}"
        assert node.attr not in {"reveal", "looks", "entries", "cap", "__globals__", "__closure__"}
    called = {
        node.func.id for node in ast.walk(TREES[path]) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & {"getattr", "setattr", "vars", "eval", "exec", "globals", "open", "__import__"}
    assert not {"dpviz.table.rows", "dpviz.privacy.room.PrivateTable", "dpviz.privacy.room.Revealed"} & set(
        _imports(path)
    )


@each_file
def test_imports_go_downward(path):
    floor = _floor(path)
    for module in _imports(path):
        if not module.startswith("dpviz.") or floor in ("__init__", "__main__"):
            continue
        other = module.split(".")[1]
        if other in FLOORS:
            assert FLOORS.index(other) <= FLOORS.index(floor), f"{_name(path)} imports {module}, which stands above it"
            assert {floor, other} not in APART, f"{_name(path)} imports {module} from beside it"
            assert (floor, other) != ("cli", "charts") or _inside(path) == DRAWS, f"{_name(path)} draws"


@each_file
def test_pictures_and_pages_stay_out_of_the_core(path):
    tops = {module.split(".")[0] for module in _imports(path)}
    if _floor(path) not in ("charts", "ui"):
        assert not tops & {"streamlit", "plotly"}
    if _floor(path) != "ui":
        assert "streamlit" not in tops
    assert not tops & {"requests", "urllib3", "httpx", "socket", "aiohttp"}
    assert not {"urllib.request", "http.client"} & set(_imports(path))


@each_file_and_page
def test_no_slow_scatter_and_no_global_randomness(path):
    for node in _attributes(path):
        name = _dotted(node)
        assert not name.endswith(("add.at", "subtract.at")), f"{_name(path)}:{node.lineno}: use bincount"
        if name.startswith(("np.random.", "numpy.random.")):
            # RandomState is a type that scikit-learn's users pass.
            allowed = {"Generator", "SeedSequence", "default_rng", "RandomState"}
            assert name.split(".")[2] in allowed, f"{_name(path)}:{node.lineno}: {name} draws from a global state"
    assert "random" not in set(_imports(path)), f"{_name(path)} imports random"


@each_file
def test_only_the_noise_module_draws_noise(path):
    if _floor(path) == "privacy" and _inside(path) != "privacy/noise.py":
        drawn = {node.attr for node in _attributes(path) if _dotted(node.value).endswith("rng")}
        assert not drawn, f"{_name(path)} draws {sorted(drawn)} itself"


@each_file_and_page
def test_no_shortcuts_of_the_page_library(path):
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.keyword):
            assert node.arg not in ("unsafe_allow_html", "use_container_width"), f"{_name(path)}:{node.value.lineno}"
        if isinstance(node, ast.Attribute):
            assert _dotted(node) != "components.html"


@each_file_and_page
def test_files_are_small(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES
    assert path.stem not in ("utils", "helpers", "common", "misc", "manager")


def _undocumented(tree: ast.Module) -> Iterator[str]:
    if not ast.get_docstring(tree):
        yield "the module"
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            if not ast.get_docstring(node) and not _is_overload(node):
                yield node.name
            if isinstance(node, ast.ClassDef) and not _is_protocol(node):
                methods = (part for part in node.body if isinstance(part, ast.FunctionDef))
                yield from (f"{node.name}.{method.name}" for method in methods if not _speaks_for_itself(method))


def _is_overload(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and "overload" in {_dotted(d) for d in node.decorator_list}


def _is_protocol(node: ast.ClassDef) -> bool:
    return any(_dotted(base).endswith("Protocol") for base in node.bases)


def _speaks_for_itself(method: ast.FunctionDef) -> bool:
    """Whether a method is documented or private, does what its siblings' method of that name does, or is one value."""
    if method.name.startswith("_") or ast.get_docstring(method) or _is_overload(method):
        return True
    one_value = {_dotted(d) for d in method.decorator_list} & {"property", "cached_property"} and len(method.body) <= 2
    return bool(one_value) or method.name in {"bought", "cost", "draw", "log_density", "tally", "fit", "predict"}


@each_file
def test_what_is_public_is_spoken_for(path):
    missing = list(_undocumented(TREES[path]))
    if path.name == "__init__.py" and not TREES[path].body:
        return
    assert not missing, f"{_name(path)}: no docstring on {', '.join(missing)}"


@parametrize("path", [path for path in FILES if _floor(path) in ("algorithms", "privacy")], ids=_name)
def test_what_releases_states_its_guarantee(path):
    releasing = {"release", "ask", "ask_together", "buy_n"}
    for node in TREES[path].body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            called = {
                n.func.attr for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
            }
            if called & releasing:
                assert "**Guarantee.**" in (ast.get_docstring(node) or ""), f"{_name(path)}: {node.name}"


@parametrize("path", [path for path in FILES if _floor(path) in FLOORS[:6]], ids=_name)
def test_no_name_of_a_private_thing_is_ambiguous(path):
    names = {node.id for node in ast.walk(TREES[path]) if isinstance(node, ast.Name)}
    names |= {node.arg for node in ast.walk(TREES[path]) if isinstance(node, ast.arg)}
    known = {"private_cards", "private_partition"}
    assert not {name for name in names if name.startswith("private_")} - known


@parametrize("path", [path for path in FILES if _floor(path) == "privacy"], ids=_name)
def test_no_price_follows_from_a_name(path):
    """What a mechanism is called is for people: in the books its kind of loss decides."""
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Attribute):
            assert node.attr not in ("startswith", "endswith"), f"{_name(path)}:{node.lineno} decides by a name"
        if isinstance(node, ast.Compare):
            sides = [side.attr for side in (node.left, *node.comparators) if isinstance(side, ast.Attribute)]
            assert not {"mechanism", "name"} & set(sides), f"{_name(path)}:{node.lineno} decides by a name"
