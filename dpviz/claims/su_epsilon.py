"""Su et al. 2016, Fig. 1: the loss against ε on six tables."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from dpviz.claims.claim import Claim, Picture, Row, Verdict
from dpviz.claims.evidence import because, judged, ordered
from dpviz.claims.material import Shelf
from dpviz.claims.su_lines import (
    CLUSTERS,
    FEWER_STARTS,
    GKM,
    GKM_3K,
    GKM_3K_LINE,
    GKM_LINE,
    GRID,
    LLOYD,
    LLOYD_LINE,
    PGKM,
    PGKM_LINE,
    PLANE,
    WIDE,
    ByEpsilon,
    grid_line,
    rows_by_epsilon,
)

_LINES = (LLOYD_LINE, GKM_LINE, GKM_3K_LINE, PGKM_LINE)
# "In most cases", and what counts as a small ε.
_MOST, _SMALL, _SMALLEST = 0.75, 0.2, 0.15


def rows(shelf: Shelf, settings: ByEpsilon) -> Iterator[Row]:
    """Five lines over ε on six tables."""
    yield from rows_by_epsilon(shelf, settings, lambda starts: [*_LINES, grid_line(starts)])


def judge(table: pd.DataFrame) -> Verdict:
    """Who leads among the interactive ones, who comes last, and grid against Lloyd by the number of columns."""
    s1_small = table[(table["data"] == "S1") & (table["epsilon"] < _SMALLEST)]
    low_small = table[table["data"].isin(PLANE) & (table["epsilon"] <= _SMALL)]
    wide = table[table["data"].isin(WIDE)]
    elsewhere = table.drop(s1_small.index)
    return judged(
        table,
        ordered(
            elsewhere,
            [LLOYD],
            [GKM, GKM_3K, PGKM],
            says="DPLloyd is the best interactive algorithm in most cases",
            share=_MOST,
        ),
        because(
            ordered(s1_small, [PGKM], [LLOYD], says="PGkM is better than DPLloyd on S1 for ε below 0.15"),
            "the size of mutations and the range of scores, which the paper leaves to PrivGene",
        ),
        ordered(
            table,
            [LLOYD, GKM_3K, PGKM, GRID],
            [GKM],
            says="GkM is always much worse than the others",
            share=_MOST,
        ),
        ordered(
            low_small,
            [GRID],
            [LLOYD],
            says="EUGkM outperforms DPLloyd at small ε on up to three columns",
            share=_MOST,
        ),
        ordered(wide, [LLOYD], [GRID], says="DPLloyd outperforms EUGkM on six and ten columns", share=_MOST),
    )


CLAIM = Claim(
    id="su-epsilon",
    paper="Su et al. 2016, Fig. 1",
    claim="On six tables, ε from 0.05 to 2: DPLloyd is the best interactive algorithm and GkM the worst; EUGkM is far "
    "better than DPLloyd at small ε on up to three columns, and worse on six and ten.",
    data=tuple(CLUSTERS),
    quick=ByEpsilon(epsilons=(0.05, 0.2, 1.0), repeats=3, starts_on_many_columns=3),
    full=ByEpsilon(epsilons=(0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 2.0), repeats=30, starts_on_many_columns=30),
    rows=rows,
    judge=judge,
    pictures=(
        Picture(
            title="Loss against ε on six tables (Su et al. 2016, Fig. 1)",
            x="epsilon",
            x_title="ε",
            log_x=True,
            log_y=True,
            baseline="kmeans",
        ),
    ),
    notes=(FEWER_STARTS, "Medians over the runs, where the paper has averages of 3,000 runs."),
)
