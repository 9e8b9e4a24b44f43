"""The attacker that the guarantee assumes: everything released by a run, and how likely it was on either of two tables.

Densities are computed from true answers. They are no release: only public and simulated tables are read like this, and
each reading is an access in the table's ``accesses``.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import Any, TypeVar

from dpviz.core.arrays import Codes
from dpviz.core.mechanisms import Mechanism, NoDensity
from dpviz.core.private_session import PrivateSession, PrivateTable

T = TypeVar("T")


@dataclass
class _Recording:
    """What a run released, in order, and its log density on the table that was read last."""

    released: list[Any] = field(default_factory=list)
    log_density: float = 0.0


def compute_log_ratio(run: Callable[[PrivateTable], T], here: PrivateTable, there: PrivateTable) -> tuple[T, float]:
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
    recording = _Recording()
    result = run(_open_as(_make_recording(recording), here))
    drawn, recording.log_density = recording.log_density, 0.0
    run(_open_as(_make_playing(recording), there))
    return result, drawn - recording.log_density


def _open_as(kind: type[PrivateSession], table: PrivateTable) -> PrivateTable:
    table.accesses.append("densities of a run")
    opening = copy(table)
    opening._room_type = kind
    return opening


class _OpenBlocks(PrivateSession):
    def _draw_secret_blocks(self, number: int) -> Codes:
        raise NoDensity("Who lies in which block is secret: a density would sum over all ways to deal the rows.")


def _make_recording(recording: _Recording) -> type[PrivateSession]:
    class TranscriptSession(_OpenBlocks):
        def _draw(self, mechanism: Mechanism[Any], truth: Any) -> Any:
            released = super()._draw(mechanism, truth)
            recording.released.append(released)
            recording.log_density += mechanism.log_density(released, truth)
            return released

    return TranscriptSession


def _make_playing(recording: _Recording) -> type[PrivateSession]:
    coming = iter(recording.released)

    class Playing(_OpenBlocks):
        def _draw(self, mechanism: Mechanism[Any], truth: Any) -> Any:
            released = next(coming)
            recording.log_density += mechanism.log_density(released, truth)
            return released

    return Playing
