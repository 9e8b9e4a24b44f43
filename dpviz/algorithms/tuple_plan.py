"""From rows to k-tuples to a tested release, shared by all algorithms that stand on tuples of disjoint blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import numpy as np

from dpviz.algorithms.card import Params, Setting, knob
from dpviz.algorithms.lloyd_round import lloyd_round
from dpviz.algorithms.steps import CentersStep
from dpviz.algorithms.steps_tuples import TupleTestStep
from dpviz.privacy.accounting import Accounting, Budget
from dpviz.privacy.block_models import BlockKMeans
from dpviz.privacy.noisy_centers import NoisyCenters, far_for, printed_far, relative_sd
from dpviz.privacy.partition_test import PartitionTest, smallest_number
from dpviz.privacy.partitions import Voronoi
from dpviz.privacy.room import DataRoom
from dpviz.privacy.tuple_averages import FAR, TupleAverages
from dpviz.privacy.tuples import NoisyTuple, Tuples
from dpviz.table.domain import Array

# The claim behind the test holds for ε up to 1.
MOST_EPSILON = 1.0
# Rows of a block for each cluster, in the paper's runs.
_ROWS_PER_CLUSTER = 15
# The noise that the practical preset aims at, as a part of the distance between centres.
_RELATIVE_NOISE = 0.05
# Radius of the smallest cloud of tuples' points that averages tell apart, unit coordinates.
FINEST = 1e-4
_SLACK = 1 - 1e-12


@dataclass(frozen=True)
class TupleParams(Params):
    """Parameters of algorithms on tuples."""

    preset: str = knob(
        "practical",
        help="paper: constants as printed (with the corrected λ). practical: one exactly calibrated Gaussian for all "
        "centres, Δ for noise of a twentieth of their distance, ⊥ where averages would be noise.",
        choices=("practical", "paper"),
    )
    beta: float = knob(0.05, help="β: chance of the answer ⊥ for tuples that fit.", low=1e-6, high=0.5)
    rows_per_tuple: int | None = knob(
        None, help="Fewest rows of a block, which makes one tuple; empty: 15 for each cluster.", low=2, high=100_000
    )

    @property
    def printed(self) -> bool:
        """Whether constants are the paper's."""
        return self.preset == "paper"


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


def rows_of_tuple(params: TupleParams, k: int) -> int:
    """Fewest rows of a block."""
    return params.rows_per_tuple or _ROWS_PER_CLUSTER * k


def needed_tuples(share: Budget, params: TupleParams) -> int:
    """Fewest tuples that the test can be asked about with ``share``; from public numbers only."""
    return smallest_number(
        epsilon=share.amount / 2, delta=share.delta / 4, beta=params.beta / 2, printed=params.printed
    )


def noisy_center_test(
    room: DataRoom, k: int, share: Budget, params: TupleParams, anchors: Array, salt: int, *, far: float | None
) -> TupleTestStep:
    """Tuples of as many blocks as the test needs, or as rows suffice for, and noisy points of one of them.

    One centre is far from nothing: it needs no test, and is averaged.

    **Guarantee.** ``share``: (ε, δ), whatever the answer.
    """
    if k == 1:
        return average_test(room, k, share, params, anchors, salt, finest=FINEST)
    needed = needed_tuples(share, params)
    number = min(needed, _blocks_of(room.n, params, k))
    far = far or far_of(share, params, k)
    options = {"far": far, "beta": params.beta, "printed": params.printed}
    note = "test of tuples, noisy centres of one"
    released = _ask(room, share, anchors, salt, NoisyCenters, number, options, note=note)
    test = PartitionTest(share.amount / 2, share.delta / 4, params.beta / 2, far, number, params.printed)
    relative = relative_sd(share.amount, share.delta, k, far, params.printed)
    return _outcome(room, released, test, needed=needed, anchors=anchors, salt=salt, relative_sd=relative)


def average_test(
    room: DataRoom, k: int, share: Budget, params: TupleParams, anchors: Array, salt: int, *, finest: float
) -> TupleTestStep:
    """Tuples of as many blocks as there are rows for, and averages of their points.

    **Guarantee.** ``share``: (ε, δ), whatever the answer.
    """
    number = _blocks_of(room.n, params, k)
    bound = float(room.region.half.max())
    options = {"dim": room.dim, "finest": finest, "bound": bound, "beta": params.beta, "printed": params.printed}
    note = "test of tuples, averages of clusters"
    released = _ask(room, share, anchors, salt, TupleAverages, number, options, note=note)
    test = PartitionTest(share.amount / 2, share.delta / 4, params.beta / 2, FAR, number, params.printed)
    needed = averaged_tuples(share, params, k, room.dim, finest)
    return _outcome(room, released, test, needed=needed, anchors=anchors, salt=salt, relative_sd=None)


