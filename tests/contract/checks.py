"""The contract of every private algorithm, as checks that raise: tests run them; planted mistakes must fail them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from dpviz.algorithms.card import Card
from dpviz.privacy.accounting import Accounting
from dpviz.privacy.ledger import Entry, total_epsilon
from dpviz.privacy.readdition import independent_epsilon
from dpviz.privacy.room import DataRoom, PrivateTable
from dpviz.runs.run import Frame, Run, run_frames
from tests.contract.rooms import Loss, Tape, in_room, loss_room, recording_room, replaying_room

# Log densities and sums are floating-point numbers.
_ROUNDING = 1e-8


def frames_of(card: Card, table: PrivateTable, *, room: type[DataRoom] | None = None, **request: Any) -> list[Frame]:
    """The frames of a run in that kind of room."""
    return [frame for frame in run_frames(card, in_room(table, room), **request) if isinstance(frame, Frame)]


def run_of(card: Card, table: PrivateTable, *, room: type[DataRoom] | None = None, **request: Any) -> Run:
    """A run in that kind of room."""
    *_, last = run_frames(card, in_room(table, room), **request)
    assert isinstance(last, Run)
    return last


def check_replay(card: Card, table: PrivateTable, **request: Any) -> None:
    """With the answers on tape and the rows taken away, the same steps come out."""
    tape = Tape()
    first = frames_of(card, table, room=recording_room(tape), **request)
    again = frames_of(card, table, room=replaying_room(tape), **request)
    assert len(first) == len(again)
    for one, other in zip(first, again, strict=True):
        assert one.step.title == other.step.title
        for a, b in zip(arrays_in(one.step), arrays_in(other.step), strict=True):
            np.testing.assert_array_equal(a, b)


def arrays_in(thing: object, *, depth: int = 4) -> list[np.ndarray]:
    """Every array in a step, those inside its grids and trees included."""
    if isinstance(thing, np.ndarray):
        return [thing]
    if isinstance(thing, tuple | list):
        return [array for part in thing for array in arrays_in(part, depth=depth)]
    if dataclasses.is_dataclass(thing) and depth > 0:
        parts = [getattr(thing, f.name) for f in dataclasses.fields(thing)]
        return [array for part in parts for array in arrays_in(part, depth=depth - 1)]
    return []


def check_loss(card: Card, one: PrivateTable, other: PrivateTable, **request: Any) -> Loss:
    """No transcript of ``one`` is likelier there than on its neighbour by more than was declared; returns the loss."""
    tape, loss = Tape(), Loss()
    run = run_of(card, one, room=recording_room(tape), **request)
    run_of(card, other, room=loss_room(tape, loss), **request)
    assert len(loss.reach) + len(loss.unbounded) == len(tape.released), "the neighbour asks fewer questions"
    for (name, _), reach in zip(loss.per_release, loss.reach, strict=True):
        assert reach <= 1 + _ROUNDING, f"a {name} release loses {reach:.4f} times what its entry says"
    match run.accounting:
        case Accounting.PURE:
            assert loss.shift_squared == 0
            assert loss.log_ratio <= run.epsilon * (1 + _ROUNDING)
        case Accounting.BASIC:
            # Of (ε, δ) releases, one in 1/δ may lose more; seeds are fixed. Gaussian ones are bounded above.
            assert loss.log_ratio <= run.epsilon * (1 + _ROUNDING)
            assert sum(entry.epsilon for entry in run.entries) <= run.epsilon * (1 + _ROUNDING)
            assert sum(entry.delta for entry in run.entries) <= run.delta * (1 + _ROUNDING)
            for mechanism in loss.unbounded:
                assert any(entry.epsilon == mechanism.cost(Accounting.BASIC) for entry in run.entries)
        case Accounting.GDP:
            assert loss.log_ratio == 0
            assert loss.shift_squared <= sum(entry.amount for entry in run.entries) * (1 + _ROUNDING)
        case Accounting.ZCDP | Accounting.PLD:
            # Releases are bounded one by one above, and their ρ add up, or their loss distributions compose.
            assert sum(entry.amount for entry in run.entries) > 0
        case Accounting.NONE:
            raise AssertionError("a private card runs without a guarantee")
    return loss


def check_ledger(card: Card, table: PrivateTable, **request: Any) -> None:
    """The entries are what was drawn, and add up to the request: all but 1 % of it, and no more, by two libraries."""
    tape = Tape()
    run = run_of(card, table, room=recording_room(tape), **request)
    drawn = [(m.name, m.sensitivity, m.scale) for m in tape.mechanisms]
    assert drawn == [(entry.mechanism, entry.sensitivity, entry.scale) for entry in run.entries]
    check_total(run.entries, epsilon=run.epsilon, delta=run.delta, fraction=run.spent_fraction)
    assert 0 < run.spent_epsilon <= run.epsilon
    for entry in run.entries:
        assert entry.accounting is run.accounting
        assert entry.amount > 0
        assert 0 < entry.epsilon <= run.epsilon * (1 + _ROUNDING)


def check_total(entries: tuple[Entry, ...], *, epsilon: float, delta: float, fraction: float) -> None:
    """A ledger's total, in its own accounting and by dp-accounting."""
    accounting = entries[0].accounting
    assert 0.99 <= fraction <= 1.0
    assert total_epsilon(accounting, entries, delta=delta) <= epsilon
    independent = independent_epsilon(entries, delta=delta)
    assert independent is not None
    assert 0.98 * epsilon <= independent <= epsilon


def check_centers(run: Run, k: int) -> None:
    """Exactly k finite centres inside the domain."""
    domain = run.domain
    assert run.centers.shape == (k, domain.dim)
    assert np.isfinite(run.centers).all()
    slack = 1e-9 * domain.scale
    assert (run.centers >= domain.lower - slack).all()
    assert (run.centers <= domain.upper + slack).all()
    assert np.linalg.norm(run.unit_centers, axis=1).max() <= domain.region.radius * (1 + 1e-9)
