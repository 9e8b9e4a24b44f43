"""``audit``: the contract of private algorithms, tried out on one of them; what held and what did not, in sentences."""

from __future__ import annotations

import ast
import gc
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from inspect import unwrap
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dpviz.algorithms import Card
from dpviz.core import Array, Broken, Relation, RequestError, replay
from dpviz.runs.audits import contract
from dpviz.runs.audits.neighboring_tables import (
    BOUGHT,
    NEIGHBOR_SETTINGS,
    PERSONS,
    PUBLIC,
    REPLACE,
    NeighborSetting,
    Pair,
    is_pure,
    list_mild_neighbours,
    list_neighbours,
    make_blobs,
    make_lone_rows,
)
from dpviz.runs.meaning.membership import AttackTrial, NeighboringTables, attack, collect_scores, run_trials
from dpviz.runs.one_run import Run
from dpviz.runs.request import Contender, Request
from dpviz.words import format_things, render

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
    return module == _HEAD or (module.startswith(f"{_HEAD}.") and (_place(module) / "__init__.pyi").is_file())


@cache
def list_handed_on(module: str) -> Mapping[str, str]:
    """What a module of ours names that it took from elsewhere, with the full name that it took; a door: all of it."""
    if module.partition(".")[0] != _HEAD:
        return {}
    place = _place(module)
    files = (place / "__init__.pyi", place / "__init__.py", place.with_suffix(".py"))
    return next((_read_imports(file, module) for file in files if file.is_file()), {})


def _place(module: str) -> Path:
    return _ROOT.joinpath(*module.split("."))


def _read_imports(file: Path, module: str) -> Mapping[str, str]:
    package = module.split(".") if file.stem == "__init__" else module.split(".")[:-1]
    taken: dict[str, str] = {}
    for node in _list_imports(ast.parse(file.read_text(encoding="utf-8")).body):
        base = package[: len(package) - node.level + 1] if node.level else []
        whole = {alias.asname or alias.name: (*base, node.module, alias.name) for alias in node.names}
        taken |= {name: ".".join(filter(None, parts)) for name, parts in whole.items()}
    return taken


def _list_imports(body: Iterable[ast.stmt]) -> Iterator[ast.ImportFrom]:
    """Imports of names that a module holds from then on, those for type checkers included."""
    for node in body:
        if isinstance(node, ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If | ast.Try):
            yield from _list_imports([*node.body, *node.orelse])


_ROUNDING = 1e-8
_SIGNS = {True: "held", False: "BROKEN", None: "left out"}
_READS = {"nearness": "the centres", "log_ratio": "every answer"}


def check_spending(subject: contract.Subject) -> str:
    """What is booked is what was drawn, and it adds up to the request."""
    asked = list(subject.list_cases((BOUGHT, PUBLIC, REPLACE, PERSONS), (0.1, 1.0, 35.0)))
    for where, case, request in asked:
        with contract.add_context(*where):
            contract.check_ledger(subject.card, case.table(), **request)
    return f"what is booked is what was drawn and adds up to the request, by dp-accounting too, in {len(asked)} runs"


def check_replays(subject: contract.Subject) -> str:
    """With the answers recorded and other rows in the table, the same steps come out."""
    for where, case, request in subject.list_cases((BOUGHT, PERSONS, REPLACE, NEIGHBOR_SETTINGS[-1])):
        with contract.add_context(*where):
            first = contract.record_run(subject.card, case.table(), **request)
            # Whoever looks for rows in memory is to find none of the table that is gone.
            gc.collect()
            n = 400 if case.relation is Relation.REPLACE else 250
            contract.check_replayed(subject.card, case.table(make_blobs(n, case.dim, seed=1)), first, **request)
    return "with the answers recorded and other rows in the table, the same steps come out to the last bit"


def check_reading(subject: contract.Subject) -> str:
    """Rows are read by the session alone."""
    for _, case, request in subject.list_cases((BOUGHT, REPLACE)):
        reached: list[str] = []
        contract.run_card(subject.card, case.table(), session=replay.make_watched_session(reached), **request)
        contract.demand(not reached, "; ".join(dict.fromkeys(reached)))
    return "nobody but the session read its rows, its noise or its true answers"


