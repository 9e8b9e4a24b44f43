"""What charts over many runs draw is what the runs come to; and each algorithm has one look in all of them."""

from colorsys import rgb_to_hls
from itertools import combinations

import numpy as np
import pytest

from dpviz.algorithms import CARDS
from dpviz.app.charts.plot import PHONE
from dpviz.app.charts.studies.claim_figure import INKS, ClaimFigure
from dpviz.app.charts.studies.curves import LOOKS, choose_styles, find_algorithm
from dpviz.app.charts.studies.stored_verdicts import STAND_INS, Outcome
from dpviz.runs import Contender
from dpviz.words import choose_palette
from experiments.registry import CLAIMS
from experiments.stored_results import load_runs
from tests.app.charts.laws import is_sound
from tests.cases import about
from tests.words.test_theme import VISION, contrast, difference


@pytest.mark.some(2)
@pytest.mark.parametrize("claim_id", CLAIMS)
def test_a_claim_is_drawn_as_its_medians_in_both_themes(claim_id):
    claim, table = CLAIMS[claim_id], load_runs(CLAIMS[claim_id], STAND_INS).table
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


def test_variants_share_the_colour_of_their_algorithm_and_names_of_papers_are_known() -> None:
    labels = [Contender("eugkm").label, Contender("eugkm", {"theta": 40.0}).label, "EUGkM (su)"]
    usual, *others = choose_styles(labels).values()
    assert {style.color for style in others} == {usual.color} and all("open" in style.marker for style in others)
    assert len({usual.dash, *(style.dash for style in others)}) == 3
    known = {"SuLQ, basic composition": "sulq", "GkM-3K": "gkm", "Automatic": None}
    known |= {"Balcan et al., sparse": "balcan-sparse"}
    assert {name: find_algorithm(name) for name in known} == known
