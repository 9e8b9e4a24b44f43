"""The house's rules, read from the syntax tree: rows in one session, imports downward, small files, public docstrings.

A rule yields what breaks it in one file, with the line.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath

from dpviz.runs.audits import auditing
from dpviz.runs.audits.auditing import Offence, is_door, list_imports, list_whole
from dpviz.runs.audits.auditing import format_dotted as _dotted
from dpviz.runs.audits.auditing import list_named as _named_by
from dpviz.words import foreign

ROOT = Path(__file__).resolve().parents[1]

# The rooms of the package, from the core upwards. Which imports which, and that nobody passes a door, are contracts in
# pyproject.toml (``lint-imports``).
ROOMS = ("core", "words", "tables", "algorithms", "runs", "releases", "api", "app")
# What draws nothing and talks to nobody.
CORE = ROOMS[: ROOMS.index("releases")]
# Stand on the package, which imports none of them.
AROUND = {"app", "pages", "tests", "benchmarks", "experiments", "sample_data"}
MOST_LINES = 900
# A transcript is a session whose answers are weighed: that is no release, and ``weighs_answers`` says who may.
READERS = {"core/private_session.py", "core/transcripts.py", "core/replay.py", "core/rows.py"}
WEIGHS = {
    "dpviz.core.transcripts": ("runs/meaning/membership",),
    "dpviz.core.replay": ("runs/audits/", "core/transcripts.py"),
}
# Tests wait for what happens, in one place.
WAITING = "tests/waiting.py"
_CLOCKS = {"wait_for_timeout", "sleep", "Timer", "monotonic", "perf_counter"}
_SLEEPS = re.compile(r"time\.sleep\(\d")
# Functions that stand once, by name, and where.
ONCE = {
    "format_percent": "words/wording.py",
    "round_percent": "words/wording.py",
    "format_duration": "words/wording.py",
    "write_whole": "runs/owner_files.py",
    "create_whole": "runs/owner_files.py",
    "translate_disk_errors": "runs/owner_files.py",
}
_HALF_WRITERS = {"write_text", "write_bytes", "mkstemp", "NamedTemporaryFile"}
# Names of files that rooms share, and why two names would not be better.
SHARED_NAMES: dict[str, str] = {"registry.py": "algorithms/ and app/charts/: the one word that a new one takes"}


@dataclass(frozen=True)
class Source:
    """A file's name below the root, its text, and its syntax tree, once somebody asks for it."""

    name: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def inside(self) -> str:
        """The name below ``dpviz/``."""
        return self.name.removeprefix("dpviz/")

    @property
    def room(self) -> str:
        """The first folder below ``dpviz/``; a module that lies there itself is its own."""
        return self.inside.split("/")[0].removesuffix(".py")

    @property
    def module(self) -> str:
        return self.name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @cached_property
    def _nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @cached_property
    def imports(self) -> list[tuple[int, str]]:
        """Every import, those inside functions included, with its line."""
        return list(list_imports(self.tree))

    def all(self, *kinds: type[ast.AST]) -> Iterator:
        """Every node of these kinds."""
        return (node for node in self._nodes if isinstance(node, kinds))


def _read(path: Path) -> Source:
    return Source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))