def check_mild_neighbours(subject: contract.Subject) -> str:
    """No transcript is much likelier on the table with a usual person than on the one without."""
    return _check_losses(subject, list_mild_neighbours, (BOUGHT, PUBLIC, REPLACE, PERSONS), (0.1, 1.0, 8.0))


def check_planted_neighbours(subject: contract.Subject) -> str:
    """The same of tables that were made to tell: alone, in a crowd, far off, missing."""

    def hard(case: NeighborSetting) -> Iterator[Pair]:
        yield from list_neighbours(case, contract.SEED)
        replaced = case.relation is Relation.REPLACE
        if case.rows_per_person == 1:
            for among in (0, 8):
                one, other = make_lone_rows(case, among)
                yield one, other if replaced else case.table(np.zeros((among, case.dim)))

    return _check_losses(subject, hard, NEIGHBOR_SETTINGS, (1.0,))


def _check_losses(
    subject: contract.Subject,
    pairs_of: Callable[[NeighborSetting], Iterator[Pair]],
    cases: Sequence[NeighborSetting],
    epsilons: Sequence[float],
) -> str:
    if subject.card.local:
        raise contract.NotAsked("in the local model the loss is that of one message, which is not replayed")
    part, pairs = 0.0, 0
    for where, case, request in subject.list_cases(cases, epsilons):
        for one, other in pairs_of(case):
            with contract.add_context(*where):
                k = 1 if min(one.n_public or contract.K, other.n_public or contract.K) < contract.K else contract.K
                loss = contract.check_loss(subject.card, one, other, **request | {"k": k})
            part, pairs = max([part, *loss.fractions_of_bound]), pairs + 1
    return f"no release of {pairs} pairs lost more than was booked; at most {part:.3f} of it"


def check_attacks(subject: contract.Subject) -> str:
    """No attacker tells whether a person is in a table more often than ε and δ allow."""
    few, person = make_blobs(20, seed=3) * 0.3, np.ones((1, 2))
    present, absent = BOUGHT.table(np.r_[few, person]), BOUGHT.table(few)
    neighbors = NeighboringTables(present, absent, present.domain.region.clip(person))
    card, best = subject.card, 0.0
    for pure, (params, delta) in {is_pure(card, *setting): setting for setting in subject.settings}.items():
        asked = Request(Contender.of(card, params), 2, 1.0, delta)
        with contract.add_context(*contract.describe_case(params, delta)):
            beating = set(_READS)
            # Of sound algorithms one in twenty seems to be beaten in a series of runs, and hardly any in two.
            for series in (0, 1):
                found = run_trials(neighbors, asked, subject.runs, first=series * subject.runs)
                trials = [one for one in found if isinstance(one, AttackTrial)]
                sides = {of: scored for of in _READS if (scored := collect_scores(trials, of)) is not None}
                if pure and "log_ratio" in sides:
                    most = max(abs(ratio) for side in sides["log_ratio"] for ratio in side)
                    contract.demand(most <= 1.0 + _ROUNDING, f"a transcript is e^{most:.4f} times as likely, at ε = 1")
                # What an attacker achieves by the centres, and, where answers have densities, by all of them.
                records = {of: attack(*scored) for of, scored in sides.items()}
                best = max(best, *(record.advantage for record in records.values()))
                beating &= {of for of, one in records.items() if one.passes(epsilon=1.0, delta=delta)}
                if not beating:
                    break
            who = " and ".join(sorted(_READS[of] for of in beating))
            contract.demand(not beating, f"who reads {who} tells a person's presence more often than ε = 1 allows")
    return f"in {subject.runs} pairs of runs no attacker beat what ε = 1 allows; hits less false alarms: {best:.2f}"


