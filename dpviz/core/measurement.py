"""What a session is asked, and what it answers: a released value with the mechanism that drew it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from dpviz.core.accounting import Budget
from dpviz.core.arrays import Array
from dpviz.core.mechanisms import Additive, DrawnNoise, Kind
from dpviz.core.queries import Query

Value = TypeVar("Value", covariant=True)
Drawer = TypeVar("Drawer", covariant=True)


@dataclass(frozen=True, eq=False)
class Measurement(Generic[Value, Drawer]):
    """A value that left the session, and the very mechanism that drew it; what that tells of its noise is public."""

    value: Value
    mechanism: Drawer

    @property
    def sd(self: Measurement[Any, Additive | DrawnNoise]) -> float:
        """Standard deviation of the noise on one entry."""
        return self.mechanism.compute_sd(self.value.shape[-1] if isinstance(self.value, np.ndarray) else 1)


class Question(NamedTuple):
    """A query, the kind of noise that is added to its answer, and the share that pays for it."""

    query: Query
    kind: Kind[Array, Additive]
    share: Budget
