"""A release played again from its transcript: over tables without rows, so that what was drawn alone comes out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, hypot, sqrt
from typing import NamedTuple

from dpviz.algorithms import Card, find_card
from dpviz.core import LossKind, RequestError, compose_epsilon, compute_total_epsilon
from dpviz.releases.continuing import Continued, find_continued
from dpviz.releases.promise import format_span
from dpviz.releases.release_parts import Parts, make_parts_of_nobody
from dpviz.releases.release_request import Asked, CostPart, ReleaseRequest
from dpviz.releases.release_sentences import make_refusal
from dpviz.releases.segments_report import SegmentsReport
from dpviz.releases.smallest_groups import Groups, find_groups
from dpviz.releases.tallies import Draws, draw_versions
from dpviz.releases.transcript import GivenAnswer, Playback, Transcript
from dpviz.runs import Run, compute_independent_epsilon, profiles
from dpviz.tables import Declaration, codings
from dpviz.words import NINE_IN_TEN, format_noisy


class CardColumn(NamedTuple):
    """One declared column: its bounds in data units, or what its cells can be, and where these come from, in words.

    ``kind`` is the scale on which it is clustered: "number" for an even one, "log" or "root". ``place`` is its first
    coordinate; None of a column that segments alone are told by. ``worded``: centres say shares of categories of it, a
    date or a rank, and no number.
    """

    name: str
    lower: float | None
    upper: float | None
    unit: str = ""
    origin: str = "not stated"
    categories: tuple[str, ...] = ()
    kind: str = "number"
    place: int | None = None
    worded: bool = False

    @property
    def span(self) -> str:
        """The declared bounds with their unit, or the categories."""
        if self.lower is None or self.upper is None:
            return ", ".join(self.categories) or "not stated"
        return format_span(self.lower, self.upper, self.unit, self.kind)


def list_columns(parts: Parts) -> Iterator[CardColumn]:
    """The clustered columns, then those that segments alone are told by."""
    declared, domain, profile = parts.declaration, parts.clustered.run.domain, parts.profile
    coded = {column.name: column for column in domain.declared}
    for name, places in zip(domain.names, domain.places, strict=True):
        # Where the bounds or the values come from, and the weight: both are public.
        weight = declared.weights.get(name)
        origin = declared.describe_origin(name) + ("" if weight is None else f"; weight {weight:g}")
        column, first = coded.get(name), profile.columns[places.start]
        if column is None or column.is_number or isinstance(column.coding, codings.Stretched):
            numbers = (first.lower, first.upper, declared.units.get(name, ""), origin)
            yield CardColumn(name, *numbers, kind=first.kind, place=places.start)
            continue
        unit = declared.units.get(name, "")
        yield CardColumn(name, None, None, unit, origin, column.coding.words, place=places.start, worded=True)
    for name, one in declared.describe.items():
        low, high = one.bounds or (None, None)
        yield CardColumn(name, low, high, declared.units.get(name, ""), "declared", one.categories)


# Two ways to add up differ in the last digits; the independent library rounds losses up to a grid.
_LAST_DIGITS, _COARSE = 1e-9, 1e-6


class Recomposed(NamedTuple):
    """The ε of a whole release by δ, and its ρ: all draws of all parts composed together."""

    epsilons: Mapping[float, float]
    rho: float


@dataclass(frozen=True, eq=False)
class Played:
    """What a transcript comes to: what was asked, every part, the names of parts that hold unasked answers, and what
    every answer was given to, by part.

    Every document of a release is a template that reads it.
    """

    transcript: Transcript
    asked: Asked
    parts: Parts
    unasked: tuple[str, ...]
    given: Mapping[str, Sequence[GivenAnswer]]

    @property
    def run(self) -> Run:
        """That of the algorithm."""
        return self.parts.clustered.run

    @property
    def algorithm(self) -> Card:
        """Its card."""
        return find_card(self.run.algorithm)

    @property
    def request(self) -> ReleaseRequest:
        """What was asked for, in whose words, after which looks."""
        return self.asked.release_request

    @property
    def epsilon(self) -> float:
        """Of the whole release."""
        return self.request.request.epsilon

    @property
    def delta(self) -> float:
        """Of the whole release."""
        return self.request.delta

    @property
    def shares(self) -> Mapping[str, CostPart]:
        """What each part may spend."""
        return self.request.shares(self.asked.declared)

    @property
    def declared(self) -> Declaration:
        """What was declared, with the bounds that were bought."""
        return self.parts.declaration

    @property
    def of_persons(self) -> bool:
        """Whether a column says whose each row is."""
        return self.declared.id_column is not None

    @property
    def profile(self) -> profiles.Profile:
        """Centres, sizes and their noise."""
        return self.parts.profile

    @cached_property
    def draws(self) -> Draws | None:
        """Versions of what is true of the segments; None where nothing was asked about them."""
        means = self.parts.means
        if means is None or self.parts.tallies is None:
            return None
        return draw_versions(self.parts.tallies, means, self.profile, seed=self.transcript.sha256)

    @property
    def _rows_reach(self) -> float:
        """What stands behind the ± of the number of rows: 0 of one that was declared."""
        bought = (one for one in self.run.entries if one.note == "number of rows" and self.run.n_origin == "bought")
        sds = (one.scale * (1 if one.loss is LossKind.GAUSSIAN else sqrt(2)) for one in bought)
        return NINE_IN_TEN * next(sds, 0.0)

    @property
    def rows_words(self) -> str:
        """The number of rows that was used, with its noise."""
        return "" if self.run.n is None else format_noisy(self.run.n, self._rows_reach, whole=True)

    @property
    def rows_left(self) -> str:
        """How many of these are in no segment; "" where noise hides it, or nobody can tell."""
        if self.run.n is None or self.profile.sizes is None:
            return ""
        total = self.profile.sizes.total
        left, reach = self.run.n - float(total.rows[0]), hypot(float(total.reach[0]), self._rows_reach)
        return format_noisy(left, reach, whole=True) if left > reach else ""

    @property
    def report(self) -> SegmentsReport | None:
        """What was released about the segments; None where nothing was."""
        return self.parts.report

    @cached_property
    def groups(self) -> Groups | None:
        """Groups of segments that are as large as was promised; None where nothing was."""
        smallest, tallies = self.request.smallest_group, self.parts.tallies
        return find_groups(tallies, self.parts.clustered.unit_centers, smallest) if smallest and tallies else None

    @cached_property
    def continued(self) -> Continued | None:
        """What became of the segments of an earlier release; None where none is continued."""
        earlier, again = self.request.continues, self.parts.again
        if earlier is None or again is None:
            return None
        return find_continued(earlier, again, self.run.domain, self.parts.clustered.unit_centers)

    @cached_property
    def columns(self) -> tuple[CardColumn, ...]:
        """The clustered columns as they were declared, then those that segments alone are told by."""
        return tuple(list_columns(self.parts))

    @cached_property
    def recomposed(self) -> Recomposed | None:
        """At ten times the δ, at δ itself and at a hundredth of it; None without one, or where nobody can tell."""
        try:
            draws = tuple(entry.list_draws() for entry in self.parts.charges if self.delta)
        except RequestError:  # something is proved to be (ε, δ)-DP and nothing more
            return None
        if not draws:
            return None
        deltas = (10 * self.delta, self.delta, self.delta / 100)
        rho = fsum(entry.rho for entry in self.parts.charges)
        return Recomposed({delta: compose_epsilon(draws, delta) for delta in deltas}, rho)


def play(transcript: Transcript) -> Played:
    """What each part of a release comes to on its recording, over tables without rows."""
    asked = Asked.of(transcript.asked)
    if [*transcript.recordings] != [*asked.release_request.shares(asked.declared)]:
        raise make_refusal("other_parts")
    players = {part: Playback(recording) for part, recording in transcript.recordings.items()}
    parts = make_parts_of_nobody(asked.release_request, asked.declared, players, asked.n_public)
    unasked = tuple(part for part, player in players.items() if not player.is_over)
    return Played(transcript, asked, parts, unasked, {part: player.given for part, player in players.items()})


def describe_overspending(
    parts: Parts, shares: Mapping[str, CostPart], *, epsilon: float, delta: float
) -> tuple[str, ...]:
    """Where the ledgers spend more than they may, a sentence each; empty where all is paid for."""
    found, spent = [], []
    for name, entries in parts.entries.items():
        if name not in shares:
            found.append(f"the part {name} has no share of ε.")
            continue
        share = shares[name]
        own = compute_total_epsilon(entries[0].accounting, entries, delta=share.delta) if entries else 0.0
        again = compute_independent_epsilon(entries, delta=share.delta)
        if own > share.epsilon * (1 + _LAST_DIGITS) or (again is not None and again > share.epsilon * (1 + _COARSE)):
            found.append(f"the part {name} adds up to more than its share of ε.")
        spent.append(own)
    if fsum(spent) > epsilon * (1 + _LAST_DIGITS):
        found.append("all parts together add up to more ε than the account was charged.")
    if fsum(shares[name].delta for name in parts.entries if name in shares) > delta * (1 + _LAST_DIGITS):
        found.append("all parts together add up to more δ than the account was charged.")
    return tuple(found)
