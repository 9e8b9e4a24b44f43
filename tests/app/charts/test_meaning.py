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
    describe_costs,
    draw_attack_region,
    draw_costs,
    draw_deployments,
    draw_icon_array,
    draw_twin_clouds,
)
from dpviz.app.charts.view import make_view
from dpviz.runs.meaning.asking_again import AskingAgain, RepeatedCost
from dpviz.runs.meaning.membership import attack
from dpviz.runs.meaning.odds import bound_advantage, bound_hits
from dpviz.words.theme import choose_palette
from tests.pages.site import sample_table

LOOKS = [choose_palette("light"), choose_palette("dark")]
RNG = np.random.default_rng(1)


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


def list_records() -> list[Attacker]:
    weak = attack(RNG.normal(0.2, 1, 100).tolist(), RNG.normal(0, 1, 100).tolist())
    sure = attack(RNG.normal(9, 0.1, 100).tolist(), RNG.normal(0, 0.1, 100).tolist())
    return [Attacker("weak", "released", weak), Attacker("plain", "revealed", sure)]


def test_the_line_and_all_records_are_drawn_and_the_title_is_of_the_private_release_alone():
    attackers = list_records()
    found = draw_attack_region(attackers, 1.0, 1e-6)
    for look in LOOKS:
        by_name = {trace.name: trace for trace in found.paint(look).figure().data if trace.name}
        line = by_name["no attack passes this line"]
        np.testing.assert_allclose(line.y, bound_hits(np.asarray(line.x), epsilon=1.0, delta=1e-6))
        assert by_name["plain"].line.color == look.revealed
        assert all(trace.line.color != look.revealed for name, trace in by_name.items() if name != "plain")
    best = attackers[0].attack.advantage
    assert f"gains {100 * max(best, 0):.2g} point" in found.finding
    assert f"more than {100 * bound_advantage(epsilon=1.0, delta=1e-6):.2g} points" in found.finding


@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_the_title_of_twin_clouds_follows_what_the_person_moves(shift):
    table = sample_table("outlier")
    person = np.array([[0.5, 0.5]])
    draws = RNG.normal(0, 0.1, (200, 3, 2))
    clouds, rows = TwinClouds(person, draws + np.array([shift, 0]), draws[::-1]), np.zeros((3, 2))
    one, two = (draw_twin_clouds(clouds, make_view(table.domain), rows, 1.0, both=both) for both in (False, True))
    assert two.finding == f"At ε = 1, one person moves the nearest centre by {clouds.moved:.2g} × its noise"
    assert clouds.moved == pytest.approx(0, abs=0.3) if shift == 0 else clouds.moved > 2
    assert len(one.paint(LOOKS[0]).figure().data) + 1 == len(two.paint(LOOKS[0]).figure().data)


def test_asking_says_what_it_buys_and_costs():
    prices = [RepeatedCost(times, 0.5 * times, 0.4 * times, 1e-6) for times in (1, 4, 16, 64)]
    asked = AskingAgain({1: 1.0, 4: 0.5, 16: 0.25}, prices, {1: 0.1, 4: 0.3, 16: 0.8, 64: 1.0}, 0.5)
    assert describe_costs(asked) == "16 releases: 4 times less noise, and ε = 8 instead of 0.5"
    assert len(draw_costs(asked)) == 3
    for curve in draw_costs(asked):
        assert len(curve.words.split()) > 5
        for look in LOOKS:
            assert len(curve.paint(look).figure().data) >= 2
    assert len(draw_costs(AskingAgain(asked.noise, prices, {}, 0.5))) == 2


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark"])
def test_every_deployment_is_a_dot_and_none_covers_another(look):
    strip = draw_deployments(load_deployments(), 1.0)
    figure = strip.paint(look).figure()
    dots = [(x, y) for trace in figure.data for x, y in zip(trace.x, trace.y, strict=True)]
    assert len(dots) == len(set(dots)) == len(load_deployments())
    assert len(figure.layout.yaxis.tickvals) == len({one.unit for one in load_deployments()} & set(UNITS))
    above = sum(one.epsilon > 1 for one in load_deployments())
    assert strip.finding.startswith(f"{above} of {len(load_deployments())} ")