def check_hard_tables(subject: contract.Subject) -> str:
    """Whatever the table, k finite centres inside the bounds."""
    runs = 0
    for params, delta in subject.settings:
        for name, values in TABLES.items():
            for case in (NeighborSetting(name), NeighborSetting(f"{name}, replace", relation=Relation.REPLACE)):
                for k in (1, contract.K, 12):
                    if case.relation is Relation.REPLACE and k > len(values):
                        continue
                    with contract.add_context(*contract.describe_case(params, delta, case, f"k = {k}")):
                        contract.check_centers(subject.run(case.table(values), k=k, delta=delta, params=params), k)
                    runs += 1
        runs += _run_ends(subject, params, delta)
    return f"k finite centres inside the bounds, in {runs} runs: no row, one, equal ones, k above n, ends of parameters"


def _run_ends(subject: contract.Subject, params: Mapping[str, Any], delta: float) -> int:
    """Runs with every parameter at either end of its range."""
    fields = subject.card.params.param_fields()
    ends = [(field.name, end) for field in fields for end in (field.low, field.high) if end is not None]
    for name, end in ends:
        with contract.add_context(*contract.describe_case(params, delta, f"{name} = {end:g}")):
            contract.check_centers(
                subject.run(BOUGHT.table(make_blobs(60)), k=2, delta=delta, params={**params, name: end}), 2
            )
    return len(ends)


def check_repetition(subject: contract.Subject) -> str:
    """A seed repeats a run; nothing else does."""
    rows = make_blobs(700)
    others: dict[str, dict[str, Any]] = {
        "a second run with the same seed differs": {"values": rows},
        "the order of the rows changes the run": {"values": rows[np.random.default_rng(0).permutation(len(rows))]},
        # Rows of a chunk are so few that there are many chunks.
        "the size of chunks changes the run": {"values": rows, "block_numbers": 256},
    }
    for params, delta in subject.settings:
        with contract.add_context(*contract.describe_case(params, delta)):
            how: dict[str, Any] = {"delta": delta, "params": params}
            first = _list_bytes(subject.run(BOUGHT.table(rows), **how))
            for sentence, table in others.items():
                contract.demand(_list_bytes(subject.run(BOUGHT.table(**table), **how)) == first, sentence)
            fresh = [_list_bytes(subject.run(BOUGHT.table(rows), seed=None, **how)) for _ in range(2)]
            contract.demand(fresh[0] != fresh[1], "two runs without a seed are the same")
    return "a seed repeats a run to the last bit, in any order and chunks of rows; without one, none comes again"


def _list_bytes(run: Run) -> list[bytes]:
    """Everything that a run shows, as it lies in memory."""
    return [np.asarray(value).tobytes() for frame in run.frames for value in contract.list_values(frame.step)]


def check_global_state(subject: contract.Subject) -> str:
    """Nobody's generator but the run's own is drawn from."""
    for where, case, request in subject.list_cases((BOUGHT,)):
        before = _read_global_states()
        contract.run_card(subject.card, case.table(), **request)
        with contract.add_context(*where):
            contract.demand(
                _read_global_states() == before, "the run draws from a generator that the whole program shares"
            )
    return "no generator that the whole program shares is drawn from"


def _read_global_states() -> tuple[object, bytes, object]:
    shared: Any = np.random.get_state()  # noqa: NPY002 - to see that nobody else draws from it
    return random.getstate(), np.asarray(shared[1]).tobytes(), shared[2:]


_FAR = make_blobs(50)
_FAR[7] = 1e300
_HOLES = make_blobs(60)
_HOLES[::3, 0], _HOLES[1::6, 1] = np.nan, -np.inf
TABLES: dict[str, Array] = {
    "no row": np.empty((0, 2)),
    "one row": np.array([[0.3, -0.2]]),
    "identical rows": np.full((40, 2), 0.25),
    "all in a corner": np.ones((40, 2)),
    "one column": make_blobs(60, 1),
    "a constant column": np.column_stack([make_blobs(60, 1), np.zeros(60)]),
    "one row at 1e300": _FAR,
    "missing and infinite cells": _HOLES,
    "all cells missing": np.full((30, 2), np.nan),
    "all rows far outside": np.full((30, 2), -1e308),
    "nine columns": make_blobs(60, 9),
}


RUNS = 100
"""Runs with a person, and as many without, from which attackers have to tell which is which."""


class CheckResult(NamedTuple):
    """What came of a check: whether it held (None: it does not apply), and a sentence that says what."""

    check: str
    held: bool | None
    says: str


