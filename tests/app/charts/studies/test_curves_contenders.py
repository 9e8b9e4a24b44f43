"""One look for each algorithm: the same in every chart, seen in both themes, never orange."""

from colorsys import rgb_to_hls
from itertools import combinations, permutations

from dpviz.algorithms.registry import CARDS
from dpviz.app.charts.studies.curves import LOOKS, choose_styles, find_algorithm
from dpviz.runs.request import Contender
from dpviz.words.theme import choose_palette
from tests.words.test_theme import VISION, contrast, difference

TITLES = [card.title for card in CARDS.values()]


def test_every_algorithm_has_a_look_of_its_own() -> None:
    assert set(LOOKS) == set(CARDS)
    assert len(set(LOOKS.values())) == len({color for color, _ in LOOKS.values()}) == len(CARDS)


def test_its_colour_stands_out_from_the_page_and_is_not_orange() -> None:
    for color, _ in LOOKS.values():
        assert min(contrast(color, choose_palette(theme).surface) for theme in ("light", "dark")) >= 3
        hue, lightness, saturation = rgb_to_hls(*(int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)))
        assert not 0.025 < hue < 0.14 or saturation < 0.2, f"{color} at {360 * hue:.0f} degrees"
        assert lightness < 0.8


def test_like_hues_have_unlike_markers_for_every_eye() -> None:
    alike = [
        (eye, one, other)
        for (one, (color, marker)), (other, (other_color, other_marker)) in combinations(LOOKS.items(), 2)
        for eye in VISION
        if marker == other_marker and difference(color, other_color, VISION[eye]) < 12
    ]
    assert not alike


def test_a_look_follows_the_algorithm_and_not_its_place() -> None:
    few = ["DPLloyd", "Auto", "LSH coreset"]
    alone = {name: choose_styles([name])[name] for name in few}
    assert all(choose_styles(order) == alone for order in map(list, permutations(few)))
    assert [(style.color, style.marker) for style in choose_styles(TITLES).values()] == [LOOKS[card] for card in CARDS]
    assert all(style.dash == "solid" for style in choose_styles(TITLES).values())


def test_variants_share_the_colour_and_differ_by_dash_and_fill() -> None:
    labels = [Contender("eugkm").label, Contender("eugkm", {"theta": 40.0}).label, "EUGkM (su)"]
    usual, *others = choose_styles(labels).values()
    assert {style.color for style in others} == {usual.color}
    assert usual.dash == "solid" and usual.marker == LOOKS["eugkm"][1]
    assert all(style.marker == f"{usual.marker}-open" for style in others)
    assert len({usual.dash, *(style.dash for style in others)}) == 3
    assert choose_styles(labels[1:])[labels[1]] == others[0], (
        "a variant looks the same where the algorithm itself is not"
    )
    many = choose_styles([f"Hybrid (x = {place})" for place in range(15)])
    assert len(set(many.values())) == 15 and all(style.sign for style in many.values())


def test_names_of_papers_are_known() -> None:
    known = {
        "SuLQ, basic composition": "sulq",
        "GkM-3K": "gkm",
        "sample & aggregate (practical)": "sample-aggregate",
        "Averages, each mean to within 3 standard deviations": "k-averages",
        "Balcan et al., k-median": "balcan-kmedian",
        "noise on every row, k-means": None,
        "Automatic": None,
    }
    assert {name: find_algorithm(name) for name in known} == known


def test_a_stranger_takes_no_look_of_an_algorithm_that_is_there() -> None:
    styles = choose_styles(["Auto", "stranger", "EUGkM", "another stranger"])
    assert len({style.color for style in styles.values()}) == 4
    assert styles["Auto"].color == LOOKS["auto"][0] and styles["EUGkM"].color == LOOKS["eugkm"][0]
