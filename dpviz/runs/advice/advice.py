"""Which algorithm, and the smallest ε, for a table's n, d and k: from a stored study of generated tables alone.

The study (``advice_study.csv``, made by ``benchmarks/advice.py``) ran every private algorithm that is not hopeless on
synthetic tables of a few sizes. Between its sizes the synthetic tables are weighed by their closeness in d and k; rows
and budget count together, as n·ε (n·μ with a δ), for a loss hardly depends on more than their product. An ε whose
budget is less than any that was studied is not advised. No row is read here.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from math import inf, isfinite, log10
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpviz.algorithms import Card, Setting, find_card, regime
from dpviz.core import Array, Relation, RequestError, gdp_mu
from dpviz.runs.advice.target import Target, find_start
from dpviz.runs.request import Contender
from dpviz.words import round_percent

if TYPE_CHECKING:
    import pandas as pd


EPSILONS = (
    *(0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7),
    *(1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0),
)
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

    Parameters
    ----------
    setting : Setting
        The question; its ε is the advised one, or the largest one tried.
    target : Target
    best : Outlook or None
        The cheapest algorithm at the smallest ε from which on it meets the target; None if none does up to ε = 10.
    each : tuple of float
        The ε that the ``leading`` algorithm needs on each synthetic table, the least first; infinite where none will
        do.
    others : tuple of Outlook
        The other algorithms at that ε, the best of them first.
    changes : tuple of Change
        What would change the answer.
    n_tables : int
        How many synthetic tables it rests on.
    beyond : bool
        Whether the question lies outside the sizes that were studied; then the nearest of them answered.
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

    def describe_certainty(self) -> str:
        """On how many made-up tables that held, and how far they lie apart."""
        outlook = self.leading
        if outlook is None:
            return "No algorithm can serve this request, or none was tried on so few rows."
        tables = f"{self.n_tables} made-up tables of about this size"
        low, high = regime.format_apart(outlook.low, outlook.high)
        spread = f"half of them lie between {low} and {high} ×"
        if self.best is None:
            return (
                f"The nearest is {_format_title(outlook)} at ε = {outlook.epsilon:g}: it got there on "
                f"{round_percent(outlook.share)} of {tables}; {spread}."
            )
        beyond = " Your sizes lie beyond those that were studied: the nearest of them answered." if self.beyond else ""
        return f"At ε = {outlook.epsilon:g} it held on {round_percent(outlook.share)} of {tables}; {spread}.{beyond}"

    def list_alternatives(self) -> list[str]:
        """What else would do at this ε: what is as good and cheaper, and what is better."""
        best, sentences = self.best, []
        for other in self.others if best is not None else ():
            assert best is not None
            if other.share < self.target.share - 1e-9:
                continue
            if other.behind * _SLIGHTLY <= best.behind:
                why = "loses less ({} × against {} ×)".format(*regime.format_apart(other.median, best.median))
            elif other.behind <= _SLIGHTLY * best.behind:
                why = f"does as well ({regime.format_apart(other.median)[0]} ×)"
            elif other.seconds * _MUCH_CHEAPER <= best.seconds:
                why = f"loses more ({regime.format_apart(other.median)[0]} ×), in a fraction of the computing time"
            else:
                continue
            sentences.append(f"{_format_title(other)} {why}; it held on {round_percent(other.share)}.")
        return sentences

    def list_changes(self) -> list[str]:
        """What would change the answer, a sentence each."""
        return [_describe_change(change, self) for change in self.changes]


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

    def interpolate_losses(self, setting: Setting) -> Array:
        """Logarithms of losses, shape (synthetic tables, algorithms), between studied budgets; beyond, the nearest
        one."""
        place = np.interp(_compute_log_budget(setting), self.budgets, np.arange(len(self.budgets)))
        low = int(place)
        high = min(low + 1, len(self.budgets) - 1)
        between: Array = self.losses[:, low] + (place - low) * (self.losses[:, high] - self.losses[:, low])
        return between

    def reaches(self, setting: Setting) -> bool:
        """Whether so small a budget was studied: what is expected of it otherwise is what a larger one gave."""
        return bool(self.budgets[0] <= _compute_log_budget(setting) + 1e-9)

    def covers(self, setting: Setting) -> bool:
        """Whether d, k and the budget lie within what was studied."""
        inside = (
            self.dims.min() <= setting.dim <= self.dims.max(),
            self.ks.min() <= setting.k <= self.ks.max(),
            self.reaches(setting),
        )
        return all(inside)


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
    close: Array = np.array(by_size)[np.searchsorted(known, sizes)]
    return close


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


def list_outlooks(
    setting: Setting, *, target: Target | None = None, study: SyntheticStudy | None = None
) -> list[Outlook]:
    """What each algorithm that may run is to be expected to do at ``setting``: the least behind the best one first."""
    _refuse_without_rows(setting)
    study = study or load_stored_study(with_delta=setting.delta > 0)
    weights, losses = study.weights(setting), study.interpolate_losses(setting)
    used = weights > 0
    weights, losses = weights[used], losses[used]
    able = [place for place, name in enumerate(study.algorithms) if _can_run(name, setting)]
    least = losses[:, able].min(axis=1) if able else np.zeros(len(losses))
    there = []
    for place in able:
        own, seconds = losses[:, place], study.seconds[used, :, place]
        held = own - least <= np.log(NEAR) if target is None else _find_met(own, target, study.reaches(setting))
        low, median, high = np.exp(_compute_weighted_quantiles(own, weights, (0.25, 0.5, 0.75)))
        there.append(
            Outlook(
                study.algorithms[place],
                setting.epsilon,
                float(median),
                float(low),
                float(high),
                float(weights @ held),
                float(np.nanmedian(seconds)) if np.isfinite(seconds).any() else float("inf"),
                float(np.exp(weights @ (own - least))),
            )
        )
    return sorted(there, key=lambda outlook: outlook.behind)


def find_best(setting: Setting, *, study: SyntheticStudy | None = None) -> Outlook | None:
    """The algorithm to take at a given ε: of those that are alike the cheapest; None if none can run."""
    return _choose_cheapest(list_outlooks(setting, study=study))


def make_advice(setting: Setting, *, target: Target, study: SyntheticStudy | None = None) -> Advice:
    """The cheapest algorithm at the smallest ε from which on it meets ``target``; the ε of ``setting`` is not read."""
    study = study or load_stored_study(with_delta=setting.delta > 0)
    best = _find_smallest(setting, target, study)
    at = replace(setting, epsilon=best.epsilon if best else EPSILONS[-1])
    there = list_outlooks(at, target=target, study=study) if study.reaches(at) else []
    leading = best or next(iter(there), None)
    return Advice(
        setting=at,
        target=target,
        best=best,
        each=() if leading is None else _find_needed_by_each(leading.algorithm, at, target, study),
        others=tuple(outlook for outlook in there if best is None or outlook.algorithm != best.algorithm),
        changes=tuple(_list_changes(at, target, study)),
        n_tables=int(np.count_nonzero(study.weights(setting))),
        beyond=not study.covers(at),
    )


def find_needed_epsilons(setting: Setting, target: Target, *, study: SyntheticStudy | None = None) -> dict[str, float]:
    """The smallest ε from which on each algorithm meets the target; infinite where it does not up to the largest."""
    study = study or load_stored_study(with_delta=setting.delta > 0)
    return {name: find_needed_epsilon(name, setting, target, study=study) for name in study.algorithms}


def find_needed_epsilon(
    algorithm: str, setting: Setting, target: Target, *, study: SyntheticStudy | None = None
) -> float:
    """The smallest ε from which on one algorithm meets the target; infinite where it does not up to the largest."""
    _refuse_without_rows(setting)
    study = study or load_stored_study(with_delta=setting.delta > 0)
    weights, place = study.weights(setting), study.algorithms.index(algorithm)

    def met(epsilon: float) -> bool:
        at = replace(setting, epsilon=epsilon)
        share = float(weights @ _find_met(study.interpolate_losses(at)[:, place], target, study.reaches(at)))
        # Sums of weights are round but for the last bits.
        return share >= target.share - 1e-9 and _can_run(algorithm, at)

    return find_start(EPSILONS, [met(epsilon) for epsilon in EPSILONS])


def compute_share_met(
    algorithm: str, setting: Setting, target: Target, *, study: SyntheticStudy | None = None
) -> float:
    """On which share of the synthetic tables an algorithm keeps to the target's loss at the ε of ``setting``."""
    study = study or load_stored_study(with_delta=setting.delta > 0)
    place = study.algorithms.index(algorithm)
    return float(
        study.weights(setting) @ _find_met(study.interpolate_losses(setting)[:, place], target, study.reaches(setting))
    )


