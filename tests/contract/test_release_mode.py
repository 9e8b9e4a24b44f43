"""In release mode every card that can be released spends its request, and plays again without a row."""

from collections.abc import Iterator
from itertools import cycle
from typing import Any

import numpy as np
import pytest

from dpviz.algorithms.registry import CARDS
from dpviz.core.check import RequestError
from dpviz.core.exact_noise import ExactNoise
from dpviz.core.queries import Relation
from dpviz.releases.transcript import AnswerRecording, Playback, Transcript, read_transcript
from dpviz.runs.meaning.independent_accounting import compute_independent_epsilon
from dpviz.runs.one_run import run_request
from dpviz.runs.request import Contender, Request
from tests.contract.tables import NEIGHBOR_SETTINGS, NeighborSetting, list_settings

EPSILON = 2.0


def _cases() -> Iterator[Any]:
    """Each setting of each card, in one of the cases in turn."""
    cases = cycle(NEIGHBOR_SETTINGS)
    for card in CARDS.values():
        for one, params, delta in list_settings(card) if card.releasable else ():
            case = next(cases)
            yield pytest.param(one, params, delta, case, id=f"{one.id}-{params.get('preset', '')}-{delta:g}-{case}")


@pytest.mark.some(7)
@pytest.mark.parametrize(("card", "params", "delta", "case"), list(_cases()))
def test_a_release_spends_its_request_and_plays_again_without_rows(card, params, delta, case: NeighborSetting):
    table, noise = case.table(), ExactNoise()
    request = Request(Contender.of(card, params), 3, EPSILON, delta)
    finished = run_request(request, table, noise=noise)
    assert finished.hardened and not finished.seeded and 0.99 * EPSILON <= finished.spent_epsilon <= EPSILON
    again = compute_independent_epsilon(finished.entries, delta=delta)
    assert again is not None and again <= EPSILON * (1 + 1e-6)

    recording = AnswerRecording(noise.coins, tuple(noise.released))
    stored = read_transcript(Transcript({"asked": 1}, {"algorithm": recording}).to_bytes("")).whole.recordings[
        "algorithm"
    ]
    nobody = np.zeros((0, case.dim))
    empty = case.table(nobody, np.zeros(0, dtype=np.int64)) if case.rows_per_person > 1 else case.table(nobody)
    if case.relation is Relation.REPLACE:
        empty.n_public = table.n_public
    player = Playback(stored)
    played = run_request(request, empty, noise=player)
    assert player.is_over and played.entries == finished.entries
    np.testing.assert_array_equal(played.centers, finished.centers)


def test_the_others_say_why_not():
    for card in CARDS.values():
        if not card.releasable:
            assert isinstance(card.release, str) and card.release and not card.release.endswith(".")
    able = {card.id for card in CARDS.values() if card.releasable}
    assert able >= {"auto", "dplloyd", "eugkm", "lsh-coreset", "balcan"}


def test_a_release_refuses_a_seed():
    with pytest.raises(RequestError, match="seed"):
        run_request(Request(Contender("auto"), 3, 1.0, 1e-6, 5), NEIGHBOR_SETTINGS[1].table(), noise=ExactNoise())
