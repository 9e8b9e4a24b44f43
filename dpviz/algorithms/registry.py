"""All algorithms. A new one is a file beside this one and a word here."""

from __future__ import annotations

from importlib import import_module

from dpviz.algorithms.baselines import kmeans_plus_plus
from dpviz.algorithms.card import Card
from dpviz.algorithms.su2016 import dplloyd
from dpviz.check import RequestError, shown

_FILES = (
    "auto.auto",
    "baselines.kmeans_plus_plus",
    *("su2016.dplloyd", "su2016.eugkm", "su2016.hybrid", "su2016.gkm", "su2016.pgkm"),
    *("balcan2017.balcan", "balcan2017.balcan_sparse", "balcan2017.balcan_kmedian"),
    *("baselines.sulq", "baselines.sample_aggregate", "baselines.kvariates"),
    *("hashes.lsh_coreset", "hashes.lsh_local"),
    *("cohen2021.k_tuples", "cohen2021.gaussian_mixture"),
)


def _cards(file: str) -> tuple[Card, ...]:
    """The cards of a file: one, or several where it holds variants of one algorithm."""
    module = import_module(f"dpviz.algorithms.{file}")
    cards: tuple[Card, ...] = module.CARDS if hasattr(module, "CARDS") else (module.CARD,)
    return cards


CARDS: dict[str, Card] = {card.id: card for file in _FILES for card in _cards(file)}

REFERENCE = kmeans_plus_plus.CARD.id

# The name under which the best all-round algorithm is asked for.
AUTO = "auto"
_STANDS_IN_FOR_AUTO = dplloyd.CARD.id


def card_of(algorithm: str) -> Card:
    """The card with that id; ``auto`` is the best all-round algorithm there is.

    Raises
    ------
    RequestError
        If there is no such id.
    """
    name = _STANDS_IN_FOR_AUTO if algorithm == AUTO and AUTO not in CARDS else algorithm
    if name not in CARDS:
        raise RequestError(f"There is no algorithm {shown(algorithm)}: choose one of {', '.join([AUTO, *CARDS])}.")
    return CARDS[name]


def private_cards() -> list[Card]:
    """The cards whose result may be released."""
    return [card for card in CARDS.values() if card.private]
