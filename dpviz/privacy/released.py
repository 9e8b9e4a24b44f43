"""What a room is asked, and what it answers: a released value with the mechanism that drew it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from dpviz.arrays import Array
from dpviz.privacy.accounting import Budget
from dpviz.privacy.mechanisms import Additive, Kind
from dpviz.privacy.queries import Query

Value = TypeVar("Value", covariant=True)
Drawer = TypeVar("Drawer", covariant=True)


class HasSd(Protocol):
    """A mechanism whose noise has a standard deviation."""

    def sd_in(self, width: int) -> float: ...


@dataclass(frozen=True, eq=False)
class Released(Generic[Value, Drawer]):
    """A value that left the room, and the very mechanism that drew it; what that tells of its noise is public."""

    value: Value
    mechanism: Drawer

    @property
    def sd(self: Released[Any, HasSd]) -> float:
        """Standard deviation of the noise on one entry."""
        return self.mechanism.sd_in(self.value.shape[-1] if isinstance(self.value, np.ndarray) else 1)


class Moments(NamedTuple):
    """Released counts (n_cells,) and coordinate sums (n_cells, d) of the same cells."""

    counts: Released[Array, Additive]
    sums: Released[Array, Additive]


class Question(NamedTuple, Generic[Value, Drawer]):
    """A query, the kind of mechanism that answers it, and the share that pays for it; ``options`` are public."""

    query: Query
    kind: Kind[Value, Drawer]
    share: Budget
    options: Mapping[str, object] = {}
