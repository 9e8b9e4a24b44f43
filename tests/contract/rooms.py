"""Rooms for tests: one records releases, one plays them back without rows, one re-adds the privacy loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dpviz.privacy.mechanisms import Gaussian, Mechanism
from dpviz.privacy.room import DataRoom
from dpviz.table.rows import Rows


@dataclass
class Tape:
    """What was released, and (for loss replay only) the truth behind it."""

    released: list[Any] = field(default_factory=list)
    truths: list[Any] = field(default_factory=list)


def recording_room(tape: Tape) -> type[DataRoom]:
    """A room that answers as usual and keeps every release on ``tape``."""

    class Recording(DataRoom):
        def _draw(self, mechanism: Mechanism, truth: Any) -> Any:
            released = super()._draw(mechanism, truth)
            tape.truths.append(truth)
            tape.released.append(released)
            return released

    return Recording


def replaying_room(tape: Tape) -> type[DataRoom]:
    """A room without rows: it plays ``tape`` back, so whatever peeks at rows comes out different."""
    played = iter(tape.released)

    class Replaying(DataRoom):
        def __init__(self, rows: Rows, *args: Any, **kwargs: Any) -> None:
            super().__init__(Rows(np.empty((0, rows.values.shape[1]))), *args, **kwargs)

        def _true_answers(self, queries: list[Any]) -> list[Any]:
            return [None] * len(queries)

        def _draw(self, mechanism: Mechanism, truth: Any) -> Any:
            return next(played)

    return Replaying


@dataclass
class Loss:
    """Privacy loss of one transcript: log density ratios of pure-type releases, squared shifts of Gaussian ones."""

    log_ratio: float = 0.0
    shift_squared: float = 0.0
    per_release: list[tuple[str, float]] = field(default_factory=list)


def loss_room(tape: Tape, loss: Loss) -> type[DataRoom]:
    """A room over a neighbouring table that is fed ``tape`` and adds up how much likelier it was on the first table."""

    class Measuring(DataRoom):
        place: ClassVar[list[int]] = [0]

        def _draw(self, mechanism: Mechanism, truth: Any) -> Any:
            i = self.place[0]
            self.place[0] += 1
            released = tape.released[i]
            if isinstance(mechanism, Gaussian):
                here = float((((tape.truths[i] - truth) / mechanism.scale) ** 2).sum())
                loss.shift_squared += here
            else:
                here = mechanism.log_density(released, tape.truths[i]) - mechanism.log_density(released, truth)
                loss.log_ratio += here
            loss.per_release.append((mechanism.name, here))
            return released

    return Measuring
