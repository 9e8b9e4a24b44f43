"""Questions over several numbers of a release, answered from its draws: a closed list of kinds.

Every answer is a sentence, a number with the middle nine tenths of its draws, and whether noise hides it.

Two things are not told, because intervals of them do not hold nine in ten: a mean over more than two segments, and the
size of a difference that was picked because it is large. Of many differences ask which way they go.

**Guarantee.** Post-processing: nothing here reads a row.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from dpviz.core import Array
from dpviz.releases.release_sentences import TERMS, make_refusal
from dpviz.releases.tallies import COVERED, Draws, divide, format_finite
from dpviz.tables import codings, format_csv
from dpviz.words import capitalize_first, format_between, format_day, list_names, list_words, to_plain

HIDDEN = "Noise hides this"
_SURE = 0.95  # of a comparison: in so many of the draws it has to come out the same way
_WIDE = 0.5  # of what is possible: an interval so wide hides the answer
_DROWNED = 0.5  # noise of a histogram beyond this part of the rows in it hides its shares
_SURELY_THERE = 0.98  # of the draws of what is divided by, the middle so many have to be somebody
_MOST_MEANS = 2
_TINY = 1e-9


class ReleaseQuestion(NamedTuple):
    """What is asked of which segments, which count from 1, and of which column, category or value."""

    kind: str
    segments: tuple[int, ...] = ()
    column: str = ""
    label: str = ""
    value: float | None = None


@dataclass(frozen=True)
class ReleaseAnswer:
    """What comes out, in words and as a number with its interval; ``hidden`` where noise hides it.

    ``chosen`` are the segments that an answer names. A number that nothing tells is NaN.
    """

    question: ReleaseQuestion
    sentence: str
    value: float
    low: float
    high: float
    hidden: bool = False
    chosen: tuple[int, ...] = ()

    @property
    def line(self) -> tuple[str, ...]:
        """Its line of a table."""
        asked, segments = self.question, " ".join(map(str, self.question.segments))
        about = (asked.label, "" if asked.value is None else f"{asked.value:.9g}")
        numbers = map(format_finite, (self.value, self.low, self.high))
        words = HIDDEN.lower() if self.hidden else ""
        return (asked.kind, segments, asked.column, *about, *numbers, words, self.sentence)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``ask --json`` prints them."""
        return {**to_plain(asdict(self)), "question": self.question._asdict()}


LINE = ("kind", "segments", "column", "label", "at", "value", "low", "high", "hidden", "sentence")


class QuestionKind(NamedTuple):
    """A kind of question: how many segments it is asked of, ``least`` to ``most``, what else it needs, what it asks in
    words, and what answers it."""

    least: int
    most: float
    needs: tuple[str, ...]
    words: str
    answer: Callable[[Draws, ReleaseQuestion], ReleaseAnswer]

    def list_columns(self, draws: Draws) -> list[str]:
        """The names of the columns that it can be asked about; none where it is about none."""
        if "label" in self.needs:
            return [column.name for _, _, column in draws.tallies.described if column.labels]
        if "value" in self.needs:
            return [column.name for _, tally, column in draws.tallies.described if len(tally.edges)]
        return [*draws.averaged] if "column" in self.needs else []


def ask(draws: Draws, question: ReleaseQuestion) -> ReleaseAnswer:
    """The answer that the draws of a release give; refused where there is no such kind, segment, column or category, or
    something else is asked with it than it needs."""
    if question.kind not in QUESTION_KINDS:
        raise make_refusal("no_question", asked=question.kind, kinds=", ".join(QUESTION_KINDS))
    kind, asked = QUESTION_KINDS[question.kind], question.segments
    given = {"column": question.column, "label": question.label, "value": question.value is not None}
    if any(bool(there) != (name in kind.needs) for name, there in given.items()):
        needs = list_words(kind.needs) if kind.needs else "nothing but segments"
        raise make_refusal("question_needs", asked=question.kind, needs=needs, words=kind.words)
    if not kind.least <= len(asked) <= kind.most or len(set(asked)) < len(asked):
        number, why = f"{kind.least}" if kind.least == kind.most else f"{kind.least} or more", ""
        if kind.most == _MOST_MEANS != kind.least:
            number, why = "one or two", ": intervals of a mean over more do not hold nine in ten"
        raise make_refusal("question_segments", asked=question.kind, number=number, why=why)
    if any(not 1 <= one <= draws.k for one in asked):
        raise make_refusal("segments_to", k=draws.k)
    return kind.answer(draws, question)


