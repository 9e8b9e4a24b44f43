"""Every question that the session knows over every partition that it allows, for tests of sensitivities."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np

from dpviz.core import queries
from dpviz.core.domain import Domain, Region, Shape
from dpviz.core.kernel_draw import DistanceWeights, WeightedRows
from dpviz.core.local_model import EachRow
from dpviz.core.losses import CappedLosses, Loss, MedianLoss, PoolLoss, SwapLoss
from dpviz.core.partitions import (
    CubeTree,
    Everything,
    Grid,
    HashCodes,
    HashTree,
    ProjectedCells,
    UnevenGrid,
    Voronoi,
    Zoomed,
)
from dpviz.core.private_session import PrivateSession, PrivateTable
from dpviz.core.quantiles import ClippedColumns, Medians, Quantiles
from dpviz.core.tuples import Tuples, TupleTable
from dpviz.tables.codings import Closed, Cycle, Nominal, make_coded_domain
from tests.contract.sessions import open_seeded

Maker = Callable[[Region, np.random.Generator], Any]
Cells = Voronoi | ProjectedCells
OverCells = Callable[[Cells, Region, np.random.Generator], queries.Query]


def _points(region: Region, rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Points of the region, many of them on its rim or on each other."""
    spread = rng.choice([0.0, 0.5, 1.0, 3.0])
    return region.clip(rng.uniform(-spread, spread, (*shape, region.dim)))


def _voronoi(region: Region, rng: np.random.Generator) -> Voronoi:
    return Voronoi(_points(region, rng, int(rng.integers(1, 5))))


def _grid(region: Region, rng: np.random.Generator) -> Grid:
    return Grid.over(region, int(rng.integers(1, 6)))


def _projected(region: Region, rng: np.random.Generator) -> ProjectedCells:
    p = int(rng.integers(1, region.dim + 1))
    view = Region.ball(p, region.radius)
    cells = _uneven(view, rng) if rng.random() < 0.3 else _voronoi(view, rng)
    return ProjectedCells(cells, rng.normal(size=(p, region.dim)), view)


def _seen_grid(region: Region, rng: np.random.Generator) -> ProjectedCells:
    p = int(rng.integers(1, region.dim + 1))
    view = Region.ball(p, region.radius)
    cells, middle = rng.integers(1, 5, p), rng.uniform(-0.3, 0.3, p)
    return ProjectedCells(
        Grid(view.half * rng.uniform(0.2, 1.0, p), cells, middle), rng.normal(size=(p, region.dim)), view
    )


def _uneven(region: Region, rng: np.random.Generator) -> UnevenGrid:
    """Borders anywhere, some of them alike."""
    half, steps = region.half * rng.uniform(0.2, 1.5, region.dim), rng.integers(0, 4, region.dim)
    inner = [np.sort(rng.choice([-0.5, 0.0, 0.1, 0.6], steps[j])) * half[j] for j in range(region.dim)]
    return UnevenGrid.between(half, inner, rng.uniform(-0.3, 0.3, region.dim))


def _zoomed(region: Region, rng: np.random.Generator) -> Zoomed:
    fine = Grid(region.half * rng.uniform(0.1, 0.7, region.dim), rng.integers(1, 4, region.dim), region.half * 0.2)
    return Zoomed(fine, _grid(region, rng))


def _tree(region: Region, rng: np.random.Generator) -> CubeTree:
    tree = CubeTree(np.full(region.dim, -2.0) + rng.uniform(-1, 1, region.dim), 4.0)
    for _ in range(int(rng.integers(0, 4))):
        keys = rng.integers(0, tree.n_cells, min(6, tree.n_cells))
        tree = tree.with_level(np.unique(keys))
    return tree


def _moves(cells: Cells, region: Region, rng: np.random.Generator) -> MedianLoss:
    """Places anywhere, or next to each other."""
    m = int(rng.integers(1, 5))
    start, apart = _points(region, rng, cells.n_cells, 1), rng.choice([0.0, 1e-3, 0.3, 1.0])
    return MedianLoss(cells, region.clip(start + apart * (_points(region, rng, cells.n_cells, m) - start)))


def _around(kind: Any) -> OverCells:
    """A question about residuals around any points, cut at any radius."""
    return lambda cells, region, rng: kind(cells, _points(region, rng, cells.n_cells), float(rng.choice(RADII)))


def _frame(region: Region, rng: np.random.Generator) -> np.ndarray | None:
    """No axes, orthonormal ones, or ones that stretch."""
    if rng.random() < 0.3:
        return None
    basis = np.linalg.qr(rng.normal(size=(region.dim, region.dim)))[0]
    return basis[: int(rng.integers(1, region.dim + 1))] * rng.choice([0.5, 1.0, 3.0])


