"""The picture of a window: its sides stand where the numbers say, and the shade lies between them."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.app.charts.meaning import compute_losses, draw_epsilon_window
from dpviz.words.theme import choose_palette
from tests.cases import for_each
from tests.runs.meaning.test_windows import CASES, asked


@for_each("kind", list(CASES))
@for_each("theme", ["light", "dark"])
def test_the_shade_lies_between_the_sides_and_says_whether_both_are_kept(kind: str, theme: str) -> None:
    setting, risk = CASES[kind]
    window = asked(setting, risk)
    picture = draw_epsilon_window(window)
    figure = picture.paint(choose_palette(theme)).figure()
    boxes = [shape for shape in figure.layout.shapes if shape.type == "rect"]
    said = {note.text for note in figure.layout.annotations}
    assert len(boxes) == (kind != "out of reach")
    for box in boxes:
        assert sorted((box.x0, box.x1)) == pytest.approx(sorted((window.least, window.most)))
        assert ("both kept" in said) == (kind in ("window", "wide"))
        assert ("neither kept" in said) == (kind == "none")
    assert figure.layout.yaxis.title.text == "loss over k-means++"
    assert figure.layout.yaxis2.title.text == "belief after, at most"
    assert picture.finding == window.finding and picture.finding in picture.words
    assert len(picture.table()) == len(compute_losses(window, setting.n))


def test_curves_pass_through_what_is_accepted_at_the_sides() -> None:
    setting, _ = CASES["window"]
    window = asked(setting, most_rows=12_000)
    losses = compute_losses(window, setting.n)
    upper = losses["upper"].to_numpy()
    assert (upper[losses["epsilon"] >= window.least] <= 1.1).all() and (
        upper[losses["epsilon"] < window.least] > 1.1
    ).any()
    both = losses.merge(compute_losses(window, 12_000), on="epsilon")
    assert (both["upper_y"] <= both["upper_x"] + 1e-9).all()
    assert np.isclose(window.belief(window.most), 0.25, atol=0.01)
