"""What is revealed of given tuples: they as they are, each offset that of its nearest point."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from dpviz.app.charts.pictures.blocks import RevealedTuples, draw_revealed_balls, draw_votes
from dpviz.core.domain import Region
from dpviz.core.tuples import count_misfits
from tests.app.charts.gallery import draw, exhibit, title_of, tuple_test_step
from tests.core.tuple_checks import tight_tuples


def _given(number: int, misfits: int, *, k: int = 2, dim: int = 2):
    """A step on a table of given tuples, and the points that its rows hold."""
    tuples = tight_tuples(number, k, dim=dim, misfits=misfits)
    step = replace(tuple_test_step(exhibit(dim, k, n=100)), given=True, number=number)
    return step, tuples.reshape(-1, dim), Region(np.ones(dim), 9.0)


def test_given_tuples_are_shown_as_they_are() -> None:
    step, points, region = _given(80, 7)
    revealed = RevealedTuples.of(step, points, region)
    assert {one.tobytes() for one in revealed.tuples} == {one.tobytes() for one in points.reshape(80, 2, 2)}
    assert revealed.unfit == count_misfits(revealed.one, points.reshape(80, 2, 2), step.far) == 7
    assert "another split" not in revealed.about and "stays secret" in revealed.about
    votes = title_of(draw(partial(draw_votes, step, revealed)))
    fitting = int((revealed.misfits <= step.misfit_limit).sum())
    assert votes.startswith(f"{fitting} of 9 tried tuples pass")
    assert "Seven tuples of 80" in title_of(draw(partial(draw_revealed_balls, step, revealed)))


@pytest.mark.parametrize("dim", [1, 3])
def test_an_offset_is_that_of_the_nearest_point_in_radii(dim: int) -> None:
    step, points, region = _given(40, 0, k=3, dim=dim)
    revealed = RevealedTuples.of(step, points, region)
    assert np.linalg.norm(revealed.offsets, axis=2).max() <= 1
    for place, one in enumerate(revealed.tuples[:5]):
        for ball in range(3):
            away = one - revealed.one[ball]
            nearest = away[np.linalg.norm(away, axis=1).argmin()]
            np.testing.assert_allclose(revealed.offsets[place, ball], nearest / revealed.radii[ball], atol=1e-9)
    assert revealed.unfit == 0


def test_many_given_tuples_are_counted_by_a_part_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpviz.app.charts.pictures.blocks._MOST", 50)
    step, points, region = _given(400, 80)
    revealed = RevealedTuples.of(step, points, region)
    assert len(revealed.tuples) == 50 and "50 of 400" in revealed.about
    assert 20 < revealed.unfit < 200
