"""One answer to: which ε? The stored study gives it until there are runs on the table itself, which then do.

Both are read by the same definition (``runs.advice.target``), and both speak of the whole ε of what leaves, while runs
on the table give all of theirs to the centres. Where they lie more than one tried ε apart, the recommendation says why:
what is said is checked against both, not guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import TYPE_CHECKING, Literal, NamedTuple

from dpviz.algorithms import regime
from dpviz.runs.advice.advice import EPSILONS, Advice, Target, count_steps_apart, round_epsilon
from dpviz.runs.request import Contender
from dpviz.runs.run_sentences import SENTENCES
from dpviz.words import round_percent

if TYPE_CHECKING:
    from dpviz.runs.smallest_epsilon import SmallestEpsilon

MADE_UP = "made-up tables"

Kind = Literal["not compared", "another algorithm", "few runs", "other sizes", "among them", "unlike them"]


class Reason(NamedTuple):
    """Why the runs on a table and the stored study differ, and that in words."""

    kind: Kind
    words: str


@dataclass(frozen=True)
class Recommendation:
    """Which ε to choose, and with whom.

    * ``who``: the algorithm with its preset; "" where nobody meets the target.
    * ``epsilon``: the smallest one tried from which on the target is met; infinite where none up to ``highest`` is.
    * ``typical``: the median loss there, over that of k-means++.
    * ``measured``: whether it was read off runs on this table, or its synthetic table, rather than the stored study.
    * ``apart``: why the stored study says otherwise, where it does.
    * ``ranged``: the same as a title where only a range of the number of rows is known; ``epsilon`` is that of the
      fewest rows.
    * ``share``: the part of ε that goes to the centres.
    """

    target: Target
    who: str
    epsilon: float
    typical: float
    highest: float
    measured: bool
    apart: Reason | None = None
    ranged: str = ""
    share: float = 1.0

    @property
    def reached(self) -> bool:
        """Whether any ε that was tried is enough."""
        return isfinite(self.epsilon)

    @property
    def finding(self) -> str:
        """The recommendation as a title."""
        if self.ranged:
            return self.ranged
        often = self.target.describe_often("runs" if self.measured else MADE_UP)
        if not self.reached:
            return SENTENCES.fill("nobody_reaches", highest=self.highest, above=self.target.above, often=often)
        (typical,) = regime.format_apart(self.typical)
        said = {"epsilon": self.epsilon, "who": self.who, "typical": typical, "loss": self.target.loss}
        return SENTENCES.fill("choose", **said, often=often)

    @property
    def sentence(self) -> str:
        """The same as a sentence."""
        return f"{self.finding}."

    def describe_share(self) -> str:
        """Which ε of a run on the table it is, where a release leaves a part of its ε for the centres; else ""."""
        if not self.measured or not self.reached or self.share == 1:
            return ""
        said = {"epsilon": self.epsilon, "of_runs": self.epsilon * self.share}
        return SENTENCES.fill("share_of_runs", **said, part=round_percent(self.share))

    def compare_with(self, advice: Advice) -> str:
        """What the stored study says beside the runs on the table: the same, or what else and why."""
        said = f"ε = {advice.epsilon:g}" if advice.best is not None else f"more than ε = {EPSILONS[-1]:g}"
        if self.apart is None:
            return f"The stored study of {MADE_UP} agrees ({said})."
        return f"The stored study of {MADE_UP} says {said}: {self.apart.words}"

    @classmethod
    def of(
        cls,
        target: Target,
        advice: Advice | None,
        answers: Sequence[SmallestEpsilon] = (),
        tried: Sequence[float] = (),
        contenders: Sequence[Contender] = (),
        share: float = 1.0,
    ) -> Recommendation:
        """The first of the ``answers`` that runs on the table gave to ``target``; without any, the stored ``advice``.

        Of every ε a ``share`` goes to the centres; ``answers`` and ``tried`` are those of runs, which give them all.
        """
        if answers:
            whole = [_make_whole(one, share) for one in answers]
            first = whole[0]
            who = first.contender if first.reached else ""
            apart = None if advice is None else explain_apart(advice, whole, [one / share for one in tried], contenders)
            return cls(
                *(target, who, first.epsilon, first.typical, first.highest), measured=True, apart=apart, share=share
            )
        if advice is None or advice.best is None:
            return cls(target, "", inf, inf, EPSILONS[-1], measured=False)
        return cls(
            target, advice.best.title, advice.epsilon, advice.best.median, EPSILONS[-1], measured=False, share=share
        )


def _make_whole(answer: SmallestEpsilon, share: float) -> SmallestEpsilon:
    """An answer of runs as one of releases, whose centres get a ``share``: rounded to the safe side."""
    if share == 1:
        return answer
    ends = {name: getattr(answer, name) / share for name in ("low", "high", "lowest", "highest")}
    return replace(answer, epsilon=round_epsilon(answer.epsilon / share, up=True), **ends)


def explain_apart(
    advice: Advice, answers: Sequence[SmallestEpsilon], tried: Sequence[float], contenders: Sequence[Contender]
) -> Reason | None:
    """Why the first of ``answers`` lies more than one tried ε from the advice; None where it does not."""
    stored, leading = advice.epsilon, advice.leading
    if count_steps_apart(stored, answers[0].epsilon, tried) <= 1:
        return None
    labels = {contender.algorithm: contender.label for contender in contenders if not contender.params}
    title = leading.title if leading is not None else ""
    of_label = {answer.contender: answer for answer in answers}
    own = of_label.get(labels.get(leading.algorithm, "")) if leading is not None else None
    if own is None:
        return Reason("not compared", f"{title or 'Its algorithm'} was not compared here.")
    if count_steps_apart(stored, own.epsilon, tried) <= 1:
        return Reason("another algorithm", f"{answers[0].contender} needs less here than {title}.")
    if own.low <= stored <= own.high:
        least, most = own.low, own.high
        ends = f"{least:.2g} and {most:.2g}" if isfinite(most) else f"{least:.2g} and more than {own.highest:g}"
        return Reason("few runs", f"so few runs leave it open: {title} may need between {ends}.")
    if advice.beyond:
        return Reason("other sizes", "no table of your size was studied, and the nearest sizes answered.")
    return _compare_with_tables(advice, own, tried)


def _compare_with_tables(advice: Advice, own: SmallestEpsilon, tried: Sequence[float]) -> Reason:
    """Where this table stands among the made-up ones, of which each alone needs another ε."""
    least, most = advice.each[0], advice.each[-1]
    ends = f"{least:g} to {most:g}" if isfinite(most) else f"{least:g} to more than {EPSILONS[-1]:g}"
    if not isfinite(least):
        return Reason("unlike them", f"this one is easier than each of the {len(advice.each)} tables.")
    if least <= own.epsilon <= most or min(count_steps_apart(own.epsilon, end, tried) for end in (least, most)) <= 1:
        where = "less" if own.epsilon < advice.epsilon else "more"
        return Reason("among them", f"such tables differ (ε = {ends}), and this one is among those that need {where}.")
    how = "easier" if own.epsilon < least else "harder"
    return Reason("unlike them", f"this one is {how} than each of the {len(advice.each)} tables (ε = {ends}).")
