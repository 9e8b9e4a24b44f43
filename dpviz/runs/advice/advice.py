"""Which algorithm, and which ε, for a table's n, d and k: the one engine behind every answer, from a stored study.

``foresee`` makes the ``Prospects`` of a question once; advice, the window, lights, forecasts and what would change an
answer all read them. The ε that is asked and answered is the whole of what leaves: where a release takes parts of it
for other things, a ``share`` of it goes to the centres, and what is foreseen is what these come to.

The study (``advice_study.csv``, made by ``benchmarks/advice.py``) ran every private algorithm that is not hopeless on
synthetic tables of a few sizes. Between its sizes the synthetic tables are weighed by their closeness in d and k; rows
and budget count together, as n·ε (n·μ with a δ), for a loss hardly depends on more than their product. An ε whose
budget is less than any that was studied is not advised. No row is read here.

At an ε a target is met if a given share of the runs lose at most so much: one definition for the stored study, for runs
on a table, and for every page that tells. The answer is the least ε that was tried from which on the target is met at
every ε that was tried; nothing is read between two ε.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from importlib.resources import files
from math import ceil, floor, inf, isfinite, log10
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpviz.algorithms import Level, Setting, find_card, format_apart
from dpviz.core import Array, Flags, Relation, RequestError, check, gdp_mu
from dpviz.runs.request import Contender
from dpviz.runs.run_sentences import demand
from dpviz.words import render, round_percent

if TYPE_CHECKING:
    import pandas as pd


_DIGITS = 3  # of an ε that is needed or allowed


@dataclass(frozen=True)
class Target:
    """What is good enough; where nobody says otherwise, that 8 of 10 runs lose at most 10 % more than k-means++.

    * ``loss``: the most that a run may lose, over the loss of k-means++; above 1.
    * ``share``: the part of all runs that must keep to it.
    """

    loss: float = 1.1
    share: float = 0.8

    def __post_init__(self) -> None:
        demand(self.loss > 1, "no_target", loss=self.loss)
        check.within(0.0, 1.0, share=self.share)

    @property
    def above(self) -> str:
        """How much may be lost beyond k-means++.

        >>> Target(1.1).above
        '10 %'
        """
        return f"{100 * (self.loss - 1):.3g} %"

    def describe_often(self, of: str = "runs") -> str:
        """In how many runs, in words.

        >>> Target(share=0.5).describe_often(), Target().describe_often("tables")
        ('half of all runs', '8 of 10 tables')
        """
        return f"half of all {of}" if self.share == 0.5 else f"{10 * self.share:.3g} of 10 {of}"

    def is_met(self, losses: Array) -> bool:
        """Whether enough runs keep to it, by their ``losses`` (runs,), over the loss of k-means++."""
        return find_reached_loss(losses, self.share) <= self.loss

    def find_least(self, losses: Mapping[float, Array]) -> float:
        """The least ε from which on it is met, by the ``losses`` (runs,) at each ε; infinite if they do not end so."""
        tried = sorted(losses)
        return find_start(tried, [self.is_met(losses[at]) for at in tried])


def find_reached_loss(losses: Array, share: float, weights: Array | None = None) -> float:
    """The least loss that at least ``share`` of the runs do not exceed; runs without a loss do not count.

    Parameters
    ----------
    losses : array of shape (runs,)
        Over the loss of k-means++.
    share : float
        Part of the runs, between 0 and 1.
    weights : array of shape (runs,) or None
        None: all alike.

    Returns
    -------
    float
        NaN where no run counts.

    >>> find_reached_loss(np.array([1.0, 3.0, 2.0, 9.0, 1.5]), 0.8)
    3.0
    """
    known = ~np.isnan(losses)
    if not known.any():
        return inf
    kept = losses[known]
    counts = np.ones(len(kept)) if weights is None else weights[known]
    order = np.argsort(kept, kind="stable")
    parts = np.cumsum(counts[order]) / counts.sum()
    return float(kept[order][min(int(np.searchsorted(parts, share - 1e-9)), len(kept) - 1)])


def find_start(epsilons: Sequence[float] | Array, met: Sequence[bool] | Array) -> float:
    """The least of ascending ``epsilons`` from which on all are ``met``; infinite if the last one is not."""
    everywhere = np.asarray(met, dtype=bool)[::-1].cumprod()[::-1].astype(bool)
    return float(np.asarray(epsilons)[everywhere.argmax()]) if everywhere.any() else inf


def count_steps_apart(one: float, other: float, tried: Sequence[float]) -> int:
    """How many of the ascending ε that were ``tried`` lie between two answers; each counts as the next one tried."""
    first, second = np.searchsorted(np.asarray(tried) * (1 + 1e-9), [one, other])
    return abs(int(first) - int(second))


def format_epsilon(epsilon: float, *, up: bool = False) -> str:
    """An ε in three digits, rounded to the safe side: down what is allowed, ``up`` what is needed.

    Parameters
    ----------
    epsilon : float
        Infinite where none will do.
    up : bool
        Whether it is needed, rather than allowed.

    Returns
    -------
    str
        In digits, or "∞".

    >>> format_epsilon(1.09861), format_epsilon(0.30001, up=True), format_epsilon(float("inf"))
    ('1.09', '0.301', '∞')
    """
    return f"{round_epsilon(epsilon, up=up):.{_DIGITS}g}" if isfinite(epsilon) else "∞"


def round_epsilon(epsilon: float, *, up: bool) -> float:
    """The same as a number."""
    if epsilon <= 0 or not isfinite(epsilon):
        return epsilon
    unit = 10.0 ** (floor(log10(epsilon)) - _DIGITS + 1)
    steps = ceil(epsilon / unit - 1e-9) if up else floor(epsilon / unit + 1e-9)
    return float(f"{steps * unit:.{_DIGITS}g}")


EPSILONS = (*(0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7), *(1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0))
"""The values of ε that advice chooses from."""

# By judgement, as are those below; what they lead to is measured by benchmarks/advice.py.
# A loss within this factor of the best one counts as the best.
NEAR = 1.05
# Of algorithms that are so near each other in the mean, and near the best as often, the cheapest is advised.
ALIKE = 1.01
# So much more loss is not worth a word, and so much more time is.
_SLIGHTLY, _MUCH_CHEAPER = 1.02, 3.0
# Losses are cut here: what lies above is noise.
_MOST = 1000.0
QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Outlook:
    """What an algorithm is to be expected to lose, over the loss of k-means++, and at which price."""

    algorithm: str
    epsilon: float
    median: float
    low: float
    high: float
    share: float
    seconds: float
    behind: float

    @property
    def title(self) -> str:
        """What the algorithm is called."""
        return find_card(self.algorithm).title


@dataclass(frozen=True)
class Change:
    """What another request would lead to: algorithm and ε then, or None where the target is out of reach.

    ``asks_epsilon`` where it is another ε that is asked about, rather than which ε would do.
    """

    words: str
    outlook: Outlook | None
    asks_epsilon: bool = False


@dataclass(frozen=True)
class Advice:
    """An answer to: which algorithm, and which ε, for this n, d, k and target?

    * ``setting``: the question; its ε is the advised one, or the largest one tried.
    * ``best``: the cheapest algorithm at the smallest ε from which on it meets the target; None if none does up to ε =
      10.
    * ``each``: the ε that the ``leading`` algorithm needs on each synthetic table, the least first; infinite where none
      will do.
    * ``others``: the other algorithms at that ε, the best of them first.
    * ``changes``: what would change the answer.
    * ``n_tables``: how many synthetic tables it rests on.
    * ``beyond``: whether the question lies outside the sizes that were studied; then the nearest of them answered.
    * ``share``: the part of ε that goes to the centres.
    * ``only``: the algorithm whose part of the study was read, where it was one; else "".
    """

    WHERE_FROM: ClassVar[str] = (
        "Read from a stored study of made-up tables; no row of yours is read. They are groups of rows, most of them "
        "of like size, k of them or a third more, that reach the bounds or fill a part of them. Rows that fill less "
        "of their bounds, or whose groups overlap or are of unlike size, may lose more. So may a table in one scale "
        "for all columns where one of them has most of the spread, as amounts may: there is none in the study."
    )

    setting: Setting
    target: Target
    best: Outlook | None
    each: tuple[float, ...]
    others: tuple[Outlook, ...]
    changes: tuple[Change, ...]
    n_tables: int
    beyond: bool
    share: float = 1.0
    only: str = ""

    @property
    def leading(self) -> Outlook | None:
        """The advised algorithm, or the nearest where the target is out of reach."""
        return self.best or next(iter(self.others), None)

    @property
    def outlooks(self) -> list[Outlook]:
        """Every algorithm at that ε, the advised one first."""
        return [one for one in (self.best, *self.others) if one is not None]

    @property
    def epsilon(self) -> float:
        """The advised ε; infinite where the target is out of reach."""
        return self.best.epsilon if self.best is not None else inf

    def describe_share(self) -> str:
        """Whose ε it is, where not all of it goes to the centres; else ""."""
        if self.share == 1:
            return ""
        return f"It is the whole ε of a release, of which {round_percent(self.share)} goes to the centres."

    def write(self, part: str) -> list[str]:
        """The sentences of a part of ``advice.txt.j2``: certainty, alternatives, changes."""
        said = {"part": part, "advice": self, "slightly": _SLIGHTLY, "much_cheaper": _MUCH_CHEAPER}
        return render("advice.txt.j2", **said, apart=format_apart, percent=round_percent).splitlines()


@dataclass(frozen=True, eq=False)
class SyntheticStudy:
    """The stored study for one kind of δ: losses of shape (synthetic tables, values of ε, algorithms), logarithms."""

    algorithms: tuple[str, ...]
    dims: Array
    ks: Array
    budgets: Array
    losses: Array
    seconds: Array

    @classmethod
    def of(cls, rows: Mapping[str, Any]) -> SyntheticStudy:
        """The tidy rows of one δ, by their columns; what did not run has the largest loss."""
        columns = {name: np.asarray(rows[name]) for name in ("n", "d", "k", "epsilon", "delta", "ratio", "seconds")}
        sizes = zip(rows["family"], *(columns[name].tolist() for name in ("n", "d", "k")), strict=True)
        tables: dict[Any, int] = {}
        of_table = [tables.setdefault(size, len(tables)) for size in sizes]
        (n,), (delta,) = (np.unique(columns[name]) for name in ("n", "delta"))
        epsilons, of_epsilon = np.unique(columns["epsilon"], return_inverse=True)
        algorithms, of_algorithm = np.unique(np.asarray(rows["algorithm"], dtype=str), return_inverse=True)

        def cube(column: str) -> Array:
            values = np.full((len(tables), len(epsilons), len(algorithms)), np.nan)
            values[of_table, of_epsilon, of_algorithm] = columns[column]
            return values

        ratio = cube("ratio")
        losses = np.log(np.clip(np.where(np.isnan(ratio), _MOST, ratio), 0.5, _MOST))
        settings = (Setting(1, 1, float(epsilon), float(delta), n=int(n)) for epsilon in epsilons)
        budgets = np.array([_compute_log_budget(setting) for setting in settings])
        dims, ks = (np.array([size[place] for size in tables], dtype=np.float64) for place in (2, 3))
        return cls(tuple(algorithms.tolist()), dims, ks, budgets, losses, cube("seconds"))

    def weights(self, setting: Setting) -> Array:
        """How much each synthetic table counts for a setting, by its d and k; they add up to 1."""
        weights = _compute_closeness(self.dims, setting.dim) * _compute_closeness(self.ks, setting.k)
        scaled: Array = weights / weights.sum()
        return scaled

    def covers(self, setting: Setting) -> bool:
        """Whether d and k lie within what was studied."""
        ends = ((self.dims, setting.dim), (self.ks, setting.k))
        return all(bool(sizes.min() <= size <= sizes.max()) for sizes, size in ends)


def _compute_log_budget(setting: Setting) -> float:
    """Decimal logarithm of rows times budget, for one person."""
    assert setting.n is not None
    budget = gdp_mu(setting.epsilon, setting.delta) if setting.delta > 0 else setting.epsilon
    twice = 2 if setting.relation is Relation.REPLACE else 1  # an exchange moves a sum twice as far
    return log10(max(1e-12, setting.n * budget / (setting.rows_per_person * twice)))


def _compute_closeness(sizes: Array, size: int) -> Array:
    """1 where a studied size is this one, falling to 0 at its neighbours, on a log scale; shape of ``sizes``."""
    known = np.unique(sizes)
    by_size = [np.interp(np.log(size), np.log(known), row) for row in np.eye(len(known))]
    return np.array(by_size)[np.searchsorted(known, sizes)]


@lru_cache(maxsize=2)
def load_stored_study(*, with_delta: bool) -> SyntheticStudy:
    """The study that ships with the program, for δ = 0 or a usual δ."""
    with (files("dpviz.runs.advice") / "advice_study.csv").open(encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    place = header.index("delta")
    kept = zip(*(line for line in lines if (float(line[place]) > 0) == with_delta), strict=True)
    columns: dict[str, Any] = dict(zip(header, kept, strict=True))
    words = ("family", "algorithm")
    return SyntheticStudy.of(columns | {name: np.array(columns[name], float) for name in header if name not in words})


@lru_cache(maxsize=32)
def _load_study_of(algorithm: str, *, with_delta: bool) -> SyntheticStudy:
    """What one algorithm did in the study that ships with the program: nothing where it did not run as it is set."""
    study = load_stored_study(with_delta=with_delta)
    found = [place for place, name in enumerate(study.algorithms) if name == algorithm]
    names, losses, seconds = (algorithm,) * len(found), study.losses[..., found], study.seconds[..., found]
    return replace(study, algorithms=names, losses=losses, seconds=seconds)


def foresee(
    setting: Setting, *, share: float = 1.0, study: SyntheticStudy | None = None, algorithm: str = ""
) -> Prospects:
    """What is foreseen for such a table at every ε; the ε of ``setting`` is not read. One question is computed once.

    Parameters
    ----------
    setting : Setting
        With a number of rows.
    share : float
        The part of every ε that goes to the centres.
    study : SyntheticStudy or None
        None: the one that is shipped.
    algorithm : str
        The one whose part of that study is read; "" for all.

    Returns
    -------
    Prospects

    Raises
    ------
    RequestError
        If the number of rows is not known.
    """
    if setting.n is None:
        raise RequestError("Advice needs a number of rows: say about how many there are.")
    with_delta = setting.delta > 0
    if study is None:
        of_all = not algorithm
        study = load_stored_study(with_delta=with_delta) if of_all else _load_study_of(algorithm, with_delta=with_delta)
    return _foresee(replace(setting, epsilon=1.0), share, study)


@dataclass(frozen=True, eq=False)
class Prospects:
    """What the study foresees for a table of one size, each algorithm at every ε; answers are kept."""

    setting: Setting
    share: float
    study: SyntheticStudy
    _needed: dict[tuple[str, Target], float] = field(default_factory=dict, repr=False)
    _advised: dict[Target, Advice] = field(default_factory=dict, repr=False)

    @cached_property
    def weights(self) -> Array:
        """How much each synthetic table counts, shape (tables,); those that do not are left out here and below."""
        return self.study.weights(self.setting)[self._used]

    @cached_property
    def _used(self) -> Flags:
        return self.study.weights(self.setting) > 0

    def at(self, epsilon: float) -> Setting:
        """What an algorithm is asked where ``epsilon`` is the whole."""
        return replace(self.setting, epsilon=epsilon * self.share)

    def reaches(self, epsilon: float) -> bool:
        """Whether so small a budget was studied: what is expected of it otherwise is what a larger one gave."""
        return bool(self.study.budgets[0] <= _compute_log_budget(self.at(epsilon)) + 1e-9)

    def interpolate_losses(self, epsilon: float, which: int | slice = slice(None)) -> Array:
        """Logarithms of losses, shape (tables, algorithms), between studied budgets; beyond, the nearest one."""
        budgets = self.study.budgets
        place = np.interp(_compute_log_budget(self.at(epsilon)), budgets, np.arange(len(budgets)))
        low = int(place)
        below, above = (self.study.losses[self._used, end, which] for end in (low, min(low + 1, len(budgets) - 1)))
        return np.asarray(below + (place - low) * (above - below))

    def _find_losses(self, algorithm: str, epsilon: float) -> Array:
        """The same of one algorithm, shape (tables,)."""
        return self.interpolate_losses(epsilon, self.study.algorithms.index(algorithm))

    def compute_share_met(self, algorithm: str, epsilon: float, target: Target) -> float:
        """On which share of the synthetic tables an algorithm keeps to the target's loss."""
        return float(self.weights @ self._find_met(algorithm, epsilon, target))

    def _find_met(self, algorithm: str, epsilon: float, target: Target) -> Array:
        """Where losses keep to the target, shape (tables,); nowhere, if they are those of a larger budget."""
        return np.asarray((self._find_losses(algorithm, epsilon) <= np.log(target.loss)) & self.reaches(epsilon))

    def find_needed(self, algorithm: str, target: Target) -> float:
        """The smallest ε from which on one algorithm meets the target; infinite where it does not up to the largest."""
        if (algorithm, target) not in self._needed:
            # Sums of weights are round but for the last bits.
            self._needed[algorithm, target] = inf
            for epsilon in EPSILONS[::-1]:
                share = self.compute_share_met(algorithm, epsilon, target)
                if share < target.share - 1e-9 or not _can_run(algorithm, self.at(epsilon)):
                    break
                self._needed[algorithm, target] = epsilon
        return self._needed[algorithm, target]

    def list_needed(self, target: Target) -> dict[str, float]:
        """The same of each algorithm."""
        return {name: self.find_needed(name, target) for name in self.study.algorithms}

    def find_least(self, target: Target) -> float:
        """The smallest ε from which on some algorithm meets the target; infinite where none does."""
        return min(self.list_needed(target).values(), default=inf)

    def _list_needed_by_each(self, algorithm: str, target: Target) -> tuple[float, ...]:
        """The smallest ε from which on an algorithm meets the target on each synthetic table, sorted."""
        met = np.array([self._find_met(algorithm, epsilon, target) for epsilon in EPSILONS])
        return tuple(sorted(find_start(EPSILONS, of_one) for of_one in met.T))

    def list_outlooks(self, epsilon: float, target: Target | None = None) -> list[Outlook]:
        """What each algorithm that may run is to be expected to do: the least behind the best one first."""
        losses, names = self.interpolate_losses(epsilon), self.study.algorithms
        able = [place for place, name in enumerate(names) if _can_run(name, self.at(epsilon))]
        if not able:
            return []
        least = losses[:, able].min(axis=1)
        seconds = self.study.seconds[self._used]
        found = []
        for place in able:
            own, times = losses[:, place], seconds[:, :, place]
            held = own - least <= np.log(NEAR) if target is None else self._find_met(names[place], epsilon, target)
            low, median, high = self.find_reached(names[place], epsilon, QUARTILES)
            share, behind = float(self.weights @ held), float(np.exp(self.weights @ (own - least)))
            cost = float(np.nanmedian(times)) if np.isfinite(times).any() else inf
            found.append(Outlook(names[place], epsilon, median, low, high, share, cost, behind))
        return sorted(found, key=lambda outlook: outlook.behind)

    def _find_smallest(self, target: Target) -> Outlook | None:
        """The advised algorithm at the smallest ε of all; of several that need no more, the cheapest of the best."""
        needed, smallest = self.list_needed(target), self.find_least(target)
        if not isfinite(smallest):
            return None
        there = self.list_outlooks(smallest, target)
        return choose_cheapest([outlook for outlook in there if needed[outlook.algorithm] <= smallest])

    def advise(self, target: Target) -> Advice:
        """The cheapest algorithm at the smallest ε from which on it meets ``target``."""
        if target not in self._advised:
            self._advised[target] = self._advise(target)
        return self._advised[target]

    def _advise(self, target: Target) -> Advice:
        best = self._find_smallest(target)
        epsilon = best.epsilon if best else EPSILONS[-1]
        there = self.list_outlooks(epsilon, target) if self.reaches(epsilon) else []
        leading = best or next(iter(there), None)
        n, k = self.setting.n or 0, self.setting.k
        rows, fewer = 3 * n, max(int(self.study.ks.min()), k // 2)  # of fewer clusters nothing was studied
        others = [(f"{rows:,} rows instead of {n:,}", replace(self.setting, n=rows))]
        if fewer < k:
            others.append((f"k = {fewer} instead of {k}", replace(self.setting, k=fewer)))
        again = [(words, foresee(other, share=self.share, study=self.study)) for words, other in others]
        changes = [Change(words, one._find_smallest(target)) for words, one in again]
        larger = next((one for one in EPSILONS if one >= 2.5 * epsilon), None)
        if larger is not None:
            cheapest = choose_cheapest(self.list_outlooks(larger, target))
            changes.append(Change(f"ε = {larger:g} instead of {epsilon:g}", cheapest, asks_epsilon=True))
        return Advice(
            setting=replace(self.setting, epsilon=epsilon),
            target=target,
            best=best,
            each=() if leading is None else self._list_needed_by_each(leading.algorithm, target),
            others=tuple(outlook for outlook in there if best is None or outlook.algorithm != best.algorithm),
            changes=tuple(changes),
            n_tables=len(self.weights),
            beyond=not (self.study.covers(self.setting) and self.reaches(epsilon)),
            share=self.share,
            only=find_card(self.study.algorithms[0]).title if len(self.study.algorithms) == 1 else "",
        )

    def find_reached(self, algorithm: str, epsilon: float, parts: Sequence[float]) -> list[float]:
        """The loss, over that of k-means++, that these parts of the synthetic tables do not exceed."""
        losses = np.exp(self._find_losses(algorithm, epsilon))
        return [find_reached_loss(losses, part, self.weights) for part in parts]

    def list_served(self, algorithm: str, epsilons: Sequence[float] = EPSILONS) -> list[float]:
        """Those of ``epsilons`` at which an algorithm can run and whose budget was studied."""
        if algorithm not in self.study.algorithms:
            return []
        return [one for one in epsilons if self.reaches(one) and _can_run(algorithm, self.at(one))]

    def tabulate(self, algorithms: Sequence[str], epsilons: Sequence[float]) -> pd.DataFrame:
        """What is expected of each algorithm at each ε: a line a synthetic table, with the weight that it counts for.

        There is no line at an ε whose budget is less than any that was studied.
        """
        import pandas as pd  # here, because a run is judged by this file, too, and does not wait for pandas

        lines = [
            (find_card(name).title, name, epsilon, ratio, weight)
            for name in algorithms
            for epsilon in self.list_served(name, epsilons)
            for ratio, weight in zip(np.exp(self._find_losses(name, epsilon)), self.weights, strict=True)
        ]
        return pd.DataFrame(lines, columns=["contender", "algorithm", "epsilon", "ratio", "weight"])


_foresee = lru_cache(maxsize=1024)(Prospects)


def choose_cheapest(there: Sequence[Outlook]) -> Outlook | None:
    """Of what is as good as the first, in the mean and in how often it held, the cheapest."""
    alike = [one for one in there if one.behind <= ALIKE * there[0].behind and one.share >= there[0].share]
    return min(alike, key=lambda outlook: outlook.seconds, default=None)


@lru_cache(maxsize=4096)
def _can_run(algorithm: str, setting: Setting) -> bool:
    """Whether it serves such a request at all, and is not hopeless there; from public quantities alone."""
    card = find_card(algorithm)
    params = card.params()
    try:
        Contender(algorithm).check_budget(setting.epsilon, setting.delta, n=setting.n)
    except RequestError:
        return False
    # Categories make more coordinates than it takes, or drown it.
    crowded = card.most_coded is not None and setting.coded > card.most_coded
    drowned = setting.coded and card.categories is not None and card.categories.level is Level.RED
    if params.refusal(setting.relation) is not None or crowded or drowned:
        return False
    assert setting.n is not None
    # Where a bench told what to expect, a red light means a large loss, not a larger one than that of others.
    if card.expect is not None or card.smallest_n is None:
        return True
    return card.smallest_n(setting, params) * setting.rows_per_person <= setting.n
