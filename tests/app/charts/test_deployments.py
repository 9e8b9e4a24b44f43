"""Where others stand."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from dpviz.app.charts import deployments as module
from dpviz.app.charts.deployments import UNITS, load_deployments


def test_doctests():
    assert doctest.testmod(module).failed == 0


def test_every_entry_is_whole_and_in_order():
    others = load_deployments()
    assert [one.epsilon for one in others] == sorted(one.epsilon for one in others)
    for one in others:
        assert one.name and one.curator and 2015 < one.year < 2027
        assert one.unit in UNITS and 0 < one.epsilon < 100 and 0 <= one.delta < 1e-3


def test_a_rho_is_told_as_the_epsilon_that_it_implies():
    census = next(one for one in load_deployments() if one.name.endswith("Redistricting Data"))
    assert census.converted
    # ε = ρ + 2 √(ρ ln(1/δ)) is the simple bound; the sharper one is a little below.
    assert 0.9 * 14.69 < census.epsilon < 2.63 + 2 * (2.63 * 13.8155) ** 0.5 == pytest.approx(14.69, abs=0.01)


def test_units_follow_the_registry_s_words():
    by_name = {one.name: one.unit for one in load_deployments()}
    assert by_name["Audience Engagement API"] == "one person's day, trip or device"
    assert by_name["Assistive AI"] == "one person"
    assert by_name["FLEX"] == "one event or record"
    assert by_name["Census County Business Patterns"] == "one business"
    assert by_name["Iconic scenes and photo sections for iOS apps"] == "not said"


def test_the_file_lies_in_the_package():
    assert (Path(module.__file__).parent / "deployments.csv").is_file()