def audit(card: Card, *, runs: int = RUNS) -> Iterator[CheckResult]:
    """Every check of the contract on an algorithm, one after another; all tables are made up.

    **Guarantee.** None: no row of anybody is read.
    """
    if not card.private:
        raise RequestError(f"{card.title} promises no privacy: there is nothing to audit.")
    subject = contract.Subject(card, runs)
    yield from (_find(name, check, subject) for name, check in CHECKS.items())


def _find(name: str, check: contract.Check, subject: contract.Subject) -> CheckResult:
    """Code of others may fail in any way: whatever stops a check is a finding."""
    try:
        return CheckResult(name, True, check(subject))
    except contract.NotAsked as reason:
        return CheckResult(name, None, str(reason))
    except (Broken, RequestError) as broken:
        return CheckResult(name, False, str(broken))
    except Exception as error:
        return CheckResult(name, False, f"the check ended with {type(error).__name__}")


@dataclass(frozen=True)
class AuditReport:
    """What an audit found of an algorithm, check by check.

    Parameters
    ----------
    card : Card
    results : tuple of CheckResult
    """

    RUNS: ClassVar[int] = RUNS
    """Pairs of runs of the attack, where nothing else is said."""

    card: Card
    results: tuple[CheckResult, ...]

    @classmethod
    def of(cls, card: Card, *, runs: int = RUNS, tell: Callable[[str], None]) -> AuditReport:
        """Audit an algorithm; each check is told as soon as it is known, for some take a while."""
        results, began = [], time.monotonic()
        for result in audit(card, runs=runs):
            tell(f"{result.check}: {_SIGNS[result.held]} ({time.monotonic() - began:.0f} s)")
            results.append(result)
            began = time.monotonic()
        return cls(card, tuple(results))

    @property
    def broken(self) -> list[str]:
        """Checks that did not hold."""
        return [result.check for result in self.results if result.held is False]

    @property
    def text(self) -> str:
        """Every check on a line, what did not hold, and what no audit can tell."""
        width = max(len(result.check) for result in self.results)
        lines = [f"{_SIGNS[result.held]:9} {result.check:{width}}  {result.says}" for result in self.results]
        return render("audit.txt.j2", report=self, lines=lines, untold=CANNOT_TELL).removesuffix("\n")

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "algorithm": self.card.id,
            "brought_by": self.card.brought_by or None,
            "holds": not self.broken,
            "findings": [result._asdict() for result in self.results],
        }


def check_source(subject: contract.Subject) -> str:
    """What can be seen without a run."""
    files = list_sources(subject.card)
    if not files:
        raise contract.NotAsked("there is no Python source to read")
    offences = []
    for file in files:
        tree = ast.parse(file.read_text("utf-8"))
        for line, words in (*list_ways_round(tree), *list_global_draws(tree)):
            offences.append(f"{file.name}:{line} {words}")
    contract.demand(not offences, "; ".join(offences))
    seen = format_things(len(files), "file")
    return f"nothing in {seen} reaches behind the session's methods or draws from a global state"


CHECKS: Mapping[str, contract.Check] = {
    "source": check_source,
    "ledger": check_spending,
    "replay": check_replays,
    "session": check_reading,
    "neighbours": check_mild_neighbours,
    "planted neighbours": check_planted_neighbours,
    "attack": check_attacks,
    "hard tables": check_hard_tables,
    "seed": check_repetition,
    "global state": check_global_state,
}
"""The checks by name, in the order in which they are run."""

CANNOT_TELL = (
    "whether a plan peeks at tables that are unlike the small ones of an audit",
    "whether its code hides what it does: whoever installs a package runs it with every right of their own",
    "whether it clusters well",
)
"""What no audit can tell."""


Offence = tuple[int, str]
"""A line, and what is wrong there."""

