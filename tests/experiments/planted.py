"""Tables of runs that nobody ran."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from experiments import cohen_naive as naive
from experiments import su_blocks as blocks
from experiments import su_epsilon as su
from experiments.material import RECIPE

_BASE = {"data": "made up", "origin": RECIPE, "n": 1000, "d": 2, "k": 3, "epsilon": 1.0, "delta": 0.0, "kmeans": 1.0}


def lines(losses: Mapping[str, float], measure: str = "nicv", **where: Any) -> list[dict[str, Any]]:
    """Three runs of each line around its loss, the median of which is the loss."""
    return [
        {**_BASE, **where, "line": line, "repeat": repeat, measure: loss * wiggle, "seconds": loss}
        for line, loss in losses.items()
        for repeat, wiggle in enumerate((0.9, 1.0, 1.2))
    ]


def table(parts: Iterable[list[dict[str, Any]]]) -> pd.DataFrame:
    return pd.DataFrame([row for part in parts for row in part])


def _su_blocks() -> pd.DataFrame:
    parts = []
    for data, k in (("TIGER", 2), ("Lifesci", 3)):
        for power, rows in ((0.1, 3), (0.4, 50), (0.6, 400), (1.0, 20_000)):
            losses = {su.GKM: 2.0 + rows, blocks.QUIET: 1e9}
            parts.append(lines(losses, data=data, k=k, power=power, rows_per_block=rows))
        others = {su.LLOYD: 1.1, su.GKM_3K: 3.0, su.PGKM: 4.0}
        parts.append(lines(others, data=data, k=k, power=float("nan"), rows_per_block=float("nan")))
    return table(parts)


# Each bears its claim out in part.
PLANTED = {
    "su-blocks": _su_blocks(),
    "cohen-naive": table(
        [lines({naive.FITTED: 12.0, naive.PACKAGE: 3.0, naive.NOISY: 0.5}, "error", n=1_000_000)]
    ).assign(separated=1.0),
}
