"""``dpviz algorithms``: list the algorithms and their parameters."""

import argparse
import json
from textwrap import fill
from typing import Any

from dpviz.algorithms import CARDS, Card, Guarantee, ParamField
from dpviz.api.console import say
from dpviz.words import render


def serve(arguments: argparse.Namespace) -> str:
    """The text to print; what packages bring and is left out is named beside it."""
    for sentence in CARDS.brought.left_out:
        say(sentence)
    if arguments.json:
        return json.dumps([card_to_dict(card) for card in CARDS.values()], indent=2)
    return render("algorithms.txt.j2", cards=CARDS.values(), indent=_indent).rstrip("\n")


def card_to_dict(card: Card) -> dict[str, Any]:
    """An algorithm as plain values. ``guarantee`` is the strongest it can promise, ``guarantees`` are all."""
    return {
        **{name: getattr(card, name) for name in ("id", "title", "does", "family", "paper")},
        "guarantee": _find_strongest(card).value,
        "guarantees": [guarantee.value for guarantee in card.guarantees],
        "model": "local" if card.local else "central",
        **{name: getattr(card, name) for name in ("summary", "when")},
        "needs": {"n": card.needs_n, "delta": _find_strongest(card) is Guarantee.APPROX},
        "sample": card.sample,
        "brought_by": card.brought_by or None,
        "parameters": [_param_field_to_dict(param_field) for param_field in card.params.param_fields()],
    }


def _find_strongest(card: Card) -> Guarantee:
    return next(guarantee for guarantee in Guarantee if guarantee in card.guarantees)


def _param_field_to_dict(param_field: ParamField) -> dict[str, Any]:
    return {
        "name": param_field.name,
        "type": param_field.kind.__name__,
        "default": param_field.default,
        "optional": param_field.optional,
        "range": None if param_field.low is None and param_field.high is None else [param_field.low, param_field.high],
        "choices": None if param_field.choices is None else list(param_field.choices),
        "help": param_field.help,
    }


def _indent(text: str, *, by: int = 2) -> str:
    return fill(text, 110, initial_indent=" " * by, subsequent_indent=" " * (by + 4))
