"""Pictures of steps that no common run has: each keeps the laws of all figures, and is what it was.

Hashes of numbers hold for the processors of ``tests/proof``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dpviz.words.theme import choose_palette
from tests.app.charts.gallery import tell
from tests.app.charts.laws import is_sound, shows_kinds
from tests.app.charts.pictures.special import SPECIAL
from tests.cases import about
from tests.stored import compare_texts

STORED = Path(__file__).parent / "stored"


@pytest.mark.slow
@pytest.mark.parametrize("cases", SPECIAL, ids=lambda cases: cases.__name__.removeprefix("list_"))
def test_special_steps_keep_all_laws_and_are_drawn_as_they_were(cases) -> None:
    told = []
    for name, chart in cases():
        drawn = chart.draw()
        with about(name):
            figure = drawn.headed(choose_palette("light"))
            is_sound(figure)
            shows_kinds(figure, choose_palette("light"), {"public", "released", "revealed"})
            assert len(chart.words) > 20 and "nan" not in chart.words
        told.append((name, tell(drawn, chart.words, chart.table())))
    compare_texts(STORED / f"{cases.__name__.removeprefix('list_')}.txt", told)
