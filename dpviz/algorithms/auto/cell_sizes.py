"""How many cells a grid of ``auto`` has: by public and released numbers, before what it is laid over is known.

Many cells show where rows are, few are full enough to be told from noise. What trees of details make of a histogram
hardly depends on noise in single cells, so that they may be smaller than where cells are only smoothed. Constants were
chosen by hand on tables whose families stand in ``benchmarks/families.py``.
"""

from __future__ import annotations

from math import sqrt

# How many cells a grid has.
# Chosen by hand on the tuning families of ``benchmarks/families.py``.

_NOISE_PART = 0.3  # cells of a grid that is smoothed: so many that their noise is this part of a cluster
# Rows in a cell that is read through trees: so many scales of noise, where rows fill a domain of one column evenly.
_SCALES_PER_CELL = 3.0
# No fewer cells in all, or for each cluster.
_FEWEST_CELLS = 32
_CELLS_PER_CLUSTER = 4
# No more for each cluster and axis, over few columns and over a view.
_PER_AXIS_FLAT = 20.0
_PER_AXIS_VIEW = 12.0
# No more in all.
_MOST_FLAT = 60_000
_MOST_VIEW = 20_000
# Cells that widen outwards, over those of a grid of equal ones: they have to be few, so that rows far away share one.
_WIDENING_PART = 0.25
# But no fewer in all, or for each cluster.
_FEWEST_WIDENING = 100.0
_WIDENING_PER_CLUSTER = 20.0
_ENOUGH_SCALES = 25.0  # rows of a cluster have to be so many scales for finer grids to be tried


# Finer grids that are tried have so many times the cells; rows of a cluster have to be so many scales for any of that.
FINER = (4.0, 16.0)


def can_tell_apart(n: int, k: int, scale: float) -> bool:
    """Whether clusters hold enough rows, in scales of noise, for trees of details to tell them from noise."""
    return n / (k * scale) >= _ENOUGH_SCALES


def count_smoothed_cells(n: int, k: int, scale: float, axes: int, *, flat: bool) -> float:
    """Cells whose noise, in the mean of a cluster, is a part of the cluster: about (0.3 n / sd)² / k, within limits."""
    wanted = (_NOISE_PART * n / (sqrt(2) * scale)) ** 2 / k
    return _limit_cells(wanted, k, axes, flat=flat)


def count_tree_cells(n: int, k: int, scale: float, dim: int) -> float:
    """(n / (3 scales))^(2d / (2 + d)) cells, within limits: as a density in d columns is best read from a histogram."""
    return _limit_cells((n / (_SCALES_PER_CELL * scale)) ** (2 * dim / (2 + dim)), k, dim, flat=True)


def count_widening_cells(n: int, k: int, scale: float, dim: int) -> float:
    """Cells of a grid that widens outwards: a part of those of equal ones, within limits."""
    few = max(_FEWEST_WIDENING, _WIDENING_PER_CLUSTER * k)
    return max(_WIDENING_PART * count_tree_cells(n, k, scale, dim), min(few, count_most_flat(k, dim)))


def list_finer_cells(n: int, k: int, scale: float, dim: int) -> list[float]:
    """The numbers of cells of finer grids, within limits: those below them are worth trying."""
    return [min(times * count_tree_cells(n, k, scale, dim), count_most_flat(k, dim)) for times in FINER]


def count_most_flat(k: int, dim: int) -> float:
    """The most cells of a grid over few columns."""
    return _count_most(k, dim, flat=True)


def _limit_cells(wanted: float, k: int, axes: int, *, flat: bool) -> float:
    return max(1.0, min(max(wanted, _CELLS_PER_CLUSTER * k, _FEWEST_CELLS), _count_most(k, axes, flat=flat)))


def _count_most(k: int, axes: int, *, flat: bool) -> float:
    per_axis, most = (_PER_AXIS_FLAT, _MOST_FLAT) if flat else (_PER_AXIS_VIEW, _MOST_VIEW)
    return float(min(most, k * per_axis ** min(axes, 40)))
