"""The soak notices what it is for; a short one keeps every promise."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.soak import Soaked, soak
from benchmarks.soaking import visitor
from benchmarks.soaking.visitor import House, OwnTable, PageChange
from benchmarks.soaking.watch import MARK, Watch, left_behind, resident_megabytes


@pytest.fixture
def house():
    made = House("http://localhost:0", 3, seed=0)
    for seat in made.seats:
        seat.own = OwnTable.drawn(np.random.default_rng(seat.number), public=True)
        seat.visits, seat.pages, seat.run_seconds = 1, [PageChange("Read", 0.1, 0.0)], [1.0]
    return made


@pytest.fixture
def kept(house):
    return Soaked(
        house, Watch(os.getpid(), seconds=[0.0], megabytes=[100.0]), growth=0.0, orphans=0, files=(), printed=""
    )


def test_what_keeps_every_promise_is_not_complained_about(kept):
    assert kept.broken() == []


def test_a_word_or_a_number_of_another_visitor_is_a_leak(house):
    mine, other = house.seats[0], house.seats[1]
    names, first_row, *_ = other.own.content.decode().split("\n")
    number = int(first_row.split(",")[0])
    for leak in (names, f"x{names}", str(number), f"about {number:,}."):
        house.leaks.clear()
        house.reads(mine, b"\xff\x00before " + leak.encode() + b" after")
        assert house.leaks == ["seat 0 was sent something of seat 1"]


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"growth": 0.5}, "memory"),
        ({"orphans": 2}, "outlived"),
        ({"files": ("x",)}, "temporary folder"),
        ({"printed": "Traceback (most recent call last)"}, "log"),
    ],
)
def test_each_broken_promise_is_told(kept, changed, word):
    (broken,) = replace(kept, **changed).broken()
    assert word in broken


def test_a_process_that_stays_is_found_and_is_gone_when_it_ends():
    value = f"test-{os.getpid()}"
    sleeper = subprocess.Popen([sys.executable, "-c", "input()"], env={MARK: value}, stdin=subprocess.PIPE)
    try:
        assert left_behind(value, seconds=0.5) == [sleeper.pid]
        assert resident_megabytes(sleeper.pid) > 0
    finally:
        sleeper.communicate(b"\n")
    assert left_behind(value, seconds=5) == []


@pytest.mark.slow
def test_one_visitor_who_comes_once(monkeypatch):
    for pause in ("_THINKS", "_LOOKS_AT_A_STUDY"):
        monkeypatch.setattr(visitor, pause, (0.0, 0.0))
    soaked = soak(minutes=0, sessions=1, seed=0)
    # Memory still settles after one visit, and the clock of a busy machine is nobody's promise.
    told = [one for one in soaked.broken() if "memory" not in one and "page change" not in one]
    assert not told, soaked.figures()
