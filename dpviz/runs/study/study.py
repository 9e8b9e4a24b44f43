"""Many runs over a grid of algorithms, k, n, δ and ε: a tidy row a run, and medians. Nothing here is a release."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, nan
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from dpviz.algorithms import pack_spheres
from dpviz.core import Accounting, check
from dpviz.runs.clipped_rows import JudgedTable
from dpviz.runs.evaluation import Reference, assign, evaluate, find_reference, label_accuracy, nicv
from dpviz.runs.one_run import Run, run_request
from dpviz.runs.study.grid import StudyGrid, Trial
from dpviz.runs.worker import Progress

# What identifies a line of a study, and what is measured in each run.
KEYS = ("contender", "algorithm", "preset", "k", "n", "epsilon", "delta")
_SCORED = ("nicv", "ratio", "matched_error", "distance_ratio", "ari", "share_gap")
MEASURES = (*_SCORED, "label_accuracy", "seconds")


Row: TypeAlias = dict[str, Any]
"""One run of a study by name: ``KEYS``, "repeat", ``MEASURES``, "spent_epsilon", "trial", and what they rest on."""


@dataclass(frozen=True, eq=False)
class Yardstick:
    """What the losses of one k and n are measured against, on clipped rows; losses per row, unit coordinates squared.

    * ``one_center``, ``data_independent``: losses that take next to no budget: of the rows' mean, and of centres that
      never saw a row (the median of 9 sphere packings).
    * ``clipping``: what the bounds alone cost, beside these losses: how far they move a row, squared; ``moved_share``
      of the rows are moved.
    * ``n``: rows of a subsample; None for the whole table.
    """

    k: int
    reference: Reference
    one_center: float
    data_independent: float
    clipping: float
    moved_share: float
    n: int | None = None


def compute_study_rows(
    whole: JudgedTable,
    grid: StudyGrid,
    *,
    trials: Sequence[Trial] | None = None,
    yardsticks: Collection[Yardstick] = (),
    with_centers: bool = False,
    seconds: float = inf,
) -> Iterator[Progress | Yardstick | Row]:
    """Progress, a ``Yardstick`` for each k and n, and a tidy row for each run, in an order that fills a picture evenly.

    Losses are read from revealed rows: whoever calls has revealed them knowingly. No row is part of a release. Each
    subsample is drawn with (the grid's seed, n) alone, and measured against k-means++ on itself.

    Parameters
    ----------
    whole : JudgedTable
    grid : StudyGrid
    trials : sequence of Trial
        Those of the grid that are wanted; all by default.
    yardsticks : collection of Yardstick
        Those that are known already.
    with_centers : bool
        Adds the centres to each row, unit coordinates, shape (k, d), under "centers"; ``tidy`` leaves them out.
    seconds : float
        No run begins after so many, but the first.

    Yields
    ------
    Progress or Yardstick or Row
        As the study goes on.

    Raises
    ------
    RequestError
        If the request is outside what is allowed; no run has begun then.
    """
    wanted = grid.list_trials() if trials is None else trials
    judged = {n: whole.subsample(n, seed=grid.seed) for n in grid.ns}
    known = {(stick.k, stick.n): stick for stick in yardsticks}
    missing = [(k, n) for n, k in product(judged, grid.ks) if (k, n) not in known]
    total, end = len(wanted) + len(missing), time.monotonic() + seconds
    for place, (k, n) in enumerate(missing):
        yield Progress(place, total, f"k-means++ with k = {k}" + _describe_rows(n))
        known[k, n] = measure_yardstick(judged[n], k, n=n)
        yield known[k, n]
    for place, trial in enumerate(wanted, len(missing)):
        if place > len(missing) and time.monotonic() > end:
            return
        note = f"{trial.contender.label} at ε = {trial.epsilon:g}{_describe_rows(trial.n)}"
        yield Progress(place, total, f"{note}, run {trial.repeat + 1} of {grid.repeats}")
        began = time.perf_counter()
        finished = run_request(grid.make_request(trial), judged[trial.n].private)
        row = _make_row(finished, judged[trial.n], trial, known[trial.k, trial.n], seconds=time.perf_counter() - began)
        yield row | {"centers": finished.unit_centers} if with_centers else row
    yield Progress(total, total, "done")


def compute_yardstick_rows(
    whole: JudgedTable, grid: StudyGrid, points: Sequence[tuple[int, int | None]]
) -> Iterator[Progress | Yardstick]:
    """The yardsticks of some k and n of a grid."""
    for place, (k, n) in enumerate(points):
        yield Progress(place, len(points), f"k-means++ with k = {k}" + _describe_rows(n))
        yield measure_yardstick(whole.subsample(n, seed=grid.seed), k, n=n)


def _describe_rows(n: int | None) -> str:
    return "" if n is None else f", n = {n:,}"


def measure_yardstick(judged: JudgedTable, k: int, *, n: int | None = None) -> Yardstick:
    """What ``k`` centres are measured against; ``n`` says whether these rows are a subsample."""
    rows, points, region = judged.rows, judged.rows.points, judged.private.domain.region
    mean = np.reshape(points.mean(axis=0), (1, -1)) if points.shape[0] else np.zeros((1, region.dim))
    rng = np.random.default_rng(0)
    blind = float(np.median([nicv(points, pack_spheres(k, region, rng)) for _ in range(9)]))
    return Yardstick(k, find_reference(rows, k), nicv(points, mean), blind, rows.clipping, rows.moved_share, n)


def _make_row(finished: Run, judged: JudgedTable, trial: Trial, stick: Yardstick, *, seconds: float) -> Row:
    contender, rows, labels = trial.contender, judged.rows, judged.labels
    centers = finished.unit_centers
    scores = evaluate(rows, centers, stick.reference)
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
        **{measure: getattr(scores, measure) for measure in _SCORED},
        "label_accuracy": label_accuracy(labels, assign(rows.points, centers)) if labels is not None else nan,
        "seconds": seconds,
        "spent_epsilon": finished.spent_epsilon if private else nan,
        "trial": trial.key,
        "nicv_kmeans": stick.reference.nicv,
        "nicv_one_center": stick.one_center,
        "nicv_data_independent": stick.data_independent,
        "clipping": stick.clipping,
    }


def tidy(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The rows of a study as a frame; with no row yet, an empty frame with the same columns.

    The column n is that of a subsample, and empty for the whole table.
    """
    return pd.DataFrame(list(rows), columns=[*KEYS, "repeat", *MEASURES, "spent_epsilon", "trial"])


def summarise(frame: pd.DataFrame, measure: str = "ratio") -> pd.DataFrame:
    """Median and quartiles of ``measure`` over the repeats of each line of a study, and how many runs they rest on.

    Parameters
    ----------
    frame : DataFrame
        A line for each run.
    measure : str
        Name of a column.

    Returns
    -------
    DataFrame with the columns of ``KEYS``, then median, q25, q75 and runs; in the order of first appearance.
    """
    check.one_of(MEASURES, measure=measure)
    lines = []
    for key, group in frame.groupby(list(KEYS), sort=False, dropna=False):
        values = group[measure].to_numpy(dtype=np.float64)
        values = values[~np.isnan(values)]
        q25, median, q75 = _compute_quartiles(values)
        keys = dict(zip(KEYS, key, strict=True))
        lines.append({**keys, "median": median, "q25": q25, "q75": q75, "runs": len(values)})
    return pd.DataFrame(lines, columns=[*KEYS, "median", "q25", "q75", "runs"])


def _compute_quartiles(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float, float, float]:
    """Quartiles that stay defined when some runs are infinitely worse than a reference of loss 0."""
    if len(values) == 0:
        return nan, nan, nan
    ordered = np.sort(values)
    quartiles = []
    for part in (0.25, 0.5, 0.75):
        place = part * (len(ordered) - 1)
        low, high = ordered[int(np.floor(place))], ordered[int(np.ceil(place))]
        quartiles.append(float(low if low == high else low + (high - low) * (place % 1)))
    return quartiles[0], quartiles[1], quartiles[2]
