"""The settings under which every private card is tested; the small tables are those of the product's audit."""

from collections.abc import Sequence
from typing import Any

import pytest

from dpviz.algorithms.registry import list_private_cards
from dpviz.runs.audits.neighboring_tables import (  # noqa: F401  tests have them from here
    BOUGHT,
    NEIGHBOR_SETTINGS,
    PERSONS,
    PUBLIC,
    REPLACE,
    NeighborSetting,
    is_pure,
    list_neighbours,
    list_settings,
    make_blobs,
    make_lone_rows,
    make_small_table,
)

# Cards of the local model: who sits where is secret, so that their loss is that of one message (test_local).
LOCAL = {card.id for card in list_private_cards() if card.local}
SETTINGS = [setting for card in list_private_cards() if card.id not in LOCAL for setting in list_settings(card)]


def is_fast(place: int, turn: int) -> bool:
    """Whether a setting is the one of its card that is fast in this turn."""
    own = [other for other, (card, _, _) in enumerate(SETTINGS) if card is SETTINGS[place][0]]
    return own[turn % len(own)] == place


def in_turn(turn: int) -> list[Any]:
    """Every setting, as parameters (card, params, delta) of a test: one of each card is fast in a turn, others slow."""
    return [
        pytest.param(*SETTINGS[place], marks=() if is_fast(place, turn) else pytest.mark.slow)
        for place in range(len(SETTINGS))
    ]


def hands(values: Sequence[Any], *, each: int = 1, turn: int = 0) -> list[Any]:
    """Every setting with a hand of these values, as parameters (card, params, delta, hand) of a test.

    Values are dealt one after another, ``each`` to a setting: the settings of a card have others, and all cards
    together meet each of them many times over. One setting of each card is fast in a turn.
    """
    return [
        pytest.param(
            *SETTINGS[place],
            tuple(values[(place * each + i) % len(values)] for i in range(each)),
            marks=() if is_fast(place, turn) else pytest.mark.slow,
        )
        for place in range(len(SETTINGS))
    ]


def dealt(values: Sequence[Any], *, turn: int) -> list[Any]:
    """Every setting with every one of these values, as parameters (card, params, delta, value) of a test.

    Fast tests deal them out one after another to one setting of each card; whatever is not dealt is slow.
    """
    made, dealt_out = [], 0
    for place, setting in enumerate(SETTINGS):
        fast = values[dealt_out % len(values)] if is_fast(place, turn) else None
        dealt_out += is_fast(place, turn)
        made += [pytest.param(*setting, value, marks=() if value == fast else pytest.mark.slow) for value in values]
    return made


def named(value: object) -> str:
    """How a parameter of a contract test is called in pytest's output."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else [value]
    return "-".join(named(part) if isinstance(part, tuple) else str(getattr(part, "id", part)) for part in parts)
