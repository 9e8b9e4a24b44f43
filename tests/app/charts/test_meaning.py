"""The pictures of what ε means say what their numbers are."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from dpviz.app.charts import meaning
from dpviz.app.charts.deployments import UNITS, load_deployments
from dpviz.app.charts.meaning import (
    Attacker,
    TwinClouds,
    draw_attack_region,
    draw_deployments,
    draw_icon_array,
    draw_twin_clouds,
)
from dpviz.app.charts.view import make_view
from dpviz.runs.meaning.membership import Attack, Share, attack
from dpviz.runs.meaning.windows import trace_bound
from dpviz.runs.request import Contender, Request
from dpviz.words.theme import choose_palette
from tests.app.charts.pictures.special import domain

LOOKS = [choose_palette("light"), choose_palette("dark")]


def test_doctests():
    tried = doctest.testmod(meaning)
    assert tried.attempted > 0 and tried.failed == 0


def test_a_hundred_people_stand_in_each_array_and_its_title_has_three_digits():
    for look, prior, epsilon in ((LOOKS[0], 0.5, 1.0), (LOOKS[1], 0.01, 0.1), (LOOKS[0], 0.99, 35.0)):
        heads = list(draw_icon_array(prior, epsilon).paint(look).figure().data[::2])
        people = [int(np.isnan(np.asarray(trace.x, dtype=float)).sum()) for trace in heads]
        left = [many for many, trace in zip(people, heads, strict=True) if np.nanmin(trace.x) < 10]
        right = [many for many, trace in zip(people, heads, strict=True) if np.nanmin(trace.x) > 10]
        assert sum(left) == sum(right) == 100
        assert left[0] == round(100 * prior)
    found = {epsilon: draw_icon_array(0.5, epsilon).finding.split()[-2] for epsilon in (0.1, 1, 2, 5)}
    assert found == {0.1: "52.5", 1: "73.1", 2: "88.1", 5: "99.3"}


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark"])
def test_every_deployment_is_a_dot_and_none_covers_another(look):
    strip = draw_deployments(load_deployments(), 1.0)
    figure = strip.paint(look).figure()
    dots = [(x, y) for trace in figure.data for x, y in zip(trace.x, trace.y, strict=True)]
    assert len(dots) == len(set(dots)) == len(load_deployments())
    assert len(figure.layout.yaxis.tickvals) == len({one.unit for one in load_deployments()} & set(UNITS))
    above = sum(one.epsilon > 1 for one in load_deployments())
    assert strip.finding.startswith(f"{above} of {len(load_deployments())} ")


def attacker(hits: int, false_alarms: int, *, of: int = 64) -> Attacker:
    """Who had so many hits and false alarms, of as many runs each."""
    steps = np.array([[0.0, 0.0], [false_alarms / of, hits / of], [1.0, 1.0]])
    return Attacker("who reads all answers", "released", Attack(steps, Share(false_alarms, of), Share(hits, of)))


@pytest.mark.parametrize(
    ("hits", "false_alarms", "said"),
    [
        (40, 12, "the best attack gains 44 points, and none can gain more than 46 points"),
        (44, 12, "none can gain more than 46 points: the best attack gained 50 points, by luck"),
        (64, 2, "an attack gained 97 points where none should gain more than 46 points: do not rely on"),
        (10, 12, "the best attack gains 0 points, and none can gain more than 46 points"),
    ],
)
def test_the_title_of_an_attack_says_whether_it_passed_the_line_and_whether_that_was_luck(hits, false_alarms, said):
    told = draw_attack_region([attacker(hits, false_alarms)], 1.0, 0.0)
    assert said in told.finding
    clouds = TwinClouds(np.zeros((1, 2)), np.zeros((3, 2, 2)), np.zeros((3, 2, 2)))
    asked = Request(Contender("auto"), 2, 1.0)
    beside = draw_twin_clouds(
        clouds,
        make_view(domain(2)),
        np.zeros((3, 2)),
        [attacker(hits, false_alarms)],
        asked,
    )
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
    assert "by luck, in 19 of 20 records" in traces and not [name for name in traces if "no attack passes" in name]
    shade = traces["by luck, in 19 of 20 records"]
    assert np.max(shade["y"]) == 1 and len(shade["x"]) == 2 * len(trace_bound(epsilon=epsilon))
