"""Tables made from public numbers alone: stand-ins for a private file, and the 64-Gaussian mixture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dpviz.table.declaration import Declaration, FileKind
from dpviz.table.loaded_table import FloatArray, IntakeError, LoadedTable, numeric_table

MAX_CELLS = 50_000_000
_ROWS_AT_ONCE = 10_000
_UNIFORM_SHARE = 0.05
_CANDIDATES = 512


def simulate(
    lower: ArrayLike,
    upper: ArrayLike,
    n: int,
    d: int,
    k: int,
    seed: int,
    spread: float = 0.05,
    *,
    columns: Sequence[str] | None = None,
    name: str = "stand-in",
) -> LoadedTable:
    """A stand-in for a private table: k Gaussian clusters of unequal sizes and 5 % uniform rows.

    Parameters
    ----------
    lower, upper : numbers or arrays of shape (d,)
        Declared bounds, data units; every row lies within.
    n, d, k : int
        Rows, columns, clusters.
    seed : int
        The same seed gives the same table.
    spread : float
        Standard deviation of a cluster along each axis, as a share of the distance between the bounds.
    columns : sequence of str, optional
        Names of the d columns; ``x_1``, ``x_2``, ... by default.

    Raises
    ------
    IntakeError
        If a number is not allowed, or the table would have more than 50 million cells.
    """
    for what, value in (("n", n), ("d", d), ("k", k)):
        if value < 1:
            raise IntakeError(f"{what} is {value}; a stand-in needs whole numbers of at least 1; raise it.")
    if n * d > MAX_CELLS:
        raise IntakeError(f"n x d is {n * d:,} cells; a stand-in has at most {MAX_CELLS:,}; lower n or d.")
    if not (np.isfinite(spread) and spread > 0):
        raise IntakeError(f"The spread is {spread:g}; it is a share of the bounds above 0; 0.05 is usual.")
    low, high = _bounds(lower, d), _bounds(upper, d)
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all()):
        raise IntakeError("The bounds are not finite with lower < upper in every column; declare other bounds.")
    names = [f"x_{place}" for place in range(1, d + 1)] if columns is None else columns
    return numeric_table(
        low + _unit_rows(n, d, k, spread, np.random.default_rng(seed)) * (high - low), names, name=name
    )


def gaussian_mixture(seed: int = 64) -> LoadedTable:
    """64 Gaussians in 100 dimensions, 100,000 rows in the unit ball, and a ``label`` column 0..63.

    References
    ----------
    Chang, Kamath (2021), "Practical differentially private clustering", Google AI blog: standard deviation
    0.0125 an axis, centres in the ball of radius 0.875, rows clipped to the unit ball.
    """
    n, d, k = 100_000, 100, 64
    rng = np.random.default_rng(seed)
    directions = rng.standard_normal((k, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    centers = directions * (0.875 * rng.random((k, 1)) ** (1 / d))
    values = np.empty((n, d + 1))
    for start in range(0, n, _ROWS_AT_ONCE):
        chunk = values[start : start + _ROWS_AT_ONCE]
        label = rng.integers(k, size=len(chunk))
        rows = centers[label] + 0.0125 * rng.standard_normal((len(chunk), d))
        chunk[:, :d] = rows / np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))
        chunk[:, d] = label
    return numeric_table(values, [*_mixture_columns(), "label"], name="64 Gaussians in 100 dimensions")


def gaussian_mixture_sidecar() -> Declaration:
    """What is declared about ``gaussian_mixture``."""
    columns = _mixture_columns()
    return Declaration(
        title="64 Gaussians in 100 dimensions",
        description="A mixture of 64 well-separated Gaussians, the high-dimensional case: a grid is out of reach.",
        columns=columns,
        lower=(-1.0,) * len(columns),
        upper=(1.0,) * len(columns),
        bounds_origin="The mixture is defined inside the unit ball.",
        scaling="common",
        radius=1.0,
        n_public=100_000,
        kind=FileKind.PUBLIC,
        source="Generated on demand, after the mixture of Google's 2021 clustering study.",
        licence="CC0-1.0 (generated)",
        label_column="label",
    )


def _mixture_columns() -> tuple[str, ...]:
    return tuple(f"x_{place}" for place in range(1, 101))


def _bounds(bound: ArrayLike, d: int) -> FloatArray:
    values = np.asarray(bound, dtype=np.float64)
    if values.shape not in ((), (1,), (d,)):
        raise IntakeError(f"The bounds have shape {values.shape}; give one number, or one for each of {d} columns.")
    return np.broadcast_to(values, (d,))


def _unit_rows(n: int, d: int, k: int, spread: float, rng: np.random.Generator) -> FloatArray:
    centers = _spread_out(k, d, min(2 * spread, 0.25), rng)
    sizes = 1.0 / np.arange(1, k + 1) ** 0.7
    rows = np.empty((n, d))
    for start in range(0, n, _ROWS_AT_ONCE):
        chunk = rows[start : start + _ROWS_AT_ONCE]
        cluster = rng.choice(k, size=len(chunk), p=sizes / sizes.sum())
        uniform = rng.random(len(chunk)) < _UNIFORM_SHARE
        chunk[:] = centers[cluster] + spread * rng.standard_normal((len(chunk), d))
        chunk[uniform] = rng.random((np.count_nonzero(uniform), d))
    return np.clip(rows, 0.0, 1.0, out=rows)


def _spread_out(k: int, d: int, margin: float, rng: np.random.Generator) -> FloatArray:
    """k centres in the unit cube, each the farthest of fresh candidates from those before it."""
    centers = margin + (1 - 2 * margin) * rng.random((1, d))
    for _ in range(k - 1):
        candidates = margin + (1 - 2 * margin) * rng.random((min(_CANDIDATES, 8 * k), d))
        gaps = np.linalg.norm(candidates[:, None] - centers[None], axis=2).min(axis=1)
        centers = np.vstack([centers, candidates[np.argmax(gaps)]])
    return centers
