"""Questions asked of a few rows without a session: the true answer, or the chunk to ask."""

from typing import Any

import numpy as np

from dpviz.core.domain import Region
from dpviz.core.lattice import ExactRows
from dpviz.core.queries import Query, Tallies
from dpviz.core.rows import Rows


def exact(values: np.ndarray, region: Region | None = None) -> ExactRows:
    """All rows as one chunk, in a wide region unless another is given."""
    region = region or Region.ball(np.shape(values)[1], 8.0)
    return ExactRows.dense(region.rows(np.asarray(values, dtype=float)), region.row_bits, region.radius)


def asked(query: Query, values: np.ndarray, region: Region | None = None, *, block_numbers: int = 2**18) -> Any:
    """The true answer over these rows, in a wide region unless another is given."""
    region = region or Region.ball(np.shape(values)[1], 8.0)
    rows = Rows.of(np.asarray(values, dtype=float), region, block_numbers=block_numbers)
    (total,) = rows.total(Tallies((query,)), query.width)
    return query.truth(total, region)
