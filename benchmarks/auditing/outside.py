"""An auditor of others reads our mechanism calls: dp-recorder, where it lies beside the checkout.

It records every call of a mechanism on one table and plays the answers back on a neighbour. Its verdicts: the same
questions, mechanisms and parameters come in the same order; no input lies farther from its neighbour's than the
mechanism's sensitivity (see ``distances``); and what is shown follows from the answers. Beside it dp-accounting adds up
what was called. Neither knows ledgers, or how questions compute their sensitivities.

References
----------
arXiv 2602.17454 (the auditor, and the violations that it found in twelve libraries).
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import cycle, islice, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from benchmarks.auditing.distances import measure_distance
from dpviz.algorithms.card import Card
from dpviz.algorithms.registry import list_private_cards
from dpviz.core.accounting import Accounting
from dpviz.core.check import RequestError
from dpviz.core.domain import Domain
from dpviz.core.exact_noise import ExactNoise
from dpviz.core.ledger import Entry
from dpviz.core.mechanisms import Mechanism
from dpviz.core.private_session import PrivateSession, PrivateTable
from dpviz.core.queries import Query, Relation
from dpviz.core.replay import CoupledBlocks, open_as
from dpviz.runs.audits.contract import list_values
from dpviz.runs.audits.neighboring_tables import (
    NEIGHBOR_SETTINGS,
    PUBLIC,
    REPLACE,
    NeighborSetting,
    list_neighbours,
    list_settings,
    list_variants,
    make_blobs,
    make_lone_rows,
)
from dpviz.runs.meaning.independent_accounting import compute_independent_epsilon
from dpviz.runs.one_run import run_request
from dpviz.runs.request import Contender, Request

PLACE = Path(__file__).resolve().parents[3] / "shared" / "third_party" / "dp_recorder" / "src"
"""Where the auditor lies: it is on no index, and nothing of it is ours."""

# Losses are rounded up to a grid; what is found above ε by less than this part of it is the grid's.
_ROUNDING = 1e-3
EPSILON, K, SEED = 1.0, 3, 11
_REFUSED = "refused: "
Pair = tuple[PrivateTable, PrivateTable]


def load_auditor() -> Any:
    """The package of the auditor; None where it does not lie beside the checkout."""
    if not PLACE.is_dir():
        return None
    if str(PLACE) not in sys.path:
        sys.path.append(str(PLACE))
    return importlib.import_module("dp_recorder.auditing")


class Finding(NamedTuple):
    """What came of a pair: the mechanisms that were called, what the auditor objects to, the ε that they add up to, and
    whether both runs were refused alike.
    """

    called: Sequence[str]
    objection: str
    epsilon: float
    refused: bool


class Plan(NamedTuple):
    """An algorithm with parameters and a δ, with study noise or ``released``, over the neighbours of one kind."""

    card: Card
    params: dict[str, Any]
    delta: float
    released: bool
    kind: str

    def __str__(self) -> str:
        words = [str(value) for name, value in self.params.items() if name != "starts"]
        return "-".join([self.card.id, *words, f"{self.delta:g}", *["release"] * self.released, self.kind])

    @property
    def accounting(self) -> Accounting:
        """How its costs add up."""
        return self.card.accounting(self.card.params.parse(self.params), self.delta)

    def list_pairs(self) -> Iterator[Pair]:
        """Neighbouring tables of its kind."""
        return KINDS[self.kind]()


def describe(thing: object) -> str:
    """All that is public of a question, a mechanism or a step, to the last bit."""
    if isinstance(thing, np.ndarray):
        return f"{thing.dtype}{thing.shape}{hashlib.sha256(np.ascontiguousarray(thing).tobytes()).hexdigest()}"
    if isinstance(thing, tuple | list):
        return f"[{', '.join(map(describe, thing))}]"
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        parts = [f"{one.name}={describe(getattr(thing, one.name))}" for one in dataclasses.fields(thing)]
        return f"{type(thing).__name__}({', '.join(parts)})"
    return repr(thing)


def make_audited_session(auditor: Any) -> type[PrivateSession]:
    """A session whose questions and draws go through the auditor."""

    class Audited(CoupledBlocks):
        def _answer(self, bought: Sequence[tuple[Query, Mechanism[Any]]], *, note: str) -> list[Any]:
            for query, _ in bought:
                auditor.check_equality(describe(query), f"what is asked for {note!r}")
            return super()._answer(bought, note=note)

        def _draw(self, mechanism: Mechanism[Any], truth: Any) -> Any:
            def draw(given: Any, sensitivity: float, *_said: str) -> Any:
                return super(Audited, self)._draw(mechanism, truth)

            given, said = {"truth": truth, "mechanism": mechanism}, describe(mechanism)
            kind, claimed = type(mechanism).__name__, float(mechanism.sensitivity)
            return auditor.intercept_mechanism(kind, draw, "given", "sensitivity", _measure, None, given, claimed, said)

    return Audited


def _measure(one: dict[str, Any], other: dict[str, Any]) -> float:
    # Floats of sums over rows: what they differ by in the last digits is none of the rows' doing.
    return measure_distance(one["mechanism"], one["truth"], other["truth"]) * (1 - 1e-9)


def audit_pair(plan: Plan, one: PrivateTable, other: PrivateTable) -> Finding:
    """What the auditor says of a run on one table that is played again on its neighbour."""
    auditor = load_auditor().Auditor()
    session = make_audited_session(auditor)
    k = 1 if min(one.n_public or K, other.n_public or K) < K else K
    shown, objection = "", ""
    try:
        with auditor:
            shown = auditor.check_equality(_show_run(plan, open_as(one, session), k), "what the run shows")
            auditor.set_replay()
            auditor.check_equality(_show_run(plan, open_as(other, session), k), "what the run shows")
            if auditor._cursor != len(auditor.log):
                raise AssertionError("the neighbour asks fewer questions")
            auditor.validate_records()
    except Exception as objected:  # a run that ends on one of both tables tells which it was
        objection = str(objected)[:400] or type(objected).__name__
    called = [entry for entry in auditor.log if entry.kind != "EQ"]
    epsilon = _add_up(plan, called)
    if not objection and not epsilon <= EPSILON * (1 + _ROUNDING):
        objection = f"the calls compose to ε = {epsilon:.4f} of {EPSILON:g}"
    return Finding([entry.kind for entry in called], objection, epsilon, shown.startswith(_REFUSED))


def _show_run(plan: Plan, table: PrivateTable, k: int) -> str:
    """All numbers and words of all steps, and what was spent; of a refusal what it says."""
    seed, noise = (None, ExactNoise(coins=SEED)) if plan.released else (SEED, None)
    try:
        asked = Request(Contender.of(plan.card, plan.params), k, EPSILON, plan.delta, seed=seed)
        run = run_request(asked, table, noise=noise)
    except RequestError as refused:
        return f"{_REFUSED}{refused}"
    return describe([[*map(describe, list_values(frame.step)), frame.spent_epsilon] for frame in run.frames])


def _add_up(plan: Plan, called: Sequence[Any]) -> float:
    """The ε of all calls at the run's δ by dp-accounting, from the mechanisms as they were called."""
    mechanisms = [entry.inputs_d["given"]["mechanism"] for entry in called]
    entries = [Entry.of(one, "", plan.accounting, delta=plan.delta, note="") for one in mechanisms]
    return compute_independent_epsilon(entries, delta=plan.delta) or 0.0


