"""All algorithms: ours, of which a new one is a file beside this one and a word here, and those that packages bring."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from threading import RLock

from dpviz.algorithms.baselines import kmeans_plus_plus
from dpviz.algorithms.card import DOES, Card, Does
from dpviz.algorithms.plugins import Brought, load_plugins
from dpviz.algorithms.su2016 import dplloyd
from dpviz.core import RequestError, check

_FILES = (
    "auto.auto",
    "baselines.kmeans_plus_plus",
    *("su2016.dplloyd", "su2016.eugkm", "su2016.hybrid", "su2016.gkm", "su2016.pgkm"),
    *("balcan2017.balcan", "balcan2017.balcan_sparse", "balcan2017.balcan_kmedian"),
    *("baselines.sulq", "baselines.sample_aggregate", "baselines.kvariates"),
    *("hashes.lsh_coreset", "hashes.lsh_local"),
    *("cohen2021.k_tuples", "cohen2021.gaussian_mixture"),
)


def _load_cards(file: str) -> tuple[Card, ...]:
    """The cards of a file: one, or several where it holds variants of one algorithm."""
    module = import_module(f"dpviz.algorithms.{file}")
    return module.CARDS if hasattr(module, "CARDS") else (module.CARD,)


class Cards(Mapping[str, Card]):
    """All cards by their ids: ours, then those that installed packages bring.

    No package is imported before somebody asks for all cards, or for an id that is not ours: what needs one of ours,
    a release among it, runs without code of others.
    """

    def __init__(self) -> None:
        self.ours = {card.id: card for file in _FILES for card in _load_cards(file)}
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

REFERENCE = kmeans_plus_plus.CARD.id

# The name under which the best all-round algorithm is asked for.
AUTO = "auto"
_STANDS_IN_FOR_AUTO = dplloyd.CARD.id


def find_card(algorithm: str) -> Card:
    """The card with that id; ``auto`` is the best all-round algorithm there is.

    Raises
    ------
    RequestError
        If there is no such id.
    """
    name = _STANDS_IN_FOR_AUTO if algorithm == AUTO and AUTO not in CARDS else algorithm
    if name not in CARDS:
        left_out = "".join(f" {sentence}" for sentence in CARDS.brought.left_out)
        known = ", ".join([AUTO, *CARDS])
        raise RequestError(f"There is no algorithm {check.format_value(algorithm)}: choose one of {known}.{left_out}")
    return CARDS[name]


def list_private_cards() -> list[Card]:
    """The cards that promise privacy, those that packages bring included."""
    return [card for card in CARDS.values() if card.private]
