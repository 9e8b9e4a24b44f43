"""The pictures of what ε means, of where others stand, and of the glossary's words say what their numbers are."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from dpviz.app.charts import meaning
from dpviz.app.charts.meaning import (
    UNITS,
    Attacker,
    TwinClouds,
    compute_losses,
    draw_attack_region,
    draw_deployments,
    load_deployments,
)
from dpviz.app.charts.view import make_view
from dpviz.app.charts.word_pictures import HEIGHT, PICTURES
from dpviz.runs import Contender, Request, trace_bound
from dpviz.runs.meaning.membership import Attack, Share, attack
from dpviz.words import choose_palette
from dpviz.words.glossary import read_glossary
from tests.app.charts.pictures.special import domain
from tests.cases import for_each
from tests.runs.meaning.test_windows import CASES, asked

LOOKS = [choose_palette("light"), choose_palette("dark")]


@for_each("module", [meaning])
def test_examples_in_the_docstrings(module):
    assert doctest.testmod(module).failed == 0


@for_each(("look", "prior", "epsilon"), [(LOOKS[0], 0.5, 1.0), (LOOKS[1], 0.01, 0.1), (LOOKS[0], 0.99, 35.0)])
def test_a_hundred_people_stand_in_each_array(look, prior, epsilon):
    heads = list(meaning.draw_icon_array(prior, epsilon).paint(look).figure().data[::2])
    people = [int(np.isnan(np.asarray(trace.x, dtype=float)).sum()) for trace in heads]
    left = [many for many, trace in zip(people, heads, strict=True) if np.nanmin(trace.x) < 10]
    assert sum(left) == sum(people) - sum(left) == 100 and left[0] == round(100 * prior)


@for_each("look", LOOKS)
def test_every_deployment_is_a_dot_and_none_covers_another(look):
    others = load_deployments()
    strip = draw_deployments(others, 1.0)
    figure = strip.paint(look).figure()
    dots = [(x, y) for trace in figure.data for x, y in zip(trace.x, trace.y, strict=True)]
    assert len(dots) == len(set(dots)) == len(others)
    assert len(figure.layout.yaxis.tickvals) == len({one.unit for one in others} & set(UNITS))
    assert strip.finding.startswith(f"{sum(one.epsilon > 1 for one in others)} of {len(others)} ")
    told = [note[3] for trace in figure.data if trace.customdata is not None for note in trace.customdata]
    assert "ε = 4, δ = 10⁻⁷" in told and not any("e-" in words for words in told)


def attacker(hits: int, false_alarms: int, *, of: int = 64) -> Attacker:
    """Who had so many hits and false alarms, of as many runs each."""
    steps = np.array([[0.0, 0.0], [false_alarms / of, hits / of], [1.0, 1.0]])
    return Attacker("who reads all answers", "released", Attack(steps, Share(false_alarms, of), Share(hits, of)))


@for_each(
    ("hits", "false_alarms", "said"),
    [
        (40, 12, "the best attack gains 44 points, and none can gain more than 46 points"),
        (44, 12, "none can gain more than 46 points: the best attack gained 50 points, by luck"),
        (64, 2, "an attack gained 97 points where none should gain more than 46 points: do not rely on"),
        (10, 12, "the best attack gains 0 points, and none can gain more than 46 points"),
    ],
)
def test_the_title_of_an_attack_says_whether_it_passed_the_line_and_whether_that_was_luck(hits, false_alarms, said):
    attackers, request = [attacker(hits, false_alarms)], Request(Contender("auto"), 2, 1.0)
    assert said in draw_attack_region(attackers, 1.0, 0.0).finding
    clouds = TwinClouds(np.zeros((1, 2)), np.zeros((3, 2, 2)), np.zeros((3, 2, 2)))
    beside = meaning.draw_twin_clouds(clouds, make_view(domain(2)), np.zeros((3, 2)), attackers, request)
    assert said in beside.note, "the tab beside it says the same of the same runs"


def test_a_record_of_the_strongest_attack_is_within_its_band_and_not_always_below_the_line():
    """Randomised response: the answer itself is the best test of ε, so its record crosses the line every other time."""
    rng, yes, epsilon = np.random.default_rng(5), np.e / (1 + np.e), 1.0
    above, outside = 0, 0
    for _ in range(400):
        there, away = ((rng.random(256) < chance) + 1e-6 * rng.random(256) for chance in (yes, 1 - yes))
        record = attack(there.tolist(), away.tolist())
        across, counted = record.staircase.T
        line, band = (np.interp(across, *trace_bound(epsilon=epsilon, reach=reach).T) for reach in (0.0, record.reach))
        above += bool((counted > line + 1e-9).any())
        outside += bool((counted > band + 1e-9).any())
    assert above > 200 and outside <= 20
    drawn = draw_attack_region([Attacker("who reads all answers", "released", record)], epsilon, 0.0)
    traces = {trace["name"]: trace for trace in drawn.paint(LOOKS[0]).traces if "name" in trace}
    assert not [name for name in traces if "no attack passes" in name]
    shade = traces["by luck, in 19 of 20 records"]
    assert np.max(shade["y"]) == 1 and len(shade["x"]) == 2 * len(trace_bound(epsilon=epsilon))


def test_curves_pass_through_what_is_accepted_at_the_sides_of_a_window() -> None:
    setting, _ = CASES["window"]
    window = asked(setting, most_rows=12_000)
    losses = compute_losses(window, setting.n)
    kept = losses["upper"].to_numpy() <= 1.1
    assert kept[losses["epsilon"] >= window.least].all() and not kept[losses["epsilon"] < window.least].all()
    both = losses.merge(compute_losses(window, 12_000), on="epsilon")
    assert (both["upper_y"] <= both["upper_x"] + 1e-9).all()
    assert np.isclose(window.belief(window.most), 0.25, atol=0.01)


def test_every_deployment_is_whole_in_order_and_in_the_words_of_the_registry():
    others = load_deployments()
    assert [one.epsilon for one in others] == sorted(one.epsilon for one in others)
    for one in others:
        assert one.name and one.curator and 2015 < one.year < 2027
        assert one.unit in UNITS and 0 < one.epsilon < 100 and 0 <= one.delta < 1e-3
    by_name = {one.name: one.unit for one in others}
    assert by_name["Audience Engagement API"] == "one person's day, trip or device"
    assert by_name["Assistive AI"] == "one person" and by_name["FLEX"] == "one event or record"
    assert by_name["Census County Business Patterns"] == "one business"
    assert by_name["Iconic scenes and photo sections for iOS apps"] == "not said"
    census = next(one for one in others if one.name.endswith("Redistricting Data"))
    # ε = ρ + 2 √(ρ ln(1/δ)) is the simple bound; the sharper one is a little below.
    assert 0.9 * 14.69 < census.epsilon < 2.63 + 2 * (2.63 * 13.8155) ** 0.5 == pytest.approx(14.69, abs=0.01)


def test_every_picture_of_the_glossary_is_here_small_and_shows_nothing_revealed():
    assert {term.picture for term in read_glossary().values() if term.picture} == PICTURES.keys()
    for place, (name, picture) in enumerate(PICTURES.items()):
        colors = LOOKS[place % 2]
        figure = picture.draw(colors).figure()
        assert figure.layout.height == HEIGHT and figure.data and len(picture.alt.split()) >= 5, name
        assert colors.revealed not in figure.to_json(), name
        assert {trace.meta for trace in figure.data} <= {"public", "released"}, name
