"""Cohen et al. 2021, Tests 2 and 3: samples needed against k and against d."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np
import pandas as pd

from dpviz.claims.claim import Claim, Finding, Picture, Row, Verdict
from dpviz.claims.cohen_separation import AVERAGES, NOISY, size_row
from dpviz.claims.evidence import at_least, because, judged, medians, ordered, within_factor
from dpviz.claims.material import Shelf
from dpviz.claims.tuple_sizes import (
    SAMPLES_PER_CLUSTER,
    Mixture,
    averages_formula,
    averages_tuples,
    needed_tuples,
    noisy_centers_samples,
)

BY_CLUSTERS, BY_COLUMNS = "Test 2: d = 4, R = 512 k", "Test 3: k = 2, R = 256 √d"
_TUPLES_PER_UNIT, _NEAR = 5e5, 2.0


@dataclass(frozen=True)
class Settings:
    """How much is run; k-averages is run up to so many tuples times k d, and taken from its constants beyond."""

    repeats: int
    draws: int
    largest_table: float
    ks: tuple[int, ...] = (2, 4, 6, 8)
    ds: tuple[int, ...] = (4, 8, 12, 16)


def rows(shelf: Shelf, settings: Settings) -> Iterator[Row]:
    """The sizes of both tests; no table is read."""
    del shelf
    tests = [(BY_CLUSTERS, Mixture(k, 4, 512.0 * k)) for k in settings.ks]
    tests += [(BY_COLUMNS, Mixture(2, d, 256.0 * sqrt(d))) for d in settings.ds]
    for test, mixture in tests:
        for repeat in range(settings.repeats):
            rng = np.random.default_rng((6, mixture.k, mixture.d, repeat))
            per_tuple = SAMPLES_PER_CLUSTER * mixture.k
            formula = averages_formula(mixture)
            searched = formula * mixture.k * mixture.d <= settings.largest_table
            tuples = averages_tuples(mixture, rng, draws=settings.draws) if searched else formula
            found = size_row(mixture, AVERAGES, repeat, tuples, per_tuple)
            yield found | {"data": test, "how": "searched" if searched else "constants"}
            samples = noisy_centers_samples(mixture, rng, draws=settings.draws)
            yield size_row(mixture, NOISY, repeat, needed_tuples(), samples) | {"data": test, "how": "searched"}


def judge(table: pd.DataFrame) -> Verdict:
    """The hidden constant, who needs fewer samples in these ranges, and who would beyond them."""
    averages = table[table["line"] == AVERAGES]
    per_unit = float((averages["tuples"] / averages["k"] / averages["d"]).median())
    searched = averages[averages["how"] == "searched"]
    of_searched = float((searched["tuples"] / searched["k"] / searched["d"]).median())
    return judged(
        table,
        within_factor(
            [per_unit, of_searched, _TUPLES_PER_UNIT],
            _NEAR,
            says="Averages needs about 500,000 tuples for each cluster and column",
            names=("all points, tuples per k d", "searched points", "paper"),
        ),
        because(
            ordered(
                table,
                [NOISY],
                [AVERAGES],
                says="NoisyCenters needs fewer samples in these ranges",
                places=("data", "k", "d"),
                measure="samples",
            ),
            "the corrected λ: it has 1.3 times the noise of the printed one",
        ),
        _catches_up(table),
    )


def _catches_up(table: pd.DataFrame) -> Finding:
    """The advantage of NoisyCenters at the least k over that at the largest."""
    says = "Averages grows more slowly with k, and would need fewer samples in the end"
    sizes = medians(table[table["data"] == BY_CLUSTERS], ("k",), "samples").sort_index()
    advantage = (sizes[AVERAGES] / sizes[NOISY]).dropna()
    if len(advantage) < 2:
        return Finding(says, False, "NoisyCenters separates at one k at most", 0.0, "not reached")
    listed = ", ".join(f"{value:.3g}× at k = {k}" for k, value in advantage.items())
    return at_least(
        float(advantage.iloc[0] / advantage.iloc[-1]), 1.0, says=says, found=f"Averages over NoisyCenters: {listed}"
    )


CLAIM = Claim(
    id="cohen-dimensions",
    paper="Cohen et al. 2021, Tests 2 and 3 (Figs. 6, 7)",
    claim="k-averages needs about 500,000 tuples for each cluster and column, better in the long run; k-noisy-centers "
    "needs fewer samples for k up to 8 and d up to 16.",
    data=(),
    quick=Settings(repeats=1, draws=1, largest_table=4e7),
    full=Settings(repeats=5, draws=5, largest_table=2e8),
    rows=rows,
    judge=judge,
    pictures=(
        Picture(
            title="Samples needed against k, d = 4 (Cohen et al. 2021, Fig. 6)",
            x="k",
            y="samples",
            x_title="k",
            y_title="samples",
            log_y=True,
            only={"data": (BY_CLUSTERS,)},
        ),
        Picture(
            title="Samples needed against d, k = 2 (Cohen et al. 2021, Fig. 7)",
            x="d",
            y="samples",
            x_title="d",
            y_title="samples",
            log_y=True,
            only={"data": (BY_COLUMNS,)},
        ),
    ),
    notes=(
        "Tuples are drawn by the law of block means: clusters this far apart are found without a slip.",
        "Where its tuples would not fit the memory, what k-averages needs is computed from its constants.",
        "λ is the corrected one; the printed λ is not private.",
    ),
)
