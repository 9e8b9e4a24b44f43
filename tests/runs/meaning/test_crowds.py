"""How many people hide one: what is told of a crowd is what the tree does, draw after draw."""

from dataclasses import replace

import numpy as np
import pytest

from dpviz.algorithms.balcan2017.balcan import TreeStep
from dpviz.app.ui.playground.board import describe_crowd
from dpviz.runs.meaning.crowds import Crowd
from dpviz.runs.one_run import Run, run
from dpviz.runs.open_table import OpenTable, declare
from dpviz.tables.drawings import load_preset, make_painted_table

HERMIT = load_preset("hermit").drawing
DRAWS = 120


def _town(people: int) -> OpenTable:
    """The town, and so many people where the hermit is."""
    beside = np.tile(np.array([HERMIT.me], np.uint8), (people - 1, 1))
    return declare(*make_painted_table(replace(HERMIT, points=np.concatenate([HERMIT.points, beside]))))


def _told(table: OpenTable, done: Run) -> Crowd:
    return Crowd.measure(table.domain.to_unit(HERMIT.mine)[0], table.domain.to_unit(HERMIT.others), done)


def _is_awake(table: OpenTable, done: Run, level: int) -> bool:
    steps = [frame.step for frame in done.frames if isinstance(frame.step, TreeStep)]
    tree, place = steps[level - 1].tree, table.domain.to_unit(HERMIT.mine)[0]
    return bool((np.abs(tree.centers(level) - place) <= tree.edge(level) / 2).all(axis=1).any())


@pytest.mark.parametrize("people", [100, 120])
def test_the_chance_is_how_often_the_cube_wakes(people: int):
    table = _town(people)
    runs = [run("balcan", table.private, k=3, epsilon=1.0, seed=seed) for seed in range(DRAWS)]
    told = [_told(table, done) for done in runs]
    awake = np.array([_is_awake(table, done, crowd.level) for done, crowd in zip(runs, told, strict=True)])
    chances = np.array([crowd.chance(people) for crowd in told])
    spread = np.sqrt((chances * (1 - chances)).sum())
    assert abs(awake.sum() - chances.sum()) < 4 * spread
    assert abs(awake.sum() - np.array([crowd.chance(people // 2) for crowd in told]).sum()) > 4 * spread, "a twin"


def test_a_crowd_is_noticed_from_the_threshold_on_and_less_noise_needs_fewer():
    table, needed = _town(1), []
    for epsilon in (0.3, 1.0, 3.0):
        crowd = _told(table, run("balcan", table.private, k=3, epsilon=epsilon, seed=7))
        assert crowd.alone and (np.diff(crowd.chances) >= 0).all()
        assert crowd.needed is not None and crowd.threshold <= crowd.needed <= crowd.threshold + crowd.noise_sd
        assert crowd.chance(crowd.needed) >= 0.5 > crowd.chance(crowd.needed - 1)
        needed.append(crowd.needed)
    assert needed == sorted(needed, reverse=True)
    assert ": 0 %" not in describe_crowd(replace(crowd, chances=crowd.chances**3))["says"], "no chance is none"


def test_the_levels_above_have_to_wake_as_well():
    """Two people on one place of an empty board: each level of the tree asks about the same two, with noise anew."""
    place = np.zeros(2)
    done = run("balcan", _town(1).private, k=3, epsilon=3.0, seed=7)
    levels = [frame.step for frame in done.frames if isinstance(frame.step, TreeStep)]
    beside = np.full((1, 2), 1e-9)  # so near that no level parts them
    crowd = Crowd.measure(place, beside, done)
    assert not crowd.alone and crowd.level == len(levels)
    far = (crowd.threshold - 101) / levels[0].noise_scale
    once = 0.5 * np.exp(-far) if far > 0 else 1 - 0.5 * np.exp(far)
    assert crowd.chance(100) == pytest.approx(once ** len(levels)) and crowd.chance(100) < once
