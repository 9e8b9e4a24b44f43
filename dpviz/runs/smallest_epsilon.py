"""The smallest ε that is good enough: from the runs of a study, with its uncertainty, and sharpened by bisection.

What is good enough is said in one place (``runs.advice.target``). The ε that would do may lie between the answer and
the ε tried below it, so the interval holds both; and whichever two ε resampled runs would have found, of which a
monotone regression makes a curve that falls with ε. Nothing here is a release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd

from dpviz.core import Array
from dpviz.runs.advice.advice import Target
from dpviz.runs.clipped_rows import JudgedTable
from dpviz.runs.study.grid import StudyGrid
from dpviz.runs.study.study import Yardstick, compute_study_rows, tidy
from dpviz.runs.worker import Progress
from dpviz.words import render

# Ends of the interval that holds nine in ten of the resampled answers; docs/findings.md says how often it held.
_INTERVAL = (0.05, 0.95)
# Losses that are infinitely worse than a reference of loss 0 are merely very bad, so that they can be averaged.
_VERY_BAD = 1e9
# An interval this narrow is sharp enough: its ends are said to two digits.
_SHARP = 1.15


@dataclass(frozen=True)
class SmallestEpsilon:
    """The least ε tried from which on a target is met, and between which two it lies in nine of ten resamplings.

    * ``epsilon``, ``low``, ``high``: infinite where the target is not reached within what was tried.
    * ``lowest``, ``highest``: the range of ε that was tried; an answer at ``lowest`` means that or less.
    * ``runs``: of all ε together.
    * ``typical``: the median loss at the answer.
    """

    contender: str
    epsilon: float
    low: float
    high: float
    lowest: float
    highest: float
    runs: int
    typical: float = nan

    @property
    def reached(self) -> bool:
        """Whether the target is met at some ε that was tried."""
        return isfinite(self.epsilon)

    @property
    def sharp(self) -> bool:
        """Whether trying more ε would bring little."""
        return isfinite(self.high) and self.high <= _SHARP * self.low

    @property
    def text(self) -> str:
        """The answer with its uncertainty, in words."""
        return render("smallest_epsilon.txt.j2", found=self, finite=isfinite).strip()

    @staticmethod
    def find_all(frame: pd.DataFrame, target: Target) -> list[SmallestEpsilon]:
        """The answer for each contender of a tidy study of one k and n: the smallest ε first, then the least loss."""
        groups = frame.groupby("contender", sort=False)
        answers = [_find_answer(str(name), runs, target) for name, runs in groups if runs["epsilon"].notna().any()]
        return sorted(answers, key=lambda answer: (answer.epsilon, answer.typical, answer.low))


def find_crossing(epsilons: Array, losses: Array, target: float) -> float:
    """The ε at which falling ``losses`` (m,) at ascending ``epsilons`` (m,) come down to ``target``.

    The first ε where they begin below it; infinite where they stay above.

    Parameters
    ----------
    epsilons : array of shape (m,)
        Ascending.
    losses : array of shape (m,)
        Falling.
    target : float
        In the units of the losses.

    Returns
    -------
    float
        An ε.
    """
    return float(_find_crossings(epsilons, np.minimum(losses, _VERY_BAD)[None], target)[0])


def sharpen_rows(
    judged: JudgedTable,
    grid: StudyGrid,
    rows: Sequence[Mapping[str, Any]],
    target: Target,
    *,
    yardstick: Yardstick,
    rounds: int = 5,
) -> Iterator[Progress | dict[str, Any]]:
    """Bisection on the logarithmic axis: more rows of the study, each time in the middle of where the answer may lie.

    ``grid`` says for whom, at which k and δ, and how many runs a round takes; ``rows`` are those of the study so far,
    and ``yardstick`` is what they were measured against. Ends early where the answer is sharp, or out of reach.

    Parameters
    ----------
    judged : JudgedTable
    grid : StudyGrid
    rows : sequence of mapping of str to object
        Of the study so far.
    target : Target
        What is good enough.
    yardstick : Yardstick
        What they were measured against.
    rounds : int
        At most so many.

    Yields
    ------
    Progress or mapping of str to object
        How far it is, and new rows.
    """
    (contender,) = grid.contenders
    known = list(rows)
    for done in range(rounds):
        answer = _find_answer(contender.label, tidy(known).query("contender == @contender.label"), target)
        epsilon = _choose_next(answer, sorted({float(row["epsilon"]) for row in known}))
        if epsilon is None:
            break
        for item in compute_study_rows(judged, replace(grid, epsilons=(epsilon,)), yardsticks=[yardstick]):
            if isinstance(item, Progress):
                part = item.done / max(1, item.total)
                yield Progress(round(1000 * (done + part)), 1000 * rounds, f"ε = {epsilon:.3g}")
            elif not isinstance(item, Yardstick):
                known.append(item)
                yield item


def _find_answer(name: str, runs: pd.DataFrame, target: Target) -> SmallestEpsilon:
    by_epsilon = {float(str(e)): g["ratio"].to_numpy(np.float64) for e, g in runs.groupby("epsilon")}
    by_epsilon = {e: np.minimum(losses[~np.isnan(losses)], _VERY_BAD) for e, losses in by_epsilon.items()}
    by_epsilon = {e: losses for e, losses in by_epsilon.items() if len(losses)}
    epsilons = np.array(sorted(by_epsilon))
    losses = [by_epsilon[epsilon] for epsilon in epsilons]
    best = target.find_least(by_epsilon)
    rng = np.random.default_rng(0)
    drawn = np.column_stack([_resample(runs, target.share, rng) for runs in losses])
    # The tried ε below and above each crossing; the lowest for what begins below the target, else infinite.
    place = np.searchsorted(epsilons, np.r_[best, _find_crossings(epsilons, drawn, target.loss)] * (1 - 1e-12))
    known = np.r_[epsilons, inf]
    below, above = np.where(place == len(epsilons), inf, known[np.maximum(place - 1, 0)]), known[place]
    low = min(below[0], float(np.quantile(below, _INTERVAL[0], method="nearest")))
    high = max(above[0], float(np.quantile(above, _INTERVAL[1], method="nearest")))
    return SmallestEpsilon(
        *(name, best, float(low), float(high)),
        *(float(epsilons[0]), float(epsilons[-1]), sum(map(len, losses))),
        typical=float(np.median(by_epsilon[best])) if isfinite(best) else nan,
    )


def _resample(losses: Array, share: float, rng: np.random.Generator) -> Array:
    """Quantiles of resamples, each one run smaller than the sample (Rao & Wu 1988): of few, all that vary enough."""
    size = max(1, len(losses) - 1)
    quantiles: Array = np.quantile(rng.choice(losses, (500, size)), share, axis=1, method="inverted_cdf")
    return quantiles


def _find_crossings(epsilons: Array, curves: Array, target: float) -> Array:
    """For each of ``curves`` (b, m), made to fall, the ε at which it crosses ``target``; infinite if it does not."""
    falling = _make_falling(np.log(np.maximum(curves, 1e-300)))
    wanted = np.log(max(target, 1e-300))
    met = falling <= wanted
    first = met.argmax(axis=1)
    line, before = np.arange(len(curves)), np.maximum(first - 1, 0)
    above, below = falling[line, before] - wanted, wanted - falling[line, first]
    drop = above + below
    part = np.divide(above, drop, out=np.ones(len(curves)), where=drop > 0)
    logs = np.log(epsilons)
    crossed = np.exp(logs[before] + part * (logs[first] - logs[before]))
    return np.where(met.any(axis=1), np.where(first == 0, epsilons[0], crossed), inf)


def _make_falling(curves: Array) -> Array:
    """The nearest curves in least squares that never rise, each of shape (m,): the max-min formula."""
    b, m = curves.shape
    sums = np.concatenate([np.zeros((b, 1)), curves.cumsum(axis=1)], axis=1)
    first, last = np.indices((m, m))
    length = np.maximum(last - first + 1, 1)
    means = np.where(last >= first, (sums[:, 1:][:, last] - sums[:, :-1][:, first]) / length, -inf)
    # The largest mean from a to some end at or beyond i, and of these the least over all a up to i.
    reaching = np.maximum.accumulate(means[:, :, ::-1], axis=2)[:, :, ::-1]
    fitted: Array = np.where(first <= last, reaching, inf).min(axis=1)
    return fitted


def _choose_next(answer: SmallestEpsilon, tried: Sequence[float]) -> float | None:
    """The ε to try next: in the middle between the two tried ones around the answer; None where that brings nothing."""
    if not answer.reached or answer.sharp or answer.epsilon <= answer.lowest:
        return None
    above = min(e for e in tried if e >= answer.epsilon * (1 - 1e-12))
    below = max(e for e in tried if e < above)
    if above / below < sqrt(_SHARP):
        # As close as it gets on this side: the rest of the interval decides.
        wide = [e for e in (answer.low, answer.high) if isfinite(e)]
        middle = float(f"{sqrt(min(wide) * max(wide)):.3g}")
        return None if any(abs(middle / e - 1) < 0.02 for e in tried) else middle
    return float(f"{sqrt(above * below):.3g}")
