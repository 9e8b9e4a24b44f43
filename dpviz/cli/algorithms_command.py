"""``dpviz algorithms``: list the algorithms and their parameters."""

from __future__ import annotations

import argparse
import json
from textwrap import fill
from typing import Any

from dpviz.algorithms.card import Card, Guarantee, Knob
from dpviz.algorithms.registry import CARDS
from dpviz.cli.console import say
from dpviz.cli.parser import Parser


def add(command: Parser) -> None:
    """Its options."""
    command.add_argument("--json", action="store_true", help="print a JSON list")


def serve(arguments: argparse.Namespace) -> str:
    """The text to print; what packages bring and is left out is named beside it."""
    for sentence in CARDS.brought.left_out:
        say(sentence)
    if arguments.json:
        return json.dumps([card_to_dict(card) for card in CARDS.values()], indent=2)
    return "\n\n".join(_card_text(card) for card in CARDS.values())


def card_to_dict(card: Card) -> dict[str, Any]:
    """An algorithm as plain values. ``guarantee`` is the strongest it can promise, ``guarantees`` are all."""
    return {
        "id": card.id,
        "title": card.title,
        "does": card.does,
        "family": card.family,
        "paper": card.paper,
        "guarantee": _strongest(card).value,
        "guarantees": [guarantee.value for guarantee in card.guarantees],
        "model": "local" if card.local else "central",
        "summary": card.summary,
        "when": card.when,
        "needs": {"n": card.needs_n, "delta": _strongest(card) is Guarantee.APPROX},
        "sample": card.sample,
        "brought_by": card.brought_by or None,
        "parameters": [_knob_to_dict(knob) for knob in card.params.knobs()],
    }


def _strongest(card: Card) -> Guarantee:
    return next(guarantee for guarantee in Guarantee if guarantee in card.guarantees)


def _knob_to_dict(knob: Knob) -> dict[str, Any]:
    return {
        "name": knob.name,
        "type": knob.kind.__name__,
        "default": knob.default,
        "optional": knob.optional,
        "range": None if knob.low is None and knob.high is None else [knob.low, knob.high],
        "choices": None if knob.choices is None else list(knob.choices),
        "help": knob.help,
    }


def _card_text(card: Card) -> str:
    promised = " or ".join(guarantee.value for guarantee in card.guarantees)
    by = f"; brought by {card.brought_by}" if card.brought_by else ""
    lines = [f"{card.id}  ({card.title}; guarantee: {promised}{by})", _indented(card.summary), _indented(card.paper)]
    for knob in card.params.knobs():
        allowed = ", ".join(knob.choices) if knob.choices is not None else knob.range_text
        default = "by a rule" if knob.default is None else knob.default
        lines.append(_indented(f"--set {knob.name}={default}  ({allowed}) {knob.help}", by=4))
    return "\n".join(lines)


def _indented(text: str, *, by: int = 2) -> str:
    return fill(text, 110, initial_indent=" " * by, subsequent_indent=" " * (by + 4))
