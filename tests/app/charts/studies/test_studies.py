"""What charts over many runs draw is what the runs come to; and each algorithm has one look in all of them."""

from __future__ import annotations

import re
from colorsys import rgb_to_hls
from itertools import combinations

import numpy as np
import pytest

from dpviz.algorithms import CARDS
from dpviz.app.charts.plot import PHONE
from dpviz.app.charts.studies.claim_figure import INKS, ClaimFigure
from dpviz.app.charts.studies.curves import LOOKS, Curves, draw_smallest
from dpviz.app.charts.studies.stored_verdicts import Outcome
from dpviz.runs import Recommendation, SmallestEpsilon, Target
from dpviz.words import choose_palette
from experiments.registry import CLAIMS
from tests.app.charts.laws import is_sound
from tests.app.charts.studies.special import LIGHT, NAMES, study
from tests.cases import about, for_each
from tests.experiments.planted import PLANTED
from tests.words.test_theme import VISION, contrast, difference


@for_each("share", [0.5, 0.9])
def test_the_title_of_the_smallest_epsilon_is_what_the_runs_say(share: float) -> None:
    """Recomputed from the runs: enough of them keep to the target at every ε from there on, and not just below."""
    target, runs = Target(1.1, share), study(NAMES[:2], [0.1, 0.3, 0.7, 1.0, 3.0, 10.0], 20)
    answers = SmallestEpsilon.find_all(runs, target)
    picture = draw_smallest(Curves(runs), answers, Recommendation.of(target, None, answers))
    said = re.match(
        r"Choose ε = (.+) or more with (.+): about (.+)× the loss of k-means\+\+, at most 1.1×", picture.finding
    )
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


@pytest.mark.some(2)
@pytest.mark.parametrize("claim_id", CLAIMS)
def test_a_claim_is_drawn_as_its_medians_in_both_themes(claim_id):
    claim, table = CLAIMS[claim_id], PLANTED[claim_id](Outcome.IN_PART)
    for place, picture in enumerate(claim.figures):
        with about(place):
            claimed, colors = ClaimFigure(table, picture, "holds in part"), choose_palette("dark" if place else "light")
            figure = claimed.draw(colors, width=PHONE).headed(colors)
            is_sound(figure)
            shown = table[table[picture.y].notna()]
            for column, values in picture.only.items():
                shown = shown[shown[column].isin(values)]
            keys = [key for key in (picture.panel, picture.line, picture.x, picture.heat) if key]
            expected = shown.groupby(keys)[picture.y].median()
            medians = [np.ravel(t.z if t.type == "heatmap" else t.y) for t in figure.data if t.meta == "median"]
            drawn = np.concatenate(medians).astype(float)
            assert np.isin(np.round(drawn[np.isfinite(drawn)], 9), np.round(expected.to_numpy(), 9)).all()
            assert picture.title in claimed.words()


def test_every_algorithm_has_a_look_of_its_own_seen_in_both_themes_and_never_orange() -> None:
    assert set(LOOKS) == set(CARDS) and set(INKS) == set(Outcome)
    assert len(set(LOOKS.values())) == len({color for color, _ in LOOKS.values()}) == len(CARDS)
    grounds = [choose_palette(theme).surface for theme in ("light", "dark")]
    for color, _ in LOOKS.values():
        assert min(contrast(color, ground) for ground in grounds) >= 3
        hue, lightness, saturation = rgb_to_hls(*(int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)))
        assert not 0.025 < hue < 0.14 or saturation < 0.2, f"{color} at {360 * hue:.0f} degrees"
        assert lightness < 0.8
    assert all(
        contrast(ink, ground) >= 4.5 for inks in INKS.values() for ink, ground in zip(inks, grounds, strict=True)
    )
    for (one, (color, marker)), (other, (other_color, other_marker)) in combinations(LOOKS.items(), 2):
        if marker == other_marker:  # like hues have unlike markers for every eye
            assert min(difference(color, other_color, VISION[eye]) for eye in VISION) >= 12, (one, other)
