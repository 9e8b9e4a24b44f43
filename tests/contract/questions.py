"""Every question that the room knows over every partition that it allows, for tests of sensitivities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpviz.privacy.accounting import Accounting
from dpviz.privacy.coordinates import ChosenSum, Weights
from dpviz.privacy.noise import StudyNoise
from dpviz.privacy.partitions import CubeTree, Everything, Grid, Projected, Voronoi
from dpviz.privacy.pulls import Pull
from dpviz.privacy.queries import Count, Loss, Query, Relation, Sensitivity, SparseCount, Sum, SwapLoss
from dpviz.privacy.room import DataRoom, PrivateTable
from dpviz.privacy.sparse import SparseCounts
from dpviz.table.domain import Domain, Region

Maker = Callable[[Region, np.random.Generator], Query]


def _points(region: Region, rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Points of the region, many of them on its rim or on each other."""
    spread = rng.choice([0.0, 0.5, 1.0, 3.0])
    return region.clip(rng.uniform(-spread, spread, (*shape, region.dim)))


def _voronoi(region: Region, rng: np.random.Generator) -> Voronoi:
    return Voronoi(_points(region, rng, int(rng.integers(1, 5))))


def _grid(region: Region, rng: np.random.Generator) -> Grid:
    return Grid.over(region, int(rng.integers(1, 6)))


def _projected(region: Region, rng: np.random.Generator) -> Projected:
    p = int(rng.integers(1, region.dim + 1))
    view = Region.ball(p, region.radius)
    return Projected(_voronoi(view, rng), rng.normal(size=(p, region.dim)), view)


def _tree(region: Region, rng: np.random.Generator) -> CubeTree:
    tree = CubeTree(np.full(region.dim, -2.0) + rng.uniform(-1, 1, region.dim), 4.0)
    for _ in range(int(rng.integers(0, 4))):
        keys = rng.integers(0, tree.n_cells, min(6, tree.n_cells))
        tree = tree.grown(np.unique(keys))
    return tree


def _pull(region: Region, rng: np.random.Generator, over: Callable[..., Voronoi | Projected]) -> Pull:
    cells = over(region, rng)
    return Pull(cells, _points(region, rng, cells.n_cells))


def _chosen(region: Region, rng: np.random.Generator, over: Callable[..., Voronoi | Projected]) -> ChosenSum:
    cells, kept = over(region, rng), int(rng.integers(1, region.dim + 1))
    return ChosenSum(cells, np.argsort(rng.random((cells.n_cells, region.dim)), axis=1)[:, :kept])


DENSE = {
    Everything: lambda region, rng: Everything(),
    Voronoi: _voronoi,
    Grid: _grid,
    Projected: _projected,
}
SPARSE = {Grid: _grid, CubeTree: _tree}

QUESTIONS: dict[str, Maker] = {}
for _kind, _over in DENSE.items():
    QUESTIONS[f"Count over {_kind.__name__}"] = lambda region, rng, over=_over: Count(over(region, rng))
    QUESTIONS[f"Sum over {_kind.__name__}"] = lambda region, rng, over=_over: Sum(over(region, rng))
for _kind, _over in SPARSE.items():
    QUESTIONS[f"SparseCount over {_kind.__name__}"] = lambda region, rng, over=_over: SparseCount(over(region, rng))
QUESTIONS["SwapLoss"] = lambda region, rng: SwapLoss(
    _points(region, rng, int(rng.integers(1, 4))), _points(region, rng, int(rng.integers(1, 5)))
)
for _over in (Voronoi, Projected):
    QUESTIONS[f"Pull over {_over.__name__}"] = lambda region, rng, over=DENSE[_over]: _pull(region, rng, over)
for _over in (Voronoi, Projected):
    QUESTIONS[f"Weights over {_over.__name__}"] = lambda region, rng, over=DENSE[_over]: Weights(over(region, rng))
    QUESTIONS[f"ChosenSum over {_over.__name__}"] = lambda region, rng, over=DENSE[_over]: _chosen(region, rng, over)
QUESTIONS["SwapLoss of distances"] = lambda region, rng: SwapLoss(
    _points(region, rng, int(rng.integers(1, 4))), _points(region, rng, int(rng.integers(1, 5))), order=1
)
QUESTIONS["Loss of distances"] = lambda region, rng: Loss(
    _points(region, rng, int(rng.integers(1, 4)), int(rng.integers(1, 3))), order=1
)
QUESTIONS["Loss"] = lambda region, rng: Loss(_points(region, rng, int(rng.integers(1, 4)), int(rng.integers(1, 3))))


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


def room_over(values: np.ndarray, domain: Domain, relation: Relation, **declared: object) -> DataRoom:
    """A room over a table of these rows, whose true answers a test may read."""
    table = PrivateTable(values, domain, relation=relation, **declared)  # type: ignore[arg-type]
    noise = StudyNoise(np.random.default_rng(0))
    return table.open(epsilon=1.0, delta=0.0, accounting=Accounting.PURE, noise=noise, needs_n=False)


@dataclass(frozen=True)
class Move:
    """How far an answer moved, in the norms of a ``Sensitivity``."""

    l1: float
    l2: float
    block: float
    range: float

    def within(self, declared: Sensitivity, *, slack: float) -> bool:
        """Whether no norm exceeds what is declared."""
        pairs = ((getattr(self, norm), getattr(declared, norm)) for norm in ("l1", "l2", "block", "range"))
        return all(moved <= bound * (1 + slack) + slack for moved, bound in pairs)


def check_move(query: Query, one: DataRoom, other: DataRoom) -> None:
    """Between neighbouring tables the true answer stays within the declared sensitivity."""
    moved, declared = move(query, one, other), one.sensitivity(query)
    assert moved.within(declared, slack=1e-9), (moved, declared)


def move(query: Query, one: DataRoom, other: DataRoom) -> Move:
    """How far the true answer moves between two rooms."""
    (a,), (b,) = one._true_answers([query]), other._true_answers([query])
    if isinstance(a, SparseCounts):
        codes = np.union1d(a.codes, b.codes)
        a, b = a.at(codes), b.at(codes)
    if isinstance(query, Weights):  # what selections compare are the magnitudes, within each cell
        gap = np.abs(a) - np.abs(b)
        return Move(0.0, 0.0, 0.0, range=float((gap.max(axis=1) - gap.min(axis=1)).sum()))
    gap = np.asarray(a - b)
    rows = gap if gap.ndim == 2 else gap[:, None]
    return Move(
        l1=float(np.abs(gap).sum()),
        l2=float(np.linalg.norm(gap)),
        block=float(np.linalg.norm(rows, axis=1).sum()),
        range=float(gap.max() - gap.min()) if gap.size else 0.0,
    )
