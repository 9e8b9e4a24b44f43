"""Tests on a module whose source is changed, in a child of a process that has loaded all libraries before.

A ``Nursery`` is such a process: it knows NumPy, pytest and the others, but neither dpviz nor the tests. For each trial
it forks a child that finds the changed source in place of the module's own and runs pytest in itself. Nothing is
written into the tree.

    python -m benchmarks.mutation.forked

is a nursery: a trial a line comes in, an outcome a line goes out. With two numbers of open files and with files of
tests it forks itself: the one that is asked through these numbers is such a nursery; the other loads dpviz, collects
these tests, and exchanges functions of the child (``warm``). Where that shows no mistake, ``Nurseries`` ask the first.
"""

from __future__ import annotations

import gc
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import resource
import selectors
import signal
import subprocess
import sys
import tempfile
import time
import warnings
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from itertools import groupby, zip_longest
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import IO, Any, Self

import pytest
import streamlit.components.v2.manifest_scanner as scanner
from _pytest.config import default_plugins
from hypothesis import Phase, settings
from jinja2 import Environment, FileSystemLoader, TemplateError

from benchmarks.mutation.warm import LoadedFunctions

ROOT = Path(__file__).parents[2]
# What dpviz and its tests import, so that no child has to. Neither dpviz nor tests: these a child must load itself.
_LIBRARIES = [
    "numpy",
    "scipy.stats",
    "scipy.special",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.signal",
    "sklearn.cluster",
    "sklearn.datasets",
    "pandas",
    "yaml",
    "pyarrow.parquet",
    "pyarrow.csv",
    "pyarrow.pandas_compat",
    "plotly.graph_objects",
    "plotly.graph_objs._figure",
    "plotly.io._json",
    "plotly.offline",
    "PIL.PngImagePlugin",
    "pydantic",
    "jinja2",
    "dask.dataframe",
    "streamlit.testing.v1",
    "streamlit.material_icon_names",
    "streamlit.runtime.scriptrunner.magic_funcs",
    "starlette.staticfiles",
    "hypothesis.strategies",
    "hypothesis.extra.numpy",
    "opendp.prelude",
    "dp_accounting.pld",
    "dp_accounting.rdp",
    "playwright.sync_api",
    "jsonschema",
    "sqlite3",
    "lazy_loader",
    "pydantic.main",
    "xdist.scheduler",
    "xml.etree.ElementTree",
    "tomllib",
    "pdb",
    "encodings.cp437",
    "encodings.utf_8_sig",
]
# Of the processor, and of the clock for what waits and does not work: a busy machine may need many times as long.
CPU_SECONDS, WALL_SECONDS = 15.0, 600.0
_TIMES_USUAL, _WALL_PER_CPU = 5.0, 30.0
_MEMORY_BYTES = 8 * 2**30
_TOLD_CHARACTERS = 400

# For a test that is red without any change.
NEVER = -1.0
KILLED, HANGS, LIVES, NO_TESTS = "killed", "hangs", "lives", "no tests"
# Of a nursery that has loaded dpviz: what is changed is more than functions.
NOT_HERE = "not here"


@dataclass(frozen=True)
class Trial:
    """A file below the root (a module, a template, words) with the source it is to have; and the tests, best first."""

    tests: Sequence[str]
    file: str = ""
    source: str = ""
    cpu_seconds: float = CPU_SECONDS
    wall_seconds: float = WALL_SECONDS
    coverage: str = ""
    without: Sequence[str] = ()

    def patient(self, usual_seconds: float) -> Trial:
        """With a generous limit for tests that take so many seconds of the processor as a rule."""
        longer = CPU_SECONDS + _TIMES_USUAL * usual_seconds
        return replace(self, cpu_seconds=longer, wall_seconds=WALL_SECONDS + _WALL_PER_CPU * longer)


@dataclass(frozen=True)
class Outcome:
    """Whether a test turned red, which one, and after how many seconds of the processor."""

    outcome: str
    test: str = ""
    why: str = ""
    seconds: float = 0.0
    ran: int = 0
    durations: Mapping[str, float] = field(default_factory=dict)

    @property
    def red(self) -> bool:
        return self.outcome in (KILLED, HANGS)


