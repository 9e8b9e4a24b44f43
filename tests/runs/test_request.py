"""What a card refuses: the same words before a run, in a run and in a study, and never a row is read for them."""

from dataclasses import replace
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from scipy import sparse

from dpviz.algorithms.registry import CARDS, list_private_cards
from dpviz.core.check import RequestError
from dpviz.core.private_session import PrivateTable
from dpviz.runs.advice.judgement import Judgement
from dpviz.runs.one_run import run
from dpviz.runs.request import Contender, Request
from dpviz.runs.study.grid import StudyGrid
from tests.cases import for_each
from tests.contract.tables import SETTINGS, is_pure, make_blobs, make_small_table
from tests.runs.asked import requests

TABLE = make_small_table(n_public=400)
SPARSE = PrivateTable(sparse.csr_array(make_blobs(40)), TABLE.domain, n_public=40)

each_setting = for_each(("card", "params", "delta"), SETTINGS)
each_card = for_each("card", CARDS.values())


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No table can be opened."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a table was opened")

    monkeypatch.setattr(PrivateTable, "open", refuse)


def refused(card, table=TABLE, *, params=None, **asked) -> str:
    """The refusal, which a run repeats word by word before it opens the table."""
    asked = {"k": 3, "epsilon": 1.0, "delta": 1e-6, **asked}
    said = Judgement.of_request(Request(Contender.of(card, params), **asked), table).refusal
    if said:
        with pytest.raises(RequestError) as error:
            run(card, table, params=params, **asked)
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
            StudyGrid((Contender(card.id, params),), (3,)).list_trials()
        assert str(error.value) == said


@each_card
def test_more_clusters_than_public_rows_are_refused_and_than_private_ones_never(closed, card):
    assert "at most that many clusters" in refused(card, k=401)
    assert not refused(card, make_small_table(make_blobs(7)), k=401)


@each_card
def test_a_sparse_table_is_for_those_who_never_write_it_out(closed, card):
    said = refused(card, SPARSE)
    assert bool(said) != card.sparse
    if said:
        assert all(able.title in said for able in list_private_cards() if able.sparse)


def test_the_delta_that_is_advised_is_not_refused_in_its_turn():
    large = make_small_table(n_public=3_000_000)
    assert "delta = 3.3e-8" in refused(CARDS["sulq"], large, delta=0.0)
    assert not refused(CARDS["sulq"], large, delta=3.3e-8)


@given(requests())
def test_a_link_reads_back_to_the_same_request(request_: Request):
    assert Request.from_query(dict(parse_qsl(request_.to_query()))) == request_
    assert Contender.from_text(request_.contender.to_text()) == request_.contender


def test_a_link_names_what_differs_and_carries_no_seed():
    said = "algorithm=eugkm&eugkm.theta=3&k=5&epsilon=1&delta=1e-06"
    request_ = Request(Contender("eugkm", {"theta": 3.0}), 5, 1.0, 1e-6)
    assert replace(request_, seed=7).to_query() == request_.to_query() == said
    assert Request.from_query({"k": "4", "other": "x"}) == Request(Contender("auto"), 4, delta=1e-6)
    assert Request.from_query({"k": "4"}, usual=request_) == replace(request_, k=4)
    assert Request.from_query({"algorithm": CARDS["dplloyd"].title}, usual=request_).contender == Contender("dplloyd")


@for_each(
    ("query", "words"),
    [
        ({"algorithm": "nobody"}, "no algorithm"),
        ({"k": "many"}, "k is not a number"),
        ({"epsilon": "-1"}, "epsilon is -1"),
        ({"auto.nothing": "2"}, "no parameter"),
        ({"algorithm": "eugkm", "eugkm.theta": "x"}, "theta"),
    ],
)
def test_a_link_that_cannot_be_used_says_why(query, words):
    with pytest.raises(RequestError, match=words):
        Request.from_query(query)
