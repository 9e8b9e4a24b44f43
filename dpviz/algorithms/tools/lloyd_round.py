"""A noisy round of Lloyd's iteration, shared by all that measure cluster means, and what is free after it."""

from collections.abc import Iterator, Sequence
from math import sqrt

import numpy as np

from dpviz.algorithms.card import Setting
from dpviz.algorithms.steps import CentersStep
from dpviz.core import Accounting, Array, Budget, PrivateSession, Region, gdp_mu, mechanisms, partitions, queries

# Typical distance of a centre from the middle of its axis, in half-widths: 2ρ with the ρ = .225 of Su et al.
TYPICAL_OFFSET = 0.45
# A centre is idle below this part of an equal share of the rows; it is then put beside the heaviest centre at this part
# of the distance to the next one, close enough to split its cluster. Both chosen by hand, not measured.
_IDLE_PART, _STEP_PART = 0.1, 0.25


def compute_count_to_sum_ratio(dim: int, accounting: Accounting, *, spherical: bool) -> float:
    """The best ratio of the budget for counts to the budget for sums, from the error of sum / count."""
    # With noise of total variance a/x² (or a/x) on the sum and b/y² (or b/y) on the count times the centre's norm, the
    # least sum at x + y = 1 has y/x = ∛(b/a) for pure mechanisms and √(b/a) for Gaussian ones: Eqs. 5-6 of Su et al.
    # 2016 for Laplace noise, by the same argument of Lagrange for the others.
    if accounting is not Accounting.PURE:
        return TYPICAL_OFFSET / sqrt(dim)
    if spherical:
        return float((2 * TYPICAL_OFFSET**2 / (dim * (dim + 1))) ** (1 / 3))
    return float((TYPICAL_OFFSET**2 / dim**2) ** (1 / 3))


def plan_gaussian_rounds(session: PrivateSession, k: int) -> int:
    """Rounds of Gaussian noise that the whole budget can feed, from public quantities: 2 to 7."""
    # The rule of Diaa et al. 2025 (FastLloyd).
    multiplier = session.rows_per_person / gdp_mu(session.ledger.epsilon, session.ledger.delta)
    rounds = 0.004 * session.n**2 / (k**3 * session.dim * (TYPICAL_OFFSET + sqrt(session.dim)) ** 2 * multiplier**2)
    return int(np.clip(rounds, 2, 7))


def compute_gaussian_smallest_n(setting: Setting, rounds: int) -> float:
    """Records at which Gaussian noise of a mean, in each of ``rounds``, is half the distance between centres."""
    k, dim = setting.k, setting.dim
    # Without δ there is no such run: a Gaussian of that ε at a small δ has about this μ.
    mu = gdp_mu(setting.epsilon, setting.delta) if setting.delta > 0 else setting.epsilon / 5
    return float(k ** (1 + 1 / dim) * sqrt(dim * rounds) * (sqrt(dim) + TYPICAL_OFFSET) / mu)


def run_lloyd_round(
    session: PrivateSession,
    budget: Budget,
    fallback: Array,
    *,
    title: str,
    note: str,
    cells: partitions.Voronoi | partitions.ProjectedCells | None = None,
    ratio: float | None = None,
    spherical: bool = False,
    ahead: int | None = None,
) -> CentersStep:
    """Noisy counts and sums of ``cells``, turned into centres (k, d) inside the session's region, unit coordinates.

    A centre whose noisy count says nothing goes to its place in ``fallback`` (k, d), whose cells are taken where no
    others are given.

    **Guarantee.** ``budget``, for the session's relation; empty cells are measured like all others.
    """
    if ratio is None:
        ratio = compute_count_to_sum_ratio(session.dim, session.accounting, spherical=spherical and session.spherical)
    share, cells = budget.split(counts=ratio, sums=1.0), cells or partitions.Voronoi(fallback)
    counts, sums = session.ask_together(
        mechanisms.Question(queries.Count(cells), session.noise_kind(), share.counts),
        mechanisms.Question(queries.Sum(cells), session.noise_kind(spherical=spherical), share.sums),
        note=note,
    )
    return CentersStep(
        title=title,
        ahead=ahead,
        centers=compute_noisy_means(counts, sums, fallback, session.region),
        noisy_counts=counts.value,
        previous=fallback,
        center_noise_sd=compute_center_noise_sd(counts, sums),
        count_noise_sd=counts.sd,
    )


