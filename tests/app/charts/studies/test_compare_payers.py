"""Who pays in a picture: each payer where its size and loss are, hollow where it is missed, a claim from both ends."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest

from dpviz.app.charts.studies.compare import draw_payers
from dpviz.runs.error_parts import Payer, WhoPays
from dpviz.words.theme import choose_palette
from tests.app.charts.laws import is_sound, shows_kinds

PAID = WhoPays(
    (
        Payer("cluster", "3", 60, 4.2, 0.7, 0.4),
        Payer("group", "<b>north</b>", 400, 1.6, 0.3, nan),
        Payer("cluster", "2", 1000, 1.1, 0.0, 0.05),
        Payer("cluster", "1", 3000, 1.02, 0.0, 0.01),
    ),
    220.0,
    20,
)


def test_marks_stand_where_sizes_and_losses_are() -> None:
    for theme in ("light", "dark"):
        colors = choose_palette(theme)
        figure = draw_payers(PAID, "Auto", 0.3).draw(colors).headed(colors)
        is_sound(figure)
        shows_kinds(figure, colors, {"revealed"})
        clusters, groups = figure.data
        assert list(clusters.x) == [60, 1000, 3000] and list(clusters.y) == [4.2, 1.1, 1.02] and list(groups.x) == [400]
        assert list(clusters.marker.color) == [colors.surface, colors.revealed, colors.revealed]
        low, high = figure.layout.xaxis.range
        assert low < np.log10(60) and high > np.log10(3000) and "<b>north" not in figure.to_json()


def test_the_claim_is_that_of_the_numbers() -> None:
    made = draw_payers(PAID, "Auto", 0.3)
    assert made.finding == "At ε = 0.3 the smallest cluster loses 4.20×, the largest 1.02×"
    assert "about 220 rows, below which noise hides a group" in made.words
    assert made.table()["rows"].tolist() == [60, 400, 1000, 3000]
    assert PAID.smallest_shown == 1000


@pytest.mark.parametrize("paid", [WhoPays((Payer("cluster", "1", 5, 1.0, 1.0, nan),), nan, 1)])
def test_one_cluster_and_unknown_noise_are_drawn(paid: WhoPays) -> None:
    made = draw_payers(paid, "EUGkM", 1.0)
    is_sound(made.draw(choose_palette("light")).headed(choose_palette("light")))
    assert made.finding == "At ε = 1 the only cluster loses 1.00×" and "nan" not in made.words
    assert paid.smallest_shown is None