def _hashes(region: Region, rng: np.random.Generator) -> HashCodes:
    depth = int(rng.integers(1, 7))
    return HashCodes(rng.normal(size=(depth, region.dim)), rng.normal(size=depth) * rng.choice([0.0, 0.3]))


def _hash_tree(region: Region, rng: np.random.Generator) -> HashTree:
    hashes = _hashes(region, rng)
    whole = np.arange(hashes.n_cells, 2 * hashes.n_cells)
    above = np.unique(whole >> rng.integers(0, hashes.depth + 1, len(whole)))
    ancestors = {int(node) >> up for node in above for up in range(1, hashes.depth + 1)}
    leaves = np.array([node for node in above if node not in ancestors])
    return HashTree(hashes, leaves[rng.random(len(leaves)) < 0.8])


DENSE = {
    Everything: lambda region, rng: Everything(),
    Voronoi: _voronoi,
    Grid: _grid,
    UnevenGrid: _uneven,
    Zoomed: _zoomed,
    ProjectedCells: _projected,
    HashTree: _hash_tree,
}
SPARSE = {Grid: _grid, ProjectedCells: _seen_grid, CubeTree: _tree, HashCodes: _hashes}


def _pool(region: Region, rng: np.random.Generator) -> np.ndarray:
    """Sets of centres that may be far from each other, nearly alike, or the same."""
    sets, k = int(rng.integers(1, 5)), int(rng.integers(1, 3))
    apart = rng.choice([0.0, 1e-3, 0.3, 1.0])
    together, alone = _points(region, rng, 1, k), _points(region, rng, sets, k)
    return region.clip(together + apart * (alone - together))