def averaged_tuples(share: Budget, params: TupleParams, k: int, dim: int, finest: float) -> int:
    """Fewest tuples whose averages are not noise; from public numbers only."""
    number = least = needed_tuples(share, params) if k > 1 else 1
    for _ in range(3):  # ℓ falls a little where there are more tuples
        average = TupleAverages(
            share.amount, share.delta, k, number, dim, finest, 1.0, params.beta, params.printed
        ).average
        assert average is not None
        number = max(least, ceil(average.fewest))
    return number


def far_of(share: Budget, params: TupleParams, k: int) -> float:
    """Δ by the preset's rule."""
    epsilon, delta = share.amount, share.delta
    if params.printed:
        return printed_far(epsilon=epsilon, delta=delta, k=k, beta=params.beta)
    return far_for(_RELATIVE_NOISE, epsilon=epsilon, delta=delta, k=k, printed=False)


def finish(room: DataRoom, step: TupleTestStep, means: Budget | None) -> Iterator[CentersStep]:
    """The last step: the released centres, or those that know no data; with ``means`` left, means of their cells.

    **Guarantee.** ``means``; under ⊥ as well, where they are one round of Lloyd from centres that know no data.
    """
    start = step.centers if step.centers is not None else step.anchors
    if means is not None:
        origin = "the noisy centres" if step.passed else "⊥: centres that know no data"
        yield lloyd_round(
            room, Voronoi(start), means, start, title=f"Noisy means of the cells of {origin}", note="means of the cells"
        )
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
        needed = averaged_tuples(tuples, params, setting.k, setting.dim, finest or FINEST)
    else:
        needed = needed_tuples(tuples, params)
    return float(needed * rows_of_tuple(params, setting.k))


def operations_of(setting: Setting, params: TupleParams) -> float:
    """k-means in every block, the test, and a pass for means."""
    return 30.0 * float(setting.n or 0) * setting.k * setting.dim


def _blocks_of(n: int, params: TupleParams, k: int) -> int:
    return max(1, n // rows_of_tuple(params, k))


def _ask(
    room: DataRoom,
    share: Budget,
    anchors: Array,
    salt: int,
    kind: type[NoisyCenters] | type[TupleAverages],
    number: int,
    options: Mapping[str, object],
    *,
    note: str,
) -> NoisyTuple:
    k = len(anchors)
    tuples = room.blocks(BlockKMeans(anchors, match=False, salt=salt), number)
    released: NoisyTuple = tuples.ask(Tuples(k), kind, share, note=note, k=k, number=number, **options)
    return released


def _outcome(
    room: DataRoom,
    released: NoisyTuple,
    test: PartitionTest,
    *,
    needed: int,
    anchors: Array,
    salt: int,
    relative_sd: float | None,
) -> TupleTestStep:
    """The released record as a step; its centres moved into the region, which is free."""
    centers = room.region.clip(released.centers) if released.centers is not None else None
    sd = None
    if centers is not None and released.centers is not None and relative_sd is not None:
        gaps = np.linalg.norm(released.centers[:, None] - released.centers, axis=2)
        np.fill_diagonal(gaps, np.inf)
        sd = relative_sd * gaps.min(axis=1)
    plan = test.plan
    return TupleTestStep(
        title=_words(released.passed, len(anchors), test, needed),
        passed=released.passed,
        centers=centers,
        center_noise_sd=sd,
        number=test.number,
        needed=needed,
        rows_per_tuple=room.n / test.number,
        sampled=plan.sampled if plan is not None else 0,
        far=test.far,
        misfit_limit=test.misfit_limit if plan is not None else 0.0,
        vote_limit=test.vote_limit if plan is not None else 0.0,
        anchors=anchors,
        salt=salt,
    )


def _words(passed: bool, k: int, test: PartitionTest, needed: int) -> str:
    if passed and k == 1:
        return f"One centre needs no test: the average of {test.number:,} blocks is released"
    if passed:
        return f"{test.number:,} tuples agree: noisy centres are released"
    if test.number < needed:
        return f"⊥, by public numbers alone: {test.number:,} tuples where {needed:,} are needed; the budget is spent"
    return f"⊥: {test.number:,} tuples do not agree about far-apart centres; the budget is spent"