def format_answers(answers: Sequence[ReleaseAnswer]) -> str:
    """A table of answers, a line each."""
    return format_csv([LINE, *(one.line for one in answers)])


def _ask_size(draws: Draws, question: ReleaseQuestion) -> ReleaseAnswer:
    value, low, high = _tell(_add_sizes(draws, question))
    return _answer(question, f"{_name(question)}: about {value:,.0f} rows", (value, low, high), hidden=low <= 0)


def _ask_part(draws: Draws, question: ReleaseQuestion) -> ReleaseAnswer:
    told = _tell(divide(_add_sizes(draws, question), draws.sizes.sum(axis=1)))
    return _answer_share(question, f"{_name(question)}: {{}} of all rows in segments", told)


def _ask_larger(draws: Draws, question: ReleaseQuestion) -> ReleaseAnswer:
    one, other = (draws.sizes[:, place] for place in _places(question))
    return _compare(question, one - other, "is larger", "rows")


def _ask_ratio(draws: Draws, question: ReleaseQuestion) -> ReleaseAnswer:
    over, under = (draws.sizes[:, place] for place in _places(question))
    one, other = question.segments
    if find_middle(under, _SURELY_THERE)[0] <= 0:
        said = f"{HIDDEN}: segment {other} may hold nobody, and no size is a number of times as large as that."
        return ReleaseAnswer(question, said, nan, nan, nan, hidden=True)
    told = _tell(over / np.maximum(under, _TINY))
    return _answer(question, f"segment {one} is {told[0]:.3g} times as large as segment {other}", told, hidden=False)


def _ask_largest(draws: Draws, question: ReleaseQuestion) -> ReleaseAnswer:
    """All segments that no other one is larger than, at nine in ten for all pairs: of many that are alike, noise picks
    the few wrong ones that are largest in most draws."""
    sizes, k = draws.sizes, draws.k
    ahead = sizes[:, None, :] - sizes[:, :, None]  # by how much the last one is larger
    reach = float(ndtri(1 - (1 - COVERED) / max(k - 1, 1)))
    beaten = (np.median(ahead, axis=0) > reach * ahead.std(axis=0) + _TINY).any(axis=1)
    chosen = tuple((np.flatnonzero(~beaten) + 1).tolist())
    hidden = len(chosen) > 1
    words = f"the largest is one of {list_words(chosen)}" if hidden else f"segment {chosen[0]} is the largest"
    said = f"{HIDDEN}: {words}." if hidden else f"{capitalize_first(words)}."
    return ReleaseAnswer(question, said, nan, nan, nan, hidden, chosen)


def _ask_mean(draws: Draws, question: ReleaseQuestion) -> ReleaseAnswer:
    place = _find_averaged(draws, question)
    told = _tell(_average(draws, _places(question), place))
    wide = _WIDE * float(draws.made.width[place])
    declared = draws.made.columns[place].declared
    first_day = declared.first.isoformat() if isinstance(declared, codings.Dates) else ""
    said = format_between(told[1], told[2], told[0], first_day=first_day).partition(" (")[0]
    words = f"mean {question.column} of {_name(question)}: {said}"
    return _answer(question, words, told, hidden=told[2] - told[1] > wide, first_day=first_day)


def _ask_higher(draws: Draws, question: ReleaseQuestion) -> ReleaseAnswer:
    place = _find_averaged(draws, question)
    one, other = (_average(draws, [at], place) for at in _places(question))
    unit = draws.made.columns[place].unit.partition(" from ")[0]
    return _compare(question, one - other, f"is higher in {question.column} on the mean", unit)


def _ask_share(draws: Draws, question: ReleaseQuestion) -> ReleaseAnswer:
    told = _tell(_share(draws, question, _places(question), _find_label(draws, question)), 0.0, 1.0)
    words = f"share of {question.label} in {_name(question)}, by the histogram alone: {{}}"
    return _answer_share(question, words, told, drowned=_is_drowned(draws, question, _places(question)))


