"""A release as whoever receives it reads it: checked first, then as numbers with their noise, and what follows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpviz.releases.account import AccountBalance
from dpviz.releases.asking import ReleaseAnswer, ReleaseQuestion, ask
from dpviz.releases.conclusions import Received
from dpviz.releases.continuing import EarlierSegments
from dpviz.releases.described_table import spell_out_columns
from dpviz.releases.intervals import COVERED, to_plain
from dpviz.releases.playing import Played
from dpviz.releases.promise import name_level
from dpviz.releases.release_sentences import make_refusal
from dpviz.releases.segments_report import (
    CategoriesSaid,
    NumbersSaid,
    SegmentsReport,
    describe_interval,
    list_statistics,
)
from dpviz.releases.two_releases import Comparison, compare
from dpviz.releases.verifying import Verification, examine
from dpviz.runs import Progress, brief, profiles
from dpviz.tables import Content, Declaration, format_csv

# Of a declaration: what decides in which segment a row lies, and whose it is.
_OF_CELLS = (
    *("columns", "lower", "upper", "coded", "weights", "scaling", "radius"),
    *("relation", "id_column", "rows_per_person"),
)
_OF_COLUMNS = ("name", "lower", "upper", "unit", "kind")


class ReleasedNumber(NamedTuple):
    """One number of a release, with what is known of its noise; a line of the tidy table.

    ``segment`` counts from 1, ``column`` is "" of a number of the whole segment. ``value`` is None where the range from
    ``low`` to ``high`` is all that is known. ``noise_sd`` is None where the interval alone is known.
    """

    segment: int
    column: str
    statistic: str
    value: float | None
    low: float | None
    high: float | None
    noise_sd: float | None
    unit: str
    words: str = ""


@dataclass(frozen=True, eq=False)
class ReadRelease:
    """A release that was read.

    Attributes
    ----------
    verdict : Verification
        What ``verify`` makes of it.
    played : Played or None
        What its transcript comes to; None where that is damaged, and nothing can be shown.
    """

    verdict: Verification
    played: Played | None

    @property
    def holds(self) -> bool:
        """Whether every check holds: else none of its numbers should be relied on."""
        return self.verdict.holds

    @property
    def profile(self) -> profiles.Profile | None:
        """Centres, sizes and their noise; None where the transcript is damaged."""
        return None if self.played is None else self.played.profile

    @property
    def report(self) -> SegmentsReport | None:
        """What was released about the segments beside their centres, if anything was."""
        return None if self.played is None else self.played.report

    @cached_property
    def received(self) -> Received | None:
        """What may be concluded, and what not."""
        return None if self.played is None else receive(self.played)

    @property
    def name(self) -> str:
        """What its owner calls it."""
        return "" if self.played is None else self.played.request.words.name

    @property
    def unit(self) -> str:
        """What is protected, in words."""
        return "" if self.played is None else name_level(self.played)

    @cached_property
    def numbers(self) -> tuple[ReleasedNumber, ...]:
        """Every number about the segments, in the order of the tidy table; none where nothing can be shown."""
        if self.played is None or self.profile is None:
            return ()
        return tuple(_read_numbers(self.profile, self.report))

    def to_pandas(self) -> pd.DataFrame:
        """The tidy table: a row a number, with ``low``, ``high`` and ``noise_sd`` beside it."""
        frame = pd.DataFrame(self.numbers, columns=ReleasedNumber._fields)
        return frame.astype(dict.fromkeys(("value", "low", "high", "noise_sd"), "float64"))

    def to_csv(self) -> str:
        """The same as a file."""
        rows = [["" if cell is None else _read_written(cell) for cell in one] for one in self.numbers]
        return format_csv([ReleasedNumber._fields, *rows])

    def compare_with(self, other: ReadRelease) -> Comparison:
        """The other release against this one.

        Raises
        ------
        RequestError
            If they cannot be laid side by side.
        """
        if self.profile is None or other.profile is None:
            raise make_refusal("nothing_to_compare")
        return compare(self.profile, other.profile)

    def ask(
        self, kind: str, *segments: int, column: str = "", label: str = "", value: float | None = None
    ) -> ReleaseAnswer:
        """The answer to a question over several numbers, such as which of two segments is larger.

        Parameters
        ----------
        kind : str
            One of ``dpviz ask --help``, such as ``"larger"``.
        *segments : int
            Which ones, from 1 on.
        column : str
            Its name, where the question is about one.
        label : str
            A category of it.
        value : float or None
            A value of it, data units.

        Returns
        -------
        ReleaseAnswer
            A sentence, a number with the interval that holds nine in ten, and whether noise hides it.

        Raises
        ------
        RequestError
            If the release does not hold, nothing was asked about its segments, or the question is none of these.
        """
        if not self.holds or self.played is None:
            raise make_refusal("release_fails")
        if self.played.draws is None:
            raise make_refusal("no_segments")
        return ask(self.played.draws, ReleaseQuestion(kind, segments, column, label, value))

    @property
    def segments(self) -> EarlierSegments | None:
        """What it published of its segments, as a release that continues it has them; None where nothing was."""
        if self.played is None:
            return None
        return self.played.parts.publish_segments(self.played.transcript.sha256)

    def allow_continuation(self, content: Content, declaration: Declaration) -> EarlierSegments:
        """Its segments, to be counted again in the table of ``content``, which is declared so.

        Raises
        ------
        RequestError
            If it does not hold, published no segments, or is of other columns, bounds or units of privacy.
        """
        if self.played is None or not self.holds:
            raise make_refusal("earlier_fails")
        if (segments := self.segments) is None:
            raise make_refusal("earlier_without_segments")
        ours, theirs = spell_out_columns(content, declaration), self.played.declared
        if any(getattr(ours, what) != getattr(theirs, what) for what in _OF_CELLS):
            raise make_refusal("earlier_of_other_columns")
        return segments

    def find_contradiction(self, other: ReadRelease | AccountBalance) -> str | None:
        """Why the card of this release and another one, or an account, cannot both be whole; None where they may."""
        link = None if self.played is None else self.played.asked.account.link
        if isinstance(other, AccountBalance):
            return "Its transcript is damaged." if link is None else other.find_contradiction(link)
        for later, earlier in ((self, other), (other, self)):
            said = None if later.played is None else later.played.request.continues
            if said and earlier.segments and said.sha256 == earlier.segments.sha256 and said != earlier.segments:
                return "What one of them says of the segments of the other, which it continues, is not what that says."
        theirs = None if other.played is None else other.played.asked.account.link
        return None if link is None or theirs is None else link.find_contradiction(theirs)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``read --json`` prints them."""
        said: dict[str, Any] = {"verdict": self.verdict.to_dict()}
        if self.played is None or self.received is None:
            return said
        made = self.played.profile
        return said | {
            "name": self.name,
            "epsilon": self.played.epsilon,
            "delta": self.played.delta,
            "unit": self.unit,
            "algorithm": self.played.request.request.algorithm,
            "k": made.k,
            "columns": [dict(zip(_OF_COLUMNS, column, strict=False)) for column in made.columns],
            "finding": self.received.finding._asdict(),
            "may_conclude": [one._asdict() for one in self.received.may],
            "may_not_conclude": list(self.received.may_not),
            "certificate": None if self.report is None else to_plain(asdict(self.report.quality_report)),
            "groups": None if self.played.groups is None else to_plain(asdict(self.played.groups)),
            "continued": None if self.played.continued is None else self.played.continued.to_dict(),
            "covered": COVERED,
            "numbers": [to_plain(one._asdict()) for one in self.numbers],
        }


