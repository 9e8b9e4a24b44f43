"""What a card says: public and released values of one release, and the owner's own words; nothing revealed fits in.

What was seen of the rows before is counted, and the ledger is told in few lines: charges that are alike together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from math import fsum, isclose
from typing import Any, NamedTuple

import numpy as np

from dpviz.core import AccessKind, AccessTotals, Array, RequestError
from dpviz.releases.account import ChargeLink
from dpviz.runs import profiles
from dpviz.tables import Declaration
from dpviz.words import format_count, format_number, format_things

_ACCESSES = {
    "rows": ("look at rows or at counts of them", "looks at rows or at counts of them"),
    "loss": ("look at losses on the rows", "looks at losses on the rows"),
    "reference": ("look at the centres of k-means++", "looks at the centres of k-means++"),
    "proposal": ("look that proposed how to read the file", "looks that proposed how to read the file"),
}


@dataclass(frozen=True)
class AccessCounts:
    """Whatever was seen of the rows, without or with noise, before the release; no number in it is a value of a row."""

    looks: Mapping[str, int] = field(default_factory=dict, hash=False)
    studies: int = 0
    runs: int = 0
    runs_epsilon: float = 0.0
    grids_read: int = 0

    def __post_init__(self) -> None:
        # In one order, whoever counted and however they were kept: what a file says must not depend on that.
        rank = {kind: place for place, kind in enumerate(_ACCESSES)}
        ordered = sorted(self.looks.items(), key=lambda look: (rank.get(look[0], len(rank)), look[0]))
        object.__setattr__(self, "looks", dict(ordered))

    @classmethod
    def of(cls, totals: AccessTotals, *, proposed: bool) -> AccessCounts:
        """What this process saw of a table, whose declaration may have been ``proposed``, which is a look."""
        return cls(AccessKind.tabulate(totals.looks, proposed=proposed), *totals[1:])

    @property
    def words(self) -> str:
        """In sentences.

        >>> AccessCounts().words.split(". ")[0]
        'None that the releasing process counted: it showed no row, no true count and no loss'
        >>> AccessCounts(runs=50, runs_epsilon=25.0).words.split(", which")[0]
        'The releasing process counted 50 runs on the rows with study noise, ε = 25 in all'
        """
        told = list(self._describe())
        listed = ", ".join(told[:-1]) + (" and " if told[1:] else "") + "".join(told[-1:])
        before = (
            "What was seen of the rows before that process began, or by another one, is not counted: only their owner "
            "can say."
        )
        if not told:
            return f"None that the releasing process counted: it showed no row, no true count and no loss. {before}"
        return f"The releasing process counted {listed}. No ε covers what was chosen because of them. {before}"

    def _describe(self) -> list[str]:
        told = [
            f"{format_count(times)} {_ACCESSES.get(kind, (f'look: {kind}', f'looks: {kind}'))[times != 1]}"
            for kind, times in self.looks.items()
            if times
        ]
        if self.studies:
            told.append(f"{format_things(self.studies, 'study', 'studies')} on them")
        if self.runs:
            paid = f"ε = {format_number(self.runs_epsilon)} in all, which no account has paid for"
            told.append(f"{format_things(self.runs, 'run')} on the rows with study noise, {paid}")
        if self.grids_read:
            told.append(f"{format_things(self.grids_read, 'reading')} of k from the grid of such a run")
        return told


SECTORS: tuple[str, ...] = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
"""The sectors that the public registry of deployments knows."""
NOT_STATED = "Not stated."
"""What stands for words of the owner that nobody has said."""

OWNER_QUESTIONS: Mapping[str, str] = {
    "several_rows": "Can one person have several rows in the table, and at most how many?",
    "agreed_by": "Why not half of this ε, and who agreed to it?",
    "other_releases": "What else about these people is or will be published, even exact?",
    "decision": "Which decision will rest on it, and which error would change that decision?",
    "bounds_known_by": "Who knew each bound, and from what?",
    "raw_access": "Who can read the raw table?",
    "storage": "Where are the rows, the account and the keys kept, and until when?",
    "columns_needed": "Which column could have been left out?",
    "repeats": "Will the release be repeated, how often, and does the cap start anew?",
}
"""What only the owner of a table can answer of what an evaluator asks, in plain words."""

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# Parts are each rounded down where a budget is divided.
_ROUNDING = 1e-6


@dataclass(frozen=True, kw_only=True)
class CardWords:
    """What the owner says about a release, in the owner's words."""

    name: str
    description: str
    intended_use: str
    curators: tuple[str, ...]
    region: str
    publication_date: str
    sector: str
    justification: str
    authors: tuple[str, ...]
    chosen_after_looking: str = ""
    several_rows: str = ""
    agreed_by: str = ""
    other_releases: str = ""
    decision: str = ""
    bounds_known_by: str = ""
    raw_access: str = ""
    storage: str = ""
    columns_needed: str = ""
    repeats: str = ""

    def list_missing(self) -> tuple[str, ...]:
        """What is still to be said before anything is charged, a sentence each; empty where nothing is missing."""
        asked = {
            "name": "call the release by a name",
            "description": "say in a sentence what is published",
            "intended_use": "say what the release is for",
            "region": "name the region that the data describe",
            "justification": "say why these bounds, this ε and this k",
        }
        lacking = [f"{name} is empty: {what}." for name, what in asked.items() if not getattr(self, name).strip()]
        for name, who in (("curators", "publishes the release"), ("authors", "filled in the card")):
            if not getattr(self, name) or not all(one.strip() for one in getattr(self, name)):
                lacking.append(f"{name} is empty: name at least one who {who}.")
        if self.sector and self.sector not in SECTORS:
            lacking.append(
                f"sector is not one that the registry knows: choose one of {', '.join(SECTORS)}, or leave it out."
            )
        if not is_day(self.publication_date):
            lacking.append("publication_date is no day: write it as YYYY-MM-DD.")
        return tuple(lacking)


