"""Balcan et al. 2017, Fig. 2 d: the loss against ε on MNIST with k = 10."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from dpviz.claims.balcan_lines import ACCOUNTING, BALCAN, LINES, MISSING_NOISE, NOTES, PRACTICAL, SULQ, SULQ_BASIC
from dpviz.claims.claim import Claim, Finding, Picture, Row, Verdict
from dpviz.claims.evidence import asked_again, at_least, at_most, because, judged, medians, ordered
from dpviz.claims.material import Shelf
from dpviz.claims.trials import grid_rows

_K = 10
# A loss that grows by less than this from the largest to the smallest ε degrades slowly.
_SLOWLY = 1.5


@dataclass(frozen=True)
class Settings:
    """How much is run."""

    epsilons: tuple[float, ...]
    repeats: int


def rows(shelf: Shelf, settings: Settings) -> Iterator[Row]:
    """All lines over ε."""
    yield from grid_rows(shelf.table("MNIST"), LINES, (_K,), settings.epsilons, repeats=settings.repeats)


def judge(table: pd.DataFrame) -> Verdict:
    """How the losses grow from the largest ε to the smallest, above what k-means++ loses."""
    slowly = because(
        _degrades_slowly(table, BALCAN),
        f"{MISSING_NOISE}; with enough the practical preset's loss grows by {_growth(table, PRACTICAL):.3g}×, too",
    )
    smallest = table[table["epsilon"] == table["epsilon"].min()]
    return judged(
        table,
        slowly,
        asked_again(lambda sulq: _degrades_quicker(table, sulq), SULQ, ACCOUNTING, SULQ_BASIC),
        asked_again(
            lambda sulq: ordered(smallest, [BALCAN], [sulq], says="better than SuLQ at the smallest ε"),
            *(SULQ, ACCOUNTING, SULQ_BASIC),
        ),
    )


def _growth(table: pd.DataFrame, line: str) -> float:
    """Loss at the smallest ε over the loss at the largest."""
    values = medians(table, ("epsilon",))[line].sort_index()
    return float(values.iloc[0] / values.iloc[-1])


def _degrades_slowly(table: pd.DataFrame, line: str) -> Finding:
    growth = _growth(table, line)
    low, high = table["epsilon"].min(), table["epsilon"].max()
    return at_most(
        growth,
        _SLOWLY,
        says="Balcan et al. stay competitive for small ε",
        found=f"{line}: loss grows by {growth:.3g}× from ε = {high:g} to {low:g}, {_SLOWLY:g}× allowed",
    )


def _degrades_quicker(table: pd.DataFrame, sulq: str) -> Finding:
    """Growths are compared less 1: a loss that does not grow at all has the growth 1."""
    ours, theirs = _growth(table, BALCAN), _growth(table, sulq)
    return at_least(
        (theirs - 1) / max(ours - 1, 1e-9),
        1.0,
        says="SuLQ deteriorates more quickly than Balcan et al.",
        found=f"{sulq} grows by {theirs:.3g}×, Balcan et al. by {ours:.3g}×",
    )


CLAIM = Claim(
    id="balcan-epsilon",
    paper="Balcan et al. 2017, Fig. 2 d",
    claim="On MNIST with k = 10 the loss grows slowly as ε shrinks, that of SuLQ quickly.",
    data=("MNIST",),
    quick=Settings(epsilons=(0.1, 0.3, 1.0), repeats=2),
    full=Settings(epsilons=(0.05, 0.1, 0.2, 0.5, 1.0, 2.0), repeats=10),
    rows=rows,
    judge=judge,
    pictures=(
        Picture(
            title="Loss against ε on MNIST, k = 10 (Balcan et al. 2017, Fig. 2 d)",
            x="epsilon",
            x_title="ε",
            log_x=True,
            baseline="kmeans",
        ),
    ),
    notes=NOTES,
)
