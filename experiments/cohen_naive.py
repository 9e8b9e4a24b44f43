"""Cohen et al. 2021, §5: noise on every sample and a mixture fitted to what is left, the naive baseline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import hypot, inf, log, sqrt
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import laplace as laplace_law
from scipy.stats import norm

from dpviz.algorithms.tools.solvers import SignedPoints, draw_kmeans_pp_seeds, find_best_of_starts
from dpviz.app.charts.studies.stored_verdicts import ClaimVerdict, PaperFigure
from dpviz.core.arrays import Array
from dpviz.core.domain import Region
from dpviz.words.wording import round_percent
from experiments.claim import Claim, Row
from experiments.evidence import add_reason, compare_least, compare_most, conclude
from experiments.material import RECIPE
from experiments.trials import Series
from experiments.tuple_sizes import DELTA, EPSILON, Mixture, count_needed_tuples, draw_noisy_centers

LINES = FITTED, PACKAGE, NOISY = "noise on every row, a mixture", "noise on every row, k-means", "k-noisy-centers"
_NAME = "two Gaussians"


@dataclass(frozen=True)
class _Settings:
    """What is drawn and fitted, and when a mean is found.

    The fit ends as scikit-learn's does, and k-means has as many starts as ``gaussian-mixture`` gives it; what
    counts as found is ours.

    Parameters
    ----------
    reach : float
        Distance of both means from 0, in standard deviations.
    lost, found : float
        A mean that is off by so many such distances says nothing; one that is off by less is found.
    bins : int
        Noisy samples are counted in bins, a thousandth of the noise's standard deviation wide, and never held.
    most_rounds : int
        Rounds of the fit, at most.
    gain : float
        It ends where a round gains less.
    starts : int
        Of k-means.
    """

    reach: float = 512.0
    lost: float = 1.0
    found: float = 0.5
    bins: int = 2**14
    most_rounds: int = 100
    gain: float = 1e-3
    starts: int = 3


_SET = _Settings()


@dataclass(frozen=True)
class Settings:
    """How much is run."""

    sizes: tuple[int, ...]
    repeats: int


def list_blocks(settings: Settings) -> Iterator[Series]:
    """Samples around ±R, three ways to find both means."""
    for n in settings.sizes:
        facts = {"data": _NAME, "origin": RECIPE, "n": n, "d": 1, "k": 2, "epsilon": EPSILON, "delta": DELTA}
        yield Series(facts=facts, lines=LINES, repeats=settings.repeats, run=partial(_run, n))


def _run(n: int, repeat: int) -> Iterator[Row]:
    mixture, rng = Mixture(k=2, d=1, reach=_SET.reach), np.random.default_rng((7, n, repeat))
    gaussian = mixture.bound * sqrt(log(1 / DELTA)) / EPSILON
    laplace = 2 * mixture.bound / EPSILON
    for line, centers in (
        (FITTED, fit_mixture(*_count_noisy(n, mixture, norm(scale=hypot(gaussian, 1.0)), rng))),
        (PACKAGE, _solve_kmeans(*_count_noisy(n, mixture, laplace_law(scale=laplace), rng), mixture.bound, rng)),
        (NOISY, _draw_noisy_centers(n, mixture, rng)),
    ):
        off = np.abs(np.sort(centers) - np.sort(mixture.means[:, 0])).max()
        yield {"line": line, "error": float(off / _SET.reach), "separated": _measure_separated(centers, n)}


def _count_noisy(n: int, mixture: Mixture, noise: Any, rng: np.random.Generator) -> tuple[Array, Array]:
    """Middles of bins, and how many of ``n`` noisy samples, half of them around each mean, fall into each.

    Counts are drawn by their law. Of ``noise`` the outermost bins take what lies beyond.
    """
    end = float(noise.isf(1 / (100 * n)))
    edges = np.linspace(-end, end, _SET.bins + 1)
    counts = np.zeros(_SET.bins)
    for mean in mixture.means[:, 0]:
        below = noise.cdf(edges - mean)
        below[[0, -1]] = 0.0, 1.0
        counts += rng.multinomial(n // 2, np.diff(below))
    return (edges[1:] + edges[:-1]) / 2, counts


def fit_mixture(values: Array, counts: Array) -> Array:
    """Means (2,) of two Gaussians fitted to binned values by expectation and maximisation, from k-means.

    As scikit-learn's ``GaussianMixture`` fits them: until the mean log-likelihood gains less than 0.001, or 100 times.

    Parameters
    ----------
    values : array of shape (bins,)
        Middles.
    counts : array of shape (bins,)
        How many values each bin holds.

    Returns
    -------
    array of shape (2,)
    """
    share = counts / counts.sum()
    own = (values[:, None] > share @ values) == np.array([False, True])
    parts, before = own.astype(np.float64), -inf
    for _ in range(_SET.most_rounds):
        sizes = share @ parts
        means: Array = (share * values) @ parts / sizes
        spread = np.sqrt((share[:, None] * parts * (values[:, None] - means) ** 2).sum(axis=0) / sizes)
        density = norm.logpdf(values[:, None], means, spread) + np.log(sizes)
        whole = np.logaddexp(density[:, 0], density[:, 1])
        parts, likelihood = np.exp(density - whole[:, None]), float(share @ whole)
        if likelihood - before < _SET.gain:
            break
        before = likelihood
    return means


def _solve_kmeans(values: Array, counts: Array, bound: float, rng: np.random.Generator) -> Array:
    """What ``gaussian-mixture`` does with noisy rows: k-means, its centres moved into the bounds."""
    data, region = SignedPoints.of(values[:, None] / bound, counts), Region(np.ones(1), 1.0)
    points = data.columns.T.astype(np.float64)
    starts = [region.clip(points[draw_kmeans_pp_seeds(points, counts, 2, rng)]) for _ in range(_SET.starts)]
    centers: Array = bound * find_best_of_starts(data, starts, region).solution.centers[:, 0]
    return centers


def _draw_noisy_centers(n: int, mixture: Mixture, rng: np.random.Generator) -> Array:
    """k-noisy-centers of as many tuples as it needs; for its ⊥ both centres stand in the middle."""
    number = count_needed_tuples()
    centers = draw_noisy_centers(mixture, n // number, rng)
    return np.zeros(2) if centers is None else centers[:, 0]


def _measure_separated(centers: Array, n: int) -> float:
    """Part of ``n`` samples around ±R that are nearer to the centre on their own side, as it is on average."""
    middle = float(centers.mean())
    missed = (norm.sf(_SET.reach - middle) + norm.sf(_SET.reach + middle)) / 2
    return 1.0 - round(n * missed) / n


def judge(table: pd.DataFrame) -> ClaimVerdict:
    """Errors of the means at the largest size, in units of R."""
    largest = table[table["n"] == table["n"].max()]
    n = f"{table['n'].max():,} samples"
    error = {line: float(largest.loc[largest["line"] == line, "error"].median()) for line in (FITTED, PACKAGE, NOISY)}
    right = {line: float(largest.loc[largest["line"] == line, "separated"].median()) for line in (FITTED, NOISY)}
    every = float((largest.loc[largest["line"] == FITTED, "separated"] == 1).mean())
    return conclude(
        table,
        compare_least(
            error[FITTED],
            _SET.lost,
            says="the fitted mixture does not find the means",
            found=f"off by {error[FITTED]:.3g} R with {n}; k-means on noisy rows {error[PACKAGE]:.3g} R",
            unit=" R off",
        ),
        add_reason(
            compare_most(
                every,
                0.5,
                says="its centres do not separate the samples",
                found=f"{round_percent(right[FITTED])} of the samples on their own side in the median run; all of "
                f"them in {round_percent(every)} of runs",
                paper="at most 50 % of runs",
                ours=round_percent(every),
                counted=True,
            ),
            "symmetry: both means lie evenly around 0, where any two centres meet that know nothing else",
        ),
        compare_most(
            error[NOISY] / error[FITTED],
            _SET.found,
            says="k-noisy-centers does better with as many samples",
            found=f"off by {error[NOISY]:.3g} R, {round_percent(right[NOISY])} of the samples on their own side",
        ),
    )


CLAIM = Claim(
    id="cohen-naive",
    paper="Cohen et al. 2021, §5",
    claim="Noise on every sample and a mixture fitted to the noisy samples fails for d = 1, k = 2, R = 512, even with "
    "a hundred million samples.",
    data=(),
    quick=Settings(sizes=(100_000, 1_000_000, 10_000_000, 100_000_000), repeats=3),
    full=Settings(sizes=(100_000, 1_000_000, 10_000_000, 100_000_000), repeats=9),
    blocks=list_blocks,
    judge=judge,
    figures=(
        PaperFigure(
            title="Error of the means against the number of samples (Cohen et al. 2021, §5)",
            x="n",
            y="error",
            x_title="samples",
            y_title="largest error of a mean / R",
            log_x=True,
            log_y=True,
        ),
    ),
    notes=(
        "Noisy samples are drawn as counts of bins, tuples by the law of block means: a hundred million take no longer "
        "than a thousand.",
        "Beside the noise of the k-means line, which is eight thousand wide, the samples' own spread of 1 is left out.",
    ),
    has_tables=False,
)
