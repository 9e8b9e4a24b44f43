"""Generated tables for the bench: families that constants were chosen on, and families that only judge.

Every family fills the ball of radius 1 (the box up to three columns) with ``k`` groups of ``n`` rows in ``d`` columns.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from dpviz.core.domain import Domain, Scaling
from dpviz.core.private_session import PrivateTable

Rows = npt.NDArray[np.float64]
Generator = np.random.Generator

# In the ball the middles of groups stay this far inside.
_RIM = 0.85


def group_middles(k: int, d: int, rng: Generator) -> Rows:
    """Middles of ``k`` groups (k, d), some way inside the rim."""
    if d <= 3:
        return rng.uniform(-_RIM, _RIM, (k, d))
    directions = rng.normal(size=(k, d))
    radii = _RIM * rng.uniform(0.3, 1.0, (k, 1))
    return radii * directions / np.linalg.norm(directions, axis=1, keepdims=True)


def group_width(k: int, d: int) -> float:
    """A standard deviation for which groups overlap a little, but can be told apart."""
    return 0.25 * k ** (-1 / min(d, 3)) / np.sqrt(max(d, 3) / 3)


def _sizes(n: int, shares: Rows, rng: Generator) -> npt.NDArray[np.int64]:
    return rng.choice(len(shares), n, p=shares / shares.sum())


def equal_groups(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Round Gaussians of one size and one width."""
    who = rng.integers(0, k, n)
    return group_middles(k, d, rng)[who] + group_width(k, d) * rng.normal(size=(n, d))


