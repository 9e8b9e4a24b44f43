"""Many runs over a grid of algorithms, k, n, δ and ε: a tidy row a run, and medians. Nothing here is a release."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from dpviz import check
from dpviz.algorithms.card import Card
from dpviz.algorithms.registry import card_of
from dpviz.arrays import Codes
from dpviz.privacy.accounting import Accounting
from dpviz.privacy.room import PrivateTable, Revealed
from dpviz.runs.evaluation import Reference, assign, baselines, evaluate, label_accuracy, reference_for
from dpviz.runs.request import check_budget, check_request
from dpviz.runs.run import Run, run
from dpviz.runs.study.subsample import JudgedTable
from dpviz.runs.worker import Progress

# What identifies a line of a study, and what is measured in each run.
KEYS = ("contender", "algorithm", "preset", "k", "n", "epsilon", "delta")
MEASURES = ("nicv", "ratio", "matched_error", "distance_ratio", "ari", "share_gap", "label_accuracy", "seconds")


@dataclass(frozen=True)
class Contender:
    """An algorithm with its parameters; those that are not given keep their defaults."""

    algorithm: str
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def card(self) -> Card:
        return card_of(self.algorithm)

    @property
    def preset(self) -> str:
        """The preset by name, or "" for an algorithm without presets."""
        return str(getattr(self.card.params.parse(self.params), "preset", ""))

    @property
    def label(self) -> str:
        """The title, with whatever differs from the defaults."""
        card, changed = self.card, []
        for knob in card.params.knobs():
            value = self.params.get(knob.name, knob.default)
            if value != knob.default:
                changed.append(str(value) if knob.name == "preset" else f"{knob.name} = {value}")
        return f"{card.title} ({', '.join(changed)})" if changed else card.title


@dataclass(frozen=True)
class Trial:
    """One run of a study: its place in the grid, which alone decides its seed.

    ``n`` is the size of the subsample that it runs on; None means the whole table.
    """

    contender: Contender
    k: int
    epsilon: float
    delta: float
    repeat: int
    n: int | None = None

    @property
    def key(self) -> str:
        """The same text for the same trial in every process: what a resumed study looks up."""
        parameters = json.dumps(dict(self.contender.params), sort_keys=True, default=str)
        place = f"{self.k} {self.epsilon!r} {self.delta!r} {self.repeat}" + f" n={self.n}" * (self.n is not None)
        return f"{self.contender.algorithm} {parameters} {place}"

    def seed(self, study_seed: int) -> int:
        """A seed of this trial's own, whatever else the study contains."""
        mixed = np.random.SeedSequence((study_seed, zlib.crc32(self.key.encode()), self.repeat))
        return int(mixed.generate_state(1, np.uint64)[0])


@dataclass(frozen=True, eq=False)
class Yardstick:
    """What the losses of one k and n are measured against, on clipped rows; losses per row, unit coordinates squared.

    ``clipping`` is what the bounds alone cost, beside these losses. ``n`` is None for the whole table.
    """

    k: int
    reference: Reference
    one_center: float
    data_independent: float
    clipping: float
    n: int | None = None


def trials(
    contenders: Sequence[Contender],
    ks: Sequence[int],
    epsilons: Sequence[float],
    *,
    delta: float | Sequence[float],
    repeats: int,
    ns: Sequence[int | None] = (None,),
) -> list[Trial]:
    """The whole grid, every point once before any point a second time, so that a picture fills evenly.

    Raises
    ------
    RequestError
        If a number is outside its range, or an algorithm cannot run at a δ.
    """
    deltas = _deltas(delta)
    check.at_least(1, number_of_algorithms=len(contenders), number_of_epsilons=len(epsilons))
    check.repeats(repeats=repeats)
    check.at_least(1, number_of_deltas=len(deltas), number_of_sizes=len(ns))
    for k, n in product(ks, ns):
        check.clusters(k=k)
        check.records(n=k if n is None else n)
        if n is not None and k > n:
            raise check.RequestError(f"k is {k} but n is {n:,}: ask for at most as many clusters as rows.")
    for each in deltas:
        check.delta_for(None, delta=each)
    for contender, k in product(contenders, ks):
        if contender.card.params.parse(contender.params).points_per_row(k) > 1:
            raise check.RequestError(
                f"A study judges centres of rows, and {contender.label} reads {k} points from each row: run it by "
                "itself instead (Explore, or `dpviz run`)."
            )
    for contender, epsilon, each in product(contenders, epsilons, deltas):
        check_budget(contender.card, contender.card.params.parse(contender.params), epsilon=epsilon, delta=each)
    return [
        Trial(contender, k, epsilon, each, repeat, n)
        for repeat, n, k, each, (place, epsilon), contender in product(
            range(repeats), ns, ks, deltas, enumerate(epsilons), contenders
        )
        # Without privacy there is no ε, and under pure privacy no δ: once is enough.
        if (contender.card.private or place == 0) and _first_of_its_kind(contender, each, deltas)
    ]