def forecast_rows(
    setting: Setting, algorithms: Sequence[str], epsilons: Sequence[float], *, study: SyntheticStudy | None = None
) -> pd.DataFrame:
    """What the study expects of each algorithm at each ε: a line a synthetic table, with the weight that it counts for.

    There is no line at an ε whose budget is less than any that was studied.

    Parameters
    ----------
    setting : Setting
        Public quantities of the request.
    algorithms : sequence of str
        Ids.
    epsilons : sequence of float
        Each of them.
    study : SyntheticStudy or None
        The stored study; None: the one that is shipped.

    Returns
    -------
    DataFrame
        A line for each synthetic table.
    """
    import pandas as pd  # here, because a run is judged by this file, too, and does not wait for pandas

    study = study or load_stored_study(with_delta=setting.delta > 0)
    weights = study.weights(setting)
    used = np.flatnonzero(weights > 0)
    parts = []
    for at in filter(study.reaches, (replace(setting, epsilon=epsilon) for epsilon in epsilons)):
        losses = np.exp(study.interpolate_losses(at))
        for name in (name for name in algorithms if name in study.algorithms and _can_run(name, at)):
            own = losses[used, study.algorithms.index(name)]
            named = {"contender": find_card(name).title, "algorithm": name, "epsilon": at.epsilon}
            parts.append(pd.DataFrame({**named, "ratio": own, "weight": weights[used]}))
    columns = ["contender", "algorithm", "epsilon", "ratio", "weight"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def _find_smallest(setting: Setting, target: Target, study: SyntheticStudy) -> Outlook | None:
    """The advised algorithm at the smallest ε of all; of several that need no more, the cheapest of the best."""
    epsilons = find_needed_epsilons(setting, target, study=study)
    smallest = min(epsilons.values(), default=inf)
    if not isfinite(smallest):
        return None
    there = list_outlooks(replace(setting, epsilon=smallest), target=target, study=study)
    return _choose_cheapest([outlook for outlook in there if epsilons[outlook.algorithm] <= smallest])


def _refuse_without_rows(setting: Setting) -> None:
    if setting.n is None:
        raise RequestError("Advice needs a number of rows: say about how many there are.")


def _find_met(losses: Array, target: Target, studied: bool) -> Array:
    """Where logarithms of losses keep to the target; nowhere, if they are those of a larger budget."""
    met: Array = (losses <= np.log(target.loss)) & studied
    return met


def _find_needed_by_each(algorithm: str, setting: Setting, target: Target, study: SyntheticStudy) -> tuple[float, ...]:
    """The smallest ε from which on an algorithm meets the target on each synthetic table that counts, sorted."""
    used, place = study.weights(setting) > 0, study.algorithms.index(algorithm)
    each = [replace(setting, epsilon=epsilon) for epsilon in EPSILONS]
    met = np.array([_find_met(study.interpolate_losses(at)[used, place], target, study.reaches(at)) for at in each])
    return tuple(sorted(find_start(EPSILONS, of_one) for of_one in met.T))


def _choose_cheapest(there: Sequence[Outlook]) -> Outlook | None:
    """Of what is as good as the first, in the mean and in how often it held, the cheapest."""
    alike = [one for one in there if one.behind <= ALIKE * there[0].behind and one.share >= there[0].share]
    return min(alike, key=lambda outlook: outlook.seconds, default=None)


def _list_changes(setting: Setting, target: Target, study: SyntheticStudy) -> list[Change]:
    """The same question with more rows, with fewer clusters, and what a larger ε would give."""
    assert setting.n is not None
    rows, fewer = 3 * setting.n, max(1, setting.k // 2)
    others = [(f"{rows:,} rows instead of {setting.n:,}", replace(setting, n=rows))]
    if fewer < setting.k:
        others.append((f"k = {fewer} instead of {setting.k}", replace(setting, k=fewer)))
    changes = [Change(words, _find_smallest(other, target, study)) for words, other in others]
    larger = next((epsilon for epsilon in EPSILONS if epsilon >= 2.5 * setting.epsilon), None)
    if larger is not None:
        there = list_outlooks(replace(setting, epsilon=larger), target=target, study=study)
        words = f"ε = {larger:g} instead of {setting.epsilon:g}"
        changes.append(Change(words, _choose_cheapest(there), asks_epsilon=True))
    return changes


@lru_cache(maxsize=4096)
def _can_run(algorithm: str, setting: Setting) -> bool:
    """Whether it serves such a request at all, and is not hopeless there; from public quantities alone."""
    card = find_card(algorithm)
    params = card.params()
    try:
        Contender(algorithm).check_budget(setting.epsilon, setting.delta, n=setting.n)
    except RequestError:
        return False
    if params.refusal(setting.relation) is not None or not _takes_categories(card, setting):
        return False
    assert setting.n is not None
    # Where a bench told what to expect, a red light means a large loss, not a larger one than that of others.
    return (
        card.expect is not None
        or card.smallest_n is None
        or card.smallest_n(setting, params) * setting.rows_per_person <= setting.n
    )


def _takes_categories(card: Card, setting: Setting) -> bool:
    """Whether it runs where categories make so many coordinates, and is not drowned by them."""
    if card.most_coded is not None and setting.coded > card.most_coded:
        return False
    return not setting.coded or card.categories is None or card.categories.level is not regime.Level.RED


def _compute_weighted_quantiles(values: Array, weights: Array, parts: Sequence[float]) -> Array:
    """The smallest values that at least these parts of the weight do not exceed."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    places = np.minimum(np.searchsorted(reached, np.array(parts) - 1e-12), len(values) - 1)
    reached_at: Array = values[order][places]
    return reached_at


def _describe_change(change: Change, advice: Advice) -> str:
    """What another request would lead to, in a sentence."""
    outlook = change.outlook
    if outlook is None:
        return f"With {change.words} it would still be out of reach."
    if change.asks_epsilon:
        (median,) = regime.format_apart(outlook.median)
        return f"With {change.words}, expect {median} × the loss of k-means++ ({_format_title(outlook)})."
    if advice.best is None or outlook.epsilon < advice.best.epsilon:
        return f"With {change.words}, ε = {outlook.epsilon:g} would do ({_format_title(outlook)})."
    still = "still " * (outlook.epsilon == advice.best.epsilon)
    return f"With {change.words}, ε = {outlook.epsilon:g} would {still}be needed ({_format_title(outlook)})."


def _format_title(outlook: Outlook) -> str:
    return find_card(outlook.algorithm).title
