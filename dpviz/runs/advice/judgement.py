"""One judgement of a request before it runs: the light and its announcement.

Two questions are kept apart. Are there enough records if groups are of like size, which a bench or a formula of the
algorithm says? And are there enough for groups of any size, which the widest bench and the stored study of made-up
tables say? A light is green only if both say yes, so that where advice asks for a larger ε no light is green, and where
advice is met none is red. Every page, the command line and Python read this one function; no row is read for it.

An ε is the whole of what leaves: where a release takes parts of it for other things, a ``share`` goes to the centres.

What the bounds cost is told from what is declared, too: the noise on a centre, column by column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf, isfinite, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from dpviz.algorithms import SURE, Card, Expectation, Level, Params, Setting, format_apart, round_up
from dpviz.core import Array, Domain, PrivateTable, Relation, RequestError, check
from dpviz.runs.advice.advice import EPSILONS, Target, find_start, foresee, load_stored_study
from dpviz.runs.request import Request
from dpviz.runs.run_sentences import SENTENCES, demand
from dpviz.runs.verdict import Verdict
from dpviz.words import format_plus_minus, round_percent

if TYPE_CHECKING:  # a command line begins without tables
    from dpviz.tables import Declaration

# Where an answer turns, and how finely the numbers of one are looked for.
# Chosen by hand; ``benchmarks/recommended.py`` says whether runs agree with the answers.

_POOR_LOSS = 1.5  # over k-means++: a typical loss beyond it is red, and so is a tenth of the losses beyond it amber
_MOST_LOSS = 10.0  # beyond it a number says no more than that a run may fail
_ONE_ANNOUNCEMENT = 1.05  # two announcements are one where they differ by less than this factor
_AMPLE_TIMES = 3  # there are enough records at so many times the fewest for which a result is not mostly noise
_FINE_HALVINGS = 6  # so often the records between one power of two and the next are halved: to two digits


# Digits, or groups of them of which the last has three: 1.5 is no number of rows.
_NUMBER = r"(\d{1,3}(?:[,. ’']\d{2,3})*[,. ’']\d{3}|\d+)"
_ROWS = re.compile(rf"\s*{_NUMBER}(?:\s*(?:-|–|to|…|\.\.)\s*{_NUMBER})?\s*(?:rows)?\s*", re.IGNORECASE)


class KnownRows(NamedTuple):
    """How many rows there are, as somebody said: at least ``low``, at most ``high``."""

    low: int
    high: int

    @property
    def words(self) -> str:
        """In words.

        >>> KnownRows(8_000, 12_000).words
        '8,000 to 12,000 rows'
        """
        return f"{self.low:,} rows" if self.low == self.high else f"{self.low:,} to {self.high:,} rows"

    @classmethod
    def from_text(cls, text: str) -> KnownRows:
        """A number of rows, or a range of it, as somebody types it.

        >>> KnownRows.from_text("8,000–12,000"), KnownRows.from_text("500")
        (KnownRows(low=8000, high=12000), KnownRows(low=500, high=500))
        """
        said = _ROWS.fullmatch(text)
        numbers = [int(re.sub(r"\D", "", part)) for part in (said.groups() if said else ()) if part]
        demand(numbers, "no_rows_read")
        for n in numbers:
            check.records(n=n)
        return cls(min(numbers), max(numbers))

    @classmethod
    def read(cls, declaration: Declaration, *, bought: float | None = None) -> KnownRows | None:
        """What is known of the number of rows: as declared, as ``bought``, or within a declared range;
        None if nothing.
        """
        if declaration.n_public is not None:
            return cls(declaration.n_public, declaration.n_public)
        if bought is not None:
            return cls(max(1, round(bought)), max(1, round(bought)))
        return None if declaration.n_range is None else cls(*declaration.n_range)


def make_known_rows(n: int | Sequence[int]) -> KnownRows:
    """A number of rows, or the two ends of a range."""
    ends = (n, n) if not isinstance(n, Sequence) else tuple(n)
    demand(not isinstance(n, str) and len(ends) == 2, "no_rows")
    low, high = (check.records(n=end) for end in ends)
    if low > high:
        raise RequestError(f"n is a range from {low:,} to {high:,}: give the smaller number first.")
    return KnownRows(low, high)


@dataclass(frozen=True)
class Judgement:
    """What to expect of a request, from public quantities.

    * ``refusal``: why it cannot be served, and what would do, in a sentence; "" if it can.
    * ``level``: the light; None where nothing can be told, as with a private number of records.
    * ``like``, ``yours``: whether there are enough records if groups are of like size, and whatever their sizes; None
      where unknown.
    * ``message``: the announcement, in sentences; "" where nothing is known.
    * ``needed_n``: the fewest records for which a result is not mostly noise, if groups are of like size; 0 where
      unknown.
    * ``hides_categories``: whether the light is what it is because its noise hides the categories of the table.
    """

    refusal: str = ""
    level: Level | None = None
    like: Level | None = None
    yours: Level | None = None
    message: str = ""
    needed_n: float = 0.0
    hides_categories: bool = False

    @property
    def hopeless(self) -> bool:
        """Whether it would be served, and the result be mostly noise."""
        return self.level is Level.RED

    @property
    def in_short(self) -> str:
        """The light in a few words.

        >>> Judgement(level=Level.AMBER, like=Level.GREEN, yours=Level.AMBER).in_short
        'borderline'
        """
        words = {Level.GREEN: "enough records", Level.AMBER: "borderline", Level.RED: "too few records"}
        return "" if self.level is None else words[self.level]

    @property
    def announcement(self) -> str:
        """The light and what it means, as a text without colours; "" where nothing is known."""
        if self.refusal or not self.message:
            return self.refusal
        return f"{self.in_short.capitalize()}: {self.message}" if self.in_short else self.message

    @classmethod
    def of(
        cls,
        card: Card,
        setting: Setting,
        params: Params | None = None,
        *,
        target: Target | None = None,
        sparse: bool = False,
        share: float = 1.0,
    ) -> Judgement:
        """Judge an algorithm at a setting, of whose ε it gets a ``share``."""
        params = params if params is not None else card.params()
        judged = _judge_setting(_Judge(card, params, target or Target(), sparse, share), setting)
        # No brighter than the algorithm is where there are categories.
        most, levels = card.categories, list(Level)
        if not setting.coded or most is None:
            return judged
        if judged.level is not None and levels.index(judged.level) >= levels.index(most.level):
            return judged
        message = f"Categories make {setting.coded} coordinates, and {most.why}: choose auto, lsh-coreset or balcan."
        return replace(judged, level=most.level, message=message, hides_categories=True)

    @classmethod
    def of_request(
        cls, request: Request, table: PrivateTable, *, rows: KnownRows | None = None, share: float = 1.0
    ) -> Judgement:
        """Judge what is asked of ``table``, where n is private for the fewest ``rows`` that somebody said: refused,
        hopeless, or what to expect of it.
        """
        try:
            request.check_numbers()
            params = (request if share == 1 else replace(request, epsilon=request.epsilon * share)).check(table)
        except RequestError as error:
            return cls(refusal=str(error))
        setting = request.make_setting(table)
        if setting.n is None and rows is not None:
            setting = replace(setting, n=rows.low)
        return cls.of(request.card, setting, params, sparse=table.sparse, share=share)

    def explain_difference(self, verdict: Verdict | None) -> str:
        """Why a light and the verdict of its run differ, in a sentence; "" where they agree or one says nothing.

        >>> Judgement(level=Level.AMBER).explain_difference(Verdict("failed", "this run failed", "Noise."))
        ''
        """
        if verdict is None or self.level is None:
            return ""
        if self.level is Level.GREEN and not verdict.fine:
            return SENTENCES.fill("light_too_bright")
        return SENTENCES.fill("light_too_dark") if self.level is Level.RED and verdict.fine else ""


@lru_cache(maxsize=1024)
def _judge_setting(of: _Judge, setting: Setting) -> Judgement:
    if of.card.smallest_n is None:
        return Judgement()
    if setting.n is None:
        return Judgement(message=of.describe_without_rows(setting))
    levels = of.judge(setting)
    return Judgement("", *levels, of.message(setting, levels), of.count_needed_rows(setting))


@lru_cache(maxsize=256)  # either kind of groups asks at the same numbers of records
def _count_needed(card: Card, params: Params, setting: Setting) -> float:
    assert card.smallest_n is not None
    return card.smallest_n(setting, params)


class _Levels(NamedTuple):
    level: Level
    like: Level
    yours: Level | None


class _Judge(NamedTuple):
    """An algorithm as it is set, what is good enough, and the part of every ε that it gets."""

    card: Card
    params: Params
    target: Target
    sparse: bool
    share: float

    def judge(self, setting: Setting) -> _Levels:
        """The light, and what it is made of."""
        like, yours = self.judge_like_sizes(setting), self.judge_own_sizes(setting)
        if like is Level.RED:
            # What is advised is never called hopeless: there two studies differ.
            return _Levels(Level.AMBER if self.is_advised(setting) else Level.RED, like, yours)
        return _Levels(Level.GREEN if like is Level.GREEN and yours is Level.GREEN else Level.AMBER, like, yours)

    def judge_like_sizes(self, setting: Setting) -> Level:
        """Are there enough records if groups are of like size?"""
        if (expected := self.expect(setting)) is not None:
            if expected.median <= self.target.loss and expected.decile <= _POOR_LOSS:
                return Level.GREEN
            return Level.AMBER if expected.median <= _POOR_LOSS else Level.RED
        needed, n = self.count_needed_rows(setting), setting.n or 0
        return Level.GREEN if _AMPLE_TIMES * needed <= n else Level.AMBER if needed <= n else Level.RED

    def judge_own_sizes(self, setting: Setting) -> Level | None:
        """Are there enough whatever the sizes of groups? None where nobody has measured it."""
        wide = None
        if (expected := self.expect(setting)) is not None:
            wide = max(expected.wide, expected.tails or 0.0) if setting.common else expected.wide
        if wide is None and not self.is_studied(setting):
            return None
        good = (wide is None or wide <= SURE) and (not self.is_studied(setting) or self.is_advised(setting))
        return Level.GREEN if good else Level.AMBER

    def is_studied(self, setting: Setting) -> bool:
        """Whether the stored study ran it as it is set."""
        known = self.card.id in load_stored_study(with_delta=setting.delta > 0).algorithms and not self.card.brought_by
        return known and self.params == self.card.params() and not self.sparse

    def is_advised(self, setting: Setting) -> bool:
        """Whether advice for such a table asks for no larger ε."""
        if not self.is_studied(setting):
            return False
        return foresee(setting, share=self.share).find_needed(self.card.id, self.target) <= setting.epsilon * (1 + 1e-9)

    def at(self, setting: Setting) -> Setting:
        """What the algorithm is asked: with its part of ε."""
        return setting if self.share == 1 else replace(setting, epsilon=setting.epsilon * self.share)

    def expect(self, setting: Setting) -> Expectation | None:
        """What a bench measured of such runs; None where there is none."""
        return None if self.card.expect is None else self.card.expect(self.at(setting), self.params)

    def count_needed_rows(self, setting: Setting) -> float:
        """The fewest records for which a result is not mostly noise, if groups are of like size."""
        return _count_needed(self.card, self.params, self.at(setting)) * setting.rows_per_person

    def message(self, setting: Setting, levels: _Levels) -> str:
        """The announcement: what is expected for either kind of groups, and what would do."""
        assert setting.n is not None
        head = self.describe(setting)
        if (expected := self.expect(setting)) is not None:
            said = f"{head}, {setting.n:,} records: {_describe_expected(expected, common=setting.common)}."
        else:
            said = self._describe_need(head, setting, levels.like)
        return " ".join(filter(None, (said, self._describe_study(setting), *self._list_remedies(setting, levels))))

    def describe(self, setting: Setting) -> str:
        """What is asked, in letters, and how much of ε is the algorithm's."""
        part = "" if self.share == 1 else f" ({round_percent(self.share)} of it for the centres)"
        return f"k = {setting.k}, d = {setting.dim}, ε = {setting.epsilon:g}{part}"

    def describe_without_rows(self, setting: Setting) -> str:
        """What would be needed, where the number of records is private."""
        needed = self.find_fewest(setting, lambda at: self.judge_like_sizes(at) is Level.GREEN)
        if not isfinite(needed):
            return f"{self.describe(setting)} is out of reach for {self.card.title} at any realistic number of records."
        whole = self.find_fewest(setting, lambda at: self.judge(at).level is Level.GREEN)
        more = f" and about {round_up(whole):,} whatever their sizes" if isfinite(whole) and whole > needed else ""
        return SENTENCES.fill("needs_rows", asked=self.describe(setting), rows=round_up(needed), more=more)

    def find_fewest(self, setting: Setting, holds: Callable[[Setting], bool], *, above: int = 1) -> float:
        """The fewest records, at least ``above``, for which something holds, to two digits; infinite beyond a limit."""
        low, times = float(above), 2.0
        while not holds(replace(setting, n=round(above * times))):
            low, times = above * times, 2 * times
            if above * times > check.MOST_RECORDS:
                return inf
        high = above * times
        for _ in range(_FINE_HALVINGS):
            middle = sqrt(low * high)
            low, high = (low, middle) if holds(replace(setting, n=round(middle))) else (middle, high)
        # Rounded numbers are said, so that these are asked about. Noise rises where a plan buys one thing more.
        said = round_up(high)
        while not holds(replace(setting, n=said)) and said < check.MOST_RECORDS:
            said = round_up(1.1 * said)
        return float(said)

    def _describe_need(self, head: str, setting: Setting, like: Level) -> str:
        assert setting.n is not None
        needed = self.count_needed_rows(setting)
        if needed >= check.MOST_RECORDS:
            return SENTENCES.fill("needs_more_than_any", head=head, who=self.card.title, hopeless=self.card.hopeless)
        there = f"there are {setting.n:,}"
        said = f"{head} needs about {round_up(needed):,} records ({there}), if clusters are of like size"
        return f"{said}; below that {self.card.hopeless}." if like is not Level.GREEN else f"{said}."

    def _describe_study(self, setting: Setting) -> str:
        """What the stored study says of this ε, in the words of advice."""
        if not self.is_studied(setting) or not foresee(setting, share=self.share).reaches(setting.epsilon):
            return ""
        share = foresee(setting, share=self.share).compute_share_met(self.card.id, setting.epsilon, self.target)
        on = f"On {round_percent(share)}" if share > 0 else "On none"
        return f"{on} of the made-up tables of about this size it loses at most {self.target.above}."

    def _list_remedies(self, setting: Setting, levels: _Levels) -> list[str]:
        """What would make either answer a yes; each number was asked again and is larger than what there is."""
        said = []
        if levels.like is not Level.GREEN:
            said.append(("if groups are of like size", lambda at: self.judge_like_sizes(at) is Level.GREEN))
        if levels.level is not Level.GREEN and levels.yours is not None:
            said.append(("whatever their sizes", lambda at: self.judge(at).level is Level.GREEN))
        sentences = [self._describe_enough(setting, holds, words) for words, holds in said]
        if levels.yours is None and levels.like is Level.GREEN:
            sentences.append("How it does where groups differ in size has not been measured.")
        return sentences

    def _describe_enough(self, setting: Setting, holds: Callable[[Setting], bool], words: str) -> str:
        assert setting.n is not None
        rows = self.find_fewest(setting, holds, above=setting.n)
        larger = [epsilon for epsilon in EPSILONS if epsilon > setting.epsilon]
        epsilon = find_start(larger, [holds(replace(setting, epsilon=at)) for at in larger]) if larger else inf
        ways = [f"about {rows:,.0f} records"] * isfinite(rows) + [f"ε ≥ {epsilon:g}"] * isfinite(epsilon)
        if not ways:
            return f"Nothing that was tried would do {words}: fewer clusters might."
        would = " or ".join(ways)
        return f"{would[:1].upper()}{would[1:]} would do {words}."


