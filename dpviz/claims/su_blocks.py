"""Su et al. 2016, Fig. 3: GkM against the size of its blocks, with its noise and without."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from dpviz.claims.claim import Claim, Finding, Picture, Row, Verdict
from dpviz.claims.evidence import at_most, decided, judged, medians, ordered, within_factor
from dpviz.claims.factors import COMPETITIVE, MOST, MUCH
from dpviz.claims.material import Shelf
from dpviz.claims.su_epsilon import CLUSTERS, GKM, GKM_3K, GKM_3K_LINE, LLOYD, LLOYD_LINE, PGKM, PGKM_LINE
from dpviz.claims.trials import Line, grid_rows

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


def rows(shelf: Shelf, settings: Settings) -> Iterator[Row]:
    """GkM at each size, with and without noise; then those that the paper compares GkM-3K with."""
    for name in settings.tables:
        material, k = shelf.table(name), CLUSTERS[name]
        n = len(material.values)
        for power in settings.powers:
            params = {"preset": "paper", "rows_per_block": max(1, round(n**power))}
            lines = [Line(GKM, "gkm", params), Line(QUIET, "gkm", params, spends=lambda epsilon: epsilon * _NO_NOISE)]
            for row in grid_rows(material, lines, (k,), (_EPSILON,), repeats=settings.repeats):
                yield {**row, "power": power, "rows_per_block": params["rows_per_block"]}
        for row in grid_rows(
            material, [LLOYD_LINE, GKM_3K_LINE, PGKM_LINE], (k,), (_EPSILON,), repeats=settings.repeats
        ):
            yield {**row, "power": float("nan"), "rows_per_block": 3 * k if row["line"] == GKM_3K else float("nan")}


def judge(table: pd.DataFrame) -> Verdict:
    """The best block size, what noise makes of the paper's, and GkM-3K among the others."""
    swept = table[table["power"].notna()]
    special = table[table["data"].isin(_BETTER_THAN_PGKM)]
    return judged(
        table,
        _best_is_small(swept),
        _noise_dominates(swept),
        _alike(table),
        ordered(special, [GKM_3K], [PGKM], says="GkM-3K is better than PGkM on TIGER and Lifesci"),
        ordered(table, [LLOYD], [GKM_3K], says="DPLloyd is better than GkM-3K"),
    )


def _best_is_small(swept: pd.DataFrame) -> Finding:
    """Rows a cluster of the block size with the least loss, the largest over the tables.

    Blocks of fewer than k rows know no cluster and answer with public points: they are left out.
    """
    found = medians(
        swept[(swept["line"] == GKM) & (swept["rows_per_block"] >= swept["k"])], ("data", "k", "rows_per_block")
    )[GKM].reset_index()
    best = found.loc[found.groupby("data", sort=False)[GKM].idxmin()]
    per_cluster = dict(zip(best["data"], best["rows_per_block"] / best["k"], strict=True))
    listed = ", ".join(f"{name} {value:.3g} k" for name, value in per_cluster.items())
    return at_most(
        float(max(per_cluster.values())),
        _CLOSE,
        says="the error keeps falling as blocks shrink, until they are close to k rows",
        found=f"best block size: {listed}; {_CLOSE:g} k allowed",
        unit=" k rows",
    )


def _noise_dominates(swept: pd.DataFrame) -> Finding:
    nearest = swept.loc[(swept["power"] - _PAPER_POWER).abs() < 1e-9]
    found = medians(nearest)
    says = f"with n^0.4 blocks the error is dominated by the noise, {MUCH:g}× what it is without"
    return decided(found[GKM] / found[QUIET], says=says, factor=MUCH, share=MOST)


def _alike(table: pd.DataFrame) -> Finding:
    found = medians(table)
    ratio = float((found[PGKM] / found[GKM_3K]).median())
    return within_factor(
        [ratio, 1.0],
        COMPETITIVE,
        says=f"GkM-3K is competitive with PGkM, within {COMPETITIVE:g}×",
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
    rows=rows,
    judge=judge,
    pictures=(
        Picture(
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
