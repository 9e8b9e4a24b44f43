"""All algorithms: ours, of which a new one is a file beside this one and a word here, and those that packages bring."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from threading import RLock

from dpviz.algorithms.card import DOES, Card, Does
from dpviz.algorithms.plugins import Brought, load_plugins
from dpviz.core import RequestError, check

# Where the card of each of ours stands: as ``CARD``, or among the ``CARDS`` of a file with variants of one algorithm.
_HOMES = {
    "auto": "auto.auto",
    "kmeans++": "baselines.kmeans_plus_plus",
    "dplloyd": "su2016.dplloyd",
    "eugkm": "su2016.eugkm",
    "hybrid": "su2016.hybrid",
    "gkm": "su2016.gkm",
    "pgkm": "su2016.pgkm",
    "balcan": "balcan2017.balcan",
    "balcan-sparse": "balcan2017.balcan_variants",
    "balcan-kmedian": "balcan2017.balcan_variants",
    "sulq": "baselines.sulq",
    "sample-aggregate": "baselines.sample_aggregate",
    "kvariates": "baselines.kvariates",
    "lsh-coreset": "hashes.lsh_coreset",
    "lsh-local": "hashes.lsh_local",
    "k-noisy-centers": "cohen2021.k_tuples",
    "k-averages": "cohen2021.k_tuples",
    "stable-kmeans": "cohen2021.k_tuples",
    "gaussian-mixture": "cohen2021.gaussian_mixture",
}


class OurCards(Mapping[str, Card]):
    """Ours by their ids; each file is imported when it is first asked for."""

    def __getitem__(self, algorithm: str) -> Card:
        module = import_module(f"dpviz.algorithms.{_HOMES[algorithm]}")
        cards: tuple[Card, ...] = module.CARDS if hasattr(module, "CARDS") else (module.CARD,)
        return next(card for card in cards if card.id == algorithm)

    def __contains__(self, algorithm: object) -> bool:
        return algorithm in _HOMES

    def __iter__(self) -> Iterator[str]:
        return iter(_HOMES)

    def __len__(self) -> int:
        return len(_HOMES)


class Cards(Mapping[str, Card]):
    """All cards by their ids: ours, then those that installed packages bring.

    No package is imported before somebody asks for all cards, or for an id that is not ours: what needs one of ours,
    a release among it, runs without code of others.
    """

    def __init__(self) -> None:
        self.ours: Mapping[str, Card] = OurCards()
        self._brought: Brought | None = None
        self._lock = RLock()

    def __reduce__(self) -> str:
        """There is one of it: to another process it goes by its name."""
        return "CARDS"

    @property
    def brought(self) -> Brought:
        """What packages bring, imported when it is first asked for."""
        with self._lock:
            if self._brought is None:
                self._brought = Brought()  # what a package that asks for all cards while it is imported is told
                self._brought = load_plugins(self.ours.values())
            return self._brought

    def __getitem__(self, algorithm: str) -> Card:
        return self.ours[algorithm] if algorithm in self.ours else self.brought.cards[algorithm]

    def __contains__(self, algorithm: object) -> bool:
        return algorithm in self.ours or algorithm in self.brought.cards

    def __iter__(self) -> Iterator[str]:
        return iter([*self.ours, *self.brought.cards])

    def __len__(self) -> int:
        return len(self.ours) + len(self.brought.cards)

    def list_kinds(self) -> list[tuple[Does, str, list[Card]]]:
        """Each word for what algorithms do with the rows, what it means, and the cards that do it."""
        return [
            (does, meaning, [card for card in self.values() if card.does == does]) for does, meaning in DOES.items()
        ]


CARDS = Cards()

AUTO = "auto"
"""The best all-round algorithm, which is asked for where nothing else is said."""


def find_card(algorithm: str) -> Card:
    """The card with that id.

    Raises
    ------
    RequestError
        If there is no such id.
    """
    if algorithm not in CARDS:
        left_out = "".join(f" {sentence}" for sentence in CARDS.brought.left_out)
        known = ", ".join(CARDS)
        raise RequestError(f"There is no algorithm {check.format_value(algorithm)}: choose one of {known}.{left_out}")
    return CARDS[algorithm]


def list_private_cards() -> list[Card]:
    """The cards that promise privacy, those that packages bring included."""
    return [card for card in CARDS.values() if card.private]
