"""What the figures of Su et al. 2016 share: their six tables, their algorithms as printed, and k for each table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dpviz.claims.claim import Row
from dpviz.claims.material import Shelf
from dpviz.claims.trials import Line, grid_rows

CLUSTERS = {"S1": 15, "Gowalla": 5, "TIGER": 2, "Image": 3, "Adult-num": 5, "Lifesci": 3}
PLANE = ("S1", "Gowalla", "TIGER", "Image")
WIDE = ("Adult-num", "Lifesci")
LLOYD, GKM, GKM_3K, PGKM, GRID, HYBRID = "DPLloyd", "GkM", "GkM-3K", "PGkM", "EUGkM", "Hybrid"
LLOYD_LINE = Line(LLOYD, "dplloyd", {"preset": "su"})
GKM_LINE = Line(GKM, "gkm", {"preset": "paper"})
GKM_3K_LINE = Line(GKM_3K, "gkm", {"preset": "paper", "block": "3k"})
PGKM_LINE = Line(PGKM, "pgkm", {"preset": "paper"})
FEWER_STARTS = "A quick run solves EUGkM and Hybrid from fewer starts than the paper's 30."


def grid_line(starts: int) -> Line:
    """EUGkM from so many starts."""
    return Line(GRID, "eugkm", {"preset": "su", "starts": starts})


def hybrid_line(starts: int) -> Line:
    """Hybrid from so many starts."""
    return Line(HYBRID, "hybrid", {"preset": "su", "starts": starts})


@dataclass(frozen=True, kw_only=True)
class ByEpsilon:
    """How much is run of a figure over ε; a grid is solved from so many starts."""

    epsilons: tuple[float, ...]
    repeats: int
    starts_on_many_columns: int
    starts: int = 30


def rows_by_epsilon(shelf: Shelf, settings: ByEpsilon, lines: Callable[[int], Sequence[Line]]) -> Iterator[Row]:
    """``lines`` of a number of starts over ε, on all six tables."""
    for name, k in CLUSTERS.items():
        chosen = lines(settings.starts_on_many_columns if name in WIDE else settings.starts)
        yield from grid_rows(shelf.table(name), chosen, (k,), settings.epsilons, repeats=settings.repeats)
