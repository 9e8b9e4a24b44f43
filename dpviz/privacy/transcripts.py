"""The attacker that the guarantee assumes: everything released by a run, and how likely it was on either of two tables.

Densities are computed from true answers. They are no release: only public and simulated tables are read like this, and
each reading is a look in the table's ``looks``.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import Any, TypeVar

from dpviz.arrays import Codes
from dpviz.privacy.mechanisms import Mechanism, NoDensity
from dpviz.privacy.room import DataRoom, PrivateTable

T = TypeVar("T")


@dataclass
class _Tape:
    """What a run released, in order, and its log density on the table that was read last."""

    released: list[Any] = field(default_factory=list)
    log_density: float = 0.0


def log_ratio(run: Callable[[PrivateTable], T], here: PrivateTable, there: PrivateTable) -> tuple[T, float]:
    """A run on one table, and how much likelier all that it released was there than on a neighbouring table.

    The run is drawn once on ``here``. On ``there`` it is played again, with what was released in place of fresh
    answers: so it asks the same questions, and each answer's density is known on both.

    Parameters
    ----------
    run : callable
        Runs an algorithm with a fixed seed of its public coins; called twice.
    here, there : PrivateTable
        Neighbouring tables that anybody may look at.

    Returns
    -------
    result : what ``run`` gives on ``here``
    log_ratio : float
        Natural logarithm; -inf and inf where one table could not have released this.

    **Guarantee.** None: the ratio is computed from true answers.

    Raises
    ------
    NoDensity
        If a release of this algorithm has no density that can be written down.
    """
    tape = _Tape()
    result = run(_opening_as(_recording(tape), here))
    drawn, tape.log_density = tape.log_density, 0.0
    run(_opening_as(_playing(tape), there))
    return result, drawn - tape.log_density


def _opening_as(kind: type[DataRoom], table: PrivateTable) -> PrivateTable:
    table.looks.append("densities of a run")
    opening = copy(table)
    opening._room_type = kind
    return opening


class _OpenBlocks(DataRoom):
    def _secret_blocks(self, number: int) -> Codes:
        raise NoDensity("Who lies in which block is secret: a density would sum over all ways to deal the rows.")


def _recording(tape: _Tape) -> type[DataRoom]:
    class Recording(_OpenBlocks):
        def _draw(self, mechanism: Mechanism[Any], truth: Any) -> Any:
            released = super()._draw(mechanism, truth)
            tape.released.append(released)
            tape.log_density += mechanism.log_density(released, truth)
            return released

    return Recording


def _playing(tape: _Tape) -> type[DataRoom]:
    coming = iter(tape.released)

    class Playing(_OpenBlocks):
        def _draw(self, mechanism: Mechanism[Any], truth: Any) -> Any:
            released = next(coming)
            tape.log_density += mechanism.log_density(released, truth)
            return released

    return Playing
