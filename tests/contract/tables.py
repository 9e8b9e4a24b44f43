"""Small tables and the settings under which every private card is tested."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpviz.algorithms.card import Card, Guarantee
from dpviz.algorithms.registry import private_cards
from dpviz.privacy.queries import Relation
from dpviz.privacy.room import PrivateTable
from dpviz.table.domain import Domain


def blobs(n: int = 400, dim: int = 2, k: int = 3, seed: int = 0) -> np.ndarray:
    """``n`` rows around ``k`` centres in [-1, 1]^dim."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-0.7, 0.7, (k, dim))
    return np.clip(centers[rng.integers(0, k, n)] + rng.normal(0, 0.08, (n, dim)), -1, 1)


def small_table(
    values: np.ndarray | None = None,
    *,
    dim: int = 2,
    relation: Relation = Relation.ADD_REMOVE,
    n_public: int | None = None,
    radius: float | None = None,
) -> PrivateTable:
    """A table over [-1, 1]^dim whose unit coordinates are its data units."""
    rows = blobs(dim=dim) if values is None else values
    domain = Domain.of([f"x{j}" for j in range(rows.shape[1])], -1.0, 1.0, radius=radius)
    return PrivateTable(rows, domain, relation=relation, n_public=n_public)


def settings_of(card: Card) -> list[tuple[Card, dict[str, Any], float]]:
    """Each preset of a card with a δ that suits it: pure ones at 0, approximate ones at 1e-6, both where both exist."""
    presets = next((knob.choices for knob in card.params.knobs() if knob.name == "preset"), None) or ("",)
    made: list[tuple[Card, dict[str, Any], float]] = []
    for preset in presets:
        params = {"preset": preset} if preset else {}
        deltas = [0.0] if Guarantee.PURE in card.guarantees and preset != "gaussian" else []
        deltas += [1e-6] if Guarantee.APPROX in card.guarantees and preset not in ("su", "tuned") else []
        made += [(card, params, delta) for delta in deltas]
    return made


SETTINGS = [setting for card in private_cards() for setting in settings_of(card)]
