"""From a unit coordinate to the public bin that it lies in; what ``coded_rows`` undoes. Light: questions import it."""

from __future__ import annotations

import numpy as np

from dpviz.arrays import Array, Codes


def decoded(points: Array, number: int | Codes) -> Codes:
    """The bins (...) of unit coordinates in [-1, 1], of so many equal ones; the upper end belongs to the last one.

    >>> decoded(np.array([-1.0, -0.5, 0.5, 1.0]), 2).tolist()
    [0, 0, 1, 1]
    """
    place = np.floor((np.asarray(points) + 1) / 2 * number).astype(np.int64)
    codes: Codes = np.clip(place, 0, np.asarray(number) - 1)
    return codes
