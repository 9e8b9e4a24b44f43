"""The checks of sturdiness: hard tables, seeds, and generators that the whole program shares."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpviz.audit.audited import K, Subject, about
from dpviz.audit.contract import check_centers, told_of, values_in
from dpviz.audit.hard_tables import TABLES
from dpviz.audit.small_worlds import BOUGHT, World, blobs
from dpviz.privacy.broken import demand
from dpviz.privacy.queries import Relation
from dpviz.runs.run import Run

# Rows of a chunk are so few that there are many chunks.
_CHUNK = 256


def hard_tables(subject: Subject) -> str:
    """Whatever the table, k finite centres inside the bounds."""
    runs = 0
    for params, delta in subject.settings:
        for name, values in TABLES.items():
            for world in (World(name), World(f"{name}, replace", relation=Relation.REPLACE)):
                for k in (1, K, 12):
                    if world.relation is Relation.REPLACE and k > len(values):
                        continue
                    with told_of(*about(params, delta, world, f"k = {k}")):
                        check_centers(subject.run(world.table(values), k=k, delta=delta, params=params), k)
                    runs += 1
        runs += _ends(subject, params, delta)
    return f"k finite centres inside the bounds, in {runs} runs: no row, one, equal ones, k above n, ends of parameters"


def _ends(subject: Subject, params: Mapping[str, Any], delta: float) -> int:
    """Runs with every parameter at either end of its range."""
    knobs = subject.card.params.knobs()
    ends = [(knob.name, end) for knob in knobs for end in (knob.low, knob.high) if end is not None]
    for name, end in ends:
        with told_of(*about(params, delta, f"{name} = {end:g}")):
            run = subject.run(BOUGHT.table(blobs(60)), k=2, delta=delta, params={**params, name: end})
            check_centers(run, 2)
    return len(ends)


def repeated(subject: Subject) -> str:
    """A seed repeats a run; nothing else does."""
    rows = blobs(700)
    order = np.random.default_rng(0).permutation(len(rows))
    others: dict[str, dict[str, Any]] = {
        "a second run with the same seed differs": {"values": rows},
        "the order of the rows changes the run": {"values": rows[order]},
        "the size of chunks changes the run": {"values": rows, "block_numbers": _CHUNK},
    }
    for params, delta in subject.settings:
        with told_of(*about(params, delta)):
            how: dict[str, Any] = {"delta": delta, "params": params}
            first = _bytes(subject.run(BOUGHT.table(rows), **how))
            for sentence, table in others.items():
                demand(_bytes(subject.run(BOUGHT.table(**table), **how)) == first, sentence)
            fresh = [_bytes(subject.run(BOUGHT.table(rows), seed=None, **how)) for _ in range(2)]
            demand(fresh[0] != fresh[1], "two runs without a seed are the same")
    return "a seed repeats a run to the last bit, in any order and chunks of rows; without one, none comes again"


def _bytes(run: Run) -> list[bytes]:
    """Everything that a run shows, as it lies in memory."""
    return [np.asarray(value).tobytes() for frame in run.frames for value in values_in(frame.step)]


def global_state(subject: Subject) -> str:
    """Nobody's generator but the run's own is drawn from."""
    for params, delta in subject.settings:
        before = _global_states()
        subject.run(BOUGHT.table(), delta=delta, params=params)
        with told_of(*about(params, delta)):
            demand(_global_states() == before, "the run draws from a generator that the whole program shares")
    return "no generator that the whole program shares is drawn from"


def _global_states() -> tuple[object, bytes, object]:
    shared: Any = np.random.get_state()  # noqa: NPY002 - to see that nobody else draws from it
    return random.getstate(), np.asarray(shared[1]).tobytes(), shared[2:]
