"""Advice for as many rows as somebody said there are: a number, a range, or a noisy number that was bought.

The page, the command line and Python ask here, so that they answer alike. No answer rests on a size that nobody gave.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from dpviz.algorithms import Setting, count_wide_columns, measure_beside
from dpviz.core import Relation, RequestError, Scaling, check
from dpviz.runs.advice.advice import EPSILONS, USUAL_LOSS, USUAL_SHARE, Advice, Target, foresee
from dpviz.runs.advice.recommendation import Recommendation
from dpviz.runs.open_table import make_domain
from dpviz.runs.request import Contender, Division
from dpviz.runs.run_sentences import SENTENCES, make_refusal
from dpviz.tables import Declaration, declarations

NOBODY_SAID = (
    "How many rows there are is not known, and advice rests on nothing else: give a number, give a range such as "
    "8000,12000, or use a noisy number that a run has bought."
)
NOT_STUDIED = (
    "The stored study has no table of so few rows: run algorithms on a synthetic table of that size and compare their "
    "losses."
)


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
        if not numbers:
            raise make_refusal("no_rows_read")
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


def make_known_rows(n: int | Sequence[int] | None) -> KnownRows:
    """A number of rows, or the two ends of a range."""
    if n is None:
        raise RequestError(NOBODY_SAID)
    ends = (n, n) if not isinstance(n, Sequence) else tuple(n)
    if isinstance(n, str) or len(ends) != 2:
        raise make_refusal("no_rows")
    low, high = (check.records(n=end) for end in ends)
    if low > high:
        raise RequestError(f"n is a range from {low:,} to {high:,}: give the smaller number first.")
    return KnownRows(low, high)


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
        return safe if self.rows.low == self.rows.high else replace(safe, ranged=self._describe_range())

    @property
    def sentence(self) -> str:
        """The answer, as every page and command gives it."""
        if self.is_studied or self.many.best is not None:
            return self.recommendation.sentence
        return SENTENCES.fill("not_studied", algorithm=self.algorithm) if self.algorithm else NOT_STUDIED

    def _describe_range(self) -> str:
        """The finding for a range of rows: a range of ε."""
        target, few, many = self.few.target, self.few.best, self.many.best
        enough = f"at most {target.loss:.4g}× the loss of k-means++ in {target.describe_often('made-up tables')}"
        if many is None:
            return ""
        said = {"few": self.rows.low, "many": self.rows.high, "enough": enough}
        if few is None:
            ends = {"epsilon": many.epsilon, "largest": EPSILONS[-1]}
            return SENTENCES.fill("only_with_many", **said, **ends, who=many.title)
        who = " or ".join(dict.fromkeys((few.title, many.title)))
        if few.epsilon == many.epsilon:
            return f"Choose ε = {few.epsilon:g} or more with {who} for {self.rows.words}: {enough}"
        return SENTENCES.fill("range_of_epsilon", **said, least=many.epsilon, most=few.epsilon, who=who)

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
            raise RequestError(NOBODY_SAID)
        check.check_delta(rows.high, delta=setting.delta)
        if setting.k > rows.low:
            raise make_refusal("fewer_rows_than_k", k=setting.k, rows=rows.low)
        # What is set otherwise than it was studied has a name of its own, under which nothing is found.
        studied = contender is None or contender.settings == contender.card.params()
        asked = "" if contender is None else contender.algorithm if studied else contender.to_text()
        few, many = (
            foresee(replace(setting, n=n), share=share, algorithm=asked).advise(target) for n in (rows.low, rows.high)
        )
        return cls(rows, few, many, asked)


def advise(
    n: int | Sequence[int] | None = None,
    d: int | None = None,
    k: int = 5,
    *,
    declaration: Declaration | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    target: float = USUAL_LOSS,
    share: float = USUAL_SHARE,
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
        half = make_domain(said).region.half
        setting = replace(setting, wide=count_wide_columns(half), beside=measure_beside(half))
    division, bought = Division(segments, buy_bounds, missing), len(said.open_columns)
    of_centers = division.find_share(bought=bought)
    contender = None if algorithm is None else Contender.from_text(algorithm)
    return RowsAdvice.of(rows, setting, target=Target(target, share), share=of_centers, contender=contender)


advise.__module__ = "dpviz"