class CardColumn(NamedTuple):
    """One declared column: its bounds in data units, or what its cells can be, and where these come from, in words.

    ``kind`` is the scale on which it is clustered: "number" for an even one, "log" or "root".
    """

    name: str
    lower: float | None
    upper: float | None
    unit: str = ""
    origin: str = "not stated"
    categories: tuple[str, ...] = ()
    kind: str = "number"


class ToldColumn(NamedTuple):
    """A clustered column as its owner declared it.

    ``place`` is its first coordinate. ``words`` (k,) is what each released centre says of it, where a number does not:
    shares of categories, a date.
    """

    column: CardColumn
    place: int
    words: tuple[str, ...] = ()


ALGORITHM, OF_SEGMENTS, OF_BOUNDS, OF_MISSING = "algorithm", "segments", "bounds", "missing cells"
"""The parts of a release: each has a ledger of its own, and they add up."""


class CostPart(NamedTuple):
    """What one part of a release costs by itself; the parts add up to the whole."""

    name: str
    epsilon: float
    delta: float


class AccountFacts(NamedTuple):
    """An account before and after this release: its cap, and what had been and is now spent of it."""

    name: str
    cap_epsilon: float
    cap_delta: float
    before_epsilon: float
    before_delta: float
    after_epsilon: float
    after_delta: float
    link: ChargeLink | None = None


class CardPicture(NamedTuple):
    """A picture of released values: our own markup (SVG or HTML), with words for whoever does not see it."""

    title: str
    alt: str
    markup: str


