"""From k-tuples to a tested release, shared by all algorithms that stand on tuples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import numpy as np

from dpviz.algorithms.card import Setting
from dpviz.algorithms.cohen2021.tuple_source import TupleParams, TupleSource
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.algorithms.tools.lloyd_round import lloyd_round
from dpviz.arrays import Array
from dpviz.privacy.accounting import Accounting, Budget
from dpviz.privacy.partitions import Voronoi
from dpviz.privacy.tuples.center_noise import NoisyCenters, far_for, printed_far, relative_sd
from dpviz.privacy.tuples.partition_test import PartitionTest, smallest_number
from dpviz.privacy.tuples.tuple_averages import FAR, TupleAverages
from dpviz.privacy.tuples.tuples import NoisyTuple, Tuples

# The claim behind the test holds for ε up to 1.
MOST_EPSILON = 1.0
# The noise that the practical preset aims at, as a part of the distance between centres.
_RELATIVE_NOISE = 0.05
# Radius of the smallest cloud of tuples' points that averages tell apart, unit coordinates.
FINEST = 1e-4
_SLACK = 1 - 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class TupleTestStep(Step):
    """The answer of a test of tuples, with its public numbers; ``centers`` (k, d) are released if it ``passed``.

    Parameters
    ----------
    number, needed : int
        Tuples, and how many the formulas ask for: with fewer the answer is ⊥ before any row is read.
    rows_per_tuple : float
        Rows of a block, on average; 1 where rows are tuples.
    sampled : int
        m, the tuples that are tried; 0 where none is.
    far : float
        Δ.
    misfit_limit, misfit_scale : float
        Noisy misfits up to which a sampled tuple passes, and the scale of the Laplace noise on them.
    vote_limit, vote_scale : float
        Noisy votes from which the test passes, and the scale of the Laplace noise on them.
    center_noise_sd : array of shape (k,) or None
        Typical standard deviation of the noise, estimated from the released distances alone: the true one depends on
        rows and is not released.
    anchors : array of shape (k, d)
        Public: what blocks with fewer than k distinct rows answer, and what stands in for ⊥.
    salt : int
        Public coin of the models of the blocks.
    given : bool
        Whether each row of the table is a tuple; otherwise tuples are models of secret blocks.
    """

    passed: bool
    centers: Array | None
    center_noise_sd: Array | None
    number: int
    needed: int
    rows_per_tuple: float
    sampled: int
    far: float
    misfit_limit: float
    misfit_scale: float
    vote_limit: float
    vote_scale: float
    anchors: Array
    salt: int
    given: bool = False


class Halves(NamedTuple):
    """What the tuples may spend, and what is left for means of rows, if anything."""

    tuples: Budget
    means: Budget | None


def halves(budget: Budget, part: float) -> Halves:
    """``part`` of the budget for the tuples, but at most ε = 1 of it; the surplus goes to means of rows."""
    epsilon = min(part * budget.amount, MOST_EPSILON)
    if part == 1.0 and epsilon == budget.amount:
        return Halves(budget, None)
    delta = min(part, 0.5) * budget.delta
    return Halves(
        Budget(budget.accounting, epsilon * _SLACK, delta * _SLACK),
        Budget(budget.accounting, (budget.amount - epsilon) * _SLACK, (budget.delta - delta) * _SLACK),
    )


def share_of(setting: Setting, part: float) -> Budget:
    """What the tuples of a setting may spend, before anything is opened."""
    return halves(Budget(Accounting.BASIC, setting.epsilon, setting.delta or 1e-6), part).tuples


def needed_tuples(share: Budget, params: TupleParams) -> int:
    """Fewest tuples that the test can be asked about with ``share``; from public numbers only."""
    return smallest_number(
        epsilon=share.amount / 2, delta=share.delta / 4, beta=params.beta / 2, printed=params.printed
    )


def noisy_center_test(source: TupleSource, share: Budget, *, far: float | None) -> TupleTestStep:
    """As many tuples as the test needs, or as there can be, and noisy points of one of them.

    One centre is far from nothing: it needs no test, and is averaged.

    **Guarantee.** ``share``: (ε, δ), whatever the answer.
    """
    k, params = source.k, source.params
    if k == 1:
        return average_test(source, share, finest=FINEST)
    needed = needed_tuples(share, params)
    number = source.enough(needed)
    far = far or far_of(share, params, k)
    released = source.tuples(number).ask(
        Tuples(k),
        NoisyCenters,
        share,
        note="test of tuples, noisy centres of one",
        **{"k": k, "number": number, "far": far, "beta": params.beta, "printed": params.printed},
    )
    test = PartitionTest(share.amount / 2, share.delta / 4, params.beta / 2, far, number, params.printed)
    relative = relative_sd(share.amount, share.delta, k, far, params.printed)
    return _outcome(source, released.value, test, needed=needed, asked=test.plan is not None, relative_sd=relative)


def average_test(source: TupleSource, share: Budget, *, finest: float) -> TupleTestStep:
    """As many tuples as there can be, and averages of their points.

    **Guarantee.** ``share``: (ε, δ), whatever the answer.
    """
    k, params, number = source.k, source.params, source.most
    options = {"k": k, "number": number, "dim": source.points.dim, "finest": finest, "beta": params.beta}
    options |= {"bound": float(source.points.region.half.max()), "printed": params.printed}
    released = source.tuples(number).ask(
        Tuples(k), TupleAverages, share, note="test of tuples, averages of clusters", **options
    )
    test = PartitionTest(share.amount / 2, share.delta / 4, params.beta / 2, FAR, number, params.printed)
    needed = averaged_tuples(share, params, k, source.points.dim, finest)
    asked = test.plan is not None and (params.printed or number >= needed)
    return _outcome(source, released.value, test, needed=needed, asked=asked, relative_sd=None)


def averaged_tuples(share: Budget, params: TupleParams, k: int, dim: int, finest: float) -> int:
    """Fewest tuples whose averages are not noise; from public numbers only."""

    def wanted(number: int) -> int:
        constants = (share.amount, share.delta, k, number, dim, finest, 1.0, params.beta, params.printed)
        average = TupleAverages(*constants).average
        assert average is not None
        return ceil(average.fewest)

    # ℓ falls where there are more tuples, and with it what is wanted.
    low = needed_tuples(share, params) if k > 1 else 1
    high = max(low, wanted(low))
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if middle >= wanted(middle) else (middle + 1, high)
    return high


def far_of(share: Budget, params: TupleParams, k: int) -> float:
    """Δ by the preset's rule."""
    epsilon, delta = share.amount, share.delta
    if params.printed:
        return printed_far(epsilon=epsilon, delta=delta, k=k, beta=params.beta)
    return far_for(_RELATIVE_NOISE, epsilon=epsilon, delta=delta, k=k, printed=False)