class Line:
    """To and from a process that forks a child for each trial."""

    def __init__(self, trials: IO[str], outcomes: IO[str]) -> None:
        self._trials, self._outcomes = trials, outcomes

    def run(self, trial: Trial) -> Outcome:
        self._trials.write(json.dumps(asdict(trial)) + "\n")
        self._trials.flush()
        answer = self._outcomes.readline()
        if not answer:
            raise RuntimeError("The process that forks children has ended.")
        return Outcome(**json.loads(answer))

    def close(self) -> None:
        self._trials.close()
        self._outcomes.close()


class Nursery:
    """A process that forks a child for each trial; for use in ``with``.

    With open files another is asked ``beside`` it, and of these tests it has collected all.
    """

    def __init__(self, *, root: Path = ROOT, beside: Sequence[int] = (), tests: Sequence[str] = ()) -> None:
        self.root, self._beside, self._tests = root, beside, tests
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment.pop("PYTEST_ADDOPTS", None)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.mutation.forked", *map(str, self._beside), *self._tests],
            cwd=self.root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=self._beside,
        )
        return self

    def run(self, trial: Trial) -> Outcome:
        assert self._process is not None and self._process.stdin is not None and self._process.stdout is not None
        return Line(self._process.stdin, self._process.stdout).run(trial)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self._process is not None and self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


class Nurseries:
    """One that has loaded dpviz and these files of tests, and for what it does not show one that has not."""

    def __init__(self, tests: Iterable[str]) -> None:
        self._tests = [*dict.fromkeys(tests)]
        self._open = ExitStack()
        self._made: dict[bool, Nursery | Line] = {}

    def __enter__(self) -> Self:
        return self

    def run(self, trial: Trial) -> Outcome:
        """The outcome; a change that lives in the first is tried in the other, which computes anew what it imports."""
        found = self.of(warm=True).run(trial)
        if found.red or (found.ran and not trial.file):
            return found
        return self.of(warm=False).run(trial)

    def of(self, *, warm: bool) -> Nursery | Line:
        """Either of them, as soon as one is needed; both are one process until it has loaded all libraries."""
        if not self._made:
            (asked, ask), (answered, answer) = os.pipe(), os.pipe()
            self._made[True] = self._open.enter_context(Nursery(beside=(asked, answer), tests=self._tests))
            os.close(asked)
            os.close(answer)
            self._made[False] = self._open.enter_context(closing(Line(os.fdopen(ask, "w"), os.fdopen(answered))))
        return self._made[warm]

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._open.close()


def cache_folder() -> Path:
    """Where things are kept that can be made again: outside the tree."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dpviz-mutation"


def load_libraries() -> None:
    """What dpviz and the tests import."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in (*_LIBRARIES, *(f"_pytest.{plugin}" for plugin in default_plugins)):
            importlib.import_module(name)
        _describe_components()
    gc.freeze()  # a child that collects garbage would copy whatever it looks through


def serve(asked: IO[str], answers: IO[str]) -> None:
    """The nursery itself."""
    for trial in _read_trials(asked):
        _answer(answers, _in_child(trial, asked, partial(_tried, trial)))


def serve_loaded(asked: IO[str], answers: IO[str], tests: Sequence[str]) -> None:
    """One that has loaded dpviz and the tests: pytest begins and collects once, and a child runs what is collected."""
    loaded = LoadedFunctions(ROOT / "dpviz")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded.load(["tests.conftest", "tests.durations", *_list_modules(ROOT / "dpviz")])
        importlib.import_module("tests.examples").load(quick=True)  # as a child does, before it imports tests
        _take_the_first_failure()
        _compile_templates()
        loaded.load(_module_name(each) for file in tests for each in (*_list_conftests(file), file))
    with tempfile.TemporaryDirectory(prefix="dpviz-mutation-", ignore_cleanup_errors=True) as kept:
        pytest.main([*_options(Path(kept)), "-q", "-s", *tests], plugins=[Standing(asked, answers, loaded)])


def _read_trials(asked: IO[str]) -> Iterator[Trial]:
    return (Trial(**json.loads(line)) for line in asked)


def _answer(answers: IO[str], outcome: Outcome) -> None:
    answers.write(json.dumps(asdict(outcome)) + "\n")
    answers.flush()


