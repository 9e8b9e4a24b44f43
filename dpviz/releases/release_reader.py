"""A release as whoever receives it reads it: checked first, then as numbers with their noise, and what follows.

What may be concluded and what not follows in sentences computed from released values.

**Guarantee.** Post-processing: nothing here reads a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations
from math import isfinite, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpviz.releases.account import AccountBalance
from dpviz.releases.asking import ReleaseAnswer, ReleaseQuestion, ask
from dpviz.releases.continuing import Continued, EarlierSegments
from dpviz.releases.described_table import spell_out_columns
from dpviz.releases.playing import Played
from dpviz.releases.promise import describe_together, name_level
from dpviz.releases.release_sentences import make_refusal
from dpviz.releases.segments_report import QualityReport, QualityVerdict, SegmentsReport, list_statistics
from dpviz.releases.smallest_groups import Groups
from dpviz.releases.tallies import COVERED
from dpviz.releases.two_releases import Comparison, compare
from dpviz.releases.verifying import Verification, examine
from dpviz.runs import Belief, Run, Verdict, profiles, verdict
from dpviz.tables import Content, Declaration, codings, format_csv
from dpviz.words import capitalize_first, format_at_most, format_percent, format_ratio, render, to_plain

# Ends that a run tells, because centres cannot; and those that another ε would have brought to another end.
_BEFORE_CENTERS, _OF_EPSILON = ("refused", "dropped"), ("failed", "sizes", "noise")
_LONGEST = 50
# Columns that a sentence names.
_NAMED = 3


class Conclusion(NamedTuple):
    """A sentence, and whether it is good news; what it warns of otherwise stands in it."""

    sentence: str
    good: bool


class Headline(NamedTuple):
    """The title of a release: the worst thing first. ``failed`` is "" where nothing speaks against it."""

    title: str
    failed: str = ""
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Received:
    """What a recipient has of a release, apart from its files.

    Attributes
    ----------
    profile : Profile
    quality_report : QualityReport or None
        None where nothing was asked about segments.
    epsilon, delta : float
    has_id : bool
        Whether a person is protected, or a row.
    relation : "add_remove" or "replace"
    run : Run or None
        That of the algorithm, played again: what it says of itself.
    groups : Groups or None
        Groups of segments that have as many rows as was promised, where that was.
    continued : Continued or None
        What became of the segments of an earlier release, where one is continued.
    """

    profile: profiles.Profile
    quality_report: QualityReport | None
    epsilon: float
    delta: float
    has_id: bool
    relation: str = "add_remove"
    run: Run | None = None
    groups: Groups | None = None
    continued: Continued | None = None

    @property
    def finding(self) -> Headline:
        """The title, by the first rule that holds."""
        return next(_list_findings(self))

    @property
    def shows_noise(self) -> bool:
        """Whether nobody knows where any centre lies."""
        return self.finding.failed == "failed"

    @cached_property
    def _concluded(self) -> list[str]:
        """The lines of ``conclusions.txt.j2``, each with its sign."""
        written = {"ratio": format_ratio, "some": _format_some, "isfinite": isfinite, "together": describe_together}
        written |= {"most": lambda prior, epsilon: format_at_most(100 * Belief.bound(prior, epsilon=epsilon).most)}
        said = {"SURE": profiles.SURE, "LIKE_ONE": verdict.LIKE_ONE, "within": _describe_within(self)}
        return render("conclusions.txt.j2", r=self, made=self.profile, **said, **written).split("\n")

    @property
    def may(self) -> tuple[Conclusion, ...]:
        """What may be concluded."""
        return tuple(Conclusion(line[2:], line[0] == "+") for line in self._concluded if line[:1] in ("+", "!"))

    def tabulate_pairs(self) -> pd.DataFrame:
        """Of each pair of segments, up to where a difference is within the noise; no line where that is not known."""
        made = self.profile
        reach = made.even.reach if made.noise_known else np.zeros((0, made.dim))
        lines = []
        for i, j in combinations(range(len(reach)), 2):
            both = zip(made.columns, np.hypot(reach[i], reach[j]).tolist(), strict=True)
            lines.append([f"{i + 1} and {j + 1}", *(column.describe_reach(far) for column, far in both)])
        return pd.DataFrame(lines, columns=["segments", *(column.name for column in made.columns)])

    @property
    def may_not(self) -> tuple[str, ...]:
        """What may not."""
        return tuple(line[2:] for line in self._concluded if line[:1] == "-")


def _list_findings(received: Received) -> Iterator[Headline]:
    made, k, run, quality = received.profile, received.profile.k, received.run, received.quality_report
    ended = None if run is None else run.verdict
    if ended is not None and ended.kind in _BEFORE_CENTERS:
        yield _make_finding(ended, received.epsilon)
    judged = quality is not None or bool(run is not None and run.loss_diagnostic)
    if found := verdict.judge_centers(made.evidence, _measure_loss(received), judges_itself=judged, what="release"):
        yield _make_finding(found, received.epsilon)
    against = "Released values speak against the centres"
    if quality is not None and k > 1:
        words = " ".join(quality.words)
        if quality.verdict is QualityVerdict.CANNOT_TELL:
            yield Headline(f"At ε = {received.epsilon:g}, nobody can tell if they are right", "cannot tell", words)
        if quality.verdict is QualityVerdict.POOR:
            yield Headline(against, "poor", words)
    if quality is None and ended is not None and ended.kind == "doubted":
        yield Headline(against, "doubted", ended.reason)
    if k == 1:
        yield Headline("One segment: the middle of all rows")
    yield Headline(_conclude_what_differs(made))


def _make_finding(found: Verdict, epsilon: float) -> Headline:
    at = f"At ε = {epsilon:g}, " if found.kind in _OF_EPSILON else ""
    return Headline(capitalize_first(at + found.title), found.kind, found.reason)


def _measure_loss(received: Received) -> verdict.LossShare | None:
    """By the quality report, which was bought for it, at its worst; else by what the algorithm says of itself."""
    if received.quality_report is not None:
        ratio = received.quality_report.ratio
        most = f"{format_ratio(ratio.value)} (at most {format_ratio(min(ratio.high, 9.99))})"
        return verdict.LossShare(ratio.high, f"the loss, where far rows count up to a cap alone, is {most}")
    if received.run is None or (said := received.run.loss_diagnostic) is None:
        return None
    return verdict.LossShare(said.share, f"the loss is about {format_percent(min(said.share, 1.0))} of")


def _conclude_what_differs(made: profiles.Profile) -> str:
    k = made.k
    if not made.noise_known:
        return f"{k} segments, whose error cannot be told"
    names = made.list_columns(telling=True)
    if not names:
        return f"{k} segments do not stand out of the noise"
    for some in (" and ".join(names[:2]), names[0]):
        if len(title := f"{k} segments, told apart most by {some}") <= _LONGEST:
            return title
    return f"{k} segments stand out of the noise"


def _describe_within(received: Received) -> str:
    """Which differences of two segments are within the noise: "all", "most", or those below what is said; or ""."""
    made = received.profile
    if not made.noise_known or made.k == 1:
        return ""
    typical = sqrt(2) * np.median(made.even.reach, axis=0)
    # A coordinate of a cycle has no unit that a reader knows.
    order = [int(place) for place in made.order_columns("most telling")]
    named = [place for place in order if not isinstance(made.columns[place].declared, codings.Cycle)][:2]
    if received.shows_noise or (named and (typical[named] > made.even.width[named] / 2).all()):
        return "all" if received.shows_noise or not made.telling.any() else "most"
    return " or ".join(_describe_pairs(made, place) for place in named)


def _describe_pairs(made: profiles.Profile, place: int) -> str:
    """Up to where a difference of two segments is noise: of the two with the least of it and of the two with the most.

    Every other pair lies between them; one number for all would call the noise of some a difference.
    """
    column, reach = made.columns[place], made.even.reach[:, place]
    order = np.argsort(reach, kind="stable")
    told = [(column.describe_reach(float(np.hypot(*reach[two]))), np.sort(two) + 1) for two in (order[:2], order[-2:])]
    (least, quiet), (most, noisy) = told
    if least == most:
        return f"{least} in {column.name}"
    pairs = [" and ".join(map(str, two)) for two in (quiet, noisy)]
    return f"{least} (segments {pairs[0]}) to {most} (segments {pairs[1]}) in {column.name}"


def _format_some(names: Sequence[str]) -> str:
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")


# Of a declaration: what decides in which segment a row lies, and whose it is.
_OF_CELLS = (
    *("columns", "lower", "upper", "coded", "weights", "scaling", "radius"),
    *("relation", "id_column", "rows_per_person"),
)
_OF_COLUMNS = ("name", "lower", "upper", "unit", "kind")


class ReleasedNumber(NamedTuple):
    """One number of a release, with what is known of its noise; a line of the tidy table.

    ``segment`` counts from 1, ``column`` is "" of a number of the whole segment. ``value`` is None where the range from
    ``low`` to ``high`` is all that is known. ``error_sd`` is how far off it is; None where the interval alone is known.
    """

    segment: int
    column: str
    statistic: str
    value: float | None
    low: float | None
    high: float | None
    error_sd: float | None
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
        """The tidy table: a row a number, with ``low``, ``high`` and ``error_sd`` beside it."""
        frame = pd.DataFrame(self.numbers, columns=ReleasedNumber._fields)
        return frame.astype(dict.fromkeys(("value", "low", "high", "error_sd"), "float64"))

    def to_csv(self) -> str:
        """The same as a file."""
        rows = [[f"{cell:.9g}" if isinstance(cell, float) else cell for cell in one] for one in self.numbers]
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
    same = {name: getattr(played, name) for name in ("profile", "epsilon", "delta", "run", "groups", "continued")}
    quality_report = None if played.report is None else played.report.quality_report
    return Received(**same, quality_report=quality_report, has_id=played.of_persons, relation=played.declared.relation)


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
    low, high = made.ends
    for place in range(made.k):
        if (sizes := made.sizes) is not None:
            size, least, most, sd = (float(one[place]) for one in (sizes.rows, sizes.low, sizes.high, sizes.error))
            yield _add_noise(ReleasedNumber(place + 1, "", "rows", size, least, most, sd, "rows"))
        for at, column in enumerate(made.columns):
            value, least, most, sd = (float(one[place, at]) for one in (made.centers, low, high, made.center_sd))
            words = made.format_center(place, at) if column.worded else ""
            said = ReleasedNumber(place + 1, column.name, "centre", value, least, most, sd, column.unit, words)
            yield _add_noise(said)
        for told in () if report is None else report.segments[place].columns:
            for statistic, one, unit, words in list_statistics(told):
                if one is not None:
                    about = place + 1, told.column, statistic, None if one.range_only else one.value
                    yield ReleasedNumber(*about, one.low, one.high, None, unit, words)


def _add_noise(number: ReleasedNumber) -> ReleasedNumber:
    """The same, or without an interval where nobody can tell its noise."""
    if number.error_sd is not None and np.isfinite(number.error_sd):
        return number
    return number._replace(low=None, high=None, error_sd=None, words="its noise cannot be told")