def finish(source: TupleSource, step: TupleTestStep, means: Budget | None) -> Iterator[CentersStep]:
    """The last step: the released centres, or those that know no data; with ``means`` left, means of their cells.

    **Guarantee.** ``means``; under ⊥ as well, where they are one round of Lloyd from centres that know no data.
    """
    start = step.centers if step.centers is not None else step.anchors
    if means is not None:
        origin = "the noisy centres" if step.passed else "⊥: centres that know no data"
        title = f"Noisy means of the cells of {origin}"
        yield lloyd_round(source.points, Voronoi(start), means, start, title=title, note="means of the cells")
    elif step.passed:
        yield CentersStep(
            title="The released centres", centers=start, center_noise_sd=step.center_noise_sd, released=True
        )
    else:
        yield CentersStep(title="⊥: these centres know no data, they were packed without it", centers=start)


def smallest_n_of(setting: Setting, params: TupleParams, part: float, *, finest: float | None = None) -> float:
    """Rows for as many tuples as the public formulas ask for; ``finest`` for averages, None for noisy centres."""
    tuples = share_of(setting, part)
    if finest is not None or setting.k == 1:
        dim = max(1, setting.dim // params.points_per_row(setting.k))
        needed = averaged_tuples(tuples, params, setting.k, dim, finest or FINEST)
    else:
        needed = needed_tuples(tuples, params)
    return float(needed * params.rows_of_tuple(setting.k))


def operations_of(setting: Setting, params: TupleParams) -> float:
    """k-means in every block, the test, and a pass for means."""
    return 30.0 * float(setting.n or 0) * setting.k * setting.dim


def _outcome(
    source: TupleSource,
    released: NoisyTuple,
    test: PartitionTest,
    *,
    needed: int,
    asked: bool,
    relative_sd: float | None,
) -> TupleTestStep:
    """The released record as a step; its centres moved into the region, which is free.

    ``asked`` says whether public numbers allow the test to be asked at all.
    """
    centers = source.points.region.clip(released.centers) if released.centers is not None else None
    sd = None
    if centers is not None and released.centers is not None and relative_sd is not None:
        gaps = np.linalg.norm(released.centers[:, None] - released.centers, axis=2)
        np.fill_diagonal(gaps, np.inf)
        sd = relative_sd * gaps.min(axis=1)
    plan = test.plan if asked else None
    return TupleTestStep(
        title=_words(
            source,
            released.passed,
            test.number,
            needed=needed,
            asked=asked,
            what="averages" if relative_sd is None else "noisy centres",
        ),
        passed=released.passed,
        centers=centers,
        center_noise_sd=sd,
        number=test.number,
        needed=needed,
        rows_per_tuple=source.room.n / test.number,
        sampled=plan.sampled if plan is not None else 0,
        far=test.far,
        misfit_limit=test.misfit_limit if plan is not None else 0.0,
        misfit_scale=test.misfit_scale if plan is not None else 0.0,
        vote_limit=test.vote_limit if plan is not None else 0.0,
        vote_scale=1 / plan.vote_epsilon if plan is not None else 0.0,
        anchors=source.anchors,
        salt=source.salt,
        given=source.params.given,
    )


def _words(source: TupleSource, passed: bool, number: int, *, needed: int, asked: bool, what: str) -> str:
    if passed and source.k == 1:
        makers = "rows" if source.params.given else "blocks"
        return f"One centre needs no test: the average of {number:,} {makers} is released"
    if passed:
        return f"{number:,} tuples agree: {what} are released"
    if not asked:
        return f"⊥, by public numbers alone: {number:,} tuples where {needed:,} are needed; the budget is spent"
    return f"⊥: {number:,} tuples do not agree about far-apart centres; the budget is spent"
