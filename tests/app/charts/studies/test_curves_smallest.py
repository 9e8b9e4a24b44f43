"""Which ε to choose, in the picture: the target, answers on it in the colours of their lines, a title that is true."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dpviz.app.charts.studies.curves import Curves, draw_smallest
from dpviz.runs.advice.advice import Target
from dpviz.runs.advice.recommendation import Recommendation
from dpviz.runs.smallest_epsilon import SmallestEpsilon
from dpviz.words.theme import choose_palette
from tests.app.charts.studies.special import NAMES, study

LIGHT = choose_palette("light")
USUAL = Target()


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_its_title_is_what_the_runs_say(share: float) -> None:
    """Recomputed from the runs: enough of them keep to the target at every ε from there on, and not just below."""
    target, runs = Target(1.1, share), study(NAMES[:2], [0.1, 0.3, 0.7, 1.0, 3.0, 10.0], 20)
    picture = draw_smallest(
        Curves(runs), answers := SmallestEpsilon.find_all(runs, target), Recommendation.of(target, None, answers)
    )
    said = re.match(
        r"Choose ε = (.+) or more with (.+): about (.+)× the loss of k-means\+\+, at most 1.1×", picture.finding
    )
    assert said is not None
    epsilon, who, typical = float(said[1]), said[2], float(said[3])
    own = runs[runs["contender"] == who]
    kept = (own["ratio"] <= 1.1).groupby(own["epsilon"]).mean()
    assert (kept[kept.index >= epsilon] >= share).all() and kept[kept.index < epsilon].iloc[-1] < share
    assert typical == pytest.approx(own["ratio"][own["epsilon"] == epsilon].median(), rel=5e-3)
    figure = picture.draw(LIGHT).headed(LIGHT)
    (upper,) = [trace for trace in figure.data if trace.meta == "upper"]
    bands = [line.name for band, line in zip(figure.data, figure.data[1:], strict=False) if band.meta == "band"]
    assert bands == [who] and not any(trace.meta == "hull" for trace in figure.data)
    np.testing.assert_array_equal(np.asarray(upper.y) <= 1.1, kept.to_numpy() >= share)
