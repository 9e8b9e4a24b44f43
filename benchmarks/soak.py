"""Many visitors of one server for a while, each with other data, as ``streamlit run`` serves them.

    python -m benchmarks.soak [--minutes 15] [--sessions 20]

Each visitor brings a table of its own, declares it, runs, changes pages, starts a study and stops it, runs again, and
leaves for the next one. Visitors are tabs that speak the page library's protocol and draw nothing, so that the times
are the server's. Promises: nothing of one visitor reaches another, all sessions finish, a page change takes at most 2 s
in the median, the memory of the server stays flat, no process outlives it, no file is left. Prints its figures last and
exits with 1 where a promise is broken.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.soaking.visitor import House
from benchmarks.soaking.watch import MARK, Watch, left_behind, server_of
from benchmarks.timing import machine
from tests.browser.server import running_app

PAGE_SECONDS = 2.0
GROWTH = 0.15
"""By how much of it the server's memory may grow from the middle third of the time to the last."""


@dataclass(frozen=True)
class Soaked:
    """What was seen.

    Attributes
    ----------
    growth : float
        Of the server's memory from the middle third of the time to the last, as a share of it.
    """

    house: House
    watch: Watch
    growth: float
    orphans: int
    files: tuple[str, ...]
    printed: str

    @property
    def page_seconds(self) -> list[float]:
        """Of all page changes."""
        return [change.seconds for seat in self.house.seats for change in seat.pages]

    def broken(self) -> list[str]:
        """The promises that were not kept, in words."""
        complaints = [complaint for seat in self.house.seats for complaint in seat.complaints]
        broken = [*dict.fromkeys(self.house.leaks), *complaints]
        broken += [f"seat {seat.number} finished no visit" for seat in self.house.seats if not seat.visits]
        if not self.page_seconds or median(self.page_seconds) > PAGE_SECONDS:
            broken.append(f"a page change takes more than {PAGE_SECONDS:g} s in the median")
        if self.growth > GROWTH:
            broken.append(f"the server's memory grew by more than {GROWTH:.0%}")
        if self.orphans:
            broken.append(f"{self.orphans} processes outlived the server")
        if self.files:
            broken.append(f"left in the temporary folder: {', '.join(self.files)}")
        if "Traceback" in self.printed:
            broken.append("the server's log has a traceback")
        return broken

    def _by_page(self) -> str:
        """The median of each page."""
        changes = [change for seat in self.house.seats for change in seat.pages]
        titles = sorted({change.title for change in changes})
        by_title = {title: [one.seconds for one in changes if one.title == title] for title in titles}
        return ", ".join(f"{title} {median(seconds):.2f} s" for title, seconds in by_title.items())

    def _seconds(self) -> float:
        return self.watch.seconds[-1] if self.watch.seconds else float("nan")

    def figures(self) -> str:
        """What came out, a line each."""
        seats, pages = self.house.seats, self.page_seconds or [float("nan")]
        runs = [seconds for seat in seats for seconds in seat.run_seconds] or [float("nan")]
        memory = self.watch.megabytes or [float("nan")]
        return "\n".join(
            (
                f"visits          {sum(seat.visits for seat in seats)} finished in {len(seats)} sessions, "
                f"{sum(seat.studies for seat in seats)} studies, {len(self.house.leaks)} leaks "
                f"in {sum(seat.received for seat in seats) / 2**20:,.0f} MB received",
                f"page changes    {len(pages)}, median {median(pages):.2f} s, 9 in 10 below "
                f"{float(np.quantile(pages, 0.9)):.2f} s, longest {max(pages):.2f} s",
                f"by page         {self._by_page()}",
                f"runs            {len(runs)}, median {median(runs):.2f} s, longest {max(runs):.2f} s",
                f"server's memory {memory[0]:,.0f} MB at first, {max(memory):,.0f} MB at most, {memory[-1]:,.0f} MB "
                f"at the end; {self.growth:+.1%} from the middle third to the last",
                f"server's work   {self.watch.worked:.0f} s of a processor in {self._seconds():.0f} s; "
                f"the visitors were late by {self.watch.late:.2f} s at most",
                f"left behind     {self.orphans} processes, {len(self.files)} files",
            )
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Soak a server; 0 if all promises were kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(argv)
    print(f"{machine()}; {asked.sessions} sessions, {asked.minutes:g} minutes", flush=True)
    soaked = soak(minutes=asked.minutes, sessions=asked.sessions, seed=asked.seed)
    broken = soaked.broken()
    for promise in broken:
        print(f"BROKEN {promise}")
    print(soaked.figures())
    return 1 if broken else 0


def soak(*, minutes: float, sessions: int, seed: int) -> Soaked:
    """Start a server, have it visited for so long, end it, and look at what is left."""
    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory() as outside:
        inside, log = Path(outside) / "tmp", Path(outside) / "log.txt"
        inside.mkdir()
        before = {name: os.environ.get(name) for name in (MARK, "TMPDIR")}
        os.environ |= {MARK: mark, "TMPDIR": str(inside)}
        try:
            with running_app(log) as address:
                watch, house = Watch(server_of(mark)), House(address, sessions, seed=seed)
                asyncio.run(_visited(house, watch, 60 * minutes))
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
        orphans = left_behind(mark)
        files = tuple(sorted(path.relative_to(inside).as_posix() for path in inside.rglob("*")))
        return Soaked(house, watch, _growth(watch.megabytes), len(orphans), files, log.read_text(errors="replace"))


async def _visited(house: House, watch: Watch, seconds: float) -> None:
    looking = asyncio.create_task(watch.looks())
    until = asyncio.get_running_loop().time() + seconds
    await asyncio.gather(*(house.sits(seat, until) for seat in house.seats))
    looking.cancel()


def _growth(megabytes: Sequence[float]) -> float:
    third = len(megabytes) // 3
    if not third:
        return float("nan")
    return median(megabytes[-third:]) / median(megabytes[third : 2 * third]) - 1


if __name__ == "__main__":
    sys.exit(main())