_STUDY = "(by a study of generated tables)"
_LIKE = "clusters are of like size"
_UNLIKE = "some are small or lie far apart, or some rows far out"
_UNLIKE_NEAR = "some are small, or some rows lie far out"
_LIGHT_FAR = "small ones that lie far from all others may be missed, and how much is lost then cannot be told"
_LONG = "one column of the common scale has most of the spread, as amounts may"


def _describe_expected(expected: Expectation, *, common: bool) -> str:
    """Median and tenth where clusters are compact, the tenth where nothing is known of them, and with one scale for all
    columns that of tails, each with what it assumes; and whether light groups that lie far away may be missed."""
    tails = expected.tails if common and expected.tails is not None else expected.decile
    losses = (expected.median, expected.decile, max(expected.wide, expected.decile), max(tails, expected.decile))
    median, *tenths = (f"{text} ×" for text in format_apart(*(min(loss, _MOST_LOSS) for loss in losses)))
    if losses[0] >= _MOST_LOSS:
        much = f"more than {_MOST_LOSS:g} × the loss of k-means++, even if {_LIKE}"
        return f"expect {much}: how much more cannot be told {_STUDY}"
    close = expected.median <= 1.01
    usual = "expect the loss of k-means++ within 1 %" if close else f"expect about {median} the loss of k-means++"
    # What is beyond all numbers is said of all of them together.
    missed_far = not expected.tells_light_far and losses[2] < _MOST_LOSS
    unlike, far = (_UNLIKE_NEAR, f"; {_LIGHT_FAR}") if missed_far else (_UNLIKE, "")
    shapes = zip(losses[1:], tenths, (_LIKE, unlike, _LONG), strict=True)
    apart = [shape for shape in shapes if shape[2] == _LIKE or shape[0] > _ONE_ANNOUNCEMENT * expected.decile]
    if expected.decile >= _MOST_LOSS:
        return f"{usual}; 1 run in 10 loses more than {_MOST_LOSS:g} ×, as one that misses clusters does {_STUDY}"
    missed = ", as one that misses a cluster does" * (expected.decile > 1.3)
    if len(apart) == 1:
        return f"{usual}; 1 run in 10 may exceed {tenths[0]}{missed}, whatever the sizes of clusters{far} {_STUDY}"
    known = [f"{text} if {words}" for loss, text, words in apart if loss < _MOST_LOSS]
    beyond = [words for loss, _, words in apart if loss >= _MOST_LOSS]
    known[0] += missed
    said = f"{usual}; 1 run in 10 may exceed {'; '.join(known)}"
    if beyond:
        said += f"; if {', or '.join(beyond)}, it loses more than {_MOST_LOSS:g} ×, and how much more cannot be told"
    return f"{said}{far}. Which of these a table has nobody knows beforehand {_STUDY}"