def _ask_more_often(draws: Draws, question: ReleaseQuestion) -> ReleaseAnswer:
    label = _find_label(draws, question)
    one, other = (_share(draws, question, [place], label) for place in _places(question))
    drowned = any(_is_drowned(draws, question, [place]) for place in _places(question))
    how = f"has {question.label} more often by the histograms alone"
    return _compare(question, 100 * (one - other), how, "%", drowned=drowned, most=100.0)


def _ask_at_least(draws: Draws, question: ReleaseQuestion) -> ReleaseAnswer:
    """Of the bin that holds the value any part may be: the interval goes from none of it to all of it."""
    tally, column, _ = draws.find_tally(question.column)
    if not len(tally.edges):
        raise make_refusal("asked_categories", column=question.column)
    assert question.value is not None
    edges, bins, places = tally.edges, tally.values, _places(question)
    at_value = float(np.clip(column.coding.stretch(np.array(question.value)), edges[0], edges[-1]))
    at = int(np.clip(np.searchsorted(edges, at_value, side="right") - 1, 0, bins - 1))
    inside = (edges[at + 1] - at_value) / (edges[at + 1] - edges[at])
    above = _share(draws, question, places, lambda counts: np.sum(counts[:, at + 1 : bins], axis=1))
    every = _share(draws, question, places, lambda counts: np.sum(counts[:, at:bins], axis=1))
    none = every if np.isclose(inside, 1.0) else above
    value = _tell(none + inside * (every - none), 0.0, 1.0)[0]
    low, value, high = sorted((_tell(none, 0.0, 1.0)[1], value, _tell(every, 0.0, 1.0)[2]))
    least = format_day(column.first_day, question.value) if column.first_day else f"{question.value:g}"
    words = f"{{}} of the rows of {_name(question)} have {question.column} of at least {least}"
    return _answer_share(question, words, (value, low, high), drowned=_is_drowned(draws, question, places))


QUESTION_KINDS: Mapping[str, QuestionKind] = {
    name: QuestionKind(least, most, needs, TERMS["asked"][name], answer)
    for name, least, most, needs, answer in (
        ("size", 1, inf, (), _ask_size),
        ("part", 1, inf, (), _ask_part),
        ("larger", 2, 2, (), _ask_larger),
        ("ratio", 2, 2, (), _ask_ratio),
        ("largest", 0, 0, (), _ask_largest),
        ("mean", 1, _MOST_MEANS, ("column",), _ask_mean),
        ("higher", 2, 2, ("column",), _ask_higher),
        ("share", 1, inf, ("column", "label"), _ask_share),
        ("more-often", 2, 2, ("column", "label"), _ask_more_often),
        ("at-least", 1, inf, ("column", "value"), _ask_at_least),
    )
}
"""The kinds of questions, by what they are called."""


def find_middle(values: Array, level: float = COVERED) -> tuple[float, float]:
    """The ends of the middle ``level`` of draws (D,): of 200 from the tenth smallest to the tenth largest, which hold
    what a further draw would be in 90.05 % of cases."""
    ordered = np.sort(values)
    cut = max(round((1 - level) / 2 * len(ordered)) - 1, 0)
    return float(ordered[cut]), float(ordered[-1 - cut])


Told = tuple[float, float, float]


def _tell(values: Array, least: float = -inf, most: float = inf) -> Told:
    """The middle of draws and the interval around it, moved to where it can be: so it holds all of what it did that can
    be, and is of no width only where the draws are."""
    value, (low, high) = float(np.median(values)), find_middle(values)
    there = min(max(value, least), most)
    return there, max(low + there - value, least), min(high + there - value, most)


def _answer(question: ReleaseQuestion, words: str, told: Told, *, hidden: bool, first_day: str = "") -> ReleaseAnswer:
    ends = " to ".join(format_day(first_day, end) for end in told[1:]) if first_day else format_between(*told[1:])
    said = f"{HIDDEN}: {words.split(':')[0]}? {ends} in nine of ten." if hidden else f"{words} ({ends} in nine of ten)."
    return ReleaseAnswer(question, capitalize_first(said), *told, hidden)