def _box(region: Region, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A box in the region, around it, or somewhere across its rim."""
    middle = rng.uniform(-1, 1, region.dim) * region.half
    half = region.half * rng.choice([1e-3, 0.5, 1.0, 3.0])
    return middle - half, middle + half


def _swaps(region: Region, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return _points(region, rng, int(rng.integers(1, 4))), _points(region, rng, int(rng.integers(1, 5)))


def _sets(region: Region, rng: np.random.Generator) -> np.ndarray:
    return _points(region, rng, int(rng.integers(1, 4)), int(rng.integers(1, 3)))


def _capped(sets: np.ndarray, rng: np.random.Generator) -> CappedLosses:
    """Caps below and above all distances."""
    return CappedLosses(sets, caps=2.0 ** rng.integers(-12, 5, len(sets)))


RADII = [1e-3, 0.2, 1.0, 5.0]
SEEN = (Voronoi, ProjectedCells)
OVER_CELLS: dict[str, tuple[Iterable[type], OverCells]] = {
    "Count": (DENSE, lambda cells, region, rng: queries.Count(cells)),
    "Sum": (DENSE, lambda cells, region, rng: queries.Sum(cells)),
    "Pull": (SEEN, lambda cells, region, rng: queries.Pull(cells, _points(region, rng, cells.n_cells))),
    "MedianLoss": (SEEN, _moves),
    "Weights": (SEEN, lambda cells, region, rng: queries.Weights(cells)),
    "ChosenSum": (SEEN, lambda cells, region, rng: queries.ChosenSum(
        cells, np.argsort(rng.random((cells.n_cells, region.dim)), axis=1)[:, : int(rng.integers(1, region.dim + 1))]
    )),
    "ResidualSum": (SEEN, _around(queries.ResidualSum)),
    "ScaledResidualSum": (SEEN, lambda cells, region, rng: queries.ScaledResidualSum(
        cells, _points(region, rng, cells.n_cells), rng.choice(RADII, cells.n_cells)
    )),
    "Radii": ((Everything, Voronoi), _around(queries.Radii)),
    "Spread": ((Everything, Voronoi), lambda cells, region, rng: _around(
        partial(queries.Spread, frame=_frame(region, rng)))(cells, region, rng)
    ),
    "SegmentHistogram": (SEEN, lambda cells, region, rng: queries.SegmentHistogram(
        cells, int(rng.integers(region.dim)), int(rng.choice([1, 2, 7, 64])), float(rng.choice([0.3, 1.0, 3.0]))
    )),
    "SegmentHistogram in bins of any width": (SEEN, lambda cells, region, rng: queries.SegmentHistogram(
        cells, int(rng.integers(region.dim)), 3, starts=(0, *sorted(rng.choice(512, 2) + 1))
    )),
    "SegmentHistogram of a simplex": (SEEN, lambda cells, region, rng: queries.SegmentHistogram(
        cells, 0, int(rng.integers(1, region.dim + 1)), shape=Shape.SIMPLEX
    )),
}  # fmt: skip


def _over(partition: Maker, ask: OverCells) -> Maker:
    return lambda region, rng: ask(partition(region, rng), region, rng)


QUESTIONS: dict[str, Maker] = {
    f"{name} over {kind.__name__}": _over(DENSE[kind], ask)
    for name, (kinds, ask) in OVER_CELLS.items()
    for kind in kinds
} | {
    f"SparseCount over {kind.__name__}": _over(make, lambda cells, *_: queries.SparseCount(cells))
    for kind, make in SPARSE.items()
}
QUESTIONS |= {
    "Radii with a finer beginning": _over(_voronoi, _around(partial(queries.Radii, bins=7, finer=9))),
    "SwapLoss": lambda region, rng: SwapLoss(*_swaps(region, rng)),
    "SwapLoss of distances": lambda region, rng: SwapLoss(*_swaps(region, rng), order=1),
    "Loss": lambda region, rng: Loss(_sets(region, rng)),
    "Loss of distances": lambda region, rng: Loss(_sets(region, rng), order=1),
    "CappedLosses": lambda region, rng: _capped(_sets(region, rng), rng),
    "PoolLoss": lambda region, rng: PoolLoss(_pool(region, rng)),
    "DistanceWeights": lambda region, rng: DistanceWeights(_points(region, rng, int(rng.integers(0, 4)))),
    "BoxSum": lambda region, rng: queries.BoxSum(*_box(region, rng)),
    "Quantiles": lambda region, rng: Quantiles(
        *_box(region, rng), tuple(rng.choice([0.0, 0.25, 0.5, 0.9, 1.0], int(rng.integers(1, 4))))
    ),
    "Medians": lambda region, rng: Medians(*_box(region, rng)),
    "SegmentHistogram of a circle": lambda region, rng: queries.SegmentHistogram(
        _voronoi(region, rng), max(region.dim - 2, 0), 8, shape=Shape.CIRCLE if region.dim > 1 else None
    ),
    "DistanceScales": lambda region, rng: queries.DistanceScales(
        _voronoi(region, rng), int(rng.integers(-6, 6)), int(rng.choice([1, 2, 9, 40]))
    ),
    "ResidualMoments": lambda region, rng: queries.ResidualMoments(_voronoi(region, rng), float(rng.uniform(0.05, 2))),
    "EachRow": lambda region, rng: EachRow(),
    "Tuples": lambda region, rng: Tuples(int(rng.choice([1, region.dim]))),
}


def regions(dim: int) -> dict[str, Domain]:
    """Domains whose unit region is a box, a ball, a ball that cuts a flat box, and a box of unlike sides."""
    names = [f"x{j}" for j in range(dim)]
    upper = 2.0 ** -np.arange(dim)
    return {
        "box": Domain.of(names, -1.0, 1.0),
        "ball": Domain.of(names, -1.0, 1.0, radius=0.7),
        "flat box": Domain.of(names, -upper, upper, scaling="common"),
        "flat box in a ball": Domain.of(names, -upper, upper, scaling="common", radius=0.9),
    }


def mixed_regions() -> dict[str, Domain]:
    """Domains with categories, an interval and a circle beside a number, which a ball cuts or does not."""
    codings = {"c": Nominal(("a", "b")), "b": Closed(("no", "yes")), "h": Cycle(8.0)}
    ends: dict[str, Any] = {"lower": [-1.0, 0.0, 0.0, 0.0], "upper": [1.0, 3.0, 1.0, 8.0]}
    return {
        "categories": make_coded_domain("xcbh", **ends, codings=codings, weights={}),
        "weighed categories beside a ball": make_coded_domain(
            "xcbh", **ends, codings=codings, weights={"c": 2.0, "x": 0.5}, radius=0.3
        ),
    }


def room_over(values: np.ndarray, domain: Domain, relation: queries.Relation, **declared: object) -> PrivateSession:
    """A session over a table of these rows, whose true answers a test may read."""
    table = PrivateTable(values, domain, relation=relation, **declared)  # type: ignore[arg-type]
    return open_seeded(table)


NORMS = ("l1", "l2", "block", "range", "one_way")


@dataclass(frozen=True)
class Move:
    """How far an answer moved, in the norms of a ``Sensitivity``."""

    l1: float
    l2: float
    block: float
    range: float
    one_way: float = 0.0

    def within(self, declared: queries.Sensitivity, *, slack: float) -> bool:
        """Whether no norm exceeds what is declared."""
        pairs = ((getattr(self, norm), getattr(declared, norm)) for norm in NORMS)
        return all(moved <= bound * (1 + slack) + slack for moved, bound in pairs)


def exchanged(one: TupleTable, other: TupleTable) -> int:
    """How many tuples are others, those that come or go included; where they stand does not matter."""
    here, there = (Counter(tuple_.tobytes() for tuple_ in table.values) for table in (one, other))
    return max((here - there).total(), (there - here).total())


def _moved_places(one: TupleTable, other: TupleTable) -> float:
    """Sum of the distances by which places move whose rows are others; the middle stands where there is no row."""
    here, there = (Counter(row.tobytes() for row in table.values) for table in (one, other))
    lost, gained = ([np.frombuffer(row) for row in (a - b).elements()] for a, b in ((here, there), (there, here)))
    pairs = zip_longest(lost, gained, fillvalue=np.zeros(one.values.shape[2]))
    return float(sum(np.linalg.norm(a - b) for a, b in pairs))


def check_move(query: queries.Query, one: PrivateSession, other: PrivateSession) -> None:
    """Between neighbouring tables the true answer stays within the declared sensitivity."""
    moved, declared = move(query, one, other), one.sensitivity(query)
    assert moved.within(declared, slack=1e-9), (moved, declared)


def move(query: queries.Query, one: PrivateSession, other: PrivateSession) -> Move:
    """How far the true answer moves between two sessions."""
    (a,), (b,) = one._compute_true_answers([query]), other._compute_true_answers([query])
    if isinstance(a, WeightedRows):
        a, b = _weights_side_by_side(a, b)
    if isinstance(a, ClippedColumns):
        return _move_of_scores(a, b) if isinstance(query, Quantiles) else _move_of_values(a, b)
    if isinstance(a, queries.SparseCounts):
        codes = np.union1d(a.codes, b.codes)
        a, b = a.get_counts(codes), b.get_counts(codes)
    if isinstance(query, EachRow):
        return Move(l1=0.0, l2=0.0, block=_moved_places(a, b), range=0.0)
    if isinstance(a, TupleTable):
        return Move(**dict.fromkeys(("l1", "l2", "block", "range"), float(exchanged(a, b))))
    if isinstance(query, queries.Weights):  # what selections compare are the magnitudes, within each cell
        gap = np.abs(a) - np.abs(b)
        return Move(0.0, 0.0, 0.0, range=float((gap.max(axis=1) - gap.min(axis=1)).sum()))
    gap = np.asarray(a - b)
    rows = gap if gap.ndim == 2 else gap[:, None]
    return Move(
        l1=float(np.abs(gap).sum()),
        l2=float(np.linalg.norm(gap)),
        block=float(np.linalg.norm(rows, axis=1).sum()),
        range=float(gap.max() - gap.min()) if gap.size else 0.0,
        one_way=float(max(gap.clip(min=0).sum(), -gap.clip(max=0).sum())),
    )


def _weights_side_by_side(one: WeightedRows, other: WeightedRows) -> tuple[np.ndarray, np.ndarray]:
    """The weight that every place has in each of two weighted sets of rows."""
    rows = np.concatenate([*one.rows, *other.rows])
    _, place = np.unique(rows, axis=0, return_inverse=True)
    place, here = place.ravel(), len(one.compute_weights())
    held = (np.bincount(place[:here], one.compute_weights(), place.max(initial=0) + 1),)
    return (*held, np.bincount(place[here:], other.compute_weights(), place.max(initial=0) + 1))


def _move_of_scores(a: ClippedColumns, b: ClippedColumns) -> Move:
    """Ranges of the change of every score over all places between two bounds, column by column and level by level."""
    ranges = []
    for column in range(len(a.lower)):
        mine, yours = a.values[:, column], b.values[:, column]
        ends = np.unique(np.r_[a.lower[column], mine, yours, a.upper[column]])
        places = (ends[1:] + ends[:-1]) / 2
        for level in a.levels:
            here, there = (np.abs((rows[:, None] < places).sum(axis=0) - level * len(rows)) for rows in (mine, yours))
            ranges.append(float(np.ptp(here - there)))
    moved = np.array(ranges)
    return Move(float(moved.sum()), float(np.linalg.norm(moved)), 0.0, float(moved.max()))


def _move_of_values(a: ClippedColumns, b: ClippedColumns) -> Move:
    """How many values of each column are replaced."""
    replaced = [
        len(mine) - sum((Counter(mine.tolist()) & Counter(yours.tolist())).values())
        for mine, yours in zip(a.values.T, b.values.T, strict=True)
    ]
    moved = np.array(replaced, dtype=float)
    return Move(float(moved.sum()), float(np.linalg.norm(moved)), 0.0, float(moved.max()))
