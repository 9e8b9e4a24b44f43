"""What the declared bounds do to revealed rows: how many values they move, and how far the means go. No Streamlit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpviz.privacy.room import Revealed
from dpviz.table.domain import Domain


@dataclass(frozen=True, eq=False)
class Clipping:
    """The cost of bounds on revealed rows.

    Parameters
    ----------
    by_column : DataFrame
        For each column: the shares of values below and above its bounds, the shift of its mean in data units, and the
        share of the declared width that the middle 98 % of the rows leave empty.
    rows_moved : float
        Share of rows of which some coordinate changes, by bounds or radius.
    """

    by_column: pd.DataFrame
    rows_moved: float


def clipping(revealed: Revealed, domain: Domain) -> Clipping:
    """What ``domain`` does to revealed rows (n, d), unit coordinates."""
    points, half = revealed.points, domain.region.half
    if len(points) == 0:
        nothing = np.zeros(domain.dim)
        return Clipping(_frame(domain, nothing, nothing, nothing, nothing), 0.0)
    clipped = domain.region.clip(points)
    moved = np.abs(clipped - points) > 1e-9 * domain.region.radius
    low, high = np.quantile(points, [0.01, 0.99], axis=0)
    return Clipping(
        _frame(
            domain,
            (points < -half).mean(axis=0),
            (points > half).mean(axis=0),
            (clipped.mean(axis=0) - points.mean(axis=0)) * domain.scale,
            1 - np.clip(np.minimum(high, half) - np.maximum(low, -half), 0, None) / (2 * half),
        ),
        float(moved.any(axis=1).mean()),
    )


def _frame(domain: Domain, below: np.ndarray, above: np.ndarray, shift: np.ndarray, empty: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(
        {"column": list(domain.columns), "below": below, "above": above, "mean shift": shift, "empty": empty}
    )