def _answer_share(question: ReleaseQuestion, words: str, told: Told, *, drowned: bool = False) -> ReleaseAnswer:
    """Of a share between 0 and 1; ``words`` hold a place for it."""
    value, low, high = (100 * one for one in told)
    hidden = drowned or told[2] - told[1] > _WIDE
    ends = f"{low:.0f} to {high:.0f} % in nine of ten"
    share = words.format("which share" if hidden else f"{value:.0f} %")
    said = f"{HIDDEN}: {share}? {ends}." if hidden else f"{share} ({ends})."
    return ReleaseAnswer(question, capitalize_first(said), *told, hidden)


def _compare(
    question: ReleaseQuestion, difference: Array, how: str, unit: str, *, drowned: bool = False, most: float = inf
) -> ReleaseAnswer:
    """Which way a difference (D,) goes, the first segment less the second, in so many of the draws."""
    value, low, high = _tell(difference, -most, most)
    first = float((difference > 0).mean() + (difference == 0).mean() / 2)
    hidden = drowned or max(first, 1 - first) < _SURE
    one, other = question.segments if first > 0.5 else question.segments[::-1]
    ends = (low, high) if first > 0.5 else (-high, -low)
    between = format_between(*ends, unit=unit)
    words = f"segment {one} {how} than segment {other}"
    # An interval that leaves no doubt would deny that a histogram drowns.
    why = "A histogram is too small to say." if drowned else f"By {between} in nine of ten."
    said = f"{HIDDEN}: {words}? {why}" if hidden else f"{words}, by {between} in nine of ten."
    return ReleaseAnswer(question, capitalize_first(said), value, low, high, hidden, () if hidden else (one,))


def _places(question: ReleaseQuestion) -> list[int]:
    return [one - 1 for one in question.segments]


def _name(question: ReleaseQuestion) -> str:
    names = list_words(question.segments)
    return f"segment {names}" if len(question.segments) == 1 else f"segments {names} together"


def _add_sizes(draws: Draws, question: ReleaseQuestion) -> Array:
    return np.asarray(draws.sizes[:, _places(question)].sum(axis=1))


def _find_averaged(draws: Draws, question: ReleaseQuestion) -> int:
    if question.column not in draws.averaged:
        why = f"of clustered columns of numbers on an even scale one is: {list_names([*draws.averaged])}."
        raise make_refusal("no_mean", column=question.column, why=why)
    return draws.averaged[question.column]


def _average(draws: Draws, places: Sequence[int], column: int) -> Array:
    """The mean of a column over the rows of some segments, weighed by their sizes."""
    sizes, means = draws.sizes[:, places], draws.means[:, places, column]
    weights = np.where(sizes.sum(axis=1, keepdims=True) > 0, sizes, 1.0)
    return np.asarray((weights * means).sum(axis=1) / weights.sum(axis=1))


Count = Callable[[Array], Array]


def _find_label(draws: Draws, question: ReleaseQuestion) -> Count:
    _, column, _ = draws.find_tally(question.column)
    if question.label not in column.labels:
        values = f"its values are {list_names([*column.labels])}" if column.labels else "it holds numbers"
        raise make_refusal("no_label", column=question.column, label=question.label, values=values)
    place = column.labels.index(question.label)
    return lambda counts: counts[:, place]


def _share(draws: Draws, question: ReleaseQuestion, places: Sequence[int], count: Count) -> Array:
    """The part that is counted of the rows of these segments whose column is known."""
    tally, _, counts = draws.find_tally(question.column)
    together = counts[:, places, : tally.values].sum(axis=1)
    return divide(count(together), together.sum(axis=1), most=inf)


def _is_drowned(draws: Draws, question: ReleaseQuestion, places: Sequence[int]) -> bool:
    tally, _, counts = draws.find_tally(question.column)
    rows = float(np.median(counts[:, places].sum(axis=(1, 2))))
    return bool(np.sqrt(tally.variance[[*places]].sum()) > _DROWNED * max(rows, 0.0))
