"""The small tables that an audit makes up: what may be declared about one, and neighbours, mild and planted."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.algorithms import Card
from dpviz.core import Accounting, Array, Codes, Domain, PrivateTable, Relation
from dpviz.tables import codings


def make_blobs(n: int = 400, dim: int = 2, k: int = 3, seed: int = 0) -> Array:
    """``n`` rows around ``k`` centres in [-1, 1]^dim, unit coordinates."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-0.7, 0.7, (k, dim))
    return np.clip(centers[rng.integers(0, k, n)] + rng.normal(0, 0.08, (n, dim)), -1, 1)


def make_small_table(
    values: Array | None = None, *, dim: int = 2, radius: float | None = None, mixed: bool = False, **declared: Any
) -> PrivateTable:
    """A table over [-1, 1]^dim whose unit coordinates are its data units; or ``mixed``, of four columns.

    ``values`` (n, dim), unit coordinates; None: usual ones; ``declared``, what a ``PrivateTable`` is told besides.
    """
    rows = make_blobs(dim=dim) if values is None else values
    domain = Domain.of([f"x{j}" for j in range(rows.shape[1])], -1.0, 1.0, radius=radius)
    if mixed:
        domain, rows = MIXED, make_mixed_rows(rows)
    return PrivateTable(rows, domain, **declared)


_KINDS = {"category": codings.Nominal(("a",)), "yes": codings.Closed(("no", "yes")), "hour": codings.Cycle(8.0)}
MIXED = codings.make_coded_domain(
    ("number", *_KINDS), [-1.0, 0.0, 0.0, 0.0], [1.0, 2.0, 1.0, 8.0], codings=_KINDS, weights={"category": 1.0}
)
"""A number beside a category of three values, an interval and a circle: seven coordinates."""


def make_mixed_rows(values: Array) -> Array:
    """Rows of ``MIXED``: of numbers from -1 to 1 (n, 4) the first stays, the others say which value a cell has."""
    lower, upper = np.array([(column.lower, column.upper) for column in MIXED.declared]).T
    rows: Array = lower + (np.clip(values, -1.0, 1.0) + 1) / 2 * (upper - lower)
    rows[:, 1:] = np.rint(rows[:, 1:])
    rows[:, 0] = values[:, 0]
    return rows


@dataclass(frozen=True)
class NeighborSetting:
    """What was declared about a table: relation, who knows n, the shape of the domain, rows a person."""

    name: str
    relation: Relation = Relation.ADD_REMOVE
    n_public: int | None = None
    dim: int = 2
    radius: float | None = None
    rows_per_person: int = 1
    mixed: bool = False

    def table(self, values: Array | None = None, persons: Codes | None = None, **more: Any) -> PrivateTable:
        """A table with these declarations; by default each person has as many rows as count, and one more."""
        rows = make_blobs(dim=self.dim) if values is None else values
        if self.rows_per_person > 1 and persons is None:
            persons = np.arange(len(rows)) // (self.rows_per_person + 1)
        said = {name: getattr(self, name) for name in ("relation", "n_public", "radius", "rows_per_person", "mixed")}
        return make_small_table(rows, persons=None if self.rows_per_person == 1 else persons, **said, **more)

    def __str__(self) -> str:
        return self.name


BOUGHT = NeighborSetting("n bought")
PUBLIC = NeighborSetting("n public", n_public=400)
REPLACE = NeighborSetting("replace", relation=Relation.REPLACE)
PERSONS = NeighborSetting("persons", rows_per_person=3)
NEIGHBOR_SETTINGS = [
    BOUGHT,
    PUBLIC,
    REPLACE,
    NeighborSetting("ball", radius=0.8, n_public=400),
    NeighborSetting("ball, replace", radius=0.8, relation=Relation.REPLACE),
    PERSONS,
    NeighborSetting("line", dim=1, n_public=400),
    NeighborSetting("six columns", dim=6, n_public=400),
    NeighborSetting("categories", dim=4, n_public=400, mixed=True),
    NeighborSetting("categories, replace", dim=4, relation=Relation.REPLACE, mixed=True),
    NeighborSetting("nine columns in a ball", dim=9, radius=1.0),
]


Pair = tuple[PrivateTable, PrivateTable]


