"""Su et al. 2016, Fig. 3: GkM against the size of its blocks, with its noise and without."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import nan

import pandas as pd

from dpviz.app.charts.studies.stored_verdicts import ClaimFinding, ClaimVerdict, PaperFigure
from experiments.claim import Block, Claim, RepeatChoice, Row
from experiments.evidence import (
    compare_lines,
    compare_most,
    compare_places,
    compare_within_factor,
    compute_medians,
    conclude,
)
from experiments.factors import FACTORS
from experiments.material import DatasetCache
from experiments.su_epsilon import CLUSTERS, GKM, GKM_3K, GKM_3K_LINE, LLOYD, LLOYD_LINE, PGKM, PGKM_LINE
from experiments.trials import Line, Sweep

QUIET = "GkM without noise"
_EPSILON, _NO_NOISE = 1.0, 1e6
# Blocks "close to k" have so many rows a cluster at most.
_CLOSE = 10.0
_BETTER_THAN_PGKM = ("TIGER", "Lifesci")
_PAPER_POWER = 0.6


@dataclass(frozen=True)
class Settings:
    """How much is run; a block has n to one of these powers rows."""

    tables: tuple[str, ...]
    powers: tuple[float, ...]
    repeats: int


@dataclass(frozen=True)
class BySize(Block):
    """GkM at each size of its blocks on one table, with and without noise; then those that GkM-3K is compared with."""

    table: str
    powers: tuple[float, ...]
    repeats: int

    @property
    def lines(self) -> list[Line]:
        """What it runs, GkM with blocks of the paper's size."""
        return [LLOYD_LINE, PGKM_LINE, GKM_3K_LINE, Line(GKM, "gkm", {"preset": "paper"})]

    def runs(self, datasets: DatasetCache, wanted: RepeatChoice) -> Iterator[list[Row]]:
        """One row a run; how many rows a block has follows from how many the table has."""
        k, n = CLUSTERS[self.table], len(datasets.table(self.table).values)
        sizes = [(power, max(1, round(n**power)), _list_lines(max(1, round(n**power)))) for power in self.powers]
        others = [(nan, nan, [LLOYD_LINE, PGKM_LINE]), (nan, 3.0 * k, [GKM_3K_LINE])]
        for power, rows_per_block, lines in (*sizes, *others):
            facts, repeats = {"power": power, "rows_per_block": rows_per_block}, self.repeats
            sweep = Sweep(table=self.table, lines=lines, ks=(k,), epsilons=(_EPSILON,), repeats=repeats, facts=facts)
            yield from sweep.runs(datasets, wanted)


def list_blocks(settings: Settings) -> Iterator[BySize]:
    """A block for each table."""
    for name in settings.tables:
        yield BySize(name, settings.powers, settings.repeats)


def _list_lines(rows_per_block: int) -> list[Line]:
    params = {"preset": "paper", "rows_per_block": rows_per_block}
    return [Line(GKM, "gkm", params), Line(QUIET, "gkm", params, spends=lambda epsilon: epsilon * _NO_NOISE)]


def judge(table: pd.DataFrame) -> ClaimVerdict:
    """The best block size, what noise makes of the paper's, and GkM-3K among the others."""
    swept = table[table["power"].notna()]
    special = table[table["data"].isin(_BETTER_THAN_PGKM)]
    return conclude(
        table,
        _judge_best_size(swept),
        _judge_noise(swept),
        _judge_alike(table),
        compare_lines(special, [GKM_3K], [PGKM], says="GkM-3K is better than PGkM on TIGER and Lifesci"),
        compare_lines(table, [LLOYD], [GKM_3K], says="DPLloyd is better than GkM-3K"),
    )


def _judge_best_size(swept: pd.DataFrame) -> ClaimFinding:
    """Rows a cluster of the block size with the least loss, the largest over the tables.

    Blocks of fewer than k rows know no cluster and answer with public points: they are left out.
    """
    found = compute_medians(
        swept[(swept["line"] == GKM) & (swept["rows_per_block"] >= swept["k"])], ("data", "k", "rows_per_block")
    )[GKM].reset_index()
    best = found.loc[found.groupby("data", sort=False)[GKM].idxmin()]
    per_cluster = dict(zip(best["data"], best["rows_per_block"] / best["k"], strict=True))
    listed = ", ".join(f"{name} {value:.3g} k" for name, value in per_cluster.items())
    return compare_most(
        float(max(per_cluster.values())),
        _CLOSE,
        says="the error keeps falling as blocks shrink, until they are close to k rows",
        found=f"best block size: {listed}; {_CLOSE:g} k allowed",
        unit=" k rows",
        counted=True,
    )


def _judge_noise(swept: pd.DataFrame) -> ClaimFinding:
    nearest = swept.loc[(swept["power"] - _PAPER_POWER).abs() < 1e-9]
    found = compute_medians(nearest)
    says = f"with n^0.4 blocks the error is dominated by the noise, {FACTORS.much:g}× what it is without"
    return compare_places(found[GKM] / found[QUIET], says=says, factor=FACTORS.much, share=FACTORS.most)


def _judge_alike(table: pd.DataFrame) -> ClaimFinding:
    found = compute_medians(table)
    ratio = float((found[PGKM] / found[GKM_3K]).median())
    return compare_within_factor(
        [ratio, 1.0],
        FACTORS.competitive,
        says=f"GkM-3K is competitive with PGkM, within {FACTORS.competitive:g}×",
        names=("median of PGkM over GkM-3K", "alike"),
    )


CLAIM = Claim(
    id="su-blocks",
    paper="Su et al. 2016, Fig. 3",
    claim="The error of GkM falls as its blocks shrink to about k rows; with blocks of 3k rows it is about as good as "
    "PGkM, better on TIGER and Lifesci, and worse than DPLloyd.",
    data=tuple(CLUSTERS),
    quick=Settings(
        tables=("S1", "TIGER", "Image", "Lifesci"), powers=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0), repeats=5
    ),
    full=Settings(tables=tuple(CLUSTERS), powers=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0), repeats=30),
    blocks=list_blocks,
    judge=judge,
    figures=(
        PaperFigure(
            title="Loss of GkM against rows of a block (Su et al. 2016, Fig. 3)",
            x="rows_per_block",
            x_title="rows of a block",
            log_x=True,
            log_y=True,
            baseline="kmeans",
            only={"line": (GKM, QUIET)},
        ),
    ),
    notes=("The paper does not say the ε of its figure: 1 here. Without noise means ε = 1,000,000.",),
)