def run_lloyd_rounds(
    session: PrivateSession,
    centers: Array,
    budgets: Sequence[Budget],
    *,
    title: str,
    note: str,
    ratio: float | None = None,
    spherical: bool = False,
    counts_down: bool = True,
    idle_by_noise: bool = False,
    rng: np.random.Generator | None = None,
) -> Iterator[CentersStep]:
    """A round for each of ``budgets`` from ``centers`` (k, d); ``title`` and ``note`` have places for its number.

    With an ``rng`` centres are revived between rounds: those that are idle by ``revive``'s own rule, or those that
    cannot be told from empty ones.

    **Guarantee.** The sum of ``budgets``.
    """
    for t, budget in enumerate(budgets, start=1):
        called, noted, left = title.format(t=t, rounds=len(budgets)), note.format(t=t), len(budgets) - t
        ahead = left if counts_down else None
        step = run_lloyd_round(
            session, budget, centers, title=called, note=noted, ratio=ratio, spherical=spherical, ahead=ahead
        )
        yield step
        centers = step.centers
        if rng is not None and left and step.noisy_counts is not None and step.count_noise_sd is not None:
            idle = max(1.0, 2 * step.count_noise_sd) if idle_by_noise else None
            centers = revive(centers, step.noisy_counts, session.n, session.region, rng, idle_below=idle)


Noisy = mechanisms.Measurement[Array, mechanisms.Additive]


def compute_noisy_means(noisy_counts: Noisy, noisy_sums: Noisy, fallback: Array, region: Region) -> Array:
    """Released means per cluster, shape (k, d), moved to where means of rows of ``region`` can be."""
    # A count below twice its noise (and below 1) says nothing: dividing by it would throw the centre far away.
    trusted = noisy_counts.value >= max(1.0, 2 * noisy_counts.sd)
    counts = np.where(trusted, noisy_counts.value, 1.0)
    means = np.where(trusted[:, None], noisy_sums.value / counts[:, None], fallback)
    return region.settle_points(means)


def compute_center_noise_sd(noisy_counts: Noisy, noisy_sums: Noisy) -> Array:
    """Standard deviation of the noise on one coordinate of each mean, shape (k,); from released values only."""
    return noisy_sums.sd / np.maximum(noisy_counts.value, max(1.0, 2 * noisy_counts.sd))


def revive(
    centers: Array,
    noisy_counts: Array,
    n: int,
    region: Region,
    rng: np.random.Generator,
    *,
    idle_below: float | None = None,
) -> Array:
    """Released ``centers`` (k, d) with each idle one moved next to the heaviest one, unit coordinates.

    A start that ignores the data leaves centres in empty corners, where Lloyd's iteration never finds them again.
    Uses released counts, the public (or paid) ``n`` and public coins only. ``idle_below`` is the noisy count under
    which a centre is idle; None: a tenth of an equal share of the rows.
    """
    moved, weight = centers.copy(), noisy_counts.copy()
    idle = noisy_counts < (_IDLE_PART * n / len(centers) if idle_below is None else idle_below)
    busy = ~idle
    for j in np.flatnonzero(idle):
        heaviest = int(weight.argmax())
        others = busy.copy()
        others[heaviest] = False
        gaps = np.linalg.norm(moved[others] - moved[heaviest], axis=1)
        direction = rng.normal(size=region.dim)
        direction *= _STEP_PART * (gaps.min() if len(gaps) else region.radius) / np.linalg.norm(direction)
        moved[j] = moved[heaviest] + direction
        weight[heaviest] /= 2
        weight[j] = weight[heaviest]
    return region.settle_points(moved)
