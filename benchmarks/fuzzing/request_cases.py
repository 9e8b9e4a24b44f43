"""Requests against runs: parameters of every algorithm, and the corners of ε, δ, k, n, bounds and rows of a person."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fuzzing.case import Case, short
from benchmarks.fuzzing.hostile import NUMBER_TEXTS, NUMBERS, TEXTS, any_value, happens, one, some
from dpviz.algorithms.card import ParamField
from dpviz.algorithms.registry import CARDS
from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable
from dpviz.core.queries import Relation
from dpviz.runs.one_run import Run, run

_USUAL_EPSILON, _USUAL_DELTA = 1.0, 1e-6
_ODD_BOUNDS = (
    (0.0, 1.0),
    (-1.0, 1.0),
    (0.0, 5e-324),
    (1e300, 1.1e300),
    (-1e308, 1e308),
    (1.0, 1.0 + 2**-52),
    (5.0, -5.0),
)


def parameter_case(rng: np.random.Generator) -> Case:
    """Values for the parameters of an algorithm, as a form, a link or a command line gives them."""
    card = one(rng, tuple(CARDS.values()))
    param_fields = card.params.param_fields()
    values = (
        {param_field.name: _value(rng, param_field) for param_field in some(rng, param_fields, 3)}
        if param_fields
        else {}
    )
    if happens(rng, 0.1):
        values[one(rng, TEXTS)] = any_value(rng)
    tried = happens(rng, 0.3)
    dim, k, n = one(rng, (1, 2, 5)), one(rng, (1, 3)), one(rng, (0, 1, 60, 300))

    def do(folder: Path) -> str:
        params = card.params.parse(values)
        if not tried:
            return repr(params)
        table = _table(rows=n, dim=dim, bounds=(-1.0, 1.0), seed=1)
        return _done(run(card, table, k=k, epsilon=_USUAL_EPSILON, delta=_USUAL_DELTA, params=params, seed=2))

    return Case("parameters", f"{card.id} {short(values, most=300)}; d = {dim}, k = {k}, n = {n}, run: {tried}", do)


def corner_case(rng: np.random.Generator) -> Case:
    """ε, δ, k, n, bounds, radius and rows of a person where arithmetic ends."""
    card = one(rng, tuple(CARDS))
    asked: dict[str, Any] = {"k": 3, "epsilon": _USUAL_EPSILON, "delta": _USUAL_DELTA, "seed": 0}
    declared: dict[str, Any] = {"rows": one(rng, (0, 1, 2, 60)), "dim": one(rng, (1, 2, 12)), "bounds": (-1.0, 1.0)}
    for name in some(rng, tuple(asked), 2):
        asked[name] = one(rng, NUMBERS)
    for name in some(rng, tuple(_DECLARED), 2):
        declared[name] = one(rng, _DECLARED[name])

    def do(folder: Path) -> str:
        return _done(run(card, _table(**declared, seed=int(asked["k"] == 1)), **asked))

    return Case("corners", f"{card} {short(asked, most=300)} on {short(declared, most=300)}", do)


_DECLARED: Mapping[str, tuple[Any, ...]] = {
    "bounds": _ODD_BOUNDS,
    "n_public": tuple(NUMBERS),
    "relation": tuple(Relation),
    "rows_per_person": tuple(NUMBERS),
    "radius": tuple(NUMBERS),
    "values": (0.0, 1e300, -1e300, float("nan"), float("inf")),
}


def _table(
    *,
    rows: int,
    dim: int,
    bounds: tuple[float, float],
    seed: int,
    values: float | None = None,
    radius: Any = None,
    rows_per_person: Any = None,
    **declared: Any,
) -> PrivateTable:
    drawn = np.random.default_rng(seed).uniform(-1.0, 1.0, (rows, dim))
    if values is not None and rows:
        drawn[0] = values
    domain = Domain.of([f"x{place}" for place in range(dim)], *bounds, radius=radius)
    if rows_per_person is not None:
        declared |= {"persons": np.arange(rows) // 3, "rows_per_person": rows_per_person}
    return PrivateTable(drawn, domain, **declared)


def _done(finished: Run) -> str:
    if not np.isfinite(finished.centers).all():
        raise AssertionError("a centre that is no number")
    if finished.private and finished.spent_epsilon > finished.epsilon * (1 + 1e-9):
        raise AssertionError("more was spent than asked for")
    return "\n".join(map(repr, (finished.parameters, finished.warnings, finished.entries, finished.frames)))


def _value(rng: np.random.Generator, param_field: ParamField) -> Any:
    """A value at an end of the range, a choice, or anything."""
    ends = [end for end in (param_field.low, param_field.high) if end is not None]
    way = rng.random()
    if way < 0.45 and ends:
        end = one(rng, ends)
        return str(int(end) if param_field.kind is int else end)
    if way < 0.55 and param_field.choices:
        return one(rng, param_field.choices)
    if way < 0.75:
        return one(rng, NUMBER_TEXTS)
    return one(rng, NUMBERS) if way < 0.9 else any_value(rng)
