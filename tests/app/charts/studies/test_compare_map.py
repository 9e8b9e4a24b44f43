"""Sweeps over k and n, and the map of ε and n: medians of what was run, equal losses where they cross."""

from __future__ import annotations

from colorsys import rgb_to_hls
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from dpviz.app.charts.studies.compare import draw_epsilon_n_map, find_crossings
from dpviz.app.charts.studies.curves import Curves, Over, draw_curves
from dpviz.words.theme import choose_palette
from tests.app.charts.laws import is_sound
from tests.app.charts.studies.test_studies import figure_of

LIGHT = choose_palette("light")
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
    table = runs(("A", "B"), repeats=2).query("epsilon == 1.0")
    figure = figure_of(Curves(table, over=over, epsilon=1.0, own=5 if over == "k" else 3000))
    is_sound(figure)
    behind = draw_curves(Curves(table, over=over)).table()
    lines = {trace.name: trace for trace in figure.data if trace.meta == "median"}
    assert set(lines) == {"A", "B"}
    np.testing.assert_allclose(lines["B"].y, behind[behind.algorithm == "B"]["median"])
    assert any(note.text.startswith("yours") for note in figure.layout.annotations)
    assert "A comes first" in draw_curves(Curves(table, over=over, epsilon=1.0)).words
    assert "No run yet" in draw_curves(Curves(table[:0], over=over, epsilon=1.0)).words
    is_sound(figure_of(Curves(table[:0], over=over, epsilon=1.0, places=[2.0, 4.0])))


def test_equal_losses_lie_where_n_times_epsilon_is_the_same() -> None:
    crossings = find_crossings(runs())
    products = {level: [c.n * c.epsilon for c in crossings if c.loss == level] for level in (1.1, 1.02)}
    assert len(products[1.1]) >= 2 and len(products[1.02]) >= 2
    for level, found in products.items():
        np.testing.assert_allclose(found, 100 / (level - 1), rtol=0.35)


@pytest.mark.parametrize("part", [1.0, 0.0])
def test_the_map_is_sound_while_it_fills(part: float) -> None:
    table = runs()
    table = table[: round(part * len(table))]
    figure = draw_epsilon_n_map(table, "A (tuned)", EPSILONS, NS, own=2500).draw(LIGHT).headed(LIGHT)
    is_sound_but_for_edges = [trace for trace in figure.data if trace.meta != "cells"]
    assert all(np.isfinite(np.asarray(trace.x, dtype=float)).all() for trace in is_sound_but_for_edges)
    (cells,) = [trace for trace in figure.data if trace.meta == "cells"]
    assert np.asarray(cells.z).shape == (len(NS), len(EPSILONS))
    assert (len(cells.x), len(cells.y)) == (len(EPSILONS) + 1, len(NS) + 1)
    assert any("yours: n = 2,500" in note.text for note in figure.layout.annotations)
    assert len(draw_epsilon_n_map(table, "A", EPSILONS, NS).table()) == len(table.groupby(["n", "epsilon"]))


def test_the_map_speaks_of_the_users_rows() -> None:
    said = draw_epsilon_n_map(runs(), "A", EPSILONS, NS, own=2800).words
    assert "With n = 3,000, A comes within 10 % of k-means++ from ε = 0.3" in said
    assert "no ε of this map" in draw_epsilon_n_map(runs().query("epsilon <= 0.3"), "A", EPSILONS, NS, own=300).words
    assert "every ε of this map" in draw_epsilon_n_map(runs().query("epsilon >= 3"), "A", EPSILONS, NS, own=2800).words
    assert (
        "No run with n = 3,000 yet" in draw_epsilon_n_map(runs().query("n < 1000"), "A", EPSILONS, NS, own=2800).words
    )


def test_labels_of_lines_that_begin_close_together_do_not_lie_on_each_other() -> None:
    """Both on the row of n = 500: one begins where the other does, and goes below it."""
    losses = {0.1: 4.0, 0.3: 1.05, 1.0: 1.005}
    rows = [{"n": 500, "epsilon": epsilon, "ratio": loss} for epsilon, loss in losses.items()]
    figure = draw_epsilon_n_map(pd.DataFrame(rows), "A", tuple(losses), (500, 1000)).draw(LIGHT).headed(LIGHT)
    labels = [note for note in figure.layout.annotations if note.text.startswith("+")]
    assert len(labels) >= 3
    close = [(one, other) for one, other in combinations(labels, 2) if abs(one.x - other.x) < 0.3 * np.log10(10)]
    assert close and all(abs(one.yshift - other.yshift) >= 14 for one, other in close)
    numbers = [place for place, trace in enumerate(figure.data) if trace.meta == "numbers"]
    lines = [place for place, trace in enumerate(figure.data) if trace.meta == "iso"]
    assert min(numbers) > max(lines), "numbers stand above the lines"


def test_lines_of_the_map_are_not_in_the_colour_of_what_is_revealed() -> None:
    figure = draw_epsilon_n_map(runs(), "A", EPSILONS, NS).draw(LIGHT).headed(LIGHT)
    colors = {trace.line.color for trace in figure.data if trace.meta == "iso"}
    for color in colors:
        hue, _, _ = rgb_to_hls(*(int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)))
        assert not 0.025 < hue < 0.14
