import numpy as np
import pytest

from dpviz.algorithms.auto.auto_plan import ROWS, PlanStep, StagePart
from dpviz.app.charts.registry import draw_picture
from dpviz.words.theme import choose_palette
from tests.app.charts.gallery import draw, look, title_of
from tests.app.charts.laws import is_sound, shows_kinds

LIGHT = choose_palette("light")
PARTS = [StagePart("zoom", "zoom", "Laplace", 10.0), StagePart("grid", "grid", "Laplace", 30.0)]
PARTS += [StagePart("round", what, "Laplace", share, 1) for what, share in (("radii", 1.0), ("counts", 4.0))]
PARTS += [StagePart("round", "sums", "K-norm", 15.0, 1)]
PARTS += [StagePart("swap", "counts", "Laplace", 10.0, 2), StagePart("swap", "spread", "K-norm", 10.0, 2)]
PARTS += [StagePart("round", "counts", "Laplace", 5.0, 2), StagePart("round", "sums", "K-norm", 15.0, 2)]


def plan(*, bought: bool = False) -> PlanStep:
    parts = [StagePart(ROWS, ROWS, "Laplace", 5.0)] * bought + PARTS
    draws = tuple(part.draws() for part in parts)
    return PlanStep(title="The plan", parts=tuple(parts), draws=draws, delta=0.0)


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
    assert title_of(draw(plan())).startswith("40 % of ε finds")
    assert draw_picture(plan(), look()).words.startswith("40 % of ε finds")


def test_a_plan_that_hangs_on_a_bought_number_of_rows_is_a_release() -> None:
    shows_kinds(draw(plan()), LIGHT, {"public"})
    figure = draw(plan(bought=True))
    shows_kinds(figure, LIGHT, {"released"})
    assert figure.layout.annotations[0].text.startswith("<b>Count")


def test_every_part_is_in_the_table() -> None:
    table = draw_picture(plan(), look()).table()
    assert len(table) == len(plan().names)
    assert table["share of the budget (%)"].sum() == pytest.approx(100)
    assert set(table["stage"]) == {"zoom", "grid", "polish, round 1", "polish, round 2", "split, round 2"}
