"""Balcan et al. 2017, Fig. 2 a-c: the loss against k on three tables of many columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from dpviz.claims.balcan_lines import (
    ACCOUNTING,
    BALCAN,
    LINES,
    NOTES,
    PRACTICAL,
    SAMPLES,
    SAMPLES_LINE,
    SULQ,
    SULQ_BASIC,
)
from dpviz.claims.claim import Claim, Finding, Picture, Row, Verdict
from dpviz.claims.evidence import PLACES, advantages, asked_again, at_least, because, decided, judged, medians, ordered
from dpviz.claims.material import Shelf
from dpviz.claims.trials import grid_rows

_TABLES = ("64 Gaussians", "CIFAR-10 features", "MNIST")
# What is competitive, and how much worse is orders of magnitude worse.
_COMPETITIVE, _ORDERS = 1.5, 100.0


@dataclass(frozen=True)
class Settings:
    """How much is run."""

    ks: tuple[int, ...]
    ks_of_samples: tuple[int, ...]
    repeats: int
    epsilons: tuple[float, ...] = (1.0,)
    tables: tuple[str, ...] = _TABLES


def rows(shelf: Shelf, settings: Settings) -> Iterator[Row]:
    """Sample and aggregate is slow, and far behind: one run at few k."""
    for name in settings.tables:
        material = shelf.table(name)
        yield from grid_rows(material, LINES, settings.ks, settings.epsilons, repeats=settings.repeats)
        yield from grid_rows(material, [SAMPLES_LINE], settings.ks_of_samples, settings.epsilons, repeats=1)


def judge(table: pd.DataFrame) -> Verdict:
    """Against k-means++, against SuLQ, by dimension, and against sample and aggregate."""
    return judged(table, _competitive(table), _better(table), _gap_grows(table), _far_behind(table))


def _competitive(table: pd.DataFrame) -> Finding:
    def near(line: str) -> Finding:
        """Loss of k-means++ over that of ``line``, place by place: 1 is as good."""
        places = table[table["line"] == line].groupby(list(PLACES), sort=False)
        nearness = places["kmeans"].median() / places["nicv"].median()
        return decided(nearness, says="competitive with k-means++ for all k", factor=1 / _COMPETITIVE)

    return asked_again(near, BALCAN, "printed constants and noise large enough for the proof, at these n", PRACTICAL)


def _better(table: pd.DataFrame) -> Finding:
    return asked_again(
        lambda sulq: ordered(table, [BALCAN], [sulq], says="always better than SuLQ"), SULQ, ACCOUNTING, SULQ_BASIC
    )


def _gap_grows(table: pd.DataFrame) -> Finding:
    """SuLQ's loss over ours at the largest k, by number of columns: the 64 Gaussians are far apart and stand alone."""
    says = "the gap to SuLQ grows with the number of columns"

    def by_columns(sulq: str) -> Finding:
        gap = advantages(table, [BALCAN], [sulq], places=("d", "k", "epsilon")).groupby("d").median().sort_index()
        listed = ", ".join(f"{value:.3g}× at d = {d}" for d, value in gap.items())
        if len(gap) < 2:
            return Finding(says, False, f"one number of columns only: {listed}", 0.0, "not run")
        return at_least(float(gap.iloc[-1] / gap.iloc[0]), 1.0, says=says, found=f"median gap {listed}")

    return asked_again(by_columns, SULQ, ACCOUNTING, SULQ_BASIC)


def _far_behind(table: pd.DataFrame) -> Finding:
    says = "sample and aggregate is orders of magnitude worse"
    cap = float((medians(table)[SAMPLES] / table.groupby(list(PLACES), sort=False)["kmeans"].median()).max())
    return because(
        ordered(table, [BALCAN], [SAMPLES], says=says, factor=_ORDERS),
        f"the domain's bounds: its centres are moved into the ball, where its loss is at most {cap:.3g}× that of "
        "k-means++ on these tables",
        ordered(table, [BALCAN], [SAMPLES], says="sample and aggregate is worse"),
    )


CLAIM = Claim(
    id="balcan-clusters",
    paper="Balcan et al. 2017, Fig. 2 a-c",
    claim="On MNIST, CIFAR-10 features and 64 Gaussians, k = 2 to 64, ε = 1: competitive with k-means++, always better "
    "than SuLQ, the more so with more columns; sample and aggregate is orders of magnitude worse.",
    data=_TABLES,
    quick=Settings(ks=(4, 32), ks_of_samples=(4,), repeats=2),
    full=Settings(ks=(2, 4, 8, 16, 32, 64), ks_of_samples=(2, 8, 32, 64), repeats=5),
    rows=rows,
    judge=judge,
    pictures=(
        Picture(
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
