import numpy as np
import pytest

from dpviz.algorithms.auto.auto_plan import PlanStep
from dpviz.charts.registry import picture_of
from dpviz.charts.theme import palette
from dpviz.privacy.loss_distributions import Draws
from tests.charts.gallery import ANYWHERE, draw
from tests.charts.laws import is_sound, shows_kinds

LIGHT = palette("light")
PARTS = {"zoom": 10.0, "grid": 30.0, "radii_1": 1.0, "counts_1": 4.0, "sums_1": 15.0, "swap_counts_2": 10.0}


def plan(*, bought: bool = False) -> PlanStep:
    parts = {"rows": 5.0, **PARTS, "swap_spread_2": 10.0, "counts_2": 5.0, "sums_2": 15.0}
    if not bought:
        parts.pop("rows")
    noises = tuple("K-norm" if name.startswith(("sums", "swap_spread")) else "Laplace" for name in parts)
    draws = tuple(Draws(False, 1 / part) for part in parts.values())
    return PlanStep(title="The plan", names=tuple(parts), noises=noises, draws=draws, delta=0.0)


def test_stages_lie_below_each_other_and_their_parts_side_by_side() -> None:
    figure = draw(plan())
    is_sound(figure)
    ends = {}
    for trace in figure.data:
        for base, width, y in zip(trace.base, trace.x, trace.y, strict=True):
            ends.setdefault(int(y), []).append((base, base + width))
    for stretches in ends.values():
        stretches.sort()
        starts, stops = zip(*stretches, strict=True)
        assert starts[0] == pytest.approx(0)
        np.testing.assert_allclose(starts[1:], stops[:-1])
    assert [round(max(stop for _, stop in ends[-row]), 3) for row in range(4)] == [0.1, 0.3, 0.4, 0.2]
    words = [note.text for note in figure.layout.annotations]
    assert [text.split(" ")[0] for text in words] == ["<b>Zoom", "<b>Grid", "<b>Polish", "<b>Split"]
    assert "40 %" in words[2]


def test_each_kind_of_noise_has_its_hatch_and_its_word() -> None:
    figure = draw(plan())
    shapes = {trace.name: trace.marker.pattern.shape for trace in figure.data}
    assert set(shapes) == {"○ Laplace noise", "○ K-norm noise"} and len(set(shapes.values())) == 2


def test_the_title_adds_up_what_comes_before_polishing() -> None:
    assert draw(plan()).layout.title.text.startswith("40 % of the budget finds")
    assert picture_of(plan()).words(ANYWHERE.domain).startswith("40 % of the budget finds")


def test_a_plan_that_hangs_on_a_bought_number_of_rows_is_a_release() -> None:
    shows_kinds(draw(plan()), LIGHT, {"public"})
    figure = draw(plan(bought=True))
    shows_kinds(figure, LIGHT, {"released"})
    assert figure.layout.annotations[0].text.startswith("<b>Count")


def test_every_part_is_in_the_table() -> None:
    table = picture_of(plan()).table(ANYWHERE.domain)
    assert len(table) == len(plan().names)
    assert table["share of the budget (%)"].sum() == pytest.approx(100)
    assert set(table["stage"]) == {"zoom", "grid", "polish, round 1", "polish, round 2", "split, round 2"}
