"""The attacker that the guarantee assumes: everything released by a run, and how likely it was on either of two tables.

Densities are computed from true answers. They are no release: only public and simulated tables are read like this, and
each reading is an access in the table's ``accesses``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from dpviz.core.arrays import Codes
from dpviz.core.mechanisms import Mechanism, NoDensity
from dpviz.core.private_session import PrivateSession, PrivateTable
from dpviz.core.replay import Recording, open_as

T = TypeVar("T")


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
    recording = Recording()
    drawn, played = list[float](), list[float]()

    class Playing(_OpenBlocks):
        def _draw(self, mechanism: Mechanism[Any], truth: Any) -> Any:
            place = len(played)
            released = recording.released[place]
            drawn.append(mechanism.log_density(released, recording.truths[place]))
            played.append(mechanism.log_density(released, truth))
            return released

    for table in (here, there):
        table.accesses.append("densities of a run")
    result = run(open_as(here, type("Drawn", (_OpenBlocks, recording.make_recording_session()), {})))
    run(open_as(there, Playing))
    return result, sum(drawn) - sum(played)


class _OpenBlocks(PrivateSession):
    def _draw_secret_blocks(self, number: int) -> Codes:
        raise NoDensity("Who lies in which block is secret: a density would sum over all ways to deal the rows.")
