"""Tables made from public numbers alone: synthetic tables, and samples that no file here could hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from dpviz.tables.declarations import Declaration, FileKind
from dpviz.tables.loaded_table import USUAL_LABEL, FloatArray, IntakeError, LoadedTable, make_numeric_table

MAX_CELLS = 50_000_000  # 400 MB
_ROWS_AT_ONCE = 10_000
# Of the rows, those that belong to no cluster; and how many places are tried for the next centre: the choice of the
# farthest gains little from more.
_UNIFORM_SHARE, _CANDIDATES = 0.05, 512
_MIXED, _TEXTS, _MADE = 100_000, 20_000, 2_000_000
# Words in all, topics, words of a text, words that a topic has of its own, share of words that may be any.
_VOCABULARY, _TOPICS, _PER_ROW, _OWN, _COMMON_SHARE = 400, 5, 20, 40, 0.3
# Zinc and aluminium freeze, degrees Celsius; a platinum resistor of 100 Ω then has these many Ω.
_ZINC, _ALUMINIUM = (419.527, 253.8), (660.323, 332.9)

_PUBLIC = Declaration(
    scaling="common", kind=FileKind.PUBLIC, source="Generated on demand.", licence="CC0-1.0 (generated)"
)
MIXTURE = replace(
    _PUBLIC,
    title="64 Gaussians in 100 dimensions",
    description="A mixture of 64 well-separated Gaussians, the high-dimensional case: a grid is out of reach.",
    lower=(-1.0,),
    upper=(1.0,),
    bounds_origin="The mixture is defined inside the unit ball.",
    radius=1.0,
    n_public=_MIXED,
    source="Generated on demand, after the mixture of Google's 2021 clustering study.",
    label_column=USUAL_LABEL,
).over([f"x_{place}" for place in range(1, 101)])
WORDS = replace(
    _PUBLIC,
    title="Words of five topics",
    description="20,000 made-up texts of at most 20 out of 400 words: most entries are 0.",
    lower=(-1.0,),
    upper=(1.0,),
    bounds_origin="A word is in a text (1) or not (0); the bounds lie evenly around 0, so that a 0 stays a 0.",
    unit_of_privacy="one text (one row)",
    n_public=_TEXTS,
    label_column=USUAL_LABEL,
).over([f"word_{place}" for place in range(1, _VOCABULARY + 1)])
FIXED_POINTS = replace(
    _PUBLIC,
    columns=("temperature_1", "resistance_1", "temperature_2", "resistance_2"),
    lower=(0.0,) * 4,
    upper=(1_000.0, 500.0) * 2,
    bounds_origin="The scales of the instruments: 0 to 1,000 °C and 0 to 500 Ω.",
    scaling="unit",
    relation="replace",
)
THERMOMETERS = replace(
    FIXED_POINTS,
    title="Two fixed points, 2 million thermometers",
    description="2,000,000 thermometers tested at these points, a pair a row: for k-averages with rows = tuples.",
    unit_of_privacy="one thermometer (one row, a pair of points)",
    n_public=_MADE,
)


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
    name: str = "synthetic table",
) -> LoadedTable:
    """A synthetic table for a private table: k Gaussian clusters of unequal sizes and 5 % uniform rows.

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
    name : str
        Of the table.

    Returns
    -------
    LoadedTable
        Of nobody; data units.

    Raises
    ------
    IntakeError
        If a number is not allowed, or the table would have more than 50 million cells.
    """
    for what, value in (("n", n), ("d", d), ("k", k)):
        if value < 1:
            raise IntakeError(f"{what} is {value}; a synthetic table needs whole numbers of at least 1; raise it.")
    if n * d > MAX_CELLS:
        raise IntakeError(f"n x d is {n * d:,} cells; a synthetic table has at most {MAX_CELLS:,}; lower n or d.")
    if not (np.isfinite(spread) and spread > 0):
        raise IntakeError(f"The spread is {spread:g}; it is a share of the bounds above 0; 0.05 is usual.")
    low, high = _expand_bounds(lower, d), _expand_bounds(upper, d)
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all()):
        raise IntakeError("The bounds are not finite with lower < upper in every column; declare other bounds.")
    names = [f"x_{place}" for place in range(1, d + 1)] if columns is None else columns
    return make_numeric_table(
        low + _draw_unit_rows(n, d, k, spread, np.random.default_rng(seed)) * (high - low), names, name=name
    )


def make_gaussian_mixture(seed: int = 64) -> LoadedTable:
    """64 Gaussians in 100 dimensions, 100,000 rows in the unit ball, and a ``label`` column 0..63.

    References
    ----------
    Chang, Kamath (2021), "Practical differentially private clustering", Google AI blog: standard deviation
    0.0125 an axis, centres in the ball of radius 0.875, rows clipped to the unit ball.
    """
    n, d, k = _MIXED, 100, 64
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
    return make_numeric_table(values, [*MIXTURE.columns, USUAL_LABEL], name=MIXTURE.title)


def make_bag_of_words(seed: int = 5) -> LoadedTable:
    """20,000 texts of up to 20 different words out of 400, and a ``label`` column 0..4 with the topic.

    A topic has 40 words of its own, some of them much more frequent; three words in ten may come from anywhere.
    """
    rng = np.random.default_rng(seed)
    topic = rng.integers(_TOPICS, size=_TEXTS)
    own = np.stack([rng.choice(_VOCABULARY, _OWN, replace=False) for _ in range(_TOPICS)])
    rank = (_OWN * rng.random((_TEXTS, _PER_ROW)) ** 2).astype(np.int64)
    word = np.take_along_axis(own[topic], rank, axis=1)
    common = rng.random((_TEXTS, _PER_ROW)) < _COMMON_SHARE
    word = np.where(common, rng.integers(_VOCABULARY, size=word.shape), word)
    values = np.zeros((_TEXTS, _VOCABULARY + 1))
    np.put_along_axis(values[:, :_VOCABULARY], word, 1.0, axis=1)
    values[:, _VOCABULARY] = topic
    return make_numeric_table(values, [*WORDS.columns, USUAL_LABEL], name=WORDS.title)


def draw_fixed_points(n: int, *, spread: float, wrong: int, seed: int) -> FloatArray:
    """Pairs of points (n, 4), temperature and resistance of one and then of the other."""
    rng, (lower, upper) = np.random.default_rng(seed), FIXED_POINTS.list_bounds(FIXED_POINTS.columns)
    points = np.array([_ZINC, _ALUMINIUM]) + spread * np.array([1.0, 0.5]) * rng.standard_normal((n, 2, 2))
    swapped = rng.random(n) < 0.5
    points[swapped] = points[swapped, ::-1]
    rows = points.reshape(n, 4)
    rows[n - wrong :] = rng.uniform(lower, upper, (wrong, 4))
    return np.clip(rows, lower, upper)


def make_thermometers() -> LoadedTable:
    """Two million thermometers that are off by a degree or so: a case for averages, which no file here could hold."""
    rows = draw_fixed_points(_MADE, spread=1.0, wrong=20, seed=3)
    return make_numeric_table(rows, THERMOMETERS.columns, name=THERMOMETERS.title)


def _expand_bounds(bound: ArrayLike, d: int) -> FloatArray:
    values = np.asarray(bound, dtype=np.float64)
    if values.shape not in ((), (1,), (d,)):
        raise IntakeError(f"The bounds have shape {values.shape}; give one number, or one for each of {d} columns.")
    return np.broadcast_to(values, (d,))


def _draw_unit_rows(n: int, d: int, k: int, spread: float, rng: np.random.Generator) -> FloatArray:
    centers = _draw_spread_centers(k, d, min(2 * spread, 0.25), rng)
    sizes = 1.0 / np.arange(1, k + 1) ** 0.7
    rows = np.empty((n, d))
    for start in range(0, n, _ROWS_AT_ONCE):
        chunk = rows[start : start + _ROWS_AT_ONCE]
        cluster = rng.choice(k, size=len(chunk), p=sizes / sizes.sum())
        uniform = rng.random(len(chunk)) < _UNIFORM_SHARE
        chunk[:] = centers[cluster] + spread * rng.standard_normal((len(chunk), d))
        chunk[uniform] = rng.random((np.count_nonzero(uniform), d))
    return np.clip(rows, 0.0, 1.0, out=rows)


def _draw_spread_centers(k: int, d: int, margin: float, rng: np.random.Generator) -> FloatArray:
    """k centres in the unit cube, each the farthest of fresh candidates from those before it."""
    centers = margin + (1 - 2 * margin) * rng.random((1, d))
    for _ in range(k - 1):
        candidates = margin + (1 - 2 * margin) * rng.random((min(_CANDIDATES, 8 * k), d))
        gaps = np.linalg.norm(candidates[:, None] - centers[None], axis=2).min(axis=1)
        centers = np.vstack([centers, candidates[np.argmax(gaps)]])
    return centers
