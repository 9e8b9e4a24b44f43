"""The checks of privacy: what is spent, what is read, and how much likelier a neighbour's answers are."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from dpviz.audit.audited import SEED, K, NotAsked, Subject, about
from dpviz.audit.contract import check_ledger, check_loss, check_replayed, taped, told_of
from dpviz.audit.small_worlds import (
    BOUGHT,
    PERSONS,
    PUBLIC,
    REPLACE,
    WORLDS,
    World,
    blobs,
    is_pure,
    lone_rows,
    mild_neighbours,
    neighbours,
)
from dpviz.meaning.membership import Attack, Trial, attack, scores, trials
from dpviz.meaning.worlds import Worlds
from dpviz.privacy.broken import demand
from dpviz.privacy.queries import Relation
from dpviz.privacy.room import PrivateTable
from dpviz.privacy.taped_rooms import watched_room
from dpviz.runs.request import Contender, Request

_EPSILONS = (0.1, 1.0, 35.0)
_ROUNDING = 1e-8
_READS = {"nearness": "the centres", "log_ratio": "every answer"}
Pair = tuple[PrivateTable, PrivateTable]


def spent(subject: Subject) -> str:
    """What is booked is what was drawn, and it adds up to the request."""
    cases = [(world, epsilon) for world in (BOUGHT, PUBLIC, REPLACE, PERSONS) for epsilon in _EPSILONS]
    for params, delta in subject.settings:
        for world, epsilon in cases:
            with told_of(*about(params, delta, world, f"ε = {epsilon:g}")):
                request = {"k": K, "epsilon": epsilon, "delta": delta, "params": params, "seed": SEED}
                check_ledger(subject.card, world.table(), **request)
    runs = len(cases) * len(subject.settings)
    return f"what is booked is what was drawn and adds up to the request, by dp-accounting too, in {runs} runs"


def replayed(subject: Subject) -> str:
    """With the answers on tape and other rows in the table, the same steps come out."""
    worlds = (BOUGHT, PERSONS, REPLACE, WORLDS[-1])
    for params, delta in subject.settings:
        for world in worlds:
            request = {"k": K, "epsilon": 2.0, "delta": delta, "params": params, "seed": SEED}
            with told_of(*about(params, delta, world)):
                first = taped(subject.card, world.table(), **request)
                # Whoever looks for rows in memory is to find none of the table that is gone.
                gc.collect()
                n = 400 if world.relation is Relation.REPLACE else 250
                check_replayed(subject.card, world.table(blobs(n, world.dim, seed=1)), first, **request)
    return "with the answers on tape and other rows in the table, the same steps come out to the last bit"


def read(subject: Subject) -> str:
    """Rows are read by the room alone."""
    for params, delta in subject.settings:
        for world in (BOUGHT, REPLACE):
            reached: list[str] = []
            subject.run(world.table(), room=watched_room(reached), delta=delta, params=params)
            demand(not reached, "; ".join(dict.fromkeys(reached)))
    return "nobody but the room read its rows, its noise or its true answers"


def mild(subject: Subject) -> str:
    """No transcript is much likelier on the table with a usual person than on the one without."""
    return _losses(subject, mild_neighbours, (BOUGHT, PUBLIC, REPLACE, PERSONS), (0.1, 1.0, 8.0))


def planted(subject: Subject) -> str:
    """The same of tables that were made to tell: alone, in a crowd, far off, missing."""

    def hard(world: World) -> Iterator[Pair]:
        yield from neighbours(world, SEED)
        replaced = world.relation is Relation.REPLACE
        if world.rows_per_person == 1:
            for among in (0, 8):
                one, other = lone_rows(world, among)
                yield one, other if replaced else world.table(np.zeros((among, world.dim)))

    return _losses(subject, hard, WORLDS, (1.0,))


def _losses(
    subject: Subject,
    pairs_of: Callable[[World], Iterator[Pair]],
    worlds: Sequence[World],
    epsilons: Sequence[float],
) -> str:
    if subject.card.local:
        raise NotAsked("in the local model the loss is that of one message, which is not replayed")
    reach, pairs = 0.0, 0
    for params, delta in subject.settings:
        for world in worlds:
            for epsilon in epsilons:
                for one, other in pairs_of(world):
                    with told_of(*about(params, delta, world, f"ε = {epsilon:g}")):
                        request = {"k": K, "epsilon": epsilon, "delta": delta, "params": params, "seed": SEED}
                        if min(one.n_public or K, other.n_public or K) < K:
                            request["k"] = 1
                        loss = check_loss(subject.card, one, other, **request)
                    reach, pairs = max([reach, *loss.reach]), pairs + 1
    return f"no release of {pairs} pairs lost more than was booked; at most {reach:.3f} of it"


def attacked(subject: Subject) -> str:
    """No attacker tells whether a person is in a table more often than ε and δ allow."""
    card, worlds, best = subject.card, _one_far_person(), 0.0
    for pure, (params, delta) in {is_pure(card, *setting): setting for setting in subject.settings}.items():
        asked = Request(Contender.of(card, params), 2, 1.0, delta)
        with told_of(*about(params, delta)):
            beating = set(_READS)
            # Of sound algorithms one in twenty seems to be beaten in a series of runs, and hardly any in two.
            for series in (0, 1):
                found = trials(worlds, asked, subject.runs, first=series * subject.runs)
                records = _records([one for one in found if isinstance(one, Trial)], asked, pure=pure)
                best = max(best, *(record.advantage for record in records.values()))
                beating &= {of for of, one in records.items() if one.passes(epsilon=1.0, delta=delta)}
                if not beating:
                    break
            who = " and ".join(sorted(_READS[of] for of in beating))
            demand(not beating, f"who reads {who} tells a person's presence more often than ε = 1 allows")
    return f"in {subject.runs} pairs of runs no attacker beat what ε = 1 allows; hits less false alarms: {best:.2f}"


def _records(found: Sequence[Trial], asked: Request, *, pure: bool) -> dict[str, Attack]:
    """What an attacker achieves by the centres, and, where answers have densities, by all of them."""
    sides = {of: scored for of in _READS if (scored := scores(found, of)) is not None}
    if pure and "log_ratio" in sides:
        most = max(abs(ratio) for side in sides["log_ratio"] for ratio in side)
        demand(most <= asked.epsilon * (1 + _ROUNDING), f"a transcript is e^{most:.4f} times as likely, at ε = 1")
    return {of: attack(*scored) for of, scored in sides.items()}


def _one_far_person() -> Worlds:
    """Few rows in the middle, and a person in a corner or not."""
    few, person = blobs(20, seed=3) * 0.3, np.ones((1, 2))
    present, absent = BOUGHT.table(np.r_[few, person]), BOUGHT.table(few)
    return Worlds(present, absent, present.domain.region.clip(person))
