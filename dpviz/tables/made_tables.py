"""Tables made from public numbers alone: synthetic tables, and samples that no file here could hold."""

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpviz.tables.declarations import Declaration, FileKind
from dpviz.tables.loaded_table import USUAL_LABEL, FloatArray, LoadedTable, demand, make_numeric_table
from dpviz.words import read_toml

MAX_CELLS = 50_000_000  # 400 MB
MOST_ROWS, MOST_PARTS, LEAST_SPREAD = 5_000_000, 1_000, 0.001
"""Of a synthetic table that is asked for by its numbers: rows, columns or clusters, and the width of a cluster."""
_FARTHEST = 1e100  # a bound: squares and sums of squares stay finite
# Measured on a slow core, k and d up to 1,000 and up to 2,000,000 cells, with all that opens the table.
_SECONDS_A_PAIR, _SECONDS_A_DIFFERENCE, _SECONDS_A_CELL = 5e-9, 8e-11, 3e-7
_ROWS_AT_ONCE = 10_000
# Of the rows, those that belong to no cluster; and how many places are tried for the next centre: the choice of the
# farthest gains little from more.
_UNIFORM_SHARE, _CANDIDATES = 0.05, 512
_MIXED, _TEXTS, _MADE = 100_000, 20_000, 2_000_000
# Words in all, topics, words of a text, words that a topic has of its own, share of words that may be any.
_VOCABULARY, _TOPICS, _PER_ROW, _OWN, _COMMON_SHARE = 400, 5, 20, 40, 0.3
# Zinc and aluminium freeze, degrees Celsius; a platinum resistor of 100 Ω then has these many Ω.
_ZINC, _ALUMINIUM = (419.527, 253.8), (660.323, 332.9)

_TOLD = read_toml(__file__, "made_tables.toml")


def _declare(*parts: str, n_public: int | None = None) -> Declaration:
    said = {name: value for part in ("every", *parts) for name, value in _TOLD[part].items()}
    lists = {name: tuple(value) for name, value in said.items() if isinstance(value, list)}
    return Declaration(kind=FileKind.PUBLIC, n_public=n_public, **said | lists)


MIXTURE = _declare("around_nought", "mixture", n_public=_MIXED).over([f"x_{place}" for place in range(1, 101)])
WORDS = _declare("around_nought", "words", n_public=_TEXTS).over([f"word_{at}" for at in range(1, _VOCABULARY + 1)])
FIXED_POINTS = _declare("fixed_points")
THERMOMETERS = _declare("fixed_points", "thermometers", n_public=_MADE)


class SyntheticTable(NamedTuple):
    """What a synthetic table is made of; each of its columns has the same bounds."""

    low: float
    high: float
    n: int
    d: int
    k: int
    spread: float = 0.05

    @property
    def is_allowed(self) -> bool:
        """Whether the form could ask for it, and it may be made."""
        finite = all(map(isfinite, (*self[:2], self.spread))) and max(abs(self.low), abs(self.high)) <= _FARTHEST
        within = 1 <= self.n <= MOST_ROWS and 1 <= self.d <= MOST_PARTS and 1 <= self.k <= MOST_PARTS
        spread = LEAST_SPREAD <= self.spread <= 1
        return finite and within and self.low < self.high and spread and self.n * self.d <= MAX_CELLS

    @property
    def seconds(self) -> float:
        """About how long it takes to be made: centres are compared in pairs, then cells are drawn."""
        pairs = min(_CANDIDATES, 8 * self.k) * self.k**2 / 2
        return pairs * (_SECONDS_A_PAIR + self.d * _SECONDS_A_DIFFERENCE) + self.n * self.d * _SECONDS_A_CELL

    def make(self) -> tuple[LoadedTable, Declaration]:
        """Its rows, and what is declared of them."""
        loaded = simulate(*self[:5], seed=0, spread=self.spread, name="Synthetic table")
        return loaded, Declaration(
            lower=(self.low,),
            upper=(self.high,),
            bounds_origin="declared for the simulation; nobody is in it",
            n_public=self.n,
            kind=FileKind.SIMULATED,
            title=loaded.name,
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
        demand(value >= 1, "made_whole", what=what, value=value)
    demand(n * d <= MAX_CELLS, "made_large", cells=n * d, most=MAX_CELLS)
    demand(np.isfinite(spread) and spread > 0, "made_spread", spread=spread)
    low, high = _expand_bounds(lower, d), _expand_bounds(upper, d)
    demand(np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all(), "made_bounds")
    names = [f"x_{place}" for place in range(1, d + 1)] if columns is None else columns
    rng = np.random.default_rng(seed)
    centers = _draw_spread_centers(k, d, min(2 * spread, 0.25), rng)
    sizes = 1.0 / np.arange(1, k + 1) ** 0.7
    rows = np.empty((n, d))
    for start in range(0, n, _ROWS_AT_ONCE):
        chunk = rows[start : start + _ROWS_AT_ONCE]
        cluster = rng.choice(k, size=len(chunk), p=sizes / sizes.sum())
        uniform = rng.random(len(chunk)) < _UNIFORM_SHARE
        chunk[:] = centers[cluster] + spread * rng.standard_normal((len(chunk), d))
        chunk[uniform] = rng.random((np.count_nonzero(uniform), d))
    return make_numeric_table(low + np.clip(rows, 0.0, 1.0, out=rows) * (high - low), names, name=name)


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
    demand(values.shape in ((), (1,), (d,)), "made_bounds_shape", shape=values.shape, d=d)
    return np.broadcast_to(values, (d,))


def _draw_spread_centers(k: int, d: int, margin: float, rng: np.random.Generator) -> FloatArray:
    """k centres in the unit cube, each the farthest of fresh candidates from those before it."""
    centers = np.empty((k, d))
    centers[0] = margin + (1 - 2 * margin) * rng.random(d)
    for found in range(1, k):
        candidates = margin + (1 - 2 * margin) * rng.random((min(_CANDIDATES, 8 * k), d))
        before = centers[:found]
        # Squared distances without the squares of the candidates: a table of all differences would take gigabytes.
        gaps = (before**2).sum(axis=1) - 2 * (candidates @ before.T)
        centers[found] = candidates[np.argmax(gaps.min(axis=1) + (candidates**2).sum(axis=1))]
    return centers
