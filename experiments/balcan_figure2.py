"""Balcan et al. 2017, Fig. 2: the loss against k on three tables of many columns, and against ε on MNIST.

SuLQ is also run as the accounting of 2017 would have it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt

import pandas as pd
from scipy.optimize import brentq

from dpviz.app.charts.studies.stored_verdicts import ClaimFinding, ClaimVerdict, PaperFigure
from dpviz.core.accounting import gdp_mu
from experiments.claim import Claim
from experiments.evidence import (
    PLACES,
    add_reason,
    compare_least,
    compare_lines,
    compare_most,
    compare_places,
    compare_with_today,
    compute_advantages,
    compute_medians,
    conclude,
)
from experiments.factors import FACTORS
from experiments.trials import Line, Sweep

DELTA = 1e-6
BALCAN, PRACTICAL = "Balcan et al.", "Balcan et al. (practical)"
SULQ, SULQ_BASIC = "SuLQ", "SuLQ, basic composition"
SAMPLES = "sample & aggregate"
_ROUNDS = 20


@lru_cache(maxsize=64)
def convert_to_basic(epsilon: float) -> float:
    """The ε at which exact composition of twenty Gaussian rounds has the noise of basic composition at ``epsilon``.

    Basic composition gives a round ε/20 and δ/20 and the textbook Gaussian: what a paper of 2017 would have used. SuLQ
    composed exactly, as everywhere in this package, has several times less noise.
    """
    basic = sqrt(2 * log(1.25 * _ROUNDS / DELTA)) * _ROUNDS / epsilon

    def excess(log_epsilon: float) -> float:
        return log(sqrt(_ROUNDS) / gdp_mu(10**log_epsilon, DELTA) / basic)

    return float(10 ** brentq(excess, -4, 1))


LINES = (
    Line(BALCAN, "balcan", {"preset": "paper"}, DELTA),
    Line(PRACTICAL, "balcan", {"preset": "practical"}, DELTA),
    Line(SULQ, "sulq", {"preset": "paper"}, DELTA),
    Line(SULQ_BASIC, "sulq", {"preset": "paper"}, DELTA, convert_to_basic),
)
SAMPLES_LINE = Line(SAMPLES, "sample-aggregate", {"preset": "paper"}, DELTA)
ACCOUNTING = "tighter accounting of the baseline: composed exactly, SuLQ has several times less noise than in 2017"
CONSTANTS = "constants that were tuned on other tables"
NOTES = (
    "As the paper ran it: SuLQ by basic composition, the only rule that it can have had. Balcan et al. are composed as "
    "today in both columns.",
    "Balcan et al. and SuLQ have δ = 1e-6: the Gaussian rounds of both need it.",
    "The noise of the recovery is the corrected one, √d larger than printed.",
)

_BY_ACCOUNTING = (SULQ_BASIC, SULQ, ACCOUNTING)
_TABLES = ("64 Gaussians", "CIFAR-10 features", "MNIST")


@dataclass(frozen=True)
class ByClusters:
    """How much is run."""

    ks: tuple[int, ...]
    ks_of_samples: tuple[int, ...]
    repeats: int
    epsilons: tuple[float, ...] = (1.0,)
    tables: tuple[str, ...] = _TABLES
    repeats_of_samples: int = 3


def list_blocks_by_clusters(settings: ByClusters) -> Iterator[Sweep]:
    """Sample and aggregate is slow, and far behind: fewer runs at fewer k."""
    slow = (SAMPLES_LINE,), settings.ks_of_samples, settings.repeats_of_samples
    for name in settings.tables:
        for lines, ks, repeats in ((LINES, settings.ks, settings.repeats), slow):
            yield Sweep(table=name, lines=lines, ks=ks, epsilons=settings.epsilons, repeats=repeats)


def judge_clusters(table: pd.DataFrame) -> ClaimVerdict:
    """Against k-means++, against SuLQ, by dimension, and against sample and aggregate."""
    return conclude(
        table,
        compare_with_today(lambda line: _judge_competitive(table, line), BALCAN, PRACTICAL, CONSTANTS),
        compare_with_today(
            lambda sulq: compare_lines(table, [BALCAN], [sulq], says="always better than SuLQ"), *_BY_ACCOUNTING
        ),
        compare_with_today(lambda sulq: _judge_gap(table, sulq), *_BY_ACCOUNTING),
        _judge_far_behind(table),
    )


def _judge_competitive(table: pd.DataFrame, line: str) -> ClaimFinding:
    """Loss of k-means++ over that of ``line``, place by place: 1 is as good."""
    places = table[table["line"] == line].groupby(list(PLACES), sort=False)
    nearness = places["kmeans"].median() / places["nicv"].median()
    says = f"competitive with k-means++ for all k, {FACTORS.competitive:g}× at most"
    return compare_places(nearness, says=says, factor=1 / FACTORS.competitive)


def _judge_gap(table: pd.DataFrame, sulq: str) -> ClaimFinding:
    """SuLQ's loss over ours at the largest k, by number of columns: the 64 Gaussians are far apart and stand alone."""
    says = "the gap to SuLQ grows with the number of columns"
    gap = compute_advantages(table, [BALCAN], [sulq], places=("d", "k", "epsilon")).groupby("d").median().sort_index()
    listed = ", ".join(f"{value:.3g}× at d = {d}" for d, value in gap.items())
    if len(gap) < 2:
        return ClaimFinding(says, False, f"one number of columns only: {listed}", 0.0, "not run")
    return compare_least(float(gap.iloc[-1] / gap.iloc[0]), 1.0, says=says, found=f"median gap {listed}")


