"""Cohen et al. 2021, §5: noise on every sample and a mixture fitted to what is left, the naive baseline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import log, sqrt

import numpy as np
import pandas as pd

from dpviz.arrays import Array
from dpviz.claims.claim import Claim, Picture, Row, Verdict
from dpviz.claims.evidence import add_reason, compare_least, compare_most, conclude
from dpviz.claims.material import RECIPE, Material
from dpviz.claims.trials import Series
from dpviz.claims.tuple_sizes import DELTA, EPSILON, Mixture, count_needed_tuples
from dpviz.runs.run import run
from dpviz.table.domain import Domain

LINES = FITTED, PACKAGE, NOISY = "noise on every row, GaussianMixture", "noise on every row, k-means", "k-noisy-centers"
_NAME, _REACH = "two Gaussians", 512.0
# A mean that is off by the distance of both means from 0 says nothing.
_LOST, _FOUND = 1.0, 0.5


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
    mixture, rng = Mixture(k=2, d=1, reach=_REACH), np.random.default_rng((7, n, repeat))
    samples = mixture.means[np.arange(n) % 2] + rng.standard_normal((n, 1))
    table = Material(_NAME, RECIPE, samples, Domain.of(["x"], -mixture.bound, mixture.bound))
    for line, centers in (
        (FITTED, _fit_mixture(samples, mixture.bound, rng)),
        (PACKAGE, _run_package(table, {"preset": "naive"}, "gaussian-mixture", repeat)),
        (NOISY, _run_package(table, _choose_tuple_params(n), "k-noisy-centers", repeat)),
    ):
        off = np.abs(np.sort(centers[:, 0]) - np.sort(mixture.means[:, 0])).max()
        yield {"line": line, "error": float(off / _REACH), "separated": _measure_separated(samples, centers)}


def _fit_mixture(samples: Array, bound: float, rng: np.random.Generator) -> Array:
    """scikit-learn's mixture on samples with the noise that the paper names, σ = Λ/ε √ln(1/δ)."""
    from sklearn.mixture import GaussianMixture

    noisy = samples + bound * sqrt(log(1 / DELTA)) / EPSILON * rng.standard_normal(samples.shape)
    centers: Array = GaussianMixture(2, random_state=int(rng.integers(2**31))).fit(noisy).means_
    return centers


def _run_package(table: Material, params: dict[str, object], algorithm: str, repeat: int) -> Array:
    return run(algorithm, table.private, k=2, epsilon=EPSILON, delta=DELTA, params=params, seed=repeat).centers


def _choose_tuple_params(n: int) -> dict[str, object]:
    return {"preset": "paper", "rows_per_tuple": max(2, n // count_needed_tuples())}


def _measure_separated(samples: Array, centers: Array) -> float:
    """Part of the samples that are nearer to the centre on their own side."""
    nearer_low = np.abs(samples[:, 0] - centers.min()) <= np.abs(samples[:, 0] - centers.max())
    return float((nearer_low == (samples[:, 0] < 0)).mean())


def judge(table: pd.DataFrame) -> Verdict:
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
            _LOST,
            says="the fitted mixture does not find the means",
            found=f"off by {error[FITTED]:.3g} R with {n}; k-means on noisy rows {error[PACKAGE]:.3g} R",
            unit=" R off",
        ),
        add_reason(
            compare_most(
                every,
                0.5,
                says="its centres do not separate the samples",
                found=f"{right[FITTED]:.0%} of the samples on their own side in the median run; all of them in "
                f"{every:.0%} of runs",
                paper="at most 50 % of runs",
                ours=f"{100 * every:.0f} %",
            ),
            "symmetry: both means lie evenly around 0, where any two centres meet that know nothing else",
        ),
        compare_most(
            error[NOISY] / error[FITTED],
            _FOUND,
            says="k-noisy-centers does better with as many samples",
            found=f"off by {error[NOISY]:.3g} R, {right[NOISY]:.0%} of the samples on their own side",
        ),
    )


CLAIM = Claim(
    id="cohen-naive",
    paper="Cohen et al. 2021, §5",
    claim="Noise on every sample and a mixture fitted to the noisy samples fails for d = 1, k = 2, R = 512, even with "
    "a hundred million samples.",
    data=(),
    quick=Settings(sizes=(10_000, 100_000, 1_000_000), repeats=3),
    full=Settings(sizes=(10_000, 100_000, 1_000_000, 10_000_000), repeats=9),
    blocks=list_blocks,
    judge=judge,
    pictures=(
        Picture(
            title="Error of the means against the number of samples (Cohen et al. 2021, §5)",
            x="n",
            y="error",
            x_title="samples",
            y_title="largest error of a mean / R",
            log_x=True,
            log_y=True,
        ),
    ),
    notes=("Shown up to a million samples (ten million in a full run) instead of a hundred million.",),
    has_tables=False,
)