@dataclass(frozen=True, eq=False, kw_only=True)
class CardFacts:
    """All that the files of a release say.

    ``centers`` (k, d), released, data units, rounded; ``center_step`` (d,) or (k, d), the grid that centres were
    rounded to, data units; one for each of them where it is not the same for all; ``center_sd`` (k, d), the
    standard deviation of the noise on each coordinate, data units; None where it cannot be told; ``sizes``,
    ``size_sd`` (k,), released sizes of the segments, and the standard deviation of their noise.
    """

    words: CardWords
    table: str
    columns: tuple[CardColumn, ...]
    k: int
    algorithm: str
    algorithm_id: str
    paper: str
    epsilon: float
    delta: float
    relation: str
    unit: str
    rows_per_person: int
    has_id: bool
    n: float | None
    n_bought: bool
    looks: Mapping[str, int]
    studies: int
    accounting: str
    parts: tuple[CostPart, ...]
    entries: tuple[Mapping[str, Any], ...]
    noise: str
    dpviz: str
    account: AccountFacts | None
    centers: Array
    center_step: Array | None = None
    center_sd: Array | None = None
    sizes: Array | None = None
    size_sd: Array | None = None
    segments: Mapping[str, Any] | None = None
    quality_report: Mapping[str, Any] | None = None
    expected_loss: str = ""
    missing: tuple[str, ...] = ()
    pictures: tuple[CardPicture, ...] = field(default=())
    transcript: str = ""
    runs: int = 0
    runs_epsilon: float = 0.0
    grids_read: int = 0
    platform: str = ""
    code: str = ""
    smallest_group: float | None = None
    recomposed: tuple[tuple[float, float], ...] = ()
    rho: float | None = None
    declared: tuple[ToldColumn, ...] = ()

    def __post_init__(self) -> None:
        self._check_shapes()
        for name in ("epsilon", "delta"):
            whole, parts = getattr(self, name), fsum(getattr(part, name) for part in self.parts)
            if not isclose(parts, whole, rel_tol=_ROUNDING, abs_tol=0.0):
                raise RequestError(
                    f"The parts of the release add up to {name} = {parts:g}, and the release is said to cost "
                    f"{whole:g}: name every part with what it costs."
                )

    def _check_shapes(self) -> None:
        if self.relation not in ("add_remove", "replace"):
            raise RequestError(f'The relation is {self.relation!r}: give "add_remove" or "replace".')
        dim = self.centers.shape[1] if self.centers.ndim == 2 else 0
        if self.centers.shape != (self.k, dim) or not 1 <= dim <= len(self.columns):
            raise RequestError(
                f"The centres have shape {self.centers.shape}: give {self.k} of them, with a coordinate for each "
                "clustered column, these columns first."
            )
        if open_ended := [one.name for one in self.clustered if one.lower is None or one.upper is None]:
            raise RequestError(
                f"Column {open_ended[0]!r} is clustered and has no bounds: give those it was clipped to."
            )
        if self.center_step is not None and np.shape(self.center_step) not in ((dim,), (self.k, dim)):
            raise RequestError(f"center_step has shape {np.shape(self.center_step)}: give an array of shape ({dim},).")
        shapes = {"center_sd": (self.k, dim), "sizes": (self.k,), "size_sd": (self.k,)}
        for name, shape in shapes.items():
            value = getattr(self, name)
            if value is not None and np.shape(value) != shape:
                raise RequestError(f"{name} has shape {np.shape(value)}: give an array of shape {shape}.")

    @cached_property
    def profile(self) -> profiles.Profile:
        """Centres, sizes and their noise, where every column is as wide as its bounds."""
        columns = [
            profiles.ProfileColumn(one.name, one.lower, one.upper, one.unit, one.kind)
            for one in self.clustered
            if one.lower is not None and one.upper is not None
        ]
        sd = np.full(self.centers.shape, np.nan) if self.center_sd is None else self.center_sd
        return profiles.Profile(tuple(columns), self.centers, sd, np.ones(len(columns)), self.sizes, self.size_sd)

    @property
    def steps(self) -> Array | None:
        """The grid of each coordinate, data units, shape (k, d)."""
        return None if self.center_step is None else np.broadcast_to(self.center_step, self.centers.shape)

    @property
    def clustered(self) -> tuple[CardColumn, ...]:
        """The columns that centres have coordinates in."""
        return self.columns[: self.centers.shape[1]]

    @property
    def told(self) -> tuple[ToldColumn, ...]:
        """The clustered columns as they were declared."""
        return self.declared or tuple(ToldColumn(column, place) for place, column in enumerate(self.clustered))

    @property
    def others(self) -> tuple[CardColumn, ...]:
        """The columns that segments alone are told by."""
        return self.columns[self.centers.shape[1] :]

    @property
    def named(self) -> tuple[CardColumn, ...]:
        """All columns as they were declared."""
        return (*(one.column for one in self.told), *self.others)

    @property
    def seen(self) -> AccessCounts:
        """What was seen of the rows before the release."""
        return AccessCounts(self.looks, self.studies, self.runs, self.runs_epsilon, self.grids_read)

    @property
    def pure(self) -> bool:
        """Whether δ is 0."""
        return self.delta == 0