class Standing:
    """A plugin of pytest that runs what is collected in children, trial by trial."""

    def __init__(self, asked: IO[str], answers: IO[str], loaded: LoadedFunctions) -> None:
        self._asked, self._answers, self._loaded = asked, answers, loaded

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        _take_the_first_failure()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Until no more come."""
        gc.freeze()
        for trial in _read_trials(self._asked):
            run = partial(self._tried, trial, _in_order(session.items, trial.tests), session)
            _answer(self._answers, _in_child(trial, self._asked, run))
        return True

    def _tried(self, trial: Trial, items: Sequence[pytest.Item], session: pytest.Session, folder: Path) -> Outcome:
        """The tests in their order, until one is red."""
        if not _change_text(trial, self._loaded) and trial.file:
            if _module_name(trial.file) not in sys.modules:
                _change_import(trial)
            elif not self._loaded.change(Path.cwd() / trial.file, trial.source):
                return Outcome(NOT_HERE)
        watch = Watch(None, running=folder / "running")
        session.config.pluginmanager.register(watch)
        for item, following in zip_longest(items, items[1:]):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if watch.failed:
                return Outcome(KILLED, watch.failed, watch.why)
        return Outcome(LIVES if watch.passed else NO_TESTS, ran=watch.passed)


def _list_modules(package: Path) -> list[str]:
    """All of the package but what would run a command, or hide functions that are loaded from ``LoadedFunctions``."""
    files = [path for path in sorted(package.rglob("*.py")) if path.name not in ("__main__.py", "ahead.py")]
    return [_module_name(str(path.relative_to(package.parent))) for path in files]


def _describe_components() -> None:
    """Streamlit looks through all that is installed for them, whenever a page is visited first."""
    scanner.scan_component_manifests = cache(scanner.scan_component_manifests)
    scanner.scan_component_manifests()


def _compile_templates() -> None:
    """All that are, so that a child compiles what is changed alone."""
    for markup, made in _make_environments():
        for name in made.list_templates():
            if markup == name.endswith((".html.j2", ".svg.j2")):
                with suppress(TemplateError):  # of another room's filters
                    made.get_template(name)


def _make_environments() -> list[tuple[bool, Environment]]:
    """In which the package keeps what it has compiled; with markup and without."""
    from dpviz.releases.release_texts import _make_environment
    from dpviz.words.wording import _find_environment

    return [
        (markup, make(markup=markup)) for make in (_make_environment, _find_environment) for markup in (True, False)
    ]


def _list_conftests(file: str) -> list[str]:
    """Those that pytest imports before a file of tests."""
    return [str(folder / "conftest.py") for folder in Path(file).parents if (folder / "conftest.py").exists()]


def _in_child(trial: Trial, asked: IO[str], run: Callable[[Path], Outcome]) -> Outcome:
    """Fork, wait, and tell; whatever the child has started ends with it, and it ends with whoever ``asked``."""
    with tempfile.TemporaryDirectory(prefix="dpviz-mutation-", ignore_cleanup_errors=True) as kept:
        folder = Path(kept)
        child = os.fork()
        if child == 0:
            _be_the_child(trial, folder, run)
        late = not _ended_in_time(child, asked, trial.wall_seconds)
        _kill_group(child)
        _, status, used = os.wait4(child, 0)
        seconds = used.ru_utime + used.ru_stime
        told = folder / "outcome.json"
        if told.exists():
            return Outcome(**{**json.loads(told.read_text()), "seconds": round(seconds, 2)})
        running = folder / "running"
        test = running.read_text() if running.exists() else ""
        if late or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU):
            return Outcome(HANGS, test, "more than its time", round(seconds, 2))
        said = (folder / "said").read_text(errors="replace")[-_TOLD_CHARACTERS:]
        return Outcome(KILLED, test, f"ended with status {status}: {said}", round(seconds, 2))


def _ended_in_time(child: int, asked: IO[str], seconds: float) -> bool:
    """Wait without collecting, so that the number of the process stays its own until its group is ended."""
    handle = os.pidfd_open(child)
    try:
        with selectors.DefaultSelector() as waiting:
            waiting.register(handle, selectors.EVENT_READ)
            # While it waits for an answer nobody asks anything else: what comes then is the end.
            waiting.register(asked, selectors.EVENT_READ)
            return any(key.fd == handle for key, _ in waiting.select(seconds))
    finally:
        os.close(handle)


def _kill_group(child: int) -> None:
    try:
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        os.kill(child, signal.SIGKILL)


def _be_the_child(trial: Trial, folder: Path, run: Callable[[Path], Outcome]) -> None:
    """Run the tests and end; never returns."""
    try:
        os.setpgid(0, 0)
        # Compiled files go beside the cached map of tests, not into the tree.
        sys.pycache_prefix = str(cache_folder() / "compiled")
        soft = max(1, round(time.process_time() + trial.cpu_seconds))
        resource.setrlimit(resource.RLIMIT_CPU, (soft, soft + 5))
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        said = os.open(folder / "said", os.O_WRONLY | os.O_CREAT)
        for stream in (1, 2):
            os.dup2(said, stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        outcome = run(folder)
        (folder / "outcome.part").write_text(json.dumps(asdict(outcome)))
        (folder / "outcome.part").rename(folder / "outcome.json")
    finally:
        os._exit(0)


def _tried(trial: Trial, folder: Path) -> Outcome:
    """The tests file by file, until one is red, and all at once where nothing is changed; a file may come twice."""
    if trial.coverage:
        return _measured(trial, folder)
    if not _change_text(trial) and trial.file:
        _change_import(trial)
    ran = 0
    by_file = [(file, [*group]) for file, group in groupby(trial.tests, key=lambda test: test.partition("::")[0])]
    together = [([file], tests) for file, tests in by_file]
    if not trial.file:
        together = [([*dict.fromkeys(file for file, _ in by_file)], [*trial.tests])]
    for files, tests in together:
        watch = Watch(tests, running=folder / "running")
        code = _pytest(files, watch, folder)
        if watch.failed or code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            return Outcome(KILLED, watch.failed or f"{files[0]} (exit {int(code)})", watch.why)
        ran += watch.passed
    return Outcome(LIVES if ran else NO_TESTS, ran=ran)


def _measured(trial: Trial, folder: Path) -> Outcome:
    """All tests of the files that need no browser, with a map of lines to tests, written to the path asked for."""
    import coverage

    measuring = coverage.Coverage(
        data_file=trial.coverage, include=[str(Path.cwd() / "dpviz/*")], config_file=False, messages=False
    )
    watch = Watch(None, without=trial.without, running=folder / "running", began=measuring.switch_context)
    measuring.start()
    for file in trial.tests:
        _pytest([file], watch, folder)
    measuring.stop()
    measuring.save()
    return Outcome(LIVES, watch.failed, watch.why, durations=watch.durations)


def _pytest(arguments: Sequence[str], watch: Watch, folder: Path) -> int:
    options = [*_options(folder), *["-x"] * (watch.chosen is not None)]
    return pytest.main([*options, *arguments], plugins=[watch])


def _options(folder: Path) -> list[str]:
    # Plain assertions: pytest would rewrite, and so read from its file, whatever module is called like a test.
    # Python's tracebacks: pytest's own ask for the files of all modules to find one line, which costs half a trial.
    # Slow ones, too, and few examples of a property all the same.
    said = ["-q", "--tb=native", "--no-header", "--assert=plain", "-p", "no:cacheprovider"]
    marks = ["-m", "(not slow or slow) and not browser", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    return [*said, f"--basetemp={folder / 'tmp'}", *marks]


def _take_the_first_failure() -> None:
    """One example that fails is enough: no smaller one is looked for, which takes most of a red test."""
    settings.register_profile("first", settings(), phases=[Phase.explicit, Phase.generate])
    settings.load_profile("first")


class Watch:
    """A plugin of pytest: keeps the tests that were chosen, in their order, and notes what happens to them."""

    def __init__(
        self,
        chosen: Sequence[str] | None,
        *,
        running: Path,
        without: Sequence[str] = (),
        began: Callable[[str], object] = lambda name: None,
    ) -> None:
        self.chosen, self._without, self._running, self._began = chosen, without, running, began
        self.failed, self.why, self.passed = "", "", 0
        self.durations: dict[str, float] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        _take_the_first_failure()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.chosen is not None:
            items[:] = _in_order(items, self.chosen)
        items[:] = [item for item in items if item.nodeid.partition("[")[0] not in self._without]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        self._running.write_text(item.nodeid)
        self._began(item.nodeid)
        used = time.process_time()
        try:
            return (yield)
        finally:
            self.durations.setdefault(item.nodeid, round(time.process_time() - used, 4))
            self._began("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.passed += report.when == "call" and report.outcome == "passed"
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.failed and not self.failed:
            lines = [line for line in report.longreprtext.splitlines() if line.strip()]
            self.failed, self.why = report.nodeid or "collection", " ".join(lines)[-_TOLD_CHARACTERS:]
        if report.failed:
            self.durations[report.nodeid] = NEVER


def _in_order(items: Iterable[pytest.Item], chosen: Sequence[str]) -> list[pytest.Item]:
    """The chosen items in the order of choice; where a change renames the cases of a test, all cases of that test."""
    named = {item.nodeid: item for item in items}
    cases = defaultdict(list)
    for name in named:
        cases[name.partition("[")[0]].append(name)
    wanted: dict[str, None] = {}
    for name in chosen:
        under = [name] if name in named else cases.get(name.partition("[")[0], [])
        # A whole file or class.
        under = under or [found for found in named if found.startswith(f"{name}::")]
        wanted |= dict.fromkeys(under)
    return [named[name] for name in wanted]


class _Changed(importlib.abc.MetaPathFinder):
    """Finds one module with another source than its file has."""

    def __init__(self, path: Path, name: str, source: str) -> None:
        self._path, self._name, self._source = path, name, source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        loader = _ChangedSource(fullname, str(self._path))
        loader.source = self._source
        inside = [str(self._path.parent)] if self._path.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            fullname, self._path, loader=loader, submodule_search_locations=inside
        )


class _ChangedSource(importlib.machinery.SourceFileLoader):
    source = ""

    def get_code(self, fullname: str) -> CodeType:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compile(self.source, self.path, "exec", dont_inherit=True)


def _change_text(trial: Trial, loaded: LoadedFunctions | None = None) -> bool:
    """Where a template or words are changed, they are from now on; whether it is one."""
    if trial.file.endswith(".j2"):
        _change_template(Path(trial.file).name, trial.source, loaded)
    elif trial.file.endswith(".toml"):
        _change_words(Path.cwd() / trial.file, trial.source)
    return trial.file.endswith((".j2", ".toml"))


def _change_import(trial: Trial) -> None:
    sys.meta_path.insert(0, _Changed(Path.cwd() / trial.file, _module_name(trial.file), trial.source))


def _change_template(name: str, source: str, loaded: LoadedFunctions | None) -> None:
    """From now on the template of this name has another source than its file."""
    read = FileSystemLoader.get_source

    def get_source(self: Any, environment: Any, template: str) -> Any:
        text, *more = read(self, environment, template)
        return source if template == name else text, *more

    FileSystemLoader.get_source = get_source  # type: ignore[method-assign]
    for _, made in _make_environments() if loaded else ():
        with suppress(KeyError):
            del made.cache[weakref.ref(made.loader), name]


def _change_words(path: Path, source: str) -> None:
    """From now on a file of words is read with another text than it has."""
    read = Path.read_text

    def read_text(self: Path, *options: Any, **more: Any) -> str:
        return source if self == path else read(self, *options, **more)

    Path.read_text = read_text  # type: ignore[method-assign]


def _module_name(file: str) -> str:
    parts = Path(file).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


if __name__ == "__main__":
    # Whoever prints must not speak on the line of answers.
    line = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.path[:0] = [str(Path.cwd())]
    load_libraries()
    beside, tests = [*map(int, sys.argv[1:3])], sys.argv[3:]
    with suppress(BrokenPipeError):  # whoever asked has ended
        if not beside:
            serve(sys.stdin, line)
        elif (other := os.fork()) == 0:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.close(line.fileno())
            serve(os.fdopen(beside[0]), os.fdopen(beside[1], "w"))
            os._exit(0)
        else:
            for each in beside:
                os.close(each)
            serve_loaded(sys.stdin, line, tests)
            os.waitpid(other, 0)
