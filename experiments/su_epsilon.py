"""Su et al. 2016, Fig. 1: the loss against ε on six tables; these, and the algorithms as printed, serve all figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from dpviz.app.charts.studies.stored_verdicts import ClaimVerdict, PaperFigure
from experiments.claim import Claim
from experiments.evidence import add_reason, compare_lines, conclude
from experiments.factors import FACTORS
from experiments.trials import Line, Sweep

CLUSTERS = {"S1": 15, "Gowalla": 5, "TIGER": 2, "Image": 3, "Adult-num": 5, "Lifesci": 3}
PLANE = ("S1", "Gowalla", "TIGER", "Image")
WIDE = ("Adult-num", "Lifesci")
LLOYD, GKM, GKM_3K, PGKM, GRID, HYBRID = "DPLloyd", "GkM", "GkM-3K", "PGkM", "EUGkM", "Hybrid"
LLOYD_LINE = Line(LLOYD, "dplloyd", {"preset": "su"})
GKM_LINE = Line(GKM, "gkm", {"preset": "paper"})
GKM_3K_LINE = Line(GKM_3K, "gkm", {"preset": "paper", "block": "3k"})
PGKM_LINE = Line(PGKM, "pgkm", {"preset": "paper"})
FEWER_STARTS = "A quick run solves EUGkM and Hybrid from fewer starts than the paper's 30."
# What counts as a small ε.
_SMALL, _SMALLEST = 0.2, 0.15


def make_grid_line(starts: int) -> Line:
    """EUGkM from so many starts."""
    return Line(GRID, "eugkm", {"preset": "su", "starts": starts})


@dataclass(frozen=True, kw_only=True)
class ByEpsilon:
    """How much is run of a figure over ε; a grid is solved from so many starts."""

    epsilons: tuple[float, ...]
    repeats: int
    starts_on_many_columns: int
    starts: int = 30


def list_sweeps(settings: ByEpsilon, list_lines: Callable[[int], Sequence[Line]]) -> Iterator[Sweep]:
    """The lines of a number of starts over ε, on all six tables.

    Parameters
    ----------
    settings : ByEpsilon
        How much is run.
    list_lines : function of a number of starts
        What is run.

    Returns
    -------
    iterator of Sweep
    """
    for name, k in CLUSTERS.items():
        lines = list_lines(settings.starts_on_many_columns if name in WIDE else settings.starts)
        yield Sweep(table=name, lines=lines, ks=(k,), epsilons=settings.epsilons, repeats=settings.repeats)


def list_blocks(settings: ByEpsilon) -> Iterator[Sweep]:
    """Five lines over ε on six tables."""
    yield from list_sweeps(settings, _list_lines)


def _list_lines(starts: int) -> list[Line]:
    return [LLOYD_LINE, GKM_LINE, GKM_3K_LINE, PGKM_LINE, make_grid_line(starts)]


def judge(table: pd.DataFrame) -> ClaimVerdict:
    """Who leads among the interactive ones, who comes last, and grid against Lloyd by the number of columns."""
    s1_small = table[(table["data"] == "S1") & (table["epsilon"] < _SMALLEST)]
    low_small = table[table["data"].isin(PLANE) & (table["epsilon"] <= _SMALL)]
    wide = table[table["data"].isin(WIDE)]
    elsewhere = table.drop(s1_small.index)
    return conclude(
        table,
        compare_lines(
            elsewhere,
            [LLOYD],
            [GKM, GKM_3K, PGKM],
            says="DPLloyd is the best interactive algorithm in most cases",
            share=FACTORS.most,
        ),
        add_reason(
            compare_lines(s1_small, [PGKM], [LLOYD], says="PGkM is better than DPLloyd on S1 for ε below 0.15"),
            "the size of mutations and the range of scores, which the paper leaves to PrivGene",
        ),
        compare_lines(
            table,
            [LLOYD, GKM_3K, PGKM, GRID],
            [GKM],
            says=f"GkM is much worse than the others, {FACTORS.much:g}× in most cases (always, says the paper)",
            factor=FACTORS.much,
            share=FACTORS.most,
        ),
        compare_lines(
            low_small,
            [GRID],
            [LLOYD],
            says="EUGkM outperforms DPLloyd at small ε on up to three columns",
            share=FACTORS.most,
        ),
        compare_lines(
            wide, [LLOYD], [GRID], says="DPLloyd outperforms EUGkM on six and ten columns", share=FACTORS.most
        ),
    )


CLAIM = Claim(
    id="su-epsilon",
    paper="Su et al. 2016, Fig. 1",
    claim="On six tables, ε from 0.05 to 2: DPLloyd is the best interactive algorithm and GkM the worst; EUGkM is "
    "better than DPLloyd at small ε on up to three columns, and worse on six and ten.",
    data=tuple(CLUSTERS),
    quick=ByEpsilon(epsilons=(0.05, 0.2, 1.0), repeats=3, starts_on_many_columns=3),
    full=ByEpsilon(epsilons=(0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 2.0), repeats=30, starts_on_many_columns=30),
    blocks=list_blocks,
    judge=judge,
    figures=(
        PaperFigure(
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