_SECRETS = {"reveal", "accesses", "entries", "cap"}
_BACK_DOORS = {"__globals__", "__closure__", "__self__", "__dict__", "__getattribute__"}
_BACK_DOORS |= {"f_back", "f_locals", "gi_frame"}
_ROUND_IT = {"getattr", "setattr", "vars", "eval", "exec", "globals", "open", "__import__"}
_HIDDEN = {"dpviz.core.rows", "dpviz.core.private_session.PrivateTable", "dpviz.core.revealed_rows"}
# RandomState is a type that scikit-learn's users pass; to look at a state draws nothing from it.
_DRAWS_NOTHING = {"Generator", "SeedSequence", "default_rng", "RandomState", "get_state"}


def format_dotted(node: ast.expr) -> str:
    """A name with its attributes, as it is written; "" for whatever else."""
    if isinstance(node, ast.Attribute):
        return f"{format_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def list_named(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The modules, and what is taken from them, of an import, also by home behind a door; of a relative one nothing."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if node.level or node.module is None:
        return []
    taken = [f"{node.module}.{alias.name}" for alias in node.names]
    homes = [home for name in taken if (home := find_home(name)) != name]
    return list(dict.fromkeys([node.module, *taken, *(home.rpartition(".")[0] for home in homes), *homes]))


def list_whole(node: ast.Import | ast.ImportFrom) -> list[str]:
    """What an import may take as a whole, so that nobody sees which of its names are used: a module, or all its names.

    ``import a.b`` takes ``a``, too.
    """
    if isinstance(node, ast.Import):
        heads = [alias.name.partition(".")[0] for alias in node.names if not alias.asname]
        return [*(alias.name for alias in node.names), *heads]
    if node.level or node.module is None:
        return []
    return [node.module if alias.name == "*" else f"{node.module}.{alias.name}" for alias in node.names]


def list_imports(tree: ast.AST) -> Iterator[Offence]:
    """Every import, those inside functions included, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((node.lineno, module) for module in list_named(node))


def list_ways_round(tree: ast.AST) -> Iterator[Offence]:
    """No private attribute of anything but oneself, no revealed rows, no way round a module's front door."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            private = node.attr.startswith("_") and not node.attr.startswith("__")
            own = node.attr in ("_replace", "_asdict") or format_dotted(node.value) in ("self", "cls")
            if (private and not own) or node.attr in _SECRETS | _BACK_DOORS:
                yield node.lineno, f"reaches for {node.attr}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ROUND_IT:
            yield node.lineno, f"calls {node.func.id}"
        if isinstance(node, ast.Import | ast.ImportFrom):
            # A door, a module that what is hidden can be reached from, or all names of a module of ours.
            everything = isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)
            for module in dict.fromkeys(list_whole(node)):
                if everything and module.partition(".")[0] == _HEAD:
                    yield node.lineno, f"imports all names of {module}: import each that is needed by its name"
                elif is_door(module) or _reaches_hidden(module):
                    yield node.lineno, f"imports {module} as a whole: import each name that is needed from it"
    for line, module in list_imports(tree):
        if module in _HIDDEN or module.partition(".")[0] in ("gc", "ctypes"):
            yield line, f"imports {module}"


def _reaches_hidden(module: str) -> bool:
    handed_on = {find_home(f"{module}.{name}") for name in list_handed_on(module)}
    homes = handed_on | {home.rpartition(".")[0] for home in handed_on}
    return not homes.isdisjoint(_HIDDEN) or any(hidden.startswith(f"{module}.") for hidden in _HIDDEN)


def list_global_draws(tree: ast.AST) -> Iterator[Offence]:
    """No draw that a seed does not repeat, or that somebody else's draws move."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            name = format_dotted(node)
            if name.startswith(("np.random.", "numpy.random.")) and name.split(".")[2] not in _DRAWS_NOTHING:
                yield node.lineno, f"{name} draws from a global state"
    yield from ((line, "imports random") for line, module in list_imports(tree) if module.split(".")[0] == "random")


def list_sources(card: Card) -> list[Path]:
    """The files an algorithm is written in: a package's all, of ours that of its plan; none of compiled code."""
    module = unwrap(card.plan).__module__
    spec = find_spec(module.partition(".")[0] if card.brought_by else module)
    if spec is None or spec.origin is None or Path(spec.origin).suffix != ".py":
        return []
    return sorted(Path(spec.origin).parent.rglob("*.py")) if spec.submodule_search_locations else [Path(spec.origin)]
