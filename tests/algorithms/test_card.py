"""Cards: parameters that are checked, guarantees that hold, and a traffic light from public numbers."""

import dataclasses

import pytest

from dpviz.algorithms.card import Card, Guarantee, Level, Params, Setting, param_field, round_up
from dpviz.algorithms.registry import AUTO, CARDS, find_card, list_private_cards
from dpviz.core.accounting import Accounting
from dpviz.core.check import RequestError
from dpviz.runs.advice.judgement import Judgement
from tests.cases import about, for_each
from tests.contract.tables import SETTINGS

cards = for_each("card", CARDS.values())

# No number of records would do.
OUT_OF_REACH = 1e12


@dataclasses.dataclass(frozen=True)
class Some(Params):
    mode: str = param_field("fast", help="x", choices=("fast", "slow"))
    steps: int | None = param_field(None, help="x", low=1, high=20)
    part: float = param_field(0.5, help="x", low=0.0, high=1.0)
    deep: bool = param_field(False, help="x")


@for_each(
    ("given", "parsed"),
    [
        ({}, Some()),
        ({"steps": "7", "part": "0.25"}, Some(steps=7, part=0.25)),
        ({"steps": "auto", "deep": "True"}, Some(steps=None, deep=True)),
        ({"mode": "slow", "steps": None, "part": 1}, Some(mode="slow", part=1.0)),
    ],
)
def test_parameters_are_parsed_from_text_and_numbers(given, parsed):
    assert Some.parse(given) == parsed


@for_each(
    ("given", "said"),
    [
        ({"steps": 0}, "steps is 0: give a number from 1 to 20"),
        ({"steps": "2.5"}, "give a whole number from 1 to 20"),
        ({"steps": True}, "give a whole number"),
        ({"part": "nan"}, "part is nan"),
        ({"part": "much"}, "give a number from 0 to 1"),
        ({"mode": "odd"}, "choose one of fast, slow"),
        ({"deep": "perhaps"}, "choose one of true, false"),
        ({"size": 3}, "There is no parameter 'size' here: the parameters are mode, steps, part, deep"),
    ],
)
def test_what_a_knob_refuses(given, said):
    with pytest.raises(RequestError, match=said):
        Some.parse(given)


@cards
def test_a_card_is_complete(card: Card):
    assert card.id == card.id.lower()
    for text in (card.title, card.family, card.paper, card.summary, card.story, card.when):
        assert text.strip()
    assert card.summary.endswith(".") and card.story.endswith(".") and card.when.endswith(".")
    defaults = card.params.parse({})
    for known in card.params.param_fields():
        assert known.help.strip(), known.name
        assert card.params.parse({known.name: getattr(defaults, known.name)}) == defaults
        assert known.choices or known.kind is bool or (known.low is not None and known.high is not None), known.name
        for end in (known.low, known.high):
            if end is not None:
                card.params.parse({known.name: end})


def test_a_guarantee_is_what_the_accounting_gives():
    for card, params, delta in SETTINGS:
        with about(card.id, params, delta):
            accounting = card.accounting(card.params.parse(params), delta)
            assert accounting is not Accounting.NONE
            wanted = Guarantee.PURE if accounting is Accounting.PURE else Guarantee.APPROX
            assert wanted in card.guarantees and (accounting is Accounting.PURE) == (delta == 0)


def test_only_the_reference_has_no_guarantee():
    assert [card.id for card in CARDS.values() if not card.private] == ["kmeans++"]
    assert {card.id for card in list_private_cards()} == set(CARDS) - {"kmeans++"}


def test_ids():
    assert all(find_card(name) is card for name, card in CARDS.items()) and find_card(AUTO).private
    with pytest.raises(RequestError, match=r"no algorithm 'k-means': choose one of auto, "):
        find_card("k-means")


@for_each(("card", "params", "delta"), SETTINGS)
def test_the_traffic_light_says_what_would_suffice(card, params, delta):
    chosen = card.params.parse(params)
    base = Setting(dim=2, k=4, epsilon=1.0, delta=delta, n=1000)
    first = Judgement.of(card, base, chosen)
    if first.level is None:
        assert card.smallest_n is None
        return
    if first.needed_n >= OUT_OF_REACH:
        assert first.level is Level.RED and "out of reach" in first.message
        return
    poor = dataclasses.replace(base, n=max(1, int(first.needed_n / 50)))
    red = Judgement.of(card, poor, chosen)
    assert red.level is Level.RED and f"{poor.n:,}" in red.message
    assert Judgement.of(card, dataclasses.replace(base, n=10**9), chosen).like is Level.GREEN
    hidden = Judgement.of(card, dataclasses.replace(base, n=None), chosen)
    assert hidden.level is None and "private" in hidden.message


def test_numbers_are_rounded_up_to_two_digits():
    assert [round_up(x) for x in (0.2, 1, 9.1, 10.1, 99.5, 101, 1234, 98_700)] == [1, 1, 10, 11, 100, 110, 1300, 99_000]


@for_each(("card", "params", "delta"), SETTINGS)
def test_the_smallest_n_falls_with_epsilon_and_grows_with_k(card, params, delta):
    base, changes = Setting(dim=3, k=5, epsilon=1.0, delta=delta), ({}, {"epsilon": 0.5}, {"k": 10}, {"epsilon": 1e4})
    if card.smallest_n is not None:
        asked = (dataclasses.replace(base, n=10_000, **change) for change in changes)
        usual, less, more, much = (card.smallest_n(one, card.params.parse(params)) for one in asked)
        assert 0 < usual <= more and (usual < less or (usual >= OUT_OF_REACH and much < 10))
