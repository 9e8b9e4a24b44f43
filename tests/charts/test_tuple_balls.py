"""The companions of a test of tuples: made-up tuples by default, those of another split if the owner looks."""

import numpy as np
import pytest

from dpviz.charts.theme import palette
from dpviz.charts.tuple_balls import draw_made_up_balls, draw_revealed_balls, public_split
from tests.charts.gallery import exhibit, tuple_test_step
from tests.charts.laws import is_sound, shows_kinds


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("dim", "k"), [(1, 3), (2, 5), (6, 5)])
def test_an_illustration_is_public(dim: int, k: int, theme: str) -> None:
    figure = draw_made_up_balls(tuple_test_step(exhibit(dim, k, n=100)), palette=palette(theme))
    is_sound(figure)
    shows_kinds(figure, palette(theme), {"public"})
    assert "made-up" in figure.layout.meta["subtitle"]


@pytest.mark.parametrize(("dim", "k"), [(1, 3), (2, 5)])
def test_tuples_of_another_split_are_revealed(dim: int, k: int) -> None:
    shown = exhibit(dim, k, n=1500)
    step, rows, region = tuple_test_step(shown), shown.reveal.everyone, shown.table.domain.region
    figure = draw_revealed_balls(step, rows, region, palette=palette("light"))
    is_sound(figure)
    shows_kinds(figure, palette("light"), {"revealed"})
    assert "another split" in figure.layout.meta["subtitle"]
    (bars,) = [trace for trace in figure.data if trace.type == "bar"]
    assert sum(bars.y) == step.number
    split = public_split(step, rows, region)
    assert split.tuples.shape == (60, k, dim)
    again = public_split(step, rows, region)
    np.testing.assert_array_equal(split.tuples, again.tuples)
