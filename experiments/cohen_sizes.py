"""Cohen et al. 2021, Tests 1-3: samples needed to tell Gaussians apart, against their distance, and against k and d."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import inf, sqrt
from typing import Any

import numpy as np
import pandas as pd

from dpviz.app.charts.studies.stored_verdicts import ClaimFinding, ClaimVerdict, PaperFigure
from experiments.claim import Claim, Row
from experiments.evidence import (
    add_reason,
    ask_again,
    compare_least,
    compare_lines,
    compare_most,
    compare_within_factor,
    compute_medians,
    conclude,
)
from experiments.factors import FACTORS
from experiments.material import RECIPE
from experiments.trials import Series
from experiments.tuple_sizes import (
    DELTA,
    EPSILON,
    PAPER_TUPLES,
    SAMPLES_PER_CLUSTER,
    Mixture,
    Seed,
    compute_averages_tuples,
    count_needed_tuples,
    predict_noisy_centers_samples,
    search_averages_tuples,
    search_noisy_centers_samples,
)

AVERAGES, NOISY = "Averages", "NoisyCenters"
# The same question with an answer that may not be off by more, in standard deviations.
ACCURATE, WITHIN = "Averages, each mean to within 3 standard deviations", 3.0
_SAME = 1 / FACTORS.alike
_SEARCHED = (
    "Tuples are drawn by the law of block means: clusters this far apart are found without a slip.",
    "Enough is what four draws in five succeed with, searched in steps of √2.",
)
_LOOSE = "printed constants: the theorems ask for more than separating the means takes"
_OF_THEORY: dict[str, Any] = {
    **{"y": "samples", "y_title": "samples", "panel": "line", "log_x": True, "log_y": True},
    **{"baseline": "by_theory", "baseline_title": "by theory"},
}
_CORRECTED = "λ is the corrected one; the printed λ is not private."
FORGIVEN = (
    "far groups are told apart even by centres that are hundreds of standard deviations off; with centres to within "
    f"{WITHIN:g} of them, it holds"
)


@dataclass(frozen=True)
class ByDistance:
    """How much is run."""

    repeats: int
    draws: int
    exponents: tuple[int, ...] = (5, 6, 7, 8, 9)


def list_blocks_by_distance(settings: ByDistance) -> Iterator[Series]:
    """The size found by search, once for each repeat; no table is read."""
    for exponent in settings.exponents:
        mixture = Mixture(k=2, d=1, reach=2.0**exponent)
        run, lines = partial(_search_sizes, mixture, settings.draws), (AVERAGES, ACCURATE, NOISY)
        yield Series(facts=_list_facts("mixture of Gaussians", mixture), lines=lines, repeats=settings.repeats, run=run)


def _list_facts(name: str, mixture: Mixture) -> Row:
    at = {"d": mixture.d, "k": mixture.k, "epsilon": EPSILON, "delta": DELTA, "reach": mixture.reach}
    return {"data": name, "origin": RECIPE, **at}


def _search_sizes(mixture: Mixture, draws: int, repeat: int) -> Iterator[Row]:
    yield from _search_averages(mixture, seed=(5, repeat), draws=draws)
    yield _search_noisy(mixture, seed=(5, repeat), draws=draws)


def _search_averages(mixture: Mixture, *, seed: Seed, draws: int) -> Iterator[Row]:
    """What k-averages needs, and what it needs for means that are found well."""
    for line, within in ((AVERAGES, inf), (ACCURATE, WITHIN)):
        tuples = search_averages_tuples(mixture, seed=seed, draws=draws, within=within)
        yield _make_size_row(line, mixture, tuples, mixture.k * SAMPLES_PER_CLUSTER)


def _search_noisy(mixture: Mixture, *, seed: Seed, draws: int) -> Row:
    """What k-noisy-centers needs."""
    per_tuple = search_noisy_centers_samples(mixture, seed=seed, draws=draws)
    return _make_size_row(NOISY, mixture, count_needed_tuples(), per_tuple)


def _make_size_row(line: str, mixture: Mixture, tuples: float, per_tuple: float) -> Row:
    found = {"line": line, "tuples": tuples, "samples_per_tuple": per_tuple, "samples": tuples * per_tuple}
    return found | {"by_theory": predict_samples(line, mixture)}


def predict_samples(line: str, mixture: Mixture) -> float:
    """The samples that the theorems ask for, with the constants of their proofs.

    Parameters
    ----------
    line : str
        Whose.
    mixture : Mixture

    Returns
    -------
    float

    References
    ----------
    Cohen et al. 2021, Theorems 4.8 (k-averages) and 4.11 (k-noisy-centers).
    """
    if line == NOISY:
        return count_needed_tuples() * predict_noisy_centers_samples(mixture)
    return SAMPLES_PER_CLUSTER * mixture.k * compute_averages_tuples(mixture)


def _judge_theory(table: pd.DataFrame, line: str, theorem: str) -> ClaimFinding:
    """What was searched and what a theorem asks for, within a factor of ten on either side at every place."""
    found = table[(table["line"] == line) & (table.get("how", "searched") == "searched")]
    ratio = found.groupby(["data", "d", "k", "reach"])[["by_theory", "samples"]].median()
    times = ratio["by_theory"] / ratio["samples"]
    says = f"{theorem} gives the samples that {line} needs, within {FACTORS.magnitude:g}×"
    off = float(np.maximum(times, 1 / times).max())
    told = f"it asks for {times.min():.3g} to {times.max():.3g} times as many as are needed at {len(times)} places"
    return compare_most(
        off, FACTORS.magnitude, says=says, found=told, ours=f"{times.min():.2g} to {times.max():.2g} times"
    )


def judge_distance(table: pd.DataFrame) -> ClaimVerdict:
    """Whether the sizes fall with the distance, and the number of tuples."""
    sizes = compute_medians(table, ("reach",), "samples").sort_index()
    noisy = sizes[NOISY]
    drop = float(noisy.iloc[0] / noisy.iloc[-1])
    tuples = float(table.loc[table["line"] == NOISY, "tuples"].median())
    return conclude(
        table,
        ask_again(lambda line: _judge_drop(sizes[line]), AVERAGES, FORGIVEN, ACCURATE),
        compare_least(
            drop,
            FACTORS.magnitude,
            says=f"what NoisyCenters needs drops with R by {FACTORS.magnitude:g}×",
            found=f"from {noisy.iloc[0]:.3g} to {noisy.iloc[-1]:.3g} samples, {drop:.3g}×, "
            f"{FACTORS.magnitude:g}× wanted",
        ),
        add_reason(
            compare_most(
                tuples / PAPER_TUPLES,
                _SAME,
                says=f"{PAPER_TUPLES:,} tuples are the least that privacy requires",
                found=f"the formulas give {tuples:,.0f}",
                paper=f"{PAPER_TUPLES:,} tuples",
                ours=f"{tuples:,.0f}",
            ),
            "printed constants: the paper's formulas at its own ε, δ and β ask for more tuples than it reports",
        ),
        add_reason(_judge_theory(table, NOISY, "Theorem 4.11"), _LOOSE),
    )


def _judge_drop(samples: pd.Series) -> ClaimFinding:
    """Whether what is needed does not drop from the least distance to the largest."""
    drop = float(samples.iloc[0] / samples.iloc[-1])
    return compare_most(
        drop,
        FACTORS.competitive,
        says=f"what Averages needs does not drop with R by {FACTORS.competitive:g}×",
        found=f"from {samples.iloc[0]:.3g} to {samples.iloc[-1]:.3g} samples, {drop:.3g}×, "
        f"{FACTORS.competitive:g}× allowed",
    )


SEPARATION = Claim(
    id="cohen-separation",
    paper="Cohen et al. 2021, Test 1 (Fig. 5)",
    claim="For two Gaussians on a line, k-averages needs as many samples however far apart they are; k-noisy-centers, "
    "with 3,781 tuples, needs fewer the farther they are apart.",
    data=(),
    quick=ByDistance(repeats=1, draws=10, exponents=(5, 7, 9)),
    full=ByDistance(repeats=10, draws=10),
    blocks=list_blocks_by_distance,
    judge=judge_distance,
    figures=(
        PaperFigure(
            title="Samples needed against R, d = 1, k = 2 (Cohen et al. 2021, Fig. 5)",
            x="reach",
            y="samples",
            x_title="R",
            y_title="samples",
            log_x=True,
            log_y=True,
        ),
        PaperFigure(
            title="Samples needed against R, dashed what the theorems ask for (Cohen et al. 2021, Theorems 4.8, 4.11)",
            x="reach",
            x_title="R",
            only={"line": (AVERAGES, NOISY)},
            **_OF_THEORY,
        ),
    ),
    notes=(*_SEARCHED, _CORRECTED),
    has_tables=False,
)


BY_CLUSTERS, BY_COLUMNS = "Test 2: d = 4, R = 512 k", "Test 3: k = 2, R = 256 √d"
ONE_DISTANCE = "Test 2 with one distance: d = 4, R = 2048"
_TUPLES_PER_UNIT = 5e5


@dataclass(frozen=True)
class ByDimensions:
    """How much is run; k-averages is run up to so many tuples times k d, and taken from its constants beyond."""

    repeats: int
    draws: int
    largest_table: float
    ks: tuple[int, ...] = (2, 4, 6, 8)
    ds: tuple[int, ...] = (4, 8, 12, 16)


def list_blocks_by_dimensions(settings: ByDimensions) -> Iterator[Series]:
    """The sizes of both tests, and of Test 2 at one distance; no table is read."""
    tests = [(BY_CLUSTERS, Mixture(k, 4, 512.0 * k)) for k in settings.ks]
    tests += [(BY_COLUMNS, Mixture(2, d, 256.0 * sqrt(d))) for d in settings.ds]
    tests += [(ONE_DISTANCE, Mixture(k, 4, 2048.0)) for k in settings.ks]
    for test, mixture in tests:
        largest = 0.0 if test == ONE_DISTANCE else settings.largest_table
        searched = compute_averages_tuples(mixture) * mixture.k * mixture.d <= largest
        lines = (AVERAGES, ACCURATE, NOISY) if searched else (AVERAGES, NOISY)
        run = partial(_search_or_compute, mixture, settings.draws, searched)
        yield Series(facts=_list_facts(test, mixture), lines=lines, repeats=settings.repeats, run=run)


def _search_or_compute(mixture: Mixture, draws: int, searched: bool, repeat: int) -> Iterator[Row]:
    """What both algorithms need; of k-averages its constants alone where it is not ``searched``."""
    per_tuple, formula = SAMPLES_PER_CLUSTER * mixture.k, compute_averages_tuples(mixture)
    constants = {"how": "searched" if searched else "constants", "by_constants": formula * per_tuple}
    by_search = _search_averages(mixture, seed=(6, repeat), draws=draws)
    for row in by_search if searched else [_make_size_row(AVERAGES, mixture, formula, per_tuple)]:
        yield row | constants
    noisy = _search_noisy(mixture, seed=(6, repeat), draws=draws)
    yield noisy | {"how": "searched", "by_constants": noisy["samples"]}


def judge_dimensions(table: pd.DataFrame) -> ClaimVerdict:
    """The hidden constant, who needs fewer samples in these ranges, and who would beyond them."""
    tests = table[table["data"] != ONE_DISTANCE]
    return conclude(
        table,
        ask_again(lambda line: _judge_per_unit(tests, line), AVERAGES, FORGIVEN, ACCURATE),
        add_reason(
            compare_lines(
                tests,
                [NOISY],
                [AVERAGES],
                says="NoisyCenters needs fewer samples in these ranges",
                places=("data", "k", "d"),
                measure="samples",
            ),
            "the corrected λ: it has 1.3 times the noise of the printed one",
        ),
        ask_again(
            lambda test: _judge_growth(table, test),
            BY_CLUSTERS,
            "in this test R grows with k, which lets NoisyCenters off the growth of its Δ; with R = 2048 for every k "
            "it does not",
            ONE_DISTANCE,
        ),
        add_reason(_judge_theory(table, AVERAGES, "Theorem 4.8"), _LOOSE),
        add_reason(_judge_theory(table, NOISY, "Theorem 4.11"), _LOOSE),
    )


def _judge_per_unit(table: pd.DataFrame, searched: str) -> ClaimFinding:
    """Tuples for each cluster and column: by the constants of all places, and searched as the line says."""
    averages = table[table["line"] == AVERAGES]
    by_constants = (averages["by_constants"] / averages["samples_per_tuple"] / averages["k"] / averages["d"]).median()
    found = table[(table["line"] == searched) & (table["how"] == "searched")]
    by_search = (found["tuples"] / found["k"] / found["d"]).median()
    return compare_within_factor(
        [float(by_constants), float(by_search), _TUPLES_PER_UNIT],
        FACTORS.comparable,
        says=f"Averages needs about 500,000 tuples for each cluster and column, within {FACTORS.comparable:g}×",
        names=("by its constants", "by search", "paper"),
        paper=f"{_TUPLES_PER_UNIT:,.0f} tuples",
        ours=f"{round(by_search, -3):,.0f} by search",
    )


def _judge_growth(table: pd.DataFrame, test: str) -> ClaimFinding:
    """The advantage of NoisyCenters at the least k over that at the largest; for Averages the constants count."""
    says = "Averages grows more slowly with k, and would need fewer samples in the end"
    sizes = compute_medians(table[table["data"] == test], ("k",), "by_constants").sort_index()
    advantage = (sizes[AVERAGES] / sizes[NOISY]).dropna()
    if len(advantage) < 2:
        return ClaimFinding(says, False, "NoisyCenters separates at one k at most", 0.0, "not reached")
    listed = ", ".join(f"{value:.3g}× at k = {k}" for k, value in advantage.items())
    return compare_least(
        float(advantage.iloc[0] / advantage.iloc[-1]), 1.0, says=says, found=f"Averages over NoisyCenters: {listed}"
    )


DIMENSIONS = Claim(
    id="cohen-dimensions",
    paper="Cohen et al. 2021, Tests 2 and 3 (Figs. 6, 7)",
    claim="k-averages needs about 500,000 tuples for each cluster and column, better in the long run; k-noisy-centers "
    "needs fewer samples for k up to 8 and d up to 16.",
    data=(),
    quick=ByDimensions(repeats=1, draws=5, largest_table=4e7),
    full=ByDimensions(repeats=5, draws=5, largest_table=2e8),
    blocks=list_blocks_by_dimensions,
    judge=judge_dimensions,
    figures=(
        PaperFigure(
            title="Samples needed against k, d = 4 (Cohen et al. 2021, Fig. 6)",
            x="k",
            y="samples",
            x_title="k",
            y_title="samples",
            log_y=True,
            only={"data": (BY_CLUSTERS,), "line": (AVERAGES, NOISY)},
        ),
        PaperFigure(
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
        *_SEARCHED,
        "Where its tuples would not fit the memory, what k-averages needs is computed from its constants.",
        _CORRECTED,
    ),
    has_tables=False,
)
