"""Su et al. 2016, Figs. 5-7: Hybrid against EUGkM and DPLloyd, by ε, by d and k, and by time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import pandas as pd

from dpviz.app.charts.studies.stored_verdicts import ClaimVerdict, PaperFigure
from experiments.catalogue import make_separated
from experiments.claim import Claim
from experiments.evidence import compare_lines, compare_places, compute_advantages, conclude
from experiments.factors import FACTORS
from experiments.su_epsilon import (
    CLUSTERS,
    FEWER_STARTS,
    GRID,
    HYBRID,
    LLOYD,
    LLOYD_LINE,
    WIDE,
    ByEpsilon,
    list_sweeps,
    make_grid_line,
)
from experiments.trials import Line, Sweep

SYNTHETIC = "well-separated clusters"
_ROWS = 10_000
_GOWALLA_EPSILON, _SMALL, _TIMED = 0.7, 0.05, 0.1


@dataclass(frozen=True, kw_only=True)
class Settings(ByEpsilon):
    """How much is run, also by d and k."""

    ds: tuple[int, ...]
    ks: tuple[int, ...]


def list_blocks(settings: Settings) -> Iterator[Sweep]:
    """Three lines over ε on six tables, then at ε = 1 over d and k on synthetic ones."""
    yield from list_sweeps(settings, _list_lines)
    lines = _list_lines(settings.starts_on_many_columns)
    for d, k in product(settings.ds, settings.ks):
        yield Sweep(table=make_separated(_ROWS, d, k), lines=lines, ks=(k,), epsilons=(1.0,), repeats=settings.repeats)


def _list_lines(starts: int) -> list[Line]:
    return [LLOYD_LINE, make_grid_line(starts), Line(HYBRID, "hybrid", {"preset": "su", "starts": starts})]


def judge(table: pd.DataFrame) -> ClaimVerdict:
    """Six tables against EUGkM and DPLloyd, two single points, the synthetic tables, and the clock."""
    six, synthetic = table[table["data"] != SYNTHETIC], table[table["data"] == SYNTHETIC]
    low, wide = six[~six["data"].isin(WIDE)], six[six["data"].isin(WIDE)]
    gowalla = six[(six["data"] == "Gowalla") & (six["epsilon"] == _GOWALLA_EPSILON)]
    adult = six[(six["data"] == "Adult-num") & (six["epsilon"] == _SMALL)]
    return conclude(
        table,
        compare_lines(
            low,
            [HYBRID],
            [GRID, LLOYD],
            says="Hybrid is as good as both others on up to three columns",
            share=FACTORS.most,
            factor=FACTORS.alike,
        ),
        compare_lines(
            wide,
            [HYBRID],
            [GRID, LLOYD],
            says="Hybrid is better than both in most cases on six and ten",
            share=FACTORS.most,
            factor=FACTORS.alike,
        ),
        compare_lines(
            gowalla,
            [HYBRID],
            [GRID],
            says="Gowalla at ε = 0.7: Hybrid is slightly better than EUGkM (0.02172, 0.02174)",
        ),
        compare_lines(
            adult,
            [LLOYD],
            [HYBRID],
            says="Adult-num at ε = 0.05: Hybrid falls back to the grid and loses to DPLloyd",
        ),
        compare_places(
            compute_advantages(synthetic, [HYBRID], [GRID], places=("d", "k")),
            says="Hybrid scales better than EUGkM with d and k",
            factor=FACTORS.alike,
            share=FACTORS.most,
        ),
        compare_lines(
            six[six["epsilon"] == _TIMED],
            [LLOYD],
            [GRID],
            says=f"DPLloyd is much faster than EUGkM at ε = 0.1, {FACTORS.much_faster:g}×",
            measure="seconds",
            factor=FACTORS.much_faster,
        ),
    )


CLAIM = Claim(
    id="su-hybrid",
    paper="Su et al. 2016, Figs. 5-7",
    claim="Hybrid is as good as EUGkM and DPLloyd or better on most tables and ε, and scales better; DPLloyd is much "
    "faster than EUGkM.",
    data=tuple(CLUSTERS),
    quick=Settings(
        epsilons=(0.05, 0.1, 0.7), repeats=3, starts_on_many_columns=3, ds=(2, 6, 10), ks=(2, 6, 10), starts=10
    ),
    full=Settings(
        epsilons=(0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 2.0),
        repeats=30,
        starts_on_many_columns=30,
        ds=tuple(range(2, 11)),
        ks=tuple(range(2, 11)),
    ),
    blocks=list_blocks,
    judge=judge,
    figures=(
        PaperFigure(
            title="Loss against ε on six tables (Su et al. 2016, Fig. 5)",
            x="epsilon",
            x_title="ε",
            log_x=True,
            log_y=True,
            baseline="kmeans",
            only={"data": tuple(CLUSTERS)},
        ),
        PaperFigure(
            title="Loss by d and k at ε = 1 (Su et al. 2016, Fig. 6)",
            x="k",
            x_title="k",
            heat="d",
            only={"data": (SYNTHETIC,), "line": (GRID, HYBRID)},
        ),
        PaperFigure(
            title="Time of a run at ε = 0.1 (Su et al. 2016, Fig. 7)",
            x="line",
            y="seconds",
            x_title="",
            y_title="seconds",
            log_y=True,
            only={"data": tuple(CLUSTERS), "epsilon": (_TIMED,), "line": (LLOYD, GRID)},
        ),
    ),
    notes=(FEWER_STARTS,),
)