def _deltas(delta: float | Sequence[float]) -> Sequence[float]:
    return delta if isinstance(delta, Sequence) else (delta,)


def _first_of_its_kind(contender: Contender, delta: float, deltas: Sequence[float]) -> bool:
    """Whether ``contender`` uses this δ, or uses none of them and this is the first that it would not use."""
    card, params = contender.card, contender.card.params.parse(contender.params)
    unused = [each for each in deltas if card.accounting(params, each) in (Accounting.PURE, Accounting.NONE)]
    return delta not in unused or delta == unused[0]


def refusals(
    contenders: Sequence[Contender],
    table: PrivateTable,
    ks: Sequence[int],
    epsilons: Sequence[float],
    *,
    delta: float | Sequence[float],
    ns: Sequence[int | None] = (None,),
) -> dict[str, str]:
    """Of each contender, by label, the first reason why it cannot serve all of the grid; empty if all of them can."""
    found: dict[str, str] = {}
    for contender, k, epsilon, each, n in product(contenders, ks, epsilons, _deltas(delta), ns):
        try:
            if n is not None and table.n_public is not None and n > table.n_public:
                raise check.RequestError(f"n is {n:,} of {table.n_public:,} records: ask for a smaller subsample.")
            check_request(contender.card, table, k=k, epsilon=epsilon, delta=each, params=contender.params)
        except check.RequestError as error:
            found.setdefault(contender.label, str(error))
    return found


def study_rows(
    table: PrivateTable,
    revealed: Revealed,
    contenders: Sequence[Contender],
    ks: Sequence[int],
    epsilons: Sequence[float],
    *,
    delta: float | Sequence[float] = 0.0,
    repeats: int = 10,
    seed: int = 0,
    ns: Sequence[int | None] = (None,),
    labels: Codes | None = None,
    references: Mapping[tuple[int, int | None], Reference] | None = None,
    done: Collection[str] = (),
    with_centers: bool = False,
) -> Iterator[Progress | Yardstick | dict[str, Any]]:
    """Progress, a ``Yardstick`` for each k and n, and a tidy row for each run, in an order that fills a picture evenly.

    Losses are read from ``revealed`` rows, moved into the bounds first: whoever calls has revealed them knowingly.
    No row is part of a release.

    Parameters
    ----------
    delta : float or sequence of float
        Several are a dimension of the grid; an algorithm of pure privacy runs at the first only.
    ns : sequence of int or None
        Rows of subsamples, each drawn with (``seed``, n) alone and measured against k-means++ on itself; None means
        the whole table.
    labels : int array of shape (number of revealed rows,)
        Known groups, for the label accuracy.
    references : mapping of (k, n) to Reference
        Where they are known already.
    done : collection of str
        Keys of trials that need not be repeated.
    with_centers : bool
        Adds the centres to each row, unit coordinates, shape (k, d), under "centers"; ``tidy`` leaves them out.

    Raises
    ------
    RequestError
        If the request is outside what is allowed; nothing has been read then.
    """
    left_out = frozenset(done)
    grid = trials(contenders, ks, epsilons, delta=delta, repeats=repeats, ns=ns)
    todo = [trial for trial in grid if trial.key not in left_out]
    whole = JudgedTable.of(table, revealed, labels)
    judged = {n: whole.subsample(n, seed=seed) for n in ns}
    total = len(todo) + len(ks) * len(judged)
    yardsticks: dict[tuple[int, int | None], Yardstick] = {}
    for n, k in product(judged, ks):
        yield Progress(len(yardsticks), total, f"k-means++ with k = {k}" + _in_words(n))
        yardsticks[k, n] = yardstick(judged[n], k, n=n, known=(references or {}).get((k, n)))
        yield yardsticks[k, n]
    for place, trial in enumerate(todo):
        note = f"{trial.contender.label} at ε = {trial.epsilon:g}{_in_words(trial.n)}"
        yield Progress(len(yardsticks) + place, total, f"{note}, run {trial.repeat + 1} of {repeats}")
        began = time.perf_counter()
        finished = _run(judged[trial.n].private, trial, study_seed=seed)
        seconds = time.perf_counter() - began
        row = _row(finished, judged[trial.n], trial, yardsticks[trial.k, trial.n].reference, seconds=seconds)
        yield row | {"centers": finished.unit_centers} if with_centers else row
    yield Progress(total, total, "done")


