"""One visitor after another at one seat: brings a table of its own, runs, studies, changes pages, and leaves."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from websockets.exceptions import ConnectionClosed

from benchmarks.fuzzing.secrets import Secrets
from benchmarks.soaking.tab import Tab, TabFailed

_PAGES = ("Bench", "Read", "Learn", "What ε means", "Papers", "Playground", "Compare algorithms")
# Seconds between what one visitor does and does next.
_THINKS = (3.0, 15.0)
_LOOKS_AT_A_STUDY = (5.0, 20.0)
_RUN_SECONDS = 240.0

_LETTERS = 10
_WORDS = re.compile(rb"[bcdfghjkmnpqrstvwxz]{%d,}" % _LETTERS)
_NUMBERS = re.compile(rb"(?<!\d)\d{3},?\d{3},?\d{3}(?!\d)")


@dataclass(frozen=True)
class OwnTable:
    """A table that no other visitor has: names, cells and ids are its own.

    ``marks`` are the words and numbers by which it is known in whatever the server sends.
    """

    name: str
    content: bytes
    declaration: str
    marks: frozenset[str]

    @classmethod
    def drawn(cls, rng: np.random.Generator, *, public: bool) -> OwnTable:
        """Three groups of people in two columns."""
        own = Secrets.drawn(rng, many=12)
        name, first, second, third, *ids = own.words
        rows = int(rng.integers(200, 3_000))
        centers = rng.uniform(0.2, 0.8, (3, 2)) * 1e9
        values = np.clip(centers[rng.integers(0, 3, rows)] + rng.normal(0, 3e7, (rows, 2)), 1e8, 1e9 - 1).round()
        values[: len(own.numbers), 0] = own.numbers
        lines = [f"{first},{second},{third}"]
        lines += [f"{a:.0f},{b:.0f},{ids[row % len(ids)]}" for row, (a, b) in enumerate(values)]
        bounds = {first: [0, 1e9], second: [0, 1e9]}
        stated = {"bounds": bounds, "public": public, "label": third, "bounds_origin": "law"}
        marks = frozenset((*own.words, *map(str, own.numbers)))
        return cls(name, "\n".join(lines).encode(), json.dumps(stated), marks)


def marks_in(raw: bytes) -> set[str]:
    """Everything in ``raw`` that could be a word or a number of somebody's table.

    In one pass: the tabs share the machine with the server that they measure.

    >>> sorted(marks_in(b"of zzqwrtzpsdfg at 731,944,027"))
    ['731944027', 'qwrtzpsdfg', 'zqwrtzpsdf', 'zzqwrtzpsd']
    """
    found = {match.replace(b",", b"").decode() for match in _NUMBERS.findall(raw)}
    for run in _WORDS.findall(raw):
        found |= {run[first : first + _LETTERS].decode() for first in range(len(run) - _LETTERS + 1)}
    return found


class PageChange(NamedTuple):
    """From a click in the menu to the whole page, and when that was, in seconds."""

    title: str
    seconds: float
    at: float


@dataclass
class Seat:
    """Where one visitor after another sits, and what was noted there.

    Attributes
    ----------
    pages : list of PageChange
    run_seconds : list of float
        From the press that runs to its result.
    visits, studies : int
        Finished ones.
    complaints : list of str
    """

    number: int
    pages: list[PageChange] = field(default_factory=list)
    run_seconds: list[float] = field(default_factory=list)
    visits: int = 0
    studies: int = 0
    complaints: list[str] = field(default_factory=list)
    own: OwnTable | None = None
    received: int = 0
    met_its_own: bool = False


class House:
    """All seats, and what each server message is compared with: the tables of the others."""

    def __init__(self, address: str, seats: int, *, seed: int) -> None:
        self.address, self.seed = address, seed
        self.seats = [Seat(number) for number in range(seats)]
        self.leaks: list[str] = []
        self.began = 0.0

    def reads(self, seat: Seat, raw: bytes) -> None:
        """Look through what was sent to ``seat``."""
        seat.received += len(raw)
        found = marks_in(raw)
        seat.met_its_own |= seat.own is not None and not found.isdisjoint(seat.own.marks)
        for other in self.seats:
            if other is not seat and other.own is not None and not found.isdisjoint(other.own.marks):
                self.leaks.append(f"seat {seat.number} was sent something of seat {other.number}")

    async def sits(self, seat: Seat, until: float) -> None:
        """Visits at one seat until the time is up; the visit that is under way ends as it would have."""
        rng = np.random.default_rng([self.seed, seat.number])
        clock = asyncio.get_running_loop().time
        await asyncio.sleep(float(rng.uniform(0, _THINKS[1])))
        while clock() < until or not seat.visits:
            seat.own, seat.met_its_own = OwnTable.drawn(rng, public=bool(rng.random() < 0.5)), False
            try:
                await self._visit(seat, seat.own, rng)
            except (TabFailed, TimeoutError, OSError, ConnectionClosed) as error:
                seat.complaints.append(f"seat {seat.number}: {error or type(error).__name__}")
                return
            if not seat.met_its_own:  # then nobody would notice what reaches somebody else
                seat.complaints.append(f"seat {seat.number}: nothing of its own table was on its pages")
            seat.visits += 1

    async def _visit(self, seat: Seat, own: OwnTable, rng: np.random.Generator) -> None:
        clock = asyncio.get_running_loop().time
        self.began = self.began or clock()
        async with Tab(self.address, lambda raw: self.reads(seat, raw)) as tab:

            async def turns_to(title: str) -> None:
                seat.pages.append(PageChange(title, await tab.turns_to(title), clock() - self.began))
                await _thinks(rng)

            await tab.uploads("csv", f"{own.name}.csv", own.content)
            await tab.presses("bench:file")
            tab.fills_in("bounds_json", own.declaration)
            await tab.presses("", label="Use these")
            await _thinks(rng)
            if tab.has("bench:file"):
                raise TabFailed("the table was not opened")
            await self._runs(seat, tab, rng)
            for title in rng.permutation(_PAGES)[:3]:
                await turns_to(str(title))
            await turns_to("Compare algorithms")
            await self._studies(seat, tab, rng)
            await turns_to("Bench")
            await tab.sets("bench:axis", json_value=json.dumps({"epsilon": float(rng.choice([0.3, 0.5, 2.0, 3.0]))}))
            await self._runs(seat, tab, rng)
            await turns_to("Learn")

    async def _runs(self, seat: Seat, tab: Tab, rng: np.random.Generator) -> None:
        clock = asyncio.get_running_loop().time
        began = clock()
        # A table that anybody may see runs by itself: there is only another draw to ask for.
        await tab.presses("bench:run" if tab.has("bench:run") else "bench:again")
        if not await tab.settles(_RUN_SECONDS):
            raise TabFailed(f"a run has not ended after {_RUN_SECONDS:g} s")
        seat.run_seconds.append(clock() - began)
        if not any(True for _ in tab.shows("BidiComponent")):
            raise TabFailed("a run has ended without a picture")
        await _thinks(rng)

    async def _studies(self, seat: Seat, tab: Tab, rng: np.random.Generator) -> None:
        """Start a study, look at it for a while, and stop it if it has not ended."""
        if not tab.has("compare:compute"):
            return
        await tab.presses("compare:compute")
        if not await tab.settles(float(rng.uniform(*_LOOKS_AT_A_STUDY))):
            await tab.presses("compare:cancel")
            if not await tab.settles(_RUN_SECONDS):
                raise TabFailed("a study that was stopped goes on")
        seat.studies += 1
        await _thinks(rng)


async def _thinks(rng: np.random.Generator) -> None:
    await asyncio.sleep(float(rng.uniform(*_THINKS)))