ASSUMED_ROWS = 1_000
"""Rows taken to be in a cluster where the number of rows is private."""


# Noise of a share beyond which it says little.
_MUCH_NOISE = 0.1


def list_noisy_shares(domain: Domain, *, n: int | None, k: int, epsilon: float, **declared: Any) -> tuple[str, ...]:
    """A sentence about each column of categories whose shares would mostly be noise, from public quantities alone.

    By the simplest mechanism (see ``compute_column_noise``) over ``k`` clusters of like size; of a private n nothing
    is said.
    """
    wide = [column for column in domain.declared if column.coding.values and column.coding.shape is not None]
    if n is None or not wide:
        return ()
    noise = compute_column_noise(domain, rows=count_cluster_rows(n, k), epsilon=epsilon, **declared)
    shares = {one.name: float(noise[place.start]) for one, place in zip(domain.declared, domain.places, strict=True)}
    return tuple(
        f"Shares of {column.name!r} carry {format_plus_minus(100 * shares[column.name])} %, nine in ten: declare fewer "
        "values, or a larger weight."
        for column in wide
        if shares[column.name] > _MUCH_NOISE
    )


def count_cluster_rows(n: int | None, k: int) -> float:
    """Rows in each of ``k`` clusters of like size; ``ASSUMED_ROWS`` where n is private (None).

    Parameters
    ----------
    n : int or None
        Rows, where their number is public.
    k : int

    Returns
    -------
    float
    """
    check.at_least(1, k=k)
    return ASSUMED_ROWS if n is None else n / k