def _judge_far_behind(table: pd.DataFrame) -> ClaimFinding:
    says = f"sample and aggregate is orders of magnitude worse, {FACTORS.magnitudes:g}×"
    cap = float((compute_medians(table)[SAMPLES] / table.groupby(list(PLACES), sort=False)["kmeans"].median()).max())
    return add_reason(
        compare_lines(table, [BALCAN], [SAMPLES], says=says, factor=FACTORS.magnitudes),
        f"the domain's bounds: its centres are moved into the ball, where its loss is at most {cap:.3g}× that of "
        "k-means++ on these tables",
        compare_lines(table, [BALCAN], [SAMPLES], says="sample and aggregate is worse"),
    )


CLUSTERS = Claim(
    id="balcan-clusters",
    paper="Balcan et al. 2017, Fig. 2 a-c",
    claim="On MNIST, CIFAR-10 features and 64 Gaussians, k = 2 to 64, ε = 1: competitive with k-means++, always better "
    "than SuLQ, the more so with more columns; sample and aggregate is orders of magnitude worse.",
    data=_TABLES,
    quick=ByClusters(ks=(4, 32), ks_of_samples=(4,), repeats=2, repeats_of_samples=2),
    full=ByClusters(ks=(2, 4, 8, 16, 32, 64), ks_of_samples=(2, 8, 32, 64), repeats=5),
    blocks=list_blocks_by_clusters,
    judge=judge_clusters,
    figures=(
        PaperFigure(
            title="Loss against k at ε = 1 (Balcan et al. 2017, Fig. 2 a-c)",
            x="k",
            x_title="k",
            log_x=True,
            log_y=True,
            baseline="kmeans",
        ),
    ),
    notes=NOTES,
)


_K = 10


@dataclass(frozen=True)
class ByEpsilon:
    """How much is run."""

    epsilons: tuple[float, ...]
    repeats: int


def list_blocks_by_epsilon(settings: ByEpsilon) -> Iterator[Sweep]:
    """All lines over ε."""
    yield Sweep(table="MNIST", lines=LINES, ks=(_K,), epsilons=settings.epsilons, repeats=settings.repeats)


def judge_epsilon(table: pd.DataFrame) -> ClaimVerdict:
    """How the losses grow from the largest ε to the smallest."""
    smallest = table[table["epsilon"] == table["epsilon"].min()]
    better = "better than SuLQ at the smallest ε"
    return conclude(
        table,
        compare_with_today(lambda line: _judge_slow_degradation(table, line), BALCAN, PRACTICAL, CONSTANTS),
        compare_with_today(lambda sulq: _judge_quick_degradation(table, sulq), *_BY_ACCOUNTING),
        compare_with_today(lambda sulq: compare_lines(smallest, [BALCAN], [sulq], says=better), *_BY_ACCOUNTING),
    )


def _measure_growth(table: pd.DataFrame, line: str) -> float:
    """Loss at the smallest ε over the loss at the largest."""
    values = compute_medians(table, ("epsilon",))[line].sort_index()
    return float(values.iloc[0] / values.iloc[-1])


def _judge_slow_degradation(table: pd.DataFrame, line: str) -> ClaimFinding:
    growth = _measure_growth(table, line)
    low, high = table["epsilon"].min(), table["epsilon"].max()
    return compare_most(
        growth,
        FACTORS.competitive,
        says=f"Balcan et al. stay competitive for small ε, {FACTORS.competitive:g}× at most",
        found=f"{line}: loss grows by {growth:.3g}× from ε = {high:g} to {low:g}, {FACTORS.competitive:g}× allowed",
    )


def _judge_quick_degradation(table: pd.DataFrame, sulq: str) -> ClaimFinding:
    """Growths are compared less 1: a loss that does not grow at all has the growth 1."""
    ours, theirs = _measure_growth(table, BALCAN), _measure_growth(table, sulq)
    return compare_least(
        (theirs - 1) / max(ours - 1, 1e-9),
        1.0,
        says="SuLQ deteriorates more quickly than Balcan et al.",
        found=f"{sulq} grows by {theirs:.3g}×, Balcan et al. by {ours:.3g}×",
    )


EPSILON = Claim(
    id="balcan-epsilon",
    paper="Balcan et al. 2017, Fig. 2 d",
    claim="On MNIST with k = 10 the loss grows slowly as ε shrinks, that of SuLQ quickly.",
    data=("MNIST",),
    quick=ByEpsilon(epsilons=(0.1, 0.3, 1.0), repeats=3),
    full=ByEpsilon(epsilons=(0.05, 0.1, 0.2, 0.5, 1.0, 2.0), repeats=10),
    blocks=list_blocks_by_epsilon,
    judge=judge_epsilon,
    figures=(
        PaperFigure(
            title="Loss against ε on MNIST, k = 10 (Balcan et al. 2017, Fig. 2 d)",
            x="epsilon",
            x_title="ε",
            log_x=True,
            baseline="kmeans",
        ),
    ),
    notes=(
        *NOTES,
        "On MNIST one centre loses 1.34 times what ten lose, so that no loss can grow much more. Its synthetic table "
        "has that quotient; one whose groups lie farther apart made the loss grow 1.86-fold, which says nothing of "
        "MNIST.",
    ),
)