def _list_sparse() -> Iterator[Pair]:
    """A table of 30 columns that is kept sparse, with a row more, or one that says otherwise in every column."""
    rng, columns = np.random.default_rng(SEED), 30
    rows: Any = sparse.random_array((60, columns), density=0.1, format="csr", rng=rng)
    domain = Domain.of([f"x{j}" for j in range(columns)], -1.0, 1.0)
    for new in (np.ones(columns), np.full(columns, 1e300), np.r_[np.nan, np.zeros(columns - 1)]):
        more, changed = (
            sparse.vstack([rows[:30], sparse.csr_array(new[None]), rows[after:]]).tocsr() for after in (30, 31)
        )
        yield PrivateTable(rows, domain), PrivateTable(more, domain)
        yield PrivateTable(more, domain, n_public=60), PrivateTable(rows, domain, n_public=60)
        replaced = partial(PrivateTable, domain=domain, relation=Relation.REPLACE)
        yield replaced(rows), replaced(changed)


def _list_its_own(relation: Relation) -> Iterator[Pair]:
    """Neighbours as the auditor makes them."""
    load_auditor()
    tables = importlib.import_module("dp_recorder.auditing.dataset_util")
    rows, case = make_blobs(60), REPLACE if relation is Relation.REPLACE else PUBLIC
    mode = "bounded:replace" if relation is Relation.REPLACE else "unbounded:add"
    for strategy in ("copy_random", "insert_nan", "insert_inf", "insert_large_outliers", "insert_shifted_outliers"):
        (other,) = tables.generate_neighbors(rows, 1, mode, rng=SEED, strategy=strategy)
        yield case.table(rows), case.table(other)
        yield case.table(other), case.table(rows)


