"""Whether released answers are as noisy as is claimed: tallies that must agree differ by as much as their noise does.

Every row is in one cell of every question, so that all histograms of a part add up to one number of rows, those of a
segment to its size, and sums of coordinates over all cells to one sum. What that is nobody knows, and nobody needs to:
the differences are noise alone, with the scales of the ledger. A genuine release is called forged less than once in a
million, whatever its rows are.

* Too little noise. The joint density of the differences is largest where all are 0 (each law is symmetric and
  log-concave), so that the chance of a point within an ellipsoid around it is at most that density times its volume.
* Too much. The density of the differences with ten times the noise over that with the claimed one has the mean 1, so
  that it is beyond a number once in so many releases (Markov).
* Counts of many cells, most of which are empty. A row brings a count farther from 0 than noise alone, more often than
  not (Anderson), and never below it: two more ratios, whose means are at most 1 whatever is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby
from math import inf, lgamma, log, pi, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, kve, logsumexp

from dpviz.core import Array, DistanceScales, SegmentHistogram, mechanisms, queries
from dpviz.releases.release_request import OF_SEGMENTS
from dpviz.releases.release_sentences import SENTENCES
from dpviz.releases.segments import find_possible_scales
from dpviz.releases.transcript import GivenAnswer

# A genuine release is called forged once in so many, at most.
_FALSE_ALARMS = 1e-6
# Noise is compared with so many times as much, and as little; cells of a histogram, so many at least, are taken to be
# empty in these parts.
_TIMES = 10.0
_EMPTY_PARTS = (0.05, 0.3, 0.9)
_MANY_CELLS = 16
_MOST_GROUPS = 200  # the differences of so many numbers are weighed one by one
# From this order on a Bessel function is its expansion for large ones, to six digits.
_LARGE_ORDER = 15.0
_NEGLIGIBLE, _POINTS = 45.0, 257

_ADDED = (mechanisms.Laplace, mechanisms.Gaussian)
_COUNTS = (queries.Count, queries.Radii, SegmentHistogram, DistanceScales)


class Law(NamedTuple):
    """That of the sum of so many ``draws`` of Laplace or Gaussian noise of one scale."""

    scale: float
    draws: int
    gaussian: bool

    @property
    def sd(self) -> float:
        """Standard deviation."""
        return self.scale * sqrt(self.draws * (1.0 if self.gaussian else 2.0))

    def times(self, factor: float) -> Law:
        """The same of noise that is so many times as wide."""
        return self._replace(scale=self.scale * factor)

    def log_density(self, values: Array) -> Array:
        """Natural logarithm, any shape.

        A sum of Laplace draws has the density of the difference of two gamma laws, a Bessel function.
        """
        apart = np.abs(values) / self.scale
        if self.gaussian:
            return -(apart**2) / (2 * self.draws) - log(2 * pi * self.draws) / 2 - log(self.scale)
        if self.draws == 1:
            return -apart - log(2 * self.scale)
        order = self.draws - 0.5
        constant = log(pi) / 2 + float(gammaln(self.draws)) + order * log(2) + log(self.scale)
        if order <= _LARGE_ORDER:
            apart = np.maximum(apart, 1e-8)
            return order * np.log(apart) + np.log(kve(order, apart)) - apart - constant
        root = np.sqrt(1 + (apart / order) ** 2)
        slant = 1 / root
        more = 1 - (3 * slant - 5 * slant**3) / (24 * order)
        more += (81 * slant**2 - 462 * slant**4 + 385 * slant**6) / (1152 * order**2)
        return (
            order * (log(order) + np.log1p(root) - root) + log(pi / (2 * order)) / 2 - np.log(root) / 2 + np.log(more)
        ) - constant


@dataclass(frozen=True, eq=False)
class TallyGroup:
    """Released tallies (m,) of one number, each with the law of its noise; a number that is ``known`` is 0."""

    part: str
    values: Array
    laws: tuple[Law, ...]
    known: bool = False

    @property
    def freedom(self) -> int:
        """How many differences there are."""
        return len(self.laws) - (not self.known)

    def times(self, factor: float) -> TallyGroup:
        """The same tallies, claimed to be so many times as noisy."""
        return replace(self, laws=tuple(law.times(factor) for law in self.laws))

    @property
    def squares(self) -> float:
        """The squared differences from the number that fits best, over the variances."""
        weights = np.array([law.sd**-2.0 for law in self.laws])
        middle = 0.0 if self.known else float(weights @ self.values / weights.sum())
        return float(weights @ (self.values - middle) ** 2)

    @property
    def log_most(self) -> float:
        """The density of the differences where all are 0, in units in which ``squares`` is the squared length."""
        sds = np.array([law.sd for law in self.laws])
        scaled = float(np.log(sds).sum()) + (0.0 if self.known else log(float((sds**-2.0).sum())) / 2)
        return _integrate_at_nought(self.laws, self.known) + scaled

    def log_ratio(self, factor: float) -> float:
        """How much likelier the differences are with noise so many times as wide; natural logarithm."""
        wide = tuple(law.times(factor) for law in self.laws)
        return _integrate(self.values, wide, self.known) - _integrate(self.values, self.laws, self.known)


@dataclass(frozen=True)
class NoiseVerdict:
    """What was found, a sentence each; ``told`` says whether ten times as little noise as claimed would be found."""

    found: tuple[str, ...] = ()
    told: bool = False

    @property
    def words(self) -> str:
        """The verdict, one of three."""
        return f"as noisy as claimed: {'no' if self.found else 'yes' if self.told else 'cannot be told'}"


@dataclass(frozen=True, eq=False)
class NoiseEvidence:
    """All that can be tested of a release: ``groups`` that must agree, and histograms of rows by the part."""

    groups: tuple[TallyGroup, ...]
    histograms: tuple[tuple[str, Array, Law], ...] = field(default=())

    def times(self, factor: float) -> NoiseEvidence:
        """The same answers, claimed to be so many times as noisy."""
        return NoiseEvidence(
            tuple(group.times(factor) for group in self.groups),
            tuple((part, values, law.times(factor)) for part, values, law in self.histograms),
        )

    def list_chances(self) -> Iterator[tuple[str, bool, float]]:
        """Of each test the part it is of ("" of all), whether it finds too little noise, and how unlikely, as ln p."""
        parts = dict.fromkeys(group.part for group in self.groups)
        for part in (*parts, *([""] if len(parts) > 1 else [])):
            groups = [group for group in self.groups if part in ("", group.part)]
            yield part, True, bound_too_close(groups)
            yield part, False, -add_up(group.log_ratio(_TIMES) for group in groups[:_MOST_GROUPS])
        for part, own in groupby(self.histograms, key=lambda one: one[0]):
            close, far = np.zeros(len(_EMPTY_PARTS)), np.zeros(len(_EMPTY_PARTS))
            for _, values, law in own:
                close += [_weigh_near(values, law, share) for share in _EMPTY_PARTS]
                far += [_weigh_below(values, law, share) for share in _EMPTY_PARTS]
            yield part, True, log(len(_EMPTY_PARTS)) - float(logsumexp(close))
            yield part, False, log(len(_EMPTY_PARTS)) - float(logsumexp(far))

    def judge(self) -> NoiseVerdict:
        """Whether they are as noisy as claimed."""
        if not all(np.isfinite(group.values).all() for group in self.groups):
            return NoiseVerdict(("an answer in it is no finite number.",))
        found = tuple(_describe(part, little=little) for part, little in _find_unlikely(self.list_chances()))
        return NoiseVerdict(found, told=any(little for _, little in _find_unlikely(self.times(_TIMES).list_chances())))


def collect_tallies(given: Mapping[str, Sequence[GivenAnswer]]) -> NoiseEvidence:
    """What must agree among the answers of each part, by its name."""
    groups, histograms = [], []
    for part, answers in given.items():
        with_noise = [answer for answer in answers if type(answer.mechanism) in _ADDED]
        groups += list(_list_segment_groups(part, with_noise) if part == OF_SEGMENTS else _list_groups(part, answers))
        histograms += [
            (part, np.ravel(answer.released), _find_law(answer, 1))
            for answer in with_noise
            if isinstance(answer.query, _COUNTS) and np.size(answer.released) >= _MANY_CELLS
        ]
    return NoiseEvidence(tuple(group for group in groups if group.freedom > 0), tuple(histograms))


def bound_too_close(groups: Sequence[TallyGroup]) -> float:
    """How unlikely differences are that are no larger than these: at most so much, natural logarithm."""
    freedom = sum(group.freedom for group in groups)
    squares = add_up(group.squares for group in groups)
    if not squares > 0:
        return -inf
    volume = freedom / 2 * (log(pi) + log(squares)) - lgamma(freedom / 2 + 1)
    return min(0.0, volume + add_up(group.log_most for group in groups))


def add_up(values: Iterable[float]) -> float:
    """Their sum; infinite where one is."""
    return float(np.sum(list(values)))


def _find_unlikely(chances: Iterable[tuple[str, bool, float]]) -> list[tuple[str, bool]]:
    """The tests that a genuine release passes; all of them together but once in so many."""
    all_of_them = list(chances)
    most = log(_FALSE_ALARMS / max(1, len(all_of_them)))
    return [(part, little) for part, little, chance in all_of_them if not chance > most]


def _describe(part: str, *, little: bool) -> str:
    where = f"in the part {part} " if part else ""
    return SENTENCES.fill("noise_too_little" if little else "noise_too_much", where=where)


def _find_law(answer: GivenAnswer, draws: int) -> Law:
    return Law(answer.mechanism.scale, draws, isinstance(answer.mechanism, mechanisms.Gaussian))


def _list_groups(part: str, answers: Sequence[GivenAnswer]) -> Iterator[TallyGroup]:
    """Totals of rows, and totals of each coordinate of the rows of one region."""
    rows: list[tuple[float, Law]] = []
    sums: dict[tuple[int, int], list[tuple[Array, Law]]] = {}
    for answer in answers:
        released = answer.released
        if isinstance(answer.mechanism, mechanisms.PathCounts):  # both halves of a tree are counted in any case
            once = GivenAnswer(answer.query, answer.region, answer.mechanism.once, released)
            rows.append((float(released.values[:2].sum()), _find_law(once, 2)))
        elif type(answer.mechanism) not in _ADDED:
            continue
        elif isinstance(answer.query, _COUNTS):
            rows.append((float(np.sum(released)), _find_law(answer, np.size(released))))
        elif isinstance(answer.query, queries.Sum):
            same = sums.setdefault((id(answer.region), released.shape[1]), [])
            same.append((released.sum(axis=0), _find_law(answer, len(released))))
    if rows:
        yield _make_group(part, rows)
    for totals in sums.values():
        for column in range(len(totals[0][0])):
            yield _make_group(part, [(float(total[column]), law) for total, law in totals])


def _make_group(part: str, tallies: Sequence[tuple[float, Law]]) -> TallyGroup:
    values, laws = zip(*tallies, strict=True)
    return TallyGroup(part, np.array(values), laws)


def _list_segment_groups(part: str, answers: Sequence[GivenAnswer]) -> Iterator[TallyGroup]:
    """The size of each segment, of whose rows each is in one bin of every histogram; bins that no row can be in are
    known to be empty.
    """
    tallies: list[list[tuple[float, Law]]] = []
    for answer in answers:
        if not isinstance(answer.query, _COUNTS):
            continue
        table = np.reshape(answer.released, (len(answer.released), -1))
        possible = np.ones(table.shape, dtype=bool)
        if isinstance(answer.query, DistanceScales) and answer.region is not None:
            possible = find_possible_scales(answer.query, answer.region)
            empty = table[~possible]
            if len(empty):
                yield TallyGroup(part, empty, (_find_law(answer, 1),) * len(empty), known=True)
        tallies.append(
            [
                (float(line[some].sum()), _find_law(answer, int(some.sum())))
                for line, some in zip(table, possible, strict=True)
            ]
        )
    for own in zip(*tallies, strict=False):
        yield _make_group(part, own)


def _weigh_near(values: Array, law: Law, share: float) -> float:
    """How much likelier so small counts are where noise is a tenth in that share of the cells; natural logarithm."""
    apart = np.abs(values) / law.scale
    less = (_TIMES**2 - 1) * apart**2 / 2 if law.gaussian else (_TIMES - 1) * apart
    return float(np.log1p(share * (_TIMES * np.exp(-less) - 1)).sum())


def _weigh_below(values: Array, law: Law, share: float) -> float:
    """The same of ten times the noise, by what lies below 0; of what lies above nothing is taken to be known."""
    below = np.maximum(-values, 0.0) / law.scale
    more = (1 - _TIMES**-2) * below**2 / 2 if law.gaussian else (1 - 1 / _TIMES) * below
    # Half of all noise lies below 0, where the mean of the ratio is ten times that above.
    times = more - log((_TIMES + 1) / 2)
    return float(np.logaddexp(log(1 - share), log(share) + times).sum())


@lru_cache(maxsize=256)
def _integrate_at_nought(laws: tuple[Law, ...], known: bool) -> float:
    return _integrate(np.zeros(len(laws)), laws, known)


def _integrate(values: Array, laws: Sequence[Law], known: bool) -> float:
    """The density of tallies whose number may be any, all alike likely; natural logarithm."""
    if known:
        return add_up(float(law.log_density(value)) for value, law in zip(values, laws, strict=True))
    widest = _NEGLIGIBLE * max(law.sd for law in laws)
    low, high = float(values.min()) - widest, float(values.max()) + widest
    while True:
        numbers = np.linspace(low, high, _POINTS)
        apart = zip(np.subtract.outer(values, numbers), laws, strict=True)
        logs = np.sum([law.log_density(value) for value, law in apart], axis=0)
        # It has one peak: what is so far below it counts for nothing.
        held = np.flatnonzero(logs > logs.max() - _NEGLIGIBLE)
        first, last = max(0, int(held[0]) - 1), min(_POINTS - 1, int(held[-1]) + 1)
        if last - first > _POINTS // 4 or not high - low > 1e-12 * (abs(low) + abs(high)):
            return float(logsumexp(logs)) + log((high - low) / (_POINTS - 1))
        low, high = float(numbers[first]), float(numbers[last])