def compute_column_noise(
    domain: Domain,
    *,
    rows: float,
    epsilon: float,
    relation: Relation | str = Relation.ADD_REMOVE,
    rows_per_person: int = 1,
) -> Array:
    """Standard deviation of the noise on each coordinate of a cluster's centre, shape (d,), data units.

    By the simplest mechanism: the sums and the size of a cluster of ``rows`` rows are measured once, with all of ε, by
    the same Laplace noise on each of them (one round of Su et al.'s DPLloyd), and divided. One row moves the sums by
    at most the l1 radius of the domain and the size by 1, so that the noise on a sum has the scale (l1 radius + 1)/ε.
    Noise of the size itself is left out: it is small beside it. Nothing is read from rows.

    Algorithms that measure several times have more noise in each measurement, and may mend some of it.

    Parameters
    ----------
    domain : Domain
    rows : float
        Of a cluster.
    epsilon : float
    relation : Relation or str
    rows_per_person : int
        Most rows of a person.

    Returns
    -------
    array of shape (d,)
        Data units.

    >>> compute_column_noise(Domain.of(["age"], 0, 100), rows=1000, epsilon=1.0).round(3).tolist()
    [0.141]
    """
    rows, epsilon = check.positive(rows=rows), check.positive(epsilon=epsilon)
    rows_per_person = check.at_least(1, rows_per_person=rows_per_person)
    scale = (domain.region.l1_radius + 1) * Relation(relation).rows * rows_per_person / epsilon
    return sqrt(2) * scale / rows * domain.scale