def list_said(*words: str) -> tuple[str, ...]:
    """Those of the owner's words that say something.

    >>> list_said("Planning", "Not stated.", " ")
    ('Planning',)
    """
    return tuple(one for one in words if one.strip() not in ("", NOT_STATED))


def is_day(text: str) -> bool:
    """Whether ``text`` is a day, written as YYYY-MM-DD.

    >>> is_day("2026-02-28"), is_day("2026-02-30"), is_day("20260228")
    (True, False, False)
    """
    if not _DAY.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


_QUESTIONS = {
    "Count": "numbers of rows",
    "Sum": "sums of coordinates",
    "ResidualSum": "sums of differences from the centres",
    "ScaledResidualSum": "sums of differences from the centres, over their clipping radii",
    "Spread": "how far rows spread",
    "Radii": "how far rows lie",
    "SegmentHistogram": "histograms of columns",
    "DistanceScales": "scales of distances",
    "CappedLosses": "capped distances",
    "SparseCount": "numbers of rows",
    "SwapLoss": "what a swap would save",
    "Loss": "losses of sets of centres",
    "Pull": "pulls on the centres",
    "MedianLoss": "what a move of a centre would save",
}


@dataclass(frozen=True)
class Charges:
    """Charges of one part with the same mechanism and the same question."""

    part: str
    mechanism: str
    query: str
    notes: tuple[str, ...]
    scales: tuple[float, ...]

    @property
    def purpose(self) -> str:
        """What they were for: the first, and the last of many."""
        first, *others = dict.fromkeys(self.notes)
        if not others:
            return first
        return f"{first} … {others[-1]}" if first.split()[:1] == others[-1].split()[:1] else f"{first}, and others"

    @property
    def asked(self) -> str:
        """The question in plain words, where it has some."""
        return _QUESTIONS.get(self.query, self.query)

    @property
    def noise(self) -> str:
        """Their noise scale, or the range of it."""
        low, high = format_number(min(self.scales)), format_number(max(self.scales))
        return low if low == high else f"{low} to {high}"


def group_charges(facts: CardFacts) -> Iterator[Charges]:
    """The ledger's entries in groups, in the order in which the first of each was charged."""
    alike: dict[tuple[str, str, str], list[tuple[str, float]]] = {}
    for entry in facts.entries:
        key = (str(entry.get("part", "")), str(entry.get("mechanism", "")), str(entry.get("query", "")))
        alike.setdefault(key, []).append((str(entry.get("note", "")), float(entry.get("scale", 0.0))))
    for key, said in alike.items():
        notes, scales = zip(*said, strict=True)
        yield Charges(*key, notes, scales)


def find_words(declaration: Declaration, *, today: str, **said: Any) -> CardWords:
    """The owner's words: what is declared for a release, and where nothing is, that it is not stated.

    ``said`` replaces what is declared. What is there and empty stays empty, so that it is asked for.

    **said
        Words by the names of ``CardWords``.
    """
    nothing = NOT_STATED
    usual: dict[str, Any] = {
        "name": declaration.title or "Cluster centres",
        "description": declaration.description or "Cluster centres of a table of persons.",
        "intended_use": nothing,
        "curators": (nothing,),
        "region": nothing,
        "publication_date": today,
        "sector": "",
        "justification": nothing,
        "authors": (nothing,),
    }
    return CardWords(**{**usual, **declaration.words, **said})
