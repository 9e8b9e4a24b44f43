"""All algorithms: ours, each a file beside this one and a part of ``cards.toml``, and those that packages bring."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from threading import RLock

from dpviz.algorithms.card import DOES, Card, Does, list_homes
from dpviz.algorithms.plugins import Brought, load_plugins
from dpviz.core import RequestError, check


class OurCards(Mapping[str, Card]):
    """Ours by their ids; a file, with a ``CARD`` or the ``CARDS`` of variants, is imported when first asked for."""

    def __getitem__(self, algorithm: str) -> Card:
        module = import_module(f"dpviz.algorithms.{list_homes()[algorithm]}")
        cards: tuple[Card, ...] = module.CARDS if hasattr(module, "CARDS") else (module.CARD,)
        return next(card for card in cards if card.id == algorithm)

    def __contains__(self, algorithm: object) -> bool:
        return algorithm in list_homes()

    def __iter__(self) -> Iterator[str]:
        return iter(list_homes())

    def __len__(self) -> int:
        return len(list_homes())


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
