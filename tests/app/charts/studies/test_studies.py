"""What charts over many runs draw is what the runs come to; and each algorithm has one look in all of them."""

from __future__ import annotations

import re
from colorsys import rgb_to_hls
from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.algorithms import CARDS
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.player.lesson_page import make_standalone_page
from dpviz.app.charts.plot import PHONE
from dpviz.app.charts.result_charts import MeterReading, list_shares
from dpviz.app.charts.studies import curves
from dpviz.app.charts.studies.claim_figure import INKS, ClaimFigure
from dpviz.app.charts.studies.compare import CenterDraws
from dpviz.app.charts.studies.curves import LOOKS, Curves, choose_styles, draw_curves, draw_smallest
from dpviz.app.charts.studies.errors import find_crossings
from dpviz.app.charts.studies.stored_verdicts import Outcome
from dpviz.app.charts.view import make_view
from dpviz.runs import Contender, Recommendation, SmallestEpsilon, Target, run, summarise
from dpviz.runs.evaluation import ClusterRecovery
from dpviz.words import choose_palette
from experiments.registry import CLAIMS
from tests.app.charts.gallery import exhibit
from tests.app.charts.laws import is_sound
from tests.app.charts.studies.special import LIGHT, NAMES, sized, study
from tests.cases import about, for_each
from tests.experiments.planted import PLANTED
from tests.words.test_theme import VISION, contrast, difference


@for_each("number", [1, 18])
def test_trade_off_draws_medians_and_middle_halves(number: int) -> None:
    table = study(NAMES[:number], [0.1, 1.0, 10.0])
    expected = summarise(table).set_index(["contender", "epsilon"])
    figure = draw_curves(Curves(table)).draw(LIGHT).plot.figure()
    for line in (trace for trace in figure.data if trace.meta == "median"):
        for epsilon, median, (low, high, runs) in zip(line.x, line.y, line.customdata, strict=True):
            row = expected.loc[(line.name, epsilon)]
            assert (median, low, high, runs) == pytest.approx((row["median"], row["q25"], row["q75"], 7))


def test_the_trade_off_axis_does_not_move_while_it_fills() -> None:
    table, every = study(NAMES[:3], [0.1, 1.0, 10.0]), [0.1, 1.0, 10.0]
    parts = (table, table[table.epsilon == 0.1], table[:0])
    figures = [draw_curves(Curves(runs, places=every)).draw(LIGHT).plot.figure() for runs in parts]
    assert len({figure.layout.xaxis.range for figure in figures}) == 1


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 2)), min_size=1, max_size=18))
def test_labels_keep_their_distance_and_their_order(ends: list[tuple[float, int]]) -> None:
    heights, sizes = np.array([height for height, _ in ends]), np.array([0.025 * rows for _, rows in ends])
    placed = np.array(curves._spread_apart(heights.tolist(), sizes.tolist()))
    order = np.argsort(heights, kind="stable")
    apart = (sizes[order][1:] + sizes[order][:-1]) / 2
    assert (np.diff(placed[order]) >= apart - 1e-9).all()
    assert (placed - sizes / 2).min() >= -1e-9 and (placed + sizes / 2).max() <= 1 + 1e-9
    lone = len(ends) == 1 or (np.diff(heights[order]) >= apart).all()
    if lone and heights.min() >= 0.025 and heights.max() <= 0.975:
        np.testing.assert_allclose(placed, heights, atol=1e-9)


def test_equal_losses_lie_where_n_times_epsilon_is_the_same() -> None:
    crossings = find_crossings(sized())
    for level in (1.1, 1.02):
        found = [crossing.n * crossing.epsilon for crossing in crossings if crossing.loss == level]
        assert len(found) >= 2
        np.testing.assert_allclose(found, 100 / (level - 1), rtol=0.35)


def test_shares_of_the_budget_follow_the_meter_and_add_up_to_what_was_spent() -> None:
    finished = run("auto", exhibit(2, 3, n=2000).table, k=3, epsilon=2.0, delta=1e-6, seed=0)
    meter = [MeterReading(frame.entries, frame.spent_fraction) for frame in finished.frames]
    shares = list_shares(finished.entries, spent_fraction=finished.spent_fraction, meter=meter)
    after_grid = next(frame for frame in finished.frames if frame.entries == 2)
    assert shares["zoom: coarse cells"] + shares["grid cells"] == pytest.approx(after_grid.spent_fraction)
    assert sum(shares.values()) == pytest.approx(finished.spent_fraction)
    simple = run("dplloyd", exhibit(2, 3, n=200).table, k=3, epsilon=1.0, seed=1)
    shares = list_shares(simple.entries, spent_fraction=simple.spent_fraction)
    assert shares == {"round": pytest.approx(simple.spent_fraction)}


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