def list_neighbours(case: NeighborSetting, seed: int = 0, *, few: bool = False) -> Iterator[Pair]:
    """Pairs of tables that differ in one unit of privacy, mild and adversarial, both ways round."""
    for turn, (one, other) in enumerate(_list_neighbouring_values(case, np.random.default_rng(seed), few)):
        both = not few or case.relation is Relation.REPLACE
        if both or turn % 2 == 0:
            yield one, other
        if both or turn % 2 == 1:
            yield other, one


def list_mild_neighbours(case: NeighborSetting) -> Iterator[Pair]:
    """A table with a usual person more, less or exchanged: somebody among the others, in the middle of the file."""
    base, new = make_blobs(60, case.dim, seed=5), make_blobs(1, case.dim, seed=6)
    if case.relation is Relation.REPLACE:
        changed = base.copy()
        changed[17] = new
        yield case.table(base), case.table(changed)
        yield case.table(changed), case.table(base)
        return
    person = np.arange(len(base))
    more = case.table(np.r_[base[:30], new, base[30:]], np.r_[person[:30], len(base), person[30:]])
    yield case.table(base, person), more
    yield more, case.table(base, person)


def _list_neighbouring_values(case: NeighborSetting, rng: np.random.Generator, few: bool) -> Iterator[Pair]:
    dim, m = case.dim, case.rows_per_person
    many = make_blobs(60, dim, seed=int(rng.integers(1000)))
    corner, far, none = np.ones(dim), np.full(dim, -1e300), np.full(dim, np.nan)
    crowd = np.repeat(corner[None], 60, axis=0)
    if case.relation is Relation.REPLACE:
        for base in (crowd,) if few else (many, crowd):
            for new in (-corner, none) if few else (corner, -corner, far, none, rng.uniform(-1, 1, dim)):
                changed = base.copy()
                changed[17] = new
                yield case.table(base), case.table(changed)
        return
    for base in (crowd, many[:0]) if few else (many, crowd, many[:0], many[:1]):
        for new in (corner,) if few else (corner, far, none, rng.uniform(-1, 1, dim)):
            rows = np.r_[base[: len(base) // 2], np.repeat(new[None], m + 1, axis=0), base[len(base) // 2 :]]
            person = np.r_[np.arange(len(base)), np.full(m + 1, len(base))]
            person = np.r_[person[: len(base) // 2], person[len(base) :], person[len(base) // 2 : len(base)]]
            if m == 1:
                rows, person = np.delete(rows, len(base) // 2, axis=0), np.delete(person, len(base) // 2)
            yield case.table(base, np.arange(len(base))), case.table(rows, person)


def make_lone_rows(case: NeighborSetting, among: int = 0) -> Pair:
    """A row in opposite corners, ``among`` so many in the middle: alone, it moves a block's model as far as can be."""
    corner, middle = np.ones((1, case.dim)), np.zeros((among, case.dim))
    return case.table(np.r_[corner, middle]), case.table(np.r_[-corner, middle])


def list_settings(card: Card) -> list[tuple[Card, dict[str, Any], float]]:
    """Each preset of a card with a δ that suits it: pure ones at 0, approximate ones at 1e-6, both where both exist."""
    # Solving a synopsis more often is free post-processing: a few times will do.
    few = {"starts": 3} if any(one.name == "starts" for one in card.params.param_fields()) else {}
    presets = [{"preset": preset} for preset in card.params.list_presets()] or [{}]
    return [setting for preset in presets for setting in _add_deltas(card, {**preset, **few})]


def list_variants(card: Card) -> list[tuple[Card, dict[str, Any], float]]:
    """The default preset with every other choice another than usual, where a card has such choices.

    Tables whose rows are tuples are another kind of table, and left out.
    """
    others = {
        one.name: next(choice for choice in reversed(one.choices) if choice != one.default)
        for one in card.params.param_fields()
        if one.choices and one.name not in ("preset", "rows")
    }
    (_, usual, _), *_ = list_settings(card)
    preset = {one.name: one.default for one in card.params.param_fields() if one.name == "preset"}
    return _add_deltas(card, {**usual, **preset, **others}) if others else []


def _add_deltas(card: Card, params: dict[str, Any]) -> list[tuple[Card, dict[str, Any], float]]:
    """Those of 0 and a usual δ that suit it."""
    return [(card, params, delta) for delta in (0.0, 1e-6) if (delta > 0) != is_pure(card, params, delta)]


def is_pure(card: Card, params: dict[str, Any], delta: float) -> bool:
    """Whether a run with these parameters adds up ε alone."""
    return card.accounting(card.params.parse(params), delta) is Accounting.PURE
