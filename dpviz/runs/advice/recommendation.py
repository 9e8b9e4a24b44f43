"""One answer to: which ε? The stored study gives it until there are runs on the table itself, which then do.

Both are read by the same definition (``runs.advice.target``), and both speak of the whole ε of what leaves, while runs
on the table give all of theirs to the centres. Where they lie more than one tried ε apart, the recommendation says why:
what is said is checked against both, not guessed.

It is given for as many rows as somebody said there are: a number, a range, or a noisy number that was bought. The page,
the command line and Python ask here, so that they answer alike. No answer rests on a size that nobody gave.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from dpviz.algorithms import Setting, format_apart
from dpviz.core import Relation, RequestError, Scaling, check
from dpviz.runs.advice.advice import EPSILONS, Advice, Target, count_steps_apart, foresee, round_epsilon
from dpviz.runs.advice.judgement import KnownRows, make_known_rows
from dpviz.runs.request import Contender, Division
from dpviz.runs.run_sentences import SENTENCES, demand, make_refusal
from dpviz.tables import Declaration, declarations
from dpviz.words import render, round_percent

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

    * ``who``: the algorithm with its preset; where nobody meets the target, the only one that was tried, or "".
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
        return _write("finding", told=self, often=self.target.describe_often("runs" if self.measured else MADE_UP))

    @property
    def sentence(self) -> str:
        """The same as a sentence."""
        return f"{self.finding}."

    def describe_share(self) -> str:
        """Which ε of a run on the table it is, where a release leaves a part of its ε for the centres; else ""."""
        return _write("share", told=self)

    def compare_with(self, advice: Advice) -> str:
        """What the stored study says beside the runs on the table: the same, or what else and why."""
        return _write("compared", told=self, advice=advice)

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
            who = first.contender if first.reached or len(whole) == 1 else ""
            apart = None if advice is None else explain_apart(advice, whole, [one / share for one in tried], contenders)
            return cls(
                *(target, who, first.epsilon, first.typical, first.highest), measured=True, apart=apart, share=share
            )
        best = None if advice is None else advice.best
        if best is None:
            return cls(target, "" if advice is None else advice.only, inf, inf, EPSILONS[-1], measured=False)
        return cls(target, best.title, best.epsilon, best.median, EPSILONS[-1], measured=False, share=share)


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
    of_label = {answer.contender: answer for answer in answers}
    own = of_label.get(labels.get(leading.algorithm, "")) if leading is not None else None
    kind = _find_kind(advice, own, tried)
    return Reason(kind, _write(kind, advice=advice, own=own, first=answers[0].contender))


def _find_kind(advice: Advice, own: SmallestEpsilon | None, tried: Sequence[float]) -> Kind:
    """Beside what its ``own`` algorithm needs here; at last, where this table stands among the made-up ones."""
    if own is None:
        return "not compared"
    if count_steps_apart(advice.epsilon, own.epsilon, tried) <= 1:
        return "another algorithm"
    if own.low <= advice.epsilon <= own.high:
        return "few runs"
    if advice.beyond:
        return "other sizes"
    least, most = advice.each[0], advice.each[-1]  # each table alone needs another ε
    if not isfinite(least):
        return "unlike them"
    steps = min(count_steps_apart(own.epsilon, end, tried) for end in (least, most))
    return "among them" if least <= own.epsilon <= most or steps <= 1 else "unlike them"


def _write(part: str, **said: Any) -> str:
    said |= {"largest": EPSILONS[-1], "made_up": MADE_UP}
    written = {"apart": format_apart, "percent": round_percent, "finite": isfinite}
    return render("recommendation.txt.j2", part=part, **said, **written).strip()


@dataclass(frozen=True)
class RowsAdvice:
    """Which ε, for a number of rows or for a range of it.

    * ``few``, ``many``: to the least and to the largest number of rows; the same where one number is known;
    * ``algorithm``: the only one that was asked about, as it is set; "" where the cheapest was looked for.
    """

    rows: KnownRows
    few: Advice
    many: Advice
    algorithm: str = ""

    @property
    def is_studied(self) -> bool:
        """Whether the stored study has tables that answer, for the least number of rows."""
        return self.few.leading is not None

    @property
    def recommendation(self) -> Recommendation:
        """The answer that holds for the least number of rows, in words that say what more rows would change."""
        safe = Recommendation.of(self.few.target, self.few)
        if self.rows.low == self.rows.high:
            return safe
        few, many = self.few.best, self.many.best
        return replace(safe, ranged=_write("range", rows=self.rows, target=self.few.target, few=few, many=many))

    @property
    def sentence(self) -> str:
        """The answer, as every page and command gives it."""
        if self.is_studied or self.many.best is not None:
            return self.recommendation.sentence
        return SENTENCES.fill("not_studied" if self.algorithm else "few_not_studied", algorithm=self.algorithm)

    @classmethod
    def of(
        cls,
        rows: KnownRows | None,
        setting: Setting,
        *,
        target: Target,
        share: float = 1.0,
        contender: Contender | None = None,
    ) -> RowsAdvice:
        """Advice for ``setting``, whose own number of rows is not read; of every ε a ``share`` goes to the centres.

        It is about one ``contender``, or about the cheapest of all.
        """
        if rows is None:
            raise make_refusal("nobody_said")
        check.check_delta(rows.high, delta=setting.delta)
        demand(setting.k <= rows.low, "fewer_rows_than_k", k=setting.k, rows=rows.low)
        # What is set otherwise than it was studied has a name of its own, under which nothing is found.
        studied = contender is None or contender.settings == contender.card.params()
        asked = "" if contender is None else contender.algorithm if studied else contender.to_text()
        prospects = (foresee(replace(setting, n=n), share=share, algorithm=asked) for n in (rows.low, rows.high))
        few, many = (one.advise(target) for one in prospects)
        return cls(rows, few, many, asked)


def advise(
    n: int | Sequence[int] | None = None,
    d: int | None = None,
    k: int = 5,
    *,
    declaration: Declaration | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    target: float = Target.loss,
    share: float = Target.share,
    delta: float = 0.0,
    relation: str | None = None,
    rows_per_person: int | None = None,
    segments: float = Division.segments,
    buy_bounds: float = Division.bounds,
    missing: float = Division.missing,
    algorithm: str | None = None,
) -> RowsAdvice:
    """The cheapest algorithm and the smallest ε for a size and a target, from a stored study; reads no table.

    The ε is the whole one of a release: a release of it is charged exactly that, and its centres are as good as
    advised. With ``segments=0`` it is that of a fit, or a run, all of whose ε goes to the centres.

    Parameters
    ----------
    n : int, pair of int or None
        The number of rows, or a range of it; what ``declaration`` says by default.
    d : int or None
        The number of columns; as many as are declared by default, where each value of a category is one.
    k : int
    declaration : Declaration, mapping, path or None
        Of a table: whatever is not given is taken from it.
    target, share : float
        The most loss over that of k-means++, and the part of the tables on which it is kept to.
    delta : float
        0 for pure ε.
    relation : str or None
        "add_remove" or "replace".
    rows_per_person : int or None
        Most rows of one person.
    segments, buy_bounds, missing : float
        Parts of ε that a release spends on other things than centres, as ``release`` takes them.
    algorithm : str or None
        The one that is asked about, as ``ID`` or ``ID:name=value``; the cheapest of all by default.

    Returns
    -------
    RowsAdvice
        Its ``sentence`` is the answer.

    Raises
    ------
    RequestError
        If the number of rows is not known, or a number is outside its range; if no algorithm has that id.
    """
    said = Declaration() if declaration is None else declarations.read_declaration(declaration)
    rows = KnownRows.read(said) if n is None else make_known_rows(n)
    columns, coded = said.count_coordinates() if d is None else (d, 0)
    if not columns:
        raise RequestError("d, the number of columns, is not known: give it, or a declaration that names columns.")
    relation = said.relation if relation is None else relation
    check.within(1, check.MOST_RECORDS, d=check.at_least(1, d=columns))
    check.one_of(tuple(one.value for one in Relation), relation=relation)
    person = said.rows_per_person if rows_per_person is None else rows_per_person
    setting = Setting(
        dim=columns,
        k=check.clusters(k=k),
        epsilon=1.0,
        delta=check.check_delta(None, delta=delta),
        relation=Relation(relation),
        n=None,
        rows_per_person=check.rows_per_person(rows_per_person=person),
        coded=coded,
        common=said.scaling == Scaling.COMMON.value and columns > 1,
    )
    if d is None and not said.open_columns:
        setting = setting.within(said.make_domain().region.half)
    division, bought = Division(segments, buy_bounds, missing), len(said.open_columns)
    of_centers = division.find_share(bought=bought)
    contender = None if algorithm is None else Contender.from_text(algorithm)
    return RowsAdvice.of(rows, setting, target=Target(target, share), share=of_centers, contender=contender)


advise.__module__ = "dpviz"
