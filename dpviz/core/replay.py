"""Sessions that keep a contract to account: one records releases, one plays them back without rows, one weighs them.

What they record follows from true answers and is no release: only tables that an audit or a test has made up are opened
like this.
"""

from __future__ import annotations

import copy
import copyreg
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dpviz.core import private_session as front_door
from dpviz.core.accounting import Accounting, LossKind
from dpviz.core.arrays import Codes
from dpviz.core.check import Broken
from dpviz.core.content import draw_content_uniforms
from dpviz.core.domain import Region
from dpviz.core.mechanisms import Mechanism, PathCounts, count_below
from dpviz.core.private_session import PrivateSession, PrivateTable
from dpviz.core.queries import Relation, SparseCounts
from dpviz.core.rows import Rows, RowSource


@dataclass
class Recording:
    """What was released by which mechanism, and (for loss replay only) the truth behind it."""

    released: list[Any] = field(default_factory=list)
    truths: list[Any] = field(default_factory=list)
    mechanisms: list[Mechanism[Any]] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def demand(self, holds: bool, sentence: str) -> None:
        """Refuse what does not hold, and keep it: whoever is refused may be a plan that goes on all the same.

        Parameters
        ----------
        holds : bool
            What has to be true.
        sentence : str
            What is wrong otherwise.

        Raises
        ------
        Broken
        """
        if not holds:
            self.broken.append(sentence)
            raise Broken(sentence)

    def find_next(self, place: list[int], mechanism: Mechanism[Any], *, more: str, other: str) -> int:
        """Which answer comes next to whoever asks again.

        Parameters
        ----------
        place : list of int
            How many were given before; moves on.
        mechanism : Mechanism
            What asks.
        more, other : str
            What is wrong if there are more questions than answers, and if this one is asked with other noise.

        Returns
        -------
        int
            Its place on the recording.

        Raises
        ------
        Broken
        """
        at = place[0]
        place[0] += 1
        self.demand(at < len(self.released), more)
        if self.mechanisms:
            self.demand(mechanism == self.mechanisms[at], other)
        return at

    def make_recording_session(self) -> type[PrivateSession]:
        """A session that answers as usual and keeps every release here."""
        recording = self

        class RecordingSession(CoupledBlocks):
            def _draw(self, mechanism: Mechanism[Any], truth: Any) -> Any:
                released = super()._draw(mechanism, truth)
                recording.truths.append(truth)
                recording.released.append(released)
                recording.mechanisms.append(mechanism)
                return released

        return RecordingSession

    def make_replaying_session(self) -> type[PrivateSession]:
        """A session without rows: it plays these answers back, so whatever peeks at rows comes out different."""
        recording = self

        class Replaying(CoupledBlocks):
            place: ClassVar[list[int]] = [0]

            def __init__(self, rows: RowSource, region: Region, *args: Any, **kwargs: Any) -> None:
                super().__init__(Rows.of(np.empty((0, region.dim)), region), region, *args, **kwargs)

            def _compute_true_answers(self, queries: list[Any]) -> list[Any]:
                return [None] * len(queries)

            def _draw(self, mechanism: Mechanism[Any], truth: Any) -> Any:
                more = "without rows, more questions are asked"
                other = "without rows, an answer is asked with other noise"
                return recording.released[recording.find_next(self.place, mechanism, more=more, other=other)]

        return Replaying

    def make_loss_session(self, loss: RecordedLoss) -> type[PrivateSession]:
        """A session over a neighbouring table that is fed these answers and adds up how much likelier they were here.

        A release that the neighbour would draw with other noise fails at once: the scale of noise is public, so it must
        not depend on rows.

        Parameters
        ----------
        loss : RecordedLoss
            Where the losses of all releases are added up.

        Returns
        -------
        type of PrivateSession
            To open the neighbour with.
        """
        recording = self

        class Measuring(CoupledBlocks):
            place: ClassVar[list[int]] = [0]

            def _draw(self, mechanism: Mechanism[Any], truth: Any) -> Any:
                more, other = "the neighbour asks more questions", "the noise itself depends on rows"
                i = recording.find_next(self.place, mechanism, more=more, other=other)
                released = recording.released[i]
                if not getattr(mechanism, "exact", True):
                    loss.unbounded.append(mechanism)
                    return released
                if mechanism.loss is LossKind.GAUSSIAN:
                    alone = mechanism.sensitivity / mechanism.scale
                    answers = [recording.truths[i], truth]
                    if isinstance(mechanism, PathCounts):
                        # One histogram answers on every level: what noise hides are the counts of all asked nodes.
                        answers = [count_below(released.codes, answer) for answer in answers]
                    here = compute_squared_distance(*answers) / mechanism.scale**2
                    loss.shift_squared += here
                    loss.fractions_of_bound.append(here / alone**2)
                else:
                    here = mechanism.log_density(released, recording.truths[i]) - mechanism.log_density(released, truth)
                    loss.log_ratio += here
                    loss.fractions_of_bound.append(abs(here) / mechanism.cost(Accounting.PURE))
                loss.per_release.append((mechanism.name, here))
                return released

        return Measuring


