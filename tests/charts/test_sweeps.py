"""Sweeps over k and n, and the map of ε and n: medians of what was run, equal losses where they cross."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpviz.charts.studies.epsilon_n_map import describe_map, draw_map, iso_crossings, map_table
from dpviz.charts.studies.sweep import Over, describe_sweep, draw_sweep, sweep_table
from dpviz.charts.theme import palette
from tests.charts.laws import is_sound

LIGHT = palette("light")
EPSILONS, NS = (0.1, 0.3, 1.0, 3.0, 10.0), (300, 1000, 3000, 10_000)


def runs(names: tuple[str, ...] = ("A",), *, repeats: int = 5) -> pd.DataFrame:
    """Losses that depend on n · ε alone: 1 + 100 / (n ε)."""
    rng = np.random.default_rng(0)
    rows = [
        {"contender": name, "algorithm": name, "k": k, "n": float(n), "epsilon": e}
        | {"ratio": 1 + (1 + place) * k * 20 / (n * e) * rng.lognormal(0, 0.02), "ari": 0.5}
        for place, name in enumerate(names)
        for k in (5,)
        for n in NS
        for e in EPSILONS
        for _ in range(repeats)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("over", ["k", "n"])
def test_a_sweep_draws_medians(over: Over) -> None:
    table = runs(("A", "B")).query("epsilon == 1.0")
    figure = draw_sweep(table, over, palette=LIGHT, epsilon=1.0, own=5 if over == "k" else 3000)
    is_sound(figure)
    behind = sweep_table(table, over)
    lines = {trace.name: trace for trace in figure.data if trace.meta == "median"}
    assert set(lines) == {"A", "B"}
    np.testing.assert_allclose(lines["B"].y, behind[behind.algorithm == "B"]["median"])
    assert any(note.text.startswith("yours") for note in figure.layout.annotations)
    assert "A comes first" in describe_sweep(table, over, epsilon=1.0)
    assert "No run yet" in describe_sweep(table[:0], over, epsilon=1.0)
    is_sound(draw_sweep(table[:0], over, palette=LIGHT, epsilon=1.0, values=[2.0, 4.0]))


def test_equal_losses_lie_where_n_times_epsilon_is_the_same() -> None:
    crossings = iso_crossings(runs())
    products = {level: [c.n * c.epsilon for c in crossings if c.loss == level] for level in (1.1, 1.02)}
    assert len(products[1.1]) >= 2 and len(products[1.02]) >= 2
    for level, found in products.items():
        np.testing.assert_allclose(found, 100 / (level - 1), rtol=0.35)


@pytest.mark.parametrize("part", [1.0, 0.3, 0.0])
def test_the_map_is_sound_while_it_fills(part: float) -> None:
    table = runs()
    table = table[: round(part * len(table))]
    figure = draw_map(table, palette=LIGHT, name="A (tuned)", epsilons=EPSILONS, ns=NS, own=2500)
    is_sound_but_for_edges = [trace for trace in figure.data if trace.meta != "cells"]
    assert all(np.isfinite(np.asarray(trace.x, dtype=float)).all() for trace in is_sound_but_for_edges)
    (cells,) = [trace for trace in figure.data if trace.meta == "cells"]
    assert np.asarray(cells.z).shape == (len(NS), len(EPSILONS))
    assert (len(cells.x), len(cells.y)) == (len(EPSILONS) + 1, len(NS) + 1)
    assert any("yours: n = 2,500" in note.text for note in figure.layout.annotations)
    assert len(map_table(table)) == len(table.groupby(["n", "epsilon"]))


def test_the_map_speaks_of_the_users_rows() -> None:
    said = describe_map(runs(), name="A", ns=NS, own=2800)
    assert "With n = 3,000, A comes within 10 % of k-means++ from ε = 0.3" in said
    assert "no ε of this map" in describe_map(runs().query("epsilon <= 0.3"), name="A", ns=NS, own=300)
    assert "every ε of this map" in describe_map(runs().query("epsilon >= 3"), name="A", ns=NS, own=2800)
    assert "No run with n = 3,000 yet" in describe_map(runs().query("n < 1000"), name="A", ns=NS, own=2800)