PACKAGE = [_read(path) for path in sorted((ROOT / "dpviz").rglob("*.py"))]
TESTS = [_read(path) for path in sorted((ROOT / "tests").rglob("*.py"))]
EXPERIMENTS = [_read(path) for path in sorted((ROOT / "experiments").glob("*.py"))]
PAGES = [_read(path) for path in (ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py")))]

Rule = Callable[[Source], Iterable[Offence]]


def broken(rule: Rule, sources: Iterable[Source]) -> list[str]:
    """What breaks a rule, as file:line and words."""
    return [f"{source.name}:{line}: {words}" for source in sources for line, words in rule(source)]


def check(rule: Rule, sources: Iterable[Source]) -> None:
    offences = broken(rule, sources)
    assert not offences, "\n" + "\n".join(offences)


def of(*rooms: str) -> list[Source]:
    """The files of some rooms."""
    chosen = [source for source in PACKAGE if source.room in rooms]
    assert {source.room for source in chosen} == set(rooms), "a room has no files"
    return chosen


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (part for part in ast.walk(node) if isinstance(part, ast.Call))


def reaches_for_rows(source: Source) -> Iterator[Offence]:
    if source.inside in READERS:
        return
    secret = {"_rows", "_values", "_compute_true_answers", "_answer", "_draw", "_noise"}
    for node in source.all(ast.Attribute):
        if node.attr in secret and _dotted(node.value) != "self":
            yield node.lineno, f"reaches for {node.attr}: rows are read through the session's methods"
        if node.attr == "compute_non_private" and source.inside != "algorithms/baselines/kmeans_plus_plus.py":
            yield node.lineno, "only the reference runs without privacy"
    for node in source.all(ast.ClassDef):
        bases = {_dotted(base).rpartition(".")[2] for base in node.bases}
        heirs = bases & {"PrivateSession", "PrivateTable", "Rows"}
        yield from ((node.lineno, f"{node.name} inherits from {base}") for base in heirs)


def weighs_answers(source: Source) -> Iterator[Offence]:
    """Densities follow from true answers: attacks on public tables take them, and audits of made-up ones."""
    for line, module in source.imports:
        if not source.inside.startswith(WEIGHS.get(module, ("",))):
            yield line, "only an attack on a public table, or an audit, weighs answers"


def goes_round_the_front_door(source: Source) -> Iterator[Offence]:
    """What ``dpviz audit`` asks of every algorithm's source."""
    return auditing.list_ways_round(source.tree)


def imports_what_stands_on_it(source: Source) -> Iterator[Offence]:
    for line, module in source.imports:
        if module.split(".")[0] in AROUND:
            yield line, f"imports {module}, which stands on the package"


def passes_a_door(source: Source) -> Iterator[Offence]:
    """A page names modules of the app; whatever it wants from another room it takes at that room's door."""
    for node in source.all(ast.Import, ast.ImportFrom):
        for module in _named_there(node):
            _, room, *below = [*module.split("."), ""]
            if module.startswith("dpviz.") and room != "app" and any(below):
                yield node.lineno, f"imports {module} past the door of {room}"


def _named_there(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The modules that an import spells."""
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]


def takes_a_whole_door(source: Source) -> Iterator[Offence]:
    """Whoever takes all that a door hands on hides what is used of it."""
    for node in source.all(ast.Import, ast.ImportFrom):
        for module in list_whole(node):
            if module != "dpviz" and is_door(module):
                yield node.lineno, f"imports {module} as a whole: import each name that is needed from it"


def draws_or_talks_in_the_core(source: Source) -> Iterator[Offence]:
    for line, module in source.imports:
        top = module.split(".")[0]
        if top == "streamlit" and not source.inside.startswith("app/ui/"):
            yield line, "streamlit is for pages"
        if top == "plotly" and not source.inside.startswith(("app/charts/", "app/ui/")):
            yield line, "plotly is for charts and pages"
        talks = {"requests", "urllib3", "httpx", "socket", "aiohttp"}
        # The command that serves the pages asks for a port before it starts them, and says nothing to anybody.
        if (top, source.inside) == ("socket", "api/cli/open_command.py"):
            continue
        if top in talks or module.startswith(("urllib.request", "http.client", "sklearn.datasets.fetch_")):
            yield line, f"imports {module}: nothing leaves the machine"


def accesses_while_releasing(source: Source) -> Iterator[Offence]:
    """What is released is chosen and drawn without a look: neither rows nor what judges results has a way there.

    How many looks there were is counted, and said.
    """
    seeing = {
        *("dpviz.app.ui.data_access", "dpviz.app.ui.runner", "dpviz.app.ui.studies", "dpviz.app.ui.data.table_summary"),
        *("dpviz.core.revealed_rows", "dpviz.app.charts.canvas", "dpviz.runs.evaluation", "dpviz.runs.clipped_rows"),
        *("dpviz.runs.error_parts", "dpviz.core.row_sample"),
    }
    for line, module in source.imports:
        if any(f"{module}.".startswith(f"{one}.") for one in seeing):
            yield line, f"imports {module}: a release sees no truth"
    for node in source.all(ast.Attribute):
        if node.attr in {"reveal", "read_labels"} or (
            node.attr == "accesses" and _dotted(node.value).endswith("private")
        ):
            yield node.lineno, f"reaches for {node.attr}: a release sees no truth"


def scatters_slowly_or_draws_globally(source: Source) -> Iterator[Offence]:
    for node in source.all(ast.Attribute):
        name = _dotted(node)
        if name.endswith(("add.at", "subtract.at")):
            yield node.lineno, f"{name}: use bincount"
    # The audit looks at the generators that all share, to see that nobody draws from them.
    if source.inside != "runs/audits/auditing.py" and "random" in source.text:
        yield from auditing.list_global_draws(source.tree)


def draws_noise_itself(source: Source) -> Iterator[Offence]:
    if source.inside != "core/noise.py":
        for node in source.all(ast.Attribute):
            if _dotted(node.value).endswith("rng"):
                yield node.lineno, f"draws {node.attr} itself"


def takes_a_shortcut_of_the_page_library(source: Source) -> Iterator[Offence]:
    for node in source.all(ast.keyword):
        if node.arg in ("unsafe_allow_html", "use_container_width"):
            yield node.value.lineno, node.arg
        if node.arg == "run_every" and source.inside != "app/ui/job_panel.py":
            yield node.value.lineno, "runs again without a place of its own: ask dpviz.app.ui.job_panel"
    for node in source.all(ast.Attribute):
        if _dotted(node).endswith("components.html"):
            yield node.lineno, "components.html"


def waits_by_the_clock(source: Source) -> Iterator[Offence]:
    """A test waits for an event: sleeping, timing and timers depend on how fast the machine is."""
    named = any(word in source.text for word in (*_CLOCKS, "time.time"))  # most files need not be parsed
    if source.name == WAITING or not named:
        return
    for node in source.all(ast.Call):
        name = _dotted(node.func)
        *module, last = name.split(".")
        if last in _CLOCKS or (module[-1:], last) == (["time"], "time"):
            yield node.lineno, f"{name}: wait for what is to happen (tests/waiting.py)"
    for node in source.all(ast.Constant):
        if isinstance(node.value, str) and _SLEEPS.search(node.value):
            yield node.lineno, "a program that sleeps: it may wait for its input, or for a signal"


def is_large_or_nameless(source: Source) -> Iterator[Offence]:
    lines = len(source.text.splitlines())
    if lines > MOST_LINES:
        yield lines, f"has {lines} lines, and {MOST_LINES} are the most"
    if PurePosixPath(source.name).stem in ("utils", "helpers", "common", "misc", "manager"):
        yield 1, "is called after nothing that it holds"


def is_not_spoken_for(source: Source) -> Iterator[Offence]:
    if source.name.endswith("__init__.py") and not source.tree.body:
        return
    if not ast.get_docstring(source.tree):
        yield 1, "no docstring on the module"
    for node in source.tree.body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
            continue
        if not ast.get_docstring(node) and not _is_overload(node):
            yield node.lineno, f"no docstring on {node.name}"
        # What a protocol and a coding of cells ask of a method is said once: there, and where all codings begin.
        told_elsewhere = ("Protocol", "Coding")
        if isinstance(node, ast.ClassDef) and not any(_dotted(base).endswith(told_elsewhere) for base in node.bases):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and not _speaks_for_itself(method):
                    yield method.lineno, f"no docstring on {node.name}.{method.name}"


HANDED_ON = frozenset(
    auditing.find_home(f"dpviz.{room}.{name}") for room in ROOMS for name in auditing.list_handed_on(f"dpviz.{room}")
)
"""What others may import, by the name of its home."""


def tells_more_than_it_does(source: Source) -> Iterator[Offence]:
    """Outside the core and what a room hands on, a docstring is one line, or no longer than the code it is about."""
    lines = source.text.splitlines()
    for top in source.tree.body if source.room != "core" else ():
        own = () if f"{source.module}.{getattr(top, 'name', '')}" in HANDED_ON else ast.walk(top)
        for node in (one for one in own if isinstance(one, ast.FunctionDef)):
            said = (ast.get_docstring(node, clean=False) or "").splitlines()
            below = (line.strip() for line in lines[node.body[0].end_lineno : node.end_lineno])
            if len(said) > max(1, sum(line != "" and not line.startswith("#") for line in below)):
                yield node.lineno, f"{node.name} tells more than it does: one true line is enough"


def _is_overload(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and "overload" in {_dotted(d) for d in node.decorator_list}


def _speaks_for_itself(method: ast.FunctionDef) -> bool:
    """Whether a method is documented or private, does what its siblings' method of that name does, or is one value."""
    if method.name.startswith("_") or ast.get_docstring(method) or _is_overload(method):
        return True
    one_value = {_dotted(d) for d in method.decorator_list} & {"property", "cached_property"} and len(method.body) <= 2
    of_mechanisms = {"calibrated", "cost", "draw", "log_density", "tally", "fit", "predict"}
    of_pictures = {"finding", "title", "note", "paint", "words", "table", "view", "companions"}
    return bool(one_value) or method.name in of_mechanisms | of_pictures


def releases_without_a_guarantee(source: Source) -> Iterator[Offence]:
    releasing = {"release", "ask", "ask_together", "buy_n"}
    for node in source.tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            called = {call.func.attr for call in _calls(node) if isinstance(call.func, ast.Attribute)}
            if called & releasing and "**Guarantee.**" not in (ast.get_docstring(node) or ""):
                yield node.lineno, f"{node.name} releases and states no guarantee"


def calls_something_private(source: Source) -> Iterator[Offence]:
    for node in source.all(ast.Name, ast.arg):
        name = node.id if isinstance(node, ast.Name) else node.arg
        if name.startswith("private_"):
            yield node.lineno, f"{name}: true_ or noisy_?"


def prices_by_a_name(source: Source) -> Iterator[Offence]:
    """What a mechanism is called is for people: in the books its kind of loss decides."""
    for node in source.all(ast.Attribute):
        if node.attr in ("startswith", "endswith"):
            yield node.lineno, "decides by a name"
    for node in source.all(ast.Compare):
        sides = {side.attr for side in (node.left, *node.comparators) if isinstance(side, ast.Attribute)}
        if sides & {"mechanism", "name"}:
            yield node.lineno, "decides by a name"


def writes_what_is_written_once(source: Source) -> Iterator[Offence]:
    """A second function for what everybody takes from one place."""
    for node in source.all(ast.FunctionDef):
        place = ONCE.get(node.name.lstrip("_"))
        if place is not None and source.inside != place:
            yield node.lineno, f"{node.name} looks like the one of {place}"
    for node in source.all(ast.FormattedValue):
        if node.format_spec is not None and ast.unparse(node.format_spec).rstrip("'\"").endswith("%"):
            yield node.lineno, "a share is written by format_percent or round_percent"
    if source.inside != ONCE["write_whole"]:
        for node in source.all(ast.Call):
            if _begins_a_file(node):
                yield node.lineno, "a file is written by write_whole or create_whole"


_PARSES = re.compile(
    r"(pd|pandas)\.read_\w+|(json|pickle|yaml|tomllib)\.(load|loads|safe_load)|(np|numpy)\.(load|loadtxt|genfromtxt)"
    r"|gzip\.(open|GzipFile)|zipfile\.ZipFile|tarfile\.open|sqlite3\.connect|pq\.(ParquetFile|read_\w+)|open|os\.open"
    r"|foreign\.(open_file|read_bytes|read_yaml)|.*\.(read_text|read_bytes)"
)
_PARSERS = re.compile(
    r"(json|pickle|gzip|zipfile|sqlite3|pandas|numpy|yaml)\.(\w*loads?|read_\w+|\w+File|connect|open)"
)
_READERS = {reader for door in foreign.DOORS for reader in door.readers}


def reads_past_the_doors(source: Source) -> Iterator[Offence]:
    """Whatever opens or parses a file has a line in the table of doors: its limits, and what damage may raise."""
    if source.inside not in _READERS:
        for node in source.all(ast.Call):
            if _opens_or_parses(node):
                yield node.lineno, f"{_dotted(node.func)}: name it in dpviz/words/doors.toml"
        for node in source.all(ast.ImportFrom):
            for name in node.names:
                if _PARSERS.fullmatch(f"{node.module}.{name.name}"):
                    yield node.lineno, f"{node.module}.{name.name}: name it in dpviz/words/doors.toml"


def list_idle_readers(sources: Iterable[Source]) -> set[str]:
    """Modules in the table of doors that open and parse nothing, or are not there; what builds on others may."""
    reading = {source.inside for source in sources if any(map(_opens_or_parses, source.all(ast.Call)))}
    return _READERS - reading - _READ_IN_MEMORY


# What comes to them is in memory: lines, a link, a frame, an entry point of a package.
_READ_IN_MEMORY = {
    *("tables/csv_intake.py", "tables/drawings.py", "tables/given_rows.py", "app/ui/data/table_link.py"),
    "algorithms/plugins.py",
}


def _opens_or_parses(call: ast.Call) -> bool:
    dotted = ast.unparse(call.func)
    if _PARSES.fullmatch(dotted):
        return True
    modes = {word.arg for word in call.keywords} & {"mode", "encoding", "newline"}
    texts = [mode.value for mode in call.args if isinstance(mode, ast.Constant) and isinstance(mode.value, str)]
    return dotted.endswith(".open") and bool(modes or any(re.fullmatch("[rwxa][bt+]*", text) for text in texts))


def _begins_a_file(call: ast.Call) -> bool:
    """Whether it writes under a name before all of the file is there: whoever looks on would find half."""
    called = ast.unparse(call.func).split(".")[-1]
    modes = [*call.args[:2], *(word.value for word in call.keywords if word.arg == "mode")]
    texts = [mode.value for mode in modes if isinstance(mode, ast.Constant) and isinstance(mode.value, str)]
    return called in _HALF_WRITERS or (called == "open" and any(re.fullmatch("[wxa][bt+]*", text) for text in texts))


def _at_module_level(body: Iterable[ast.stmt]) -> Iterator[str]:
    """What is imported while a module is imported: not inside functions, nor for type checkers alone."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from _named_by(node)
        elif isinstance(node, ast.If) and _dotted(node.test).endswith("TYPE_CHECKING"):
            yield from _at_module_level(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _at_module_level(part for part in ast.iter_child_nodes(node) if isinstance(part, ast.stmt))


def cycle_of(sources: list[Source]) -> list[str]:
    """Modules of which each imports the next and the last is the first; none if there is no such round."""
    modules = {source.module for source in sources}
    asked_for = {
        source.module: {name for name in _at_module_level(source.tree.body) if name in modules} - {source.module}
        for source in sources
    }
    # ``from dpviz import check`` names the package too, which is there before anything in it.
    graph = {
        module: {name for name in names if not f"{module}.".startswith(f"{name}.")}
        for module, names in asked_for.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def shared_names(sources: Iterable[Source]) -> dict[str, list[str]]:
    """Names of files that stand in several rooms."""
    homes = defaultdict(list)
    for source in sources:
        homes[PurePosixPath(source.name).name].append(source)
    return {
        name: [source.name for source in those]
        for name, those in homes.items()
        if name != "__init__.py" and len({source.room for source in those}) > 1
    }


def classes_of_one_name(sources: Iterable[Source]) -> dict[str, list[str]]:
    """Names of classes, those within functions and classes too, that stand twice, and where."""
    homes = defaultdict(list)
    for source in sources:
        for node in source.all(ast.ClassDef):
            homes[node.name].append(f"{source.name}:{node.lineno}")
    return {name: places for name, places in homes.items() if len(places) > 1}