def _list_many(case: NeighborSetting, number: int = 2000) -> Iterator[Pair]:
    """So many rows that plans go on where they find something: a third of them in a corner, and one more or another."""
    corner, place = np.ones(case.dim), 17
    crowd = np.repeat(corner[None], number // 3, axis=0)
    rows = np.r_[make_blobs(number - 1 - len(crowd), case.dim, seed=2), crowd]
    for new in (corner, -corner, np.full(case.dim, np.nan)):
        after = place + (case.relation is Relation.REPLACE)
        one, other = case.table(rows), case.table(np.r_[rows[:place], new[None], rows[after:]])
        yield one, other
        yield other, one


def _list_lone(case: NeighborSetting) -> Iterator[Pair]:
    """A row in a corner, with few others or none, that goes or moves to the one across."""
    for among in (0, 8):
        one, other = make_lone_rows(case, among)
        yield one, other if case.relation is Relation.REPLACE else case.table(np.zeros((among, case.dim)))


def _list_across(case: NeighborSetting) -> Iterator[Pair]:
    """Tables of categories with a row more, or one that is moved across all of them; an hour as far as a day has it."""
    rows, far, diagonal = make_blobs(60, 4), np.array([[1.0, 1.0, 1.0, 0.0]]), np.array([[1.0, 1.0, 1.0, -0.75]])
    for new in (far, diagonal):
        if case.relation is Relation.REPLACE:
            yield case.table(np.r_[rows, new]), case.table(np.r_[rows, -np.ones((1, 4))])
        else:
            yield case.table(np.r_[rows, new]), case.table(rows)


def _list_missing() -> Iterator[Pair]:
    """Tables a third of whose rows have a missing cell, and one row that is another."""
    rows = make_blobs(60)
    rows[::3, 0] = np.nan
    for new in (np.ones(2), -np.ones(2), np.full(2, np.nan)):
        changed = rows.copy()
        changed[17] = new
        yield REPLACE.table(rows), REPLACE.table(changed)


_MANY = (
    NeighborSetting("two thousand rows", n_public=2000),
    NeighborSetting("two thousand rows of six columns, replace", relation=Relation.REPLACE, dim=6),
)
_LONE = (NeighborSetting("lone rows"), NeighborSetting("lone rows, replace", relation=Relation.REPLACE))
_ACROSS = (
    NeighborSetting("categories across", dim=4, n_public=60, mixed=True),
    NeighborSetting("categories across, replace", relation=Relation.REPLACE, dim=4, mixed=True),
)
_WIDE = NeighborSetting("persons of thirty columns", dim=30, rows_per_person=3)
_CROWD = NeighborSetting("forty thousand rows of six columns", n_public=40_000, dim=6)
# Of so many rows the grid is too large to be written down.
_LARGE = NeighborSetting("three million declared", n_public=3_000_000)

KINDS: dict[str, Callable[[], Iterator[Pair]]] = {
    **{str(case): partial(list_neighbours, case, SEED) for case in NEIGHBOR_SETTINGS},
    **{str(case): partial(_list_many, case) for case in _MANY},
    **{str(case): partial(_list_lone, case) for case in _LONE},
    **{str(case): partial(_list_across, case) for case in _ACROSS},
    "missing cells, replace": _list_missing,
    str(_WIDE): partial(list_neighbours, _WIDE, SEED),
    str(_CROWD): partial(_list_many, _CROWD, 40_000),
    "sparse": _list_sparse,
    str(_LARGE): partial(list_neighbours, _LARGE, SEED),
    "its own neighbours": partial(_list_its_own, Relation.ADD_REMOVE),
    "its own neighbours, replace": partial(_list_its_own, Relation.REPLACE),
}
"""Neighbouring tables by what is declared of them."""

ONLY: dict[str, Callable[[Plan], bool]] = {
    "sparse": lambda plan: plan.card.sparse,
    str(_CROWD): lambda plan: plan.card.id == "auto",
    str(_LARGE): lambda plan: plan.card.id == "eugkm" and not plan.released,
}
"""Of what only some algorithms are asked: to others such tables say nothing new, or cannot be given."""


def list_plans() -> Iterator[Plan]:
    """Every setting of every private algorithm, released where it can be, over every kind of table that it takes."""
    for card in list_private_cards():
        for (_, params, delta), released in product([*list_settings(card), *list_variants(card)], (False, True)):
            if card.releasable is True or not released:
                plans = (Plan(card, params, delta, released, kind) for kind in KINDS)
                yield from (plan for plan in plans if plan.kind not in ONLY or ONLY[plan.kind](plan))


def list_sample() -> Iterator[Plan]:
    """Of each setting and noise one kind of table, in turn, and those of ``ONLY`` wherever they are taken."""
    kinds = cycle(kind for kind in KINDS if kind not in ONLY)
    seen = set[tuple[str, str, float, bool]]()
    for plan in list_plans():
        setting = (plan.card.id, str(plan.params), plan.delta, plan.released)
        if setting not in seen:
            seen.add(setting)
            yield plan._replace(kind=next(kinds))
        if plan.kind in ONLY:
            yield plan


def audit_plan(plan: Plan, *, most: int | None = None, turn: int = 0) -> Iterator[Finding]:
    """What the auditor says of so many of its pairs, others in each ``turn``, spread evenly; None: of all."""
    pairs = list(plan.list_pairs())
    step = 1 if most is None else max(1, len(pairs) // most)
    yield from (audit_pair(plan, *pair) for pair in islice(pairs[turn % step :: step], most))


def audit_named(name: str) -> Finding:
    """What the auditor says of one pair: ``dplloyd-su-0-persons#4`` is the fifth of that plan."""
    plan, _, place = name.rpartition("#")
    (found,) = (one for one in list_plans() if str(one) == plan)
    return audit_pair(found, *next(islice(found.list_pairs(), int(place), None)))