def open_as(table: PrivateTable, kind: type[PrivateSession] | None) -> PrivateTable:
    """The same table, which opens as a session of that kind.

    Parameters
    ----------
    table : PrivateTable
    kind : type of PrivateSession or None
        A session that records or plays; None: the usual one.

    Returns
    -------
    PrivateTable
    """
    opening = copy.copy(table)
    opening._room_type = kind or PrivateSession
    return opening


class CoupledBlocks(PrivateSession):
    """A session whose rows keep their secret block whoever comes and goes: the coupling by which blocks are private."""

    def _draw_secret_blocks(self, number: int) -> Codes:
        # Not from the session's noise: a session that plays a recording back has drawn fewer numbers by now than one
        # that drew.
        rows, persons = self._rows.values, self._rows.persons
        if self.relation is Relation.REPLACE:
            keys = np.arange(len(rows), dtype=np.float64)[:, None]
        else:
            keys = rows if persons is None else np.atleast_2d(persons.T).T.astype(np.float64)
        return np.minimum((draw_content_uniforms(keys, 2) * number).astype(np.int64), number - 1)


def make_watched_session(reached: list[str]) -> type[PrivateSession]:
    """A session that answers as usual and lists in ``reached`` who reaches behind its methods: what, and from where.

    Only the session's own file may name its rows, its noise and its true answers.
    """
    # To open another session, a session is copied.
    inside = {front_door.__file__, __file__, copy.__file__, copyreg.__file__}

    class Watched(CoupledBlocks):
        def __getattribute__(self, name: str) -> Any:
            if name == "__dict__" or (name[:1] == "_" and name[:2] != "__"):
                frame = sys._getframe(1)
                file = frame.f_code.co_filename
                if file not in inside:
                    reached.append(f"{Path(file).name}:{frame.f_lineno} reads {name} of the session")
            return super().__getattribute__(name)

    return Watched


@dataclass
class RecordedLoss:
    """Privacy loss of one transcript: log density ratios of pure-type releases, squared shifts of Gaussian ones.

    ``fractions_of_bound`` holds, for each release, the part of its own bound that this pair of tables uses up: |log
    ratio| over its ε, or squared shift over its μ². An (ε, δ) mechanism has no such bound: it is listed in
    ``unbounded`` instead.
    """

    log_ratio: float = 0.0
    shift_squared: float = 0.0
    per_release: list[tuple[str, float]] = field(default_factory=list)
    fractions_of_bound: list[float] = field(default_factory=list)
    unbounded: list[Mechanism[Any]] = field(default_factory=list)


def compute_squared_distance(one: Any, other: Any) -> float:
    """Squared Euclidean distance of two answers.

    Parameters
    ----------
    one, other : array or SparseCounts
        Answers of one shape, dense or sparse.

    Returns
    -------
    float
        In their units, squared.
    """
    if isinstance(one, SparseCounts):
        codes = np.union1d(one.codes, other.codes)
        one, other = one.get_counts(codes), other.get_counts(codes)
    return float(((one - other) ** 2).sum())
