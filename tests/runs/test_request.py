"""What a card refuses: the same words before a run, in a run and in a study, and never a row is read for them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scipy import sparse

from dpviz.algorithms.regime import Level
from dpviz.algorithms.registry import CARDS, private_cards
from dpviz.check import RequestError
from dpviz.privacy.room import PrivateTable
from dpviz.runs.advice.prospect import prospect_of
from dpviz.runs.request import check_request
from dpviz.runs.run import run
from dpviz.runs.study.study import Contender, trials
from tests.contract.tables import BOUGHT, PUBLIC, REPLACE, SETTINGS, blobs, is_pure, named, small_table

TABLE = small_table(n_public=400)
SPARSE = PrivateTable(sparse.csr_array(blobs(40)), TABLE.domain, n_public=40)

each_setting = pytest.mark.parametrize(("card", "params", "delta"), SETTINGS, ids=named)
each_card = pytest.mark.parametrize("card", CARDS.values(), ids=named)


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No table can be opened."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a table was opened")

    monkeypatch.setattr(PrivateTable, "open", refuse)


def refused(card, table=TABLE, **asked) -> str:
    """The refusal, which a run repeats word by word before it opens the table."""
    asked = {"k": 3, "epsilon": 1.0, "delta": 1e-6, **asked}
    said = prospect_of(card, table, **asked).refusal
    if said:
        with pytest.raises(RequestError) as error:
            run(card, table, **asked)
        assert str(error.value) == said
    return said


@each_setting
def test_a_delta_of_nought_is_refused_exactly_where_one_is_needed_with_what_to_set(closed, card, params, delta):
    said = refused(card, params=params, delta=0.0)
    if is_pure(card, params, 0.0):
        assert not said
    else:
        assert card.title in said and "delta > 0" in said and "delta = 1e-6" in said
        with pytest.raises(RequestError) as error:
            trials([Contender(card.id, params)], [3], [1.0], delta=0.0, repeats=1)
        assert str(error.value) == said


@each_setting
def test_what_contract_tests_run_is_not_refused(closed, card, params, delta):
    for world in (BOUGHT, PUBLIC, REPLACE):
        assert not refused(card, world.table(), params=params, delta=delta)


@each_card
def test_more_clusters_than_public_rows_are_refused_and_than_private_ones_never(closed, card):
    assert "at most that many clusters" in refused(card, k=401)
    assert not refused(card, small_table(blobs(7)), k=401)


@each_card
def test_a_sparse_table_is_for_those_who_never_write_it_out(closed, card):
    said = refused(card, SPARSE)
    assert bool(said) != card.sparse
    if said:
        assert all(able.title in said for able in private_cards() if able.sparse)


@each_card
@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"k": 0}, "k is 0"),
        ({"epsilon": 0.0}, "epsilon is 0"),
        ({"delta": 0.01}, "1/n"),
        ({"params": {"no such": 1}}, "no parameter"),
    ],
)
def test_numbers_that_nobody_can_serve(closed, card, asked, words):
    assert words in refused(card, **asked)


def test_a_preset_that_needs_delta_names_those_that_do_not():
    assert refused(CARDS["dplloyd"], params={"preset": "gaussian"}, delta=0.0).endswith("the preset su or tuned.")
    assert "preset" not in refused(CARDS["sulq"], delta=0.0)


def test_the_delta_that_is_advised_is_not_refused_in_its_turn():
    large = small_table(n_public=3_000_000)
    assert "delta = 3.3e-8" in refused(CARDS["sulq"], large, delta=0.0)
    assert not refused(CARDS["sulq"], large, delta=3.3e-8)


def test_the_checked_parameters_come_back():
    assert check_request(CARDS["dplloyd"], TABLE, k=3, epsilon=1.0, params={"rounds": "4"}).rounds == 4


@pytest.mark.parametrize("card", private_cards(), ids=named)
def test_the_prospect_of_what_is_served_is_the_cards_own_light(card):
    asked = {"k": 3, "epsilon": 1.0, "delta": 1e-6}
    poor, rich = (prospect_of(card, small_table(n_public=n), **asked) for n in (5, 10**5))
    assert poor.hopeless and poor.caution == poor.regime.message
    hidden = prospect_of(card, small_table(), **asked)
    assert hidden.regime is None and not hidden.hopeless and not hidden.caution
    assert rich.regime is not None and rich.hopeless == (rich.regime.level is Level.RED)
    assert not replace(rich, regime=None).hopeless
