import numpy as np
import pytest

from dpviz.app.charts.pictures.centers import find_partners
from dpviz.app.charts.view import make_view
from tests.app.charts.gallery import draw
from tests.app.charts.pictures.special import OBLONG, centred

VIEW = make_view(OBLONG)


@pytest.mark.parametrize("k", [5, 100])
def test_numbers_cover_neither_marks_nor_each_other(k: int) -> None:
    centers = np.random.default_rng(1).normal(0, 0.2, (k, 2)).clip(-1, 1)
    (marks,) = [trace for trace in draw(centred(centers), view=VIEW).data if trace.name == "centres"]
    font, size = marks.textfont.size, marks.marker.size
    # Even side by side, all of them fill less than half of a phone's square of 250 pixels.
    assert k * size**2 < 250**2 / 2
    low, high = np.array(VIEW.range).T
    at = (np.column_stack([marks.x, marks.y]) - low) / (high - low) * 420
    boxes = [np.r_[place - size / 2, place + size / 2] for place in at]
    for place, text, side in zip(at, marks.text, marks.textposition, strict=True):
        if text:
            toward = np.array([("right" in side) - ("left" in side), ("top" in side) - ("bottom" in side)])
            half = np.array([0.6 * font * len(text), font]) / 2
            middle = place + toward * (size / 1.6 + 1 + half)
            boxes.append(np.r_[middle - half, middle + half])
    for i in range(k, len(boxes)):
        others = np.array(boxes[:i] + boxes[i + 1 :])
        assert not ((others[:, :2] < boxes[i][2:]) & (others[:, 2:] > boxes[i][:2])).all(axis=1).any()
    assert sum(bool(text) for text in marks.text) >= (k if k <= 5 else 0.3 * k)


def test_a_missed_cluster_makes_one_long_arrow_and_no_chain() -> None:
    theirs = np.column_stack([np.linspace(-0.9, 0.9, 7), np.zeros(7)])
    # Six are where they belong; the first cluster is missed, and its centre stands beyond the last.
    mine = np.vstack([theirs[1:], [[0.95, 0.1]]])
    partners = find_partners(mine, theirs)
    np.testing.assert_allclose(partners[:6], theirs[1:])
    np.testing.assert_allclose(partners[6], theirs[0])
