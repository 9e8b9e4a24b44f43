"""The settings under which every private card is tested; the small tables are those of the product's audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from dpviz.algorithms.registry import private_cards
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
    neighbours,
    settings_of,
    small_table,
)

__all__ = [
    "BOUGHT",
    "LOCAL",
    "PERSONS",
    "PUBLIC",
    "REPLACE",
    "SETTINGS",
    "WORLDS",
    "World",
    "blobs",
    "dealt",
    "in_turn",
    "in_worlds",
    "is_fast",
    "is_pure",
    "lone_rows",
    "named",
    "neighbours",
    "settings_of",
    "small_table",
]

# Cards of the local model: who sits where is secret, so that their loss is that of one message (test_local).
LOCAL = {card.id for card in private_cards() if card.local}
SETTINGS = [setting for card in private_cards() if card.id not in LOCAL for setting in settings_of(card)]


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


def in_worlds(*fast: str, each: int = 1, among: Sequence[World] = WORLDS) -> list[Any]:
    """Every setting in every world, as parameters (card, params, delta, world) of a test."""
    found = [next(world for world in among if world.name == name) for name in fast]
    return dealt(among, fast=found, each=each)


def dealt(
    values: Sequence[Any], *, fast: Sequence[Any] | None = None, each: int = 1, turn: int | None = None
) -> list[Any]:
    """Every setting with every one of these values, as parameters (card, params, delta, value) of a test.

    Fast tests deal out ``fast`` of them (all, if it is not said) one after another, ``each`` to a setting: every card
    meets some, and all cards together meet each of them many times over. With a ``turn``, one setting of each card has
    a hand. Whatever is not dealt is slow.
    """
    fast = values if fast is None else fast
    made, hands = [], 0
    for place, setting in enumerate(SETTINGS):
        hand = []
        if turn is None or is_fast(place, turn):
            hand = [fast[(hands * each + i) % len(fast)] for i in range(each)]
            hands += 1
        made += [pytest.param(*setting, value, marks=() if value in hand else pytest.mark.slow) for value in values]
    return made


def named(value: object) -> str:
    """How a parameter of a contract test is called in pytest's output."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else [value]
    return "-".join(str(getattr(part, "id", part)) for part in parts)
