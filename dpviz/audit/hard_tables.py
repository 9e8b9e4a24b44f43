"""Tables on which much that works elsewhere fails, in a box from -1 to 1."""

from __future__ import annotations

import numpy as np

from dpviz.arrays import Array
from dpviz.audit.small_worlds import blobs

_FAR = blobs(50)
_FAR[7] = 1e300
_HOLES = blobs(60)
_HOLES[::3, 0], _HOLES[1::6, 1] = np.nan, -np.inf
TABLES: dict[str, Array] = {
    "no row": np.empty((0, 2)),
    "one row": np.array([[0.3, -0.2]]),
    "identical rows": np.full((40, 2), 0.25),
    "all in a corner": np.ones((40, 2)),
    "one column": blobs(60, 1),
    "a constant column": np.column_stack([blobs(60, 1), np.zeros(60)]),
    "one row at 1e300": _FAR,
    "missing and infinite cells": _HOLES,
    "all cells missing": np.full((30, 2), np.nan),
    "all rows far outside": np.full((30, 2), -1e308),
    "nine columns": blobs(60, 9),
}
