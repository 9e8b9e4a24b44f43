"""All algorithms. A new one is a file beside this one and a word here."""

from __future__ import annotations

from dpviz.algorithms.auto import auto
from dpviz.algorithms.balcan2017 import balcan, balcan_kmedian, balcan_sparse
from dpviz.algorithms.baselines import kmeans_plus_plus, kvariates, sample_aggregate, sulq
from dpviz.algorithms.card import Card
from dpviz.algorithms.cohen2021 import averages, gaussian_mixture, noisy_centers, stable_kmeans
from dpviz.algorithms.hashes import lsh_coreset, lsh_local
from dpviz.algorithms.su2016 import dplloyd, eugkm, gkm, hybrid, pgkm
from dpviz.check import RequestError, shown

_MODULES = (
    auto,
    kmeans_plus_plus,
    *(dplloyd, eugkm, hybrid, gkm, pgkm),
    *(balcan, balcan_sparse, balcan_kmedian, sulq, sample_aggregate, kvariates),
    *(lsh_coreset, lsh_local),
    *(noisy_centers, averages, stable_kmeans, gaussian_mixture),
)

CARDS: dict[str, Card] = {module.CARD.id: module.CARD for module in _MODULES}

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