ReadRelease.__module__ = "dpviz"


def receive(played: Played) -> Received:
    """What a recipient has of a release that was played."""
    return Received(
        played.profile,
        None if played.report is None else played.report.quality_report,
        played.epsilon,
        played.delta,
        played.of_persons,
        played.declared.relation,
        played.run,
        played.groups,
        played.continued,
    )


def read_release(source: Path | str | bytes) -> ReadRelease:
    """Read the zip of a release, or its bytes: check it, and take its numbers from the released answers.

    The numbers are those that the transcript comes to, whatever else the zip says. Where ``holds`` is False, a file of
    it says something else, or it was not made by the plan that it names.

    Parameters
    ----------
    source : path, text or bytes
        Where the zip is, or what is in it.

    Returns
    -------
    ReadRelease

    Raises
    ------
    RequestError
        If it is no zip of a release at all.
    """
    return ReadRelease(*examine(source if isinstance(source, bytes) else Path(source)))


read_release.__module__ = "dpviz"


def _read_numbers(made: profiles.Profile, report: SegmentsReport | None) -> Iterator[ReleasedNumber]:
    low, high = (np.clip(end, made.lower, made.upper) for end in made.ends)
    for place in range(made.k):
        if (sizes := made.sizes) is not None:
            size, least, most, sd = (float(one[place]) for one in (sizes.rows, sizes.low, sizes.high, sizes.sd))
            yield _add_noise(ReleasedNumber(place + 1, "", "rows", size, least, most, sd, "rows"))
        for at, column in enumerate(made.columns):
            value, least, most, sd = (float(one[place, at]) for one in (made.centers, low, high, made.center_sd))
            words = made.format_center(place, at) if column.worded else ""
            said = ReleasedNumber(place + 1, column.name, "centre", value, least, most, sd, column.unit, words)
            yield _add_noise(said)
        if report is not None:
            yield from _read_columns(place, report.segments[place].columns)


def _add_noise(number: ReleasedNumber) -> ReleasedNumber:
    """The same, or without an interval where nobody can tell its noise."""
    if number.noise_sd is not None and np.isfinite(number.noise_sd):
        return number
    return number._replace(low=None, high=None, noise_sd=None, words="its noise cannot be told")


def _read_columns(place: int, columns: tuple[NumbersSaid | CategoriesSaid, ...]) -> Iterator[ReleasedNumber]:
    for said in columns:
        for statistic, one, unit, first_day in list_statistics(said):
            if one is not None:
                value, words = None if one.range_only else one.value, describe_interval(one, first_day)
                yield ReleasedNumber(place + 1, said.column, statistic, value, one.low, one.high, None, unit, words)


def _read_written(cell: object) -> object:
    return f"{cell:.9g}" if isinstance(cell, float) else cell


@brief
def check_work(data: bytes) -> Iterator[Progress | ReadRelease]:
    """The release in the bytes of a zip, checked and read; a ``RequestError`` if it is none."""
    yield Progress(0, 1, "every file is made anew and compared")
    yield read_release(data)
