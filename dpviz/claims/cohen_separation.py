"""Cohen et al. 2021, Test 1: samples needed to separate two Gaussians on a line, against their distance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

import pandas as pd

from dpviz.claims.claim import Claim, Finding, Picture, Row, Verdict
from dpviz.claims.evidence import asked_again, at_least, at_most, because, judged, medians
from dpviz.claims.material import RECIPE, Shelf
from dpviz.claims.tuple_sizes import (
    DELTA,
    EPSILON,
    PAPER_TUPLES,
    SAMPLES_PER_CLUSTER,
    Mixture,
    Seed,
    averages_tuples,
    needed_tuples,
    noisy_centers_samples,
)

AVERAGES, NOISY = "Averages", "NoisyCenters"
# The same question with an answer that may not be off by more, in standard deviations.
ACCURATE, WITHIN = "Averages, each mean to within 3 standard deviations", 3.0
_STAYS, _DROPS, _SAME = 1.5, 10.0, 1.01
FORGIVEN = (
    "far groups are told apart even by centres that are hundreds of standard deviations off; with centres to within "
    f"{WITHIN:g} of them, it holds"
)


@dataclass(frozen=True)
class Settings:
    """How much is run."""

    repeats: int
    draws: int
    exponents: tuple[int, ...] = (5, 6, 7, 8, 9)


def rows(shelf: Shelf, settings: Settings) -> Iterator[Row]:
    """The size found by search, once for each repeat; no table is read."""
    del shelf
    for exponent in settings.exponents:
        mixture = Mixture(k=2, d=1, reach=2.0**exponent)
        for repeat in range(settings.repeats):
            yield from averages_rows(mixture, repeat, seed=(5, repeat), draws=settings.draws)
            yield noisy_row(mixture, repeat, seed=(5, repeat), draws=settings.draws)


def averages_rows(mixture: Mixture, repeat: int, *, seed: Seed, draws: int) -> Iterator[Row]:
    """What k-averages needs, and what it needs for means that are found well."""
    for line, within in ((AVERAGES, inf), (ACCURATE, WITHIN)):
        tuples = averages_tuples(mixture, seed=seed, draws=draws, within=within)
        yield size_row(mixture, line, repeat, tuples, mixture.k * SAMPLES_PER_CLUSTER)


def noisy_row(mixture: Mixture, repeat: int, *, seed: Seed, draws: int) -> Row:
    """What k-noisy-centers needs."""
    return size_row(mixture, NOISY, repeat, needed_tuples(), noisy_centers_samples(mixture, seed=seed, draws=draws))


def size_row(mixture: Mixture, line: str, repeat: int, tuples: float, per_tuple: float) -> Row:
    """What a search found, as a tidy row."""
    return {
        "data": "mixture of Gaussians",
        "origin": RECIPE,
        "d": mixture.d,
        "k": mixture.k,
        "epsilon": EPSILON,
        "delta": DELTA,
        "reach": mixture.reach,
        "line": line,
        "repeat": repeat,
        "tuples": tuples,
        "samples_per_tuple": per_tuple,
        "samples": tuples * per_tuple,
    }


def judge(table: pd.DataFrame) -> Verdict:
    """Whether the sizes fall with the distance, and the number of tuples."""
    sizes = medians(table, ("reach",), "samples").sort_index()
    noisy = sizes[NOISY]
    drop = float(noisy.iloc[0] / noisy.iloc[-1])
    tuples = float(table.loc[table["line"] == NOISY, "tuples"].median())
    return judged(
        table,
        asked_again(lambda line: _stays(sizes[line]), AVERAGES, FORGIVEN, ACCURATE),
        at_least(
            drop,
            _DROPS,
            says="what NoisyCenters needs drops with R",
            found=f"from {noisy.iloc[0]:.3g} to {noisy.iloc[-1]:.3g} samples, {drop:.3g}×, {_DROPS:g}× wanted",
        ),
        because(
            at_most(
                tuples / PAPER_TUPLES,
                _SAME,
                says=f"{PAPER_TUPLES:,} tuples are the least that privacy requires",
                found=f"the formulas give {tuples:,.0f}",
            ),
            "printed constants: the paper's formulas at its own ε, δ and β ask for more tuples than it reports",
        ),
    )


def _stays(samples: pd.Series) -> Finding:
    """Whether what is needed does not drop from the least distance to the largest."""
    drop = float(samples.iloc[0] / samples.iloc[-1])
    return at_most(
        drop,
        _STAYS,
        says="what Averages needs does not drop with R",
        found=f"from {samples.iloc[0]:.3g} to {samples.iloc[-1]:.3g} samples, {drop:.3g}×, {_STAYS:g}× allowed",
    )


CLAIM = Claim(
    id="cohen-separation",
    paper="Cohen et al. 2021, Test 1 (Fig. 5)",
    claim="For two Gaussians on a line, k-averages needs as many samples however far apart they are; k-noisy-centers, "
    "with 3,781 tuples, needs fewer the farther they are apart.",
    data=(),
    quick=Settings(repeats=1, draws=10, exponents=(5, 7, 9)),
    full=Settings(repeats=10, draws=10),
    rows=rows,
    judge=judge,
    pictures=(
        Picture(
            title="Samples needed against R, d = 1, k = 2 (Cohen et al. 2021, Fig. 5)",
            x="reach",
            y="samples",
            x_title="R",
            y_title="samples",
            log_x=True,
            log_y=True,
        ),
    ),
    notes=(
        "Tuples are drawn by the law of block means: clusters this far apart are found without a slip.",
        "Enough is what four draws in five succeed with, searched in steps of √2.",
        "λ is the corrected one; the printed λ is not private.",
    ),
)
