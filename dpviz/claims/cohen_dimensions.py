"""Cohen et al. 2021, Tests 2 and 3: samples needed against k and against d."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import pandas as pd

from dpviz.claims.claim import Claim, Finding, Picture, Row, Verdict
from dpviz.claims.cohen_separation import ACCURATE, AVERAGES, FORGIVEN, NOISY, averages_rows, noisy_row, size_row
from dpviz.claims.evidence import asked_again, at_least, because, judged, medians, ordered, within_factor
from dpviz.claims.material import Shelf
from dpviz.claims.tuple_sizes import (
    SAMPLES_PER_CLUSTER,
    Mixture,
    averages_formula,
)

BY_CLUSTERS, BY_COLUMNS = "Test 2: d = 4, R = 512 k", "Test 3: k = 2, R = 256 √d"
ONE_DISTANCE = "Test 2 with one distance: d = 4, R = 2048"
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
    """The sizes of both tests, and of Test 2 at one distance; no table is read."""
    del shelf
    tests = [(BY_CLUSTERS, Mixture(k, 4, 512.0 * k)) for k in settings.ks]
    tests += [(BY_COLUMNS, Mixture(2, d, 256.0 * sqrt(d))) for d in settings.ds]
    tests += [(ONE_DISTANCE, Mixture(k, 4, 2048.0)) for k in settings.ks]
    for test, mixture in tests:
        for repeat in range(settings.repeats):
            searched = test != ONE_DISTANCE and _size(mixture) <= settings.largest_table
            for row in _sizes(mixture, repeat, settings.draws, searched=searched):
                yield row | {"data": test}


def _size(mixture: Mixture) -> float:
    """Numbers in the table of tuples that the constants of k-averages ask for."""
    return averages_formula(mixture) * mixture.k * mixture.d


def _sizes(mixture: Mixture, repeat: int, draws: int, *, searched: bool) -> Iterator[Row]:
    """What both algorithms need; of k-averages its constants alone where it is not ``searched``."""
    per_tuple, formula = SAMPLES_PER_CLUSTER * mixture.k, averages_formula(mixture)
    constants = {"how": "searched" if searched else "constants", "by_constants": formula * per_tuple}
    by_search = averages_rows(mixture, repeat, seed=(6, repeat), draws=draws)
    for row in by_search if searched else [size_row(mixture, AVERAGES, repeat, formula, per_tuple)]:
        yield row | constants
    noisy = noisy_row(mixture, repeat, seed=(6, repeat), draws=draws)
    yield noisy | {"how": "searched", "by_constants": noisy["samples"]}


def judge(table: pd.DataFrame) -> Verdict:
    """The hidden constant, who needs fewer samples in these ranges, and who would beyond them."""
    tests = table[table["data"] != ONE_DISTANCE]
    return judged(
        table,
        asked_again(lambda line: _per_unit(tests, line), AVERAGES, FORGIVEN, ACCURATE),
        because(
            ordered(
                tests,
                [NOISY],
                [AVERAGES],
                says="NoisyCenters needs fewer samples in these ranges",
                places=("data", "k", "d"),
                measure="samples",
            ),
            "the corrected λ: it has 1.3 times the noise of the printed one",
        ),
        asked_again(
            lambda test: _catches_up(table, test),
            BY_CLUSTERS,
            "in this test R grows with k, which lets NoisyCenters off the growth of its Δ; with R = 2048 for every k "
            "it does not",
            ONE_DISTANCE,
        ),
    )


def _per_unit(table: pd.DataFrame, searched: str) -> Finding:
    """Tuples for each cluster and column: by the constants of all places, and searched as the line says."""
    averages = table[table["line"] == AVERAGES]
    by_constants = (averages["by_constants"] / averages["samples_per_tuple"] / averages["k"] / averages["d"]).median()
    found = table[(table["line"] == searched) & (table["how"] == "searched")]
    by_search = (found["tuples"] / found["k"] / found["d"]).median()
    return within_factor(
        [float(by_constants), float(by_search), _TUPLES_PER_UNIT],
        _NEAR,
        says="Averages needs about 500,000 tuples for each cluster and column",
        names=("by its constants", "by search", "paper"),
    )


def _catches_up(table: pd.DataFrame, test: str) -> Finding:
    """The advantage of NoisyCenters at the least k over that at the largest; for Averages the constants count."""
    says = "Averages grows more slowly with k, and would need fewer samples in the end"
    sizes = medians(table[table["data"] == test], ("k",), "by_constants").sort_index()
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
    quick=Settings(repeats=1, draws=5, largest_table=4e7),
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
            only={"data": (BY_CLUSTERS,), "line": (AVERAGES, NOISY)},
        ),
        Picture(
            title="Samples needed against d, k = 2 (Cohen et al. 2021, Fig. 7)",
            x="d",
            y="samples",
            x_title="d",
            y_title="samples",
            log_y=True,
            only={"data": (BY_COLUMNS,), "line": (AVERAGES, NOISY)},
        ),
    ),
    notes=(
        "Tuples are drawn by the law of block means: clusters this far apart are found without a slip.",
        "Enough is what four draws in five succeed with, searched in steps of √2.",
        "Where its tuples would not fit the memory, what k-averages needs is computed from its constants.",
        "λ is the corrected one; the printed λ is not private.",
    ),
)
