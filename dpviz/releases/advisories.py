"""What releases that were made before a fault was mended promise today: a small table, which ``verify`` consults.

The table is ``advisories.yaml``; it knows the releases of earlier versions by what their transcripts name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from dpviz.core import Accounting, Entry, LossKind

PROGRAMS = ("dpviz", "OpenDP")
"""What a transcript names with its version: what made the release, and what drew its noise."""


@dataclass(frozen=True)
class Advisory:
    """A fault of one program ``before`` a version, from ``since`` on.

    It concerns releases with a draw of one of ``losses`` under one of ``accountings``; every release where both are
    empty.
    """

    name: str
    program: str
    before: str
    fault: str
    promise: str
    since: str = "0"
    accountings: tuple[Accounting, ...] = ()
    losses: tuple[LossKind, ...] = ()

    @classmethod
    def of(cls, said: Mapping[str, object]) -> Advisory:
        """As the table says it."""
        texts = {key: str(value).strip() for key, value in said.items() if not isinstance(value, list)}
        accountings = tuple(map(Accounting, _list(said, "accountings")))
        return cls(**texts, accountings=accountings, losses=tuple(map(LossKind, _list(said, "losses"))))

    def concerns(self, versions: Mapping[str, str], entries: Sequence[Entry]) -> bool:
        """Whether it does, of a release by programs of these ``versions`` with these charges."""
        order = _order(versions[self.program])
        return _order(self.since) <= order < _order(self.before) and (
            not (self.accountings or self.losses)
            or any(
                entry.accounting in (self.accountings or Accounting) and entry.loss in (self.losses or LossKind)
                for entry in entries
            )
        )

    @property
    def words(self) -> str:
        """What is said of such a release."""
        about = f"Advisory {self.name}, of {self.program} before {self.before}"
        return f"{about}: {self.fault}. Today it promises: {self.promise}."


def _list(said: Mapping[str, object], key: str) -> Sequence[str]:
    found = said.get(key, ())
    assert isinstance(found, (list, tuple))
    return found


def _order(version: str) -> tuple[tuple[int, ...], bool]:
    """Where a version stands among others; one before a release (a, b, rc, dev) stands before it."""
    numbers = re.match(r"[\d.]+", version)
    assert numbers is not None
    parts = [int(part) for part in numbers[0].strip(".").split(".")]
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts), re.search("a|b|rc|dev", version) is None


@cache
def read_advisories() -> tuple[Advisory, ...]:
    """The table."""
    text = Path(__file__).with_name("advisories.yaml").read_text(encoding="utf-8")
    return tuple(map(Advisory.of, yaml.safe_load(text) or ()))


def list_advisories(*, version: str, noise: str, entries: Sequence[Entry]) -> Iterator[str]:
    """What the table knows of a release by dpviz of this ``version`` whose ``noise`` a library of that name drew."""
    versions = dict(zip(PROGRAMS, (version, noise.rpartition(" ")[2]), strict=True))
    for advisory in read_advisories():
        if advisory.concerns(versions, entries):
            yield advisory.words