def zipf_groups(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Round Gaussians whose sizes fall like 1, 1/2, 1/3, ..."""
    who = _sizes(n, 1.0 / np.arange(1, k + 1), rng)
    return group_middles(k, d, rng)[who] + group_width(k, d) * rng.normal(size=(n, d))


def far_groups(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Groups a quarter as wide: far apart from each other."""
    who = rng.integers(0, k, n)
    return group_middles(k, d, rng)[who] + group_width(k, d) / 4 * rng.normal(size=(n, d))


def unlike_widths(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Groups whose widths differ tenfold, and whose sizes are random."""
    widths = group_width(k, d) * 10 ** rng.uniform(-0.7, 0.3, k)
    who = _sizes(n, rng.dirichlet(np.full(k, 2.0)), rng)
    return group_middles(k, d, rng)[who] + widths[who, None] * rng.normal(size=(n, d))


def heavy_tails(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Student groups of three degrees of freedom: some rows lie far from every middle."""
    who = rng.integers(0, k, n)
    stretch = np.sqrt(3 / rng.chisquare(3, n))
    return group_middles(k, d, rng)[who] + group_width(k, d) / 1.7 * stretch[:, None] * rng.normal(size=(n, d))


def elongated(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Gaussians twelve times longer along one random direction than along another."""
    who = rng.integers(0, k, n)
    noise = rng.normal(size=(n, d))
    for j in range(k):
        axes = np.linalg.qr(rng.normal(size=(d, d)))[0]
        noise[who == j] = noise[who == j] * np.geomspace(2.0, 1 / 6, d) @ axes
    return group_middles(k, d, rng)[who] + group_width(k, d) * noise


def spikes(n: int, d: int, k: int, rng: Generator) -> Rows:
    """A third of the rows anywhere, the others in tight spots."""
    who = rng.integers(0, k, n)
    rows = group_middles(k, d, rng)[who] + group_width(k, d) / 10 * rng.normal(size=(n, d))
    stray = rng.random(n) < 1 / 3
    anywhere = rng.normal(size=(n, d))
    anywhere *= (rng.random(n) ** (1 / d) / np.linalg.norm(anywhere, axis=1))[:, None]
    rows[stray] = anywhere[stray]
    return rows


def hollow(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Rows on the surfaces of balls: no row near a middle."""
    who = rng.integers(0, k, n)
    directions = rng.normal(size=(n, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    radius = group_width(k, d) * np.sqrt(d)
    return group_middles(k, d, rng)[who] + radius * directions * rng.normal(1, 0.05, (n, 1))


def unlike_sizes(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Round Gaussians of sizes 1, 20 and 100 in turn: a light one is easily taken for noise."""
    who = _sizes(n, np.array([1.0, 20.0, 100.0])[np.arange(k) % 3], rng)
    return group_middles(k, d, rng)[who] + group_width(k, d) * rng.normal(size=(n, d))


def far_and_rare(n: int, d: int, k: int, rng: Generator) -> Rows:
    """All groups but one in the inner part of the domain; one row in twenty far out in one direction."""
    who = rng.integers(0, k - 1, n)
    rows = 0.3 * (group_middles(k - 1, d, rng)[who] + group_width(k, d) * rng.normal(size=(n, d)))
    out = rng.normal(size=d)
    out *= 0.9 / max(np.linalg.norm(out), float(np.abs(out).max()))
    far = rng.random(n) < 0.05
    rows[far] = out + 0.3 * group_width(k, d) * rng.normal(size=(int(far.sum()), d))
    return rows


def amounts(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Log-normal columns, like incomes: the farthest row decides how small all others are."""
    who = rng.integers(0, k, n)
    rows = np.exp(rng.normal(0, 0.7, (k, d))[who] + 0.5 * rng.normal(size=(n, d)))
    if d <= 3:
        return np.asarray(2 * rows / rows.max(axis=0) - 1)
    rows -= np.median(rows, axis=0)
    return np.asarray(rows / np.linalg.norm(rows, axis=1).max())


def geometric_sizes(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Narrow Gaussians of sizes 1, 5, 25 and 125 in turn."""
    who = _sizes(n, 5.0 ** (np.arange(k) % 4), rng)
    return group_middles(k, d, rng)[who] + group_width(k, d) / 2 * rng.normal(size=(n, d))


def one_rare(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Half of the domain is empty but for one row in thirty, which lie together."""
    who = rng.integers(0, k - 1, n)
    rows = 0.45 * (group_middles(k - 1, d, rng)[who] + group_width(k, d) * rng.normal(size=(n, d)))
    out = np.abs(rng.normal(size=d))
    out *= 0.85 / max(np.linalg.norm(out), float(out.max()))
    rare = rng.random(n) < 1 / 30
    rows[rare] = out + 0.2 * group_width(k, d) * rng.normal(size=(int(rare.sum()), d))
    return rows


def long_tails(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Gaussians whose rows are stretched by a log-normal factor each."""
    who, stretch = rng.integers(0, k, n), np.exp(0.8 * rng.normal(size=(n, 1)))
    return group_middles(k, d, rng)[who] + group_width(k, d) / 2 * stretch * rng.normal(size=(n, d))


def _within(rows: Rows) -> Rows:
    """Moved to their middle, and shrunk into the domain if they reach beyond it."""
    centred = rows - np.median(rows, axis=0)
    length = np.abs(centred).max() if rows.shape[1] <= 3 else np.linalg.norm(centred, axis=1).max()
    return np.asarray(centred * min(1.0, 1 / float(length)))


def one_long_column(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Groups in all columns but one, which is log-normal and has nine tenths of the spread."""
    rows = equal_groups(n, d, k, rng)
    long = np.exp(1.2 * rng.normal(size=n))
    rest = np.sqrt(rows[:, 1:].var(axis=0).sum()) if d > 1 else 1.0
    rows[:, 0] = 3 * max(float(rest), 1e-3) * long / long.std()
    return _within(rows)


def tails_in_one_scale(n: int, d: int, k: int, rng: Generator) -> Rows:
    """One column of Pareto law, as counts and durations are, with most of the spread; groups in all others."""
    rows = equal_groups(n, d, k, rng)
    long = np.minimum(rng.pareto(2.5, n), 30.0)
    rest = np.sqrt(rows[:, 1:].var(axis=0).sum()) if d > 1 else 1.0
    rows[:, 0] = 4 * max(float(rest), 1e-3) * long / long.std()
    return _within(rows)


def several_scales(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Columns whose widths differ up to a hundredfold."""
    return _within(equal_groups(n, d, k, rng) * 10 ** -rng.uniform(0, 2, d))


def whole_numbers(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Columns of few values, as answers to a questionnaire; of more where there are few columns."""
    values = 2 if d > 3 else 25
    return np.asarray(np.rint(values * equal_groups(n, d, k, rng)) / values)


def twice_as_many(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Twice as many groups as are asked for: two outcomes are often alike."""
    return equal_groups(n, d, 2 * k, rng)


def amid_noise(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Half of the rows in groups, half of them in one wide cloud."""
    rows, stray = equal_groups(n, d, k, rng), rng.random(n) < 0.5
    rows[stray] = 0.4 / np.sqrt(max(d, 3) / 3) * rng.normal(size=(int(stray.sum()), d))
    return rows


def broad_groups(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Round Gaussians twice as wide: they run into each other."""
    who = rng.integers(0, k, n)
    return group_middles(k, d, rng)[who] + 2 * group_width(k, d) * rng.normal(size=(n, d))


def light_far_groups(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Two groups in three are a tenth as large, and all are narrow."""
    who = _sizes(n, np.array([10.0, 1.0, 1.0])[np.arange(k) % 3], rng)
    return group_middles(k, d, rng)[who] + group_width(k, d) / 4 * rng.normal(size=(n, d))


def boxes(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Cubes that rows fill evenly, as wide as the round groups are."""
    who = rng.integers(0, k, n)
    return group_middles(k, d, rng)[who] + group_width(k, d) * rng.uniform(-np.sqrt(3), np.sqrt(3), (n, d))


def stretched(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Gaussians four times as long along one direction of their own as along all others."""
    who, noise = rng.integers(0, k, n), 0.6 * rng.normal(size=(n, d))
    directions = rng.normal(size=(k, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    noise += 3 * (noise * directions[who]).sum(axis=1, keepdims=True) * directions[who]
    return group_middles(k, d, rng)[who] + group_width(k, d) * noise


def touching_groups(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Round Gaussians half as wide again."""
    who = rng.integers(0, k, n)
    return group_middles(k, d, rng)[who] + 1.5 * group_width(k, d) * rng.normal(size=(n, d))


def _with_long_column(long: Rows, times: float, d: int, k: int, rng: Generator) -> Rows:
    """Groups in all columns but the first, which is ``long`` and has so many times the deviation of all others."""
    rows = equal_groups(len(long), d, k, rng)
    rest = np.sqrt(rows[:, 1:].var(axis=0).sum()) if d > 1 else 1.0
    rows[:, 0] = times * max(float(rest), 1e-3) * long / max(float(long.std()), 1e-3)
    return _within(rows)


def mostly_zero_column(n: int, d: int, k: int, rng: Generator) -> Rows:
    """A column that is 0 in nine rows of ten and log-normal in the others: amounts of money that few have."""
    long = np.where(rng.random(n) < 0.1, np.exp(rng.normal(size=n)), 0.0)
    return _with_long_column(long, 2.5, d, k, rng)


def gamma_column(n: int, d: int, k: int, rng: Generator) -> Rows:
    """A column of gamma law, as waiting times are, with most of the spread."""
    return _with_long_column(rng.gamma(0.5, size=n), 2.0, d, k, rng)


def student_column(n: int, d: int, k: int, rng: Generator) -> Rows:
    """A column of Student law of two degrees of freedom, on both sides, with nearly all of the spread."""
    return _with_long_column(np.clip(rng.standard_t(2, n), -40, 40), 5.0, d, k, rng)


def long_counts(n: int, d: int, k: int, rng: Generator) -> Rows:
    """A column of whole numbers, most of them small: visits, purchases, citations."""
    return _with_long_column(rng.negative_binomial(0.4, 0.02, n).astype(np.float64), 3.0, d, k, rng)


def two_long_columns(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Two log-normal columns that hang together, the second less wide: income and wealth."""
    normal = 0.8 * rng.normal(size=(n, 1)) + 0.6 * rng.normal(size=(n, 2))
    long = np.exp(1.1 * normal)
    rows = _with_long_column(long[:, 0], 3.0, d, k, rng)
    if d > 2:
        rows[:, 1] = 0.4 * rows[:, 0].std() / long[:, 1].std() * long[:, 1]
    return _within(rows)


def hanging_together(n: int, d: int, k: int, rng: Generator) -> Rows:
    """Many columns that follow a few hidden ones, with noise of their own: bands of a picture, answers to a form."""
    hidden = min(d, 5)
    who = _sizes(n, rng.dirichlet(np.full(k, 4.0)), rng)
    few = group_middles(k, hidden, rng)[who] + group_width(k, hidden) * rng.normal(size=(n, hidden))
    rows = few @ rng.normal(size=(hidden, d)) / np.sqrt(d)
    return _within(rows + 0.15 * rows.std() * rng.normal(size=(n, d)))


Kind = Literal["compact", "unknown", "tails"]
"""``compact``: clusters of like size, about as far apart as they are wide, next to no row far from all of them.
``tails``: one column in a common scale has most of the spread, much of it far out. ``unknown``: anything else."""


@dataclass(frozen=True)
class Family:
    """A way to make tables, of a ``kind``; ``judging`` families were never looked at while constants were chosen.

    ``light_far``: some groups are light and lie far from all others, so that a run finds them or misses them.
    """

    name: str
    make: Callable[[int, int, int, Generator], Rows]
    judging: bool
    kind: Kind
    light_far: bool = False


FAMILIES = (
    Family("equal groups", equal_groups, judging=False, kind="compact"),
    Family("Zipf sizes", zipf_groups, judging=False, kind="unknown"),
    Family("far groups", far_groups, judging=False, kind="unknown"),
    Family("unlike widths", unlike_widths, judging=True, kind="unknown"),
    Family("heavy tails", heavy_tails, judging=True, kind="unknown"),
    Family("elongated", elongated, judging=True, kind="compact"),
    Family("spikes", spikes, judging=True, kind="unknown"),
    Family("hollow", hollow, judging=True, kind="compact"),
    Family("unlike sizes", unlike_sizes, judging=True, kind="unknown"),
    Family("far and rare", far_and_rare, judging=True, kind="unknown", light_far=True),
    Family("amounts", amounts, judging=True, kind="unknown"),
    Family("tails in one scale", tails_in_one_scale, judging=True, kind="tails"),
    Family("broad groups", broad_groups, judging=True, kind="compact"),
    Family("light far groups", light_far_groups, judging=True, kind="unknown", light_far=True),
    Family("long counts", long_counts, judging=True, kind="tails"),
    Family("two long columns", two_long_columns, judging=True, kind="tails"),
    Family("hanging together", hanging_together, judging=True, kind="unknown"),
)
# What forecasts are fitted on beside the families above that do not judge.
FORECAST_FAMILIES = (
    Family("geometric sizes", geometric_sizes, judging=False, kind="unknown", light_far=True),
    Family("one rare group", one_rare, judging=False, kind="unknown", light_far=True),
    Family("long tails", long_tails, judging=False, kind="unknown"),
    Family("one long column", one_long_column, judging=False, kind="tails"),
    Family("several scales", several_scales, judging=False, kind="unknown"),
    Family("whole numbers", whole_numbers, judging=False, kind="unknown"),
    Family("twice as many", twice_as_many, judging=False, kind="unknown"),
    Family("amid noise", amid_noise, judging=False, kind="unknown"),
    Family("boxes", boxes, judging=False, kind="compact"),
    Family("stretched", stretched, judging=False, kind="compact"),
    Family("touching groups", touching_groups, judging=False, kind="compact"),
    Family("mostly zero column", mostly_zero_column, judging=False, kind="tails"),
    Family("gamma column", gamma_column, judging=False, kind="tails"),
    Family("student column", student_column, judging=False, kind="tails"),
)


@dataclass(frozen=True)
class Size:
    """Rows, columns and clusters of a table."""

    n: int
    d: int
    k: int

    def __str__(self) -> str:
        return f"{self.n:,} x {self.d}, k = {self.k}"


def _judged() -> Iterator[tuple[Family, Size]]:
    by_name = {family.name: family for family in FAMILIES}
    for name, *sizes in (
        ("unlike sizes", Size(8000, 2, 12), Size(40_000, 3, 24), Size(20_000, 1, 9)),
        ("hollow", Size(6000, 2, 24)),
        ("far groups", Size(8000, 2, 30), Size(10_000, 1, 6)),
        ("unlike widths", Size(9000, 3, 30), Size(150_000, 3, 6), Size(10_000, 2, 8)),
        ("elongated", Size(5000, 2, 20), Size(10_000, 3, 6)),
        ("Zipf sizes", Size(6000, 2, 25), Size(120_000, 2, 4)),
        ("heavy tails", Size(100_000, 2, 4), Size(15_000, 3, 8)),
        ("spikes", Size(15_000, 2, 15), Size(20_000, 3, 6)),
        ("far and rare", Size(10_000, 3, 5)),
        ("amounts", Size(20_000, 3, 6), Size(10_000, 8, 4)),
        ("equal groups", Size(15_000, 3, 10)),
        ("broad groups", Size(20_000, 2, 10), Size(10_000, 3, 8)),
        ("light far groups", Size(10_000, 6, 9), Size(20_000, 22, 10), Size(10_000, 2, 12)),
        ("hanging together", Size(6000, 36, 6), Size(5000, 57, 5), Size(20_000, 30, 8)),
        ("tails in one scale", Size(15_000, 13, 5), Size(20_000, 8, 5), Size(5000, 57, 5)),
    ):
        for size in sizes:
            yield by_name[name], size


JUDGED = tuple(_judged())
"""Tables that judge ``auto``. Over few columns: clusters of unlike sizes, many small ones, few large ones, stray rows,
tails, far rare groups, broad groups, one column, and thirty clusters in three. Over more: amounts, light groups far
apart, many columns that hang together, tails in one scale. Tables of these families at other sizes were looked at while
constants were chosen; these were not."""


def generated(family: Family, size: Size, seed: int) -> PrivateTable:
    """The table of a family at a size; n is public."""
    mixed = np.random.SeedSequence((seed, zlib.crc32(f"{family.name} {size}".encode())))
    rows = family.make(size.n, size.d, size.k, np.random.default_rng(mixed))
    radius = 1.0 if size.d > 3 else None
    domain = Domain.of([f"x{j}" for j in range(size.d)], -1.0, 1.0, radius=radius, scaling=Scaling.COMMON)
    return PrivateTable(rows, domain, n_public=size.n)