def _in_words(n: int | None) -> str:
    return "" if n is None else f", n = {n:,}"


def yardstick(judged: JudgedTable, k: int, *, n: int | None = None, known: Reference | None = None) -> Yardstick:
    """The reference and the baselines for ``k`` clusters; ``n`` says whether these rows are a subsample."""
    base = baselines(judged.rows, judged.private.domain.region, k)
    reference = known or reference_for(judged.rows, k)
    return Yardstick(k, reference, base.one_center, base.data_independent, judged.rows.clipping, n)


def _run(table: PrivateTable, trial: Trial, *, study_seed: int) -> Run:
    contender = trial.contender
    return run(
        contender.card,
        table,
        k=trial.k,
        epsilon=trial.epsilon,
        delta=trial.delta,
        params=contender.params,
        seed=trial.seed(study_seed),
    )


def _row(finished: Run, judged: JudgedTable, trial: Trial, reference: Reference, *, seconds: float) -> dict[str, Any]:
    contender, rows, labels = trial.contender, judged.rows, judged.labels
    centers = finished.unit_centers
    scores = evaluate(rows, centers, reference)
    private = finished.accounting is not Accounting.NONE
    return {
        "contender": contender.label,
        "algorithm": contender.algorithm,
        "preset": contender.preset,
        "k": trial.k,
        "n": nan if trial.n is None else trial.n,
        "epsilon": trial.epsilon if private else nan,
        "delta": finished.delta,
        "repeat": trial.repeat,
        "nicv": scores.nicv,
        "ratio": scores.ratio,
        "matched_error": scores.matched_error,
        "distance_ratio": scores.distance_ratio,
        "ari": scores.ari,
        "share_gap": scores.share_gap,
        "label_accuracy": label_accuracy(labels, assign(rows.points, centers)) if labels is not None else nan,
        "seconds": seconds,
        "spent_epsilon": finished.spent_epsilon if private else nan,
        "trial": trial.key,
    }


def tidy(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The rows of a study as a frame; with no row yet, an empty frame with the same columns.

    The column n is that of a subsample, and empty for the whole table.
    """
    columns = [*KEYS, "repeat", *MEASURES, "spent_epsilon", "trial"]
    return pd.DataFrame(list(rows), columns=columns)


def summarise(frame: pd.DataFrame, measure: str = "ratio") -> pd.DataFrame:
    """Median and quartiles of ``measure`` over the repeats of each line of a study, and how many runs they rest on.

    Returns
    -------
    DataFrame with the columns of ``KEYS``, then median, q25, q75 and runs; in the order of first appearance.
    """
    check.one_of(MEASURES, measure=measure)
    lines = []
    for key, group in frame.groupby(list(KEYS), sort=False, dropna=False):
        values = group[measure].to_numpy(dtype=np.float64)
        values = values[~np.isnan(values)]
        q25, median, q75 = _quartiles(values)
        lines.append(
            {**dict(zip(KEYS, key, strict=True)), "median": median, "q25": q25, "q75": q75, "runs": len(values)}
        )
    return pd.DataFrame(lines, columns=[*KEYS, "median", "q25", "q75", "runs"])


def _quartiles(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float, float, float]:
    """Quartiles that stay defined when some runs are infinitely worse than a reference of loss 0."""
    if len(values) == 0:
        return nan, nan, nan
    ordered = np.sort(values)
    found = []
    for part in (0.25, 0.5, 0.75):
        place = part * (len(ordered) - 1)
        low, high = ordered[int(np.floor(place))], ordered[int(np.ceil(place))]
        found.append(float(low if low == high else low + (high - low) * (place % 1)))
    return found[0], found[1], found[2]
