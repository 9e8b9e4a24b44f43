"""Every setting of every algorithm: its steps to the last bit, what they spent and on what, and what came of them."""

import json
from collections.abc import Iterator

import numpy as np

from dpviz.algorithms.cohen2021.tested_tuples import TupleParams
from dpviz.algorithms.registry import CARDS
from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable
from dpviz.runs.audits.contract import list_values
from dpviz.runs.one_run import Run, run
from tests.contract.tables import PUBLIC, NeighborSetting, list_settings, make_blobs
from tests.proof.kept import Item, compare, spell

FIVE = Domain.of(list("abcde"), [0, 0, -5, 10, 0], [1, 10, 5, 20, 90], scaling="common")
TABLES = {
    "two columns, n public": PUBLIC.table(),
    "five columns, common scale": PrivateTable(
        FIVE.from_unit(make_blobs(dim=5) * FIVE.region.half), FIVE, relation="replace"
    ),
    "categories, n bought": NeighborSetting("categories", dim=4, mixed=True).table(),
}
AGREEING = PUBLIC.table(np.repeat(make_blobs(1800, seed=1)[:3], 12_000, axis=0))
"""Enough rows, in three places, for tests of tuples to pass."""

EPSILONS = (1.0, 10.0, 100.0)
"""One for each seed: some branches are taken under little noise only."""


def list_frames(card_id: str) -> Iterator[Item]:
    for card, params, delta in list_settings(CARDS[card_id]):
        tables = TABLES
        if issubclass(card.params, TupleParams):
            tables, params = {**TABLES, "tuples agree": AGREEING}, {**params, "rows_per_tuple": 20}
        for name, table in tables.items():
            runs = [
                run(card, table, k=3, epsilon=epsilon, delta=delta, params=params, seed=seed)
                for seed, epsilon in enumerate(EPSILONS)
            ]
            preset = f" {params['preset']}" if "preset" in params else ""
            about = f"{card.id}{preset}, δ = {delta:g}, {name}"
            yield f"{about}: frames", "\n\n".join(spell_frames(one) for one in runs)
            yield f"{about}: ledger", "\n\n".join(spell_ledger(one) for one in runs)
            yield f"{about}: result", "\n\n".join(spell_result(one) for one in runs)


def spell_frames(one: Run) -> str:
    return "\n".join(spell([frame.spent_epsilon, *list_values(frame.step)]) for frame in one.frames)


def spell_ledger(one: Run) -> str:
    entries = [entry.to_dict() for entry in one.entries]
    return json.dumps([one.accounting.value, one.epsilon, one.delta, one.spent_epsilon, one.n, one.n_origin, entries])


def spell_result(one: Run) -> str:
    told = (one.centers, one.sizes, one.loss_diagnostic, one.verdict, one.warnings)
    return spell(list_values(told))


def test_frames_ledgers_and_results_are_what_they_were() -> None:
    compare("frames", (item for card_id in CARDS for item in list_frames(card_id)))
