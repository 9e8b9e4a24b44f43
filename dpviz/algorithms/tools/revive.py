"""Centres that hardly any row chose get a second chance beside the heaviest centre: free post-processing."""

from __future__ import annotations

import numpy as np

from dpviz.arrays import Array
from dpviz.table.domain import Region

# A centre is idle below this part of an equal share of the rows.
_IDLE_PART = 0.1
# It is put beside the heaviest centre at this part of the distance to the next one: close enough to split its cluster.
_STEP_PART = 0.25


def revive(
    centers: Array,
    noisy_counts: Array,
    n: int,
    region: Region,
    rng: np.random.Generator,
    *,
    idle_below: float | None = None,
) -> Array:
    """``centers`` (k, d) with each idle one moved next to the heaviest one, unit coordinates.

    A start that ignores the data leaves centres in empty corners, where Lloyd's iteration never finds them again.
    Uses released counts, the public (or paid) ``n`` and public coins only. ``idle_below`` is the noisy count under
    which a centre is idle; None: a tenth of an equal share of the rows.
    """
    moved, weight = centers.copy(), noisy_counts.copy()
    idle = noisy_counts < (_IDLE_PART * n / len(centers) if idle_below is None else idle_below)
    busy = ~idle
    for j in np.flatnonzero(idle):
        heaviest = int(weight.argmax())
        others = busy.copy()
        others[heaviest] = False
        gaps = np.linalg.norm(moved[others] - moved[heaviest], axis=1)
        direction = rng.normal(size=region.dim)
        direction *= _STEP_PART * (gaps.min() if len(gaps) else region.radius) / np.linalg.norm(direction)
        moved[j] = moved[heaviest] + direction
        weight[heaviest] /= 2
        weight[j] = weight[heaviest]
    return region.clip(moved)