def test_draws_are_matched_before_they_are_measured_and_played_one_after_the_other_beside_one_cloud() -> None:
    """The order of centres is shuffled in every draw, and the first one lies farthest off."""
    shown, rng = exhibit(2, 5, n=400), np.random.default_rng(0)
    spread = np.where(np.arange(5)[:, None] == 0, 0.02, 0.001)
    moved = shown.reference.centers + spread * rng.normal(size=(12, 5, 2))
    shuffled = np.stack([each[rng.permutation(5)] for each in moved])
    view, recovery = make_view(shown.table.domain), ClusterRecovery(4, 5)
    context = RenderContext(view, LIGHT, shown.reveal, shown.reference, lambda _: recovery, epsilon=0.5)
    draws = CenterDraws(shuffled, rng.uniform(1, 2, 12), context)
    table, away = draws.table(), draws.distances
    assert away[:, 1:].max() < 0.01 < np.median(away[:, 0])
    assert table["typical distance"].argmax() == 0 and (table["farthest"] >= table["typical distance"]).all()
    assert "Centre 1 strays most from k-means++" in draws.words()
    assert replace(draws, context=RenderContext(view, LIGHT)).words().startswith("Centres of twelve draws")
    animation = draws.animate()
    steps = animation.to_data()["steps"]
    told = [(step["name"], step["cost"], step["spent"]) for step in steps]
    assert told == [("draw", 0.5, "ε 0.5 for each draw")] * 12
    assert [side["title"] for step in steps for side in step["sides"]] == [draws.finding] * 12
    assert len(animation.drawn) == 1, "the cloud is drawn once"
    for step, loss in zip(steps, draws.losses, strict=True):
        assert f"{loss:.2f}× the loss" in step["told"]
        assert step["title"] == "At ε = 0.5, four of five clusters are found"


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


def test_a_page_of_figures_fetches_nothing_and_their_legends_stand_above_the_panels():
    claim = CLAIMS["su-epsilon"]
    drawn = ClaimFigure(PLANTED[claim.id](Outcome.HOLDS), claim.figures[0], "holds").draw(LIGHT, width=720)
    said = {"title": "A <claim>", "paragraphs": ["said", "noted"], "points": ["a & b"]}
    page = make_standalone_page([drawn, drawn], **said, palette=LIGHT)
    assert "A &lt;claim&gt;" in page and "a &amp; b" in page
    assert page.count("plotly.js v") == 1  # the library once, inside
    assert 'src="http' not in page and "href=" not in page.split("plotly.js v")[0]
    assert "src=" not in page.split("<body>")[1].replace("\\", "")[:5000]
    for figure in (drawn.headed(LIGHT), drawn.plot.figure()):
        legend, margin = figure.layout.legend, figure.layout.margin
        above = (legend.y - 1) * (figure.layout.height - margin.t - margin.b)
        assert (legend.yref, legend.yanchor) == ("paper", "bottom")
        assert 20 <= above <= 45 and margin.t >= above + 20, "near above the names of the panels, inside the figure"


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


def test_a_look_follows_the_algorithm_and_neither_its_place_nor_who_else_is_there() -> None:
    few = ["DPLloyd", "Auto", "LSH coreset"]
    alone = {name: choose_styles([name])[name] for name in few}
    assert all(choose_styles(order) == alone for order in map(list, permutations(few)))
    styles = choose_styles([card.title for card in CARDS.values()]).values()
    assert [(style.color, style.marker) for style in styles] == [LOOKS[card] for card in CARDS]
    assert all(style.dash == "solid" for style in styles)
    strangers = choose_styles(["Auto", "stranger", "EUGkM", "another stranger"])
    assert len({style.color for style in strangers.values()}) == 4
    assert [strangers[name].color for name in ("Auto", "EUGkM")] == [LOOKS["auto"][0], LOOKS["eugkm"][0]]
    table = study(NAMES[:3], [0.1, 1.0])
    named = table.assign(contender=pd.Categorical(table["contender"], NAMES[:3]))
    for runs in (named, named[::-1], named[named.contender == NAMES[2]]):
        assert Curves(runs).styles == choose_styles(NAMES[:3])
        assert list(Curves(runs).lines) == [name for name in NAMES[:3] if (runs.contender == name).any()]
    many = choose_styles([str(place) for place in range(36)])
    for part in ("dash", "marker"):
        assert len({(style.color, getattr(style, part)) for style in many.values()}) == 36


def test_variants_share_the_colour_and_differ_by_dash_and_fill_and_names_of_papers_are_known() -> None:
    labels = [Contender("eugkm").label, Contender("eugkm", {"theta": 40.0}).label, "EUGkM (su)"]
    usual, *others = choose_styles(labels).values()
    assert {style.color for style in others} == {usual.color}
    assert usual.dash == "solid" and usual.marker == LOOKS["eugkm"][1]
    assert all(style.marker == f"{usual.marker}-open" for style in others)
    assert len({usual.dash, *(style.dash for style in others)}) == 3
    assert choose_styles(labels[1:])[labels[1]] == others[0], "the same where the algorithm itself is not"
    many = choose_styles([f"Hybrid (x = {place})" for place in range(15)])
    assert len(set(many.values())) == 15 and all(style.sign for style in many.values())
    known = {"SuLQ, basic composition": "sulq", "GkM-3K": "gkm", "sample & aggregate (practical)": "sample-aggregate"}
    known |= {"Averages, each mean to within 3 standard deviations": "k-averages", "Automatic": None}
    known |= {"Balcan et al., k-median": "balcan-kmedian", "noise on every row, k-means": None}
    assert {name: curves.find_algorithm(name) for name in known} == known
