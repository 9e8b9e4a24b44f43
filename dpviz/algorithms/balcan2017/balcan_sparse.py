"""Sparse rows in very many columns: centres that keep a few chosen coordinates (Balcan et al. 2017, Alg. 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np

from dpviz.algorithms.balcan2017.balcan import (
    ACCOUNTING,
    BalcanParams,
    choose_constants,
    compute_smallest_n,
    count_operations,
    find_centers,
)
from dpviz.algorithms.card import Card, Guarantee, Params, Setting, param_field, read_texts
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.core import Accounting, Array, Budget, Codes, PrivateSession, mechanisms, partitions, queries

# Constants of the recovery, chosen by hand: the paper's own parts cost more than they claim (docs/proofs).

# Parts of the recovery's budget: which coordinates, how large they are, how many rows.
_CHOICE = 0.45
_SIZES = 0.45
_COUNTS = 0.10
_CLEAR_SDS = 2.0  # a mean within so many standard deviations of its noise is set to 0


@dataclass(frozen=True, eq=False, kw_only=True)
class CoordinatesStep(Step):
    """The ``coordinates`` (k, J) chosen for each cluster, and the noisy means there; all others are 0.

    ``noise_sd`` (k,) is the standard deviation of the noise on one mean; ``nonzeros`` how many entries of a row count.
    """

    coordinates: Codes
    noisy_means: Array
    noise_sd: Array
    noisy_counts: Array
    nonzeros: int


@dataclass(frozen=True)
class SparseParams(Params):
    """Parameters of the sparse variant."""

    nonzeros: int = param_field(20, low=1, high=10_000)
    eta: float = param_field(1.0, low=0.05, high=2)
    rounds: int | None = param_field(None, low=1, high=6)
    dimensions: int | None = param_field(None, low=1, high=40)
    levels: int | None = param_field(None, low=1, high=20)
    swaps: int | None = param_field(None, low=0, high=200)

    @property
    def search(self) -> BalcanParams:
        """How k cubes are searched for."""
        return BalcanParams(dimensions=self.dimensions, levels=self.levels, swaps=self.swaps)


def balcan_sparse(session: PrivateSession, k: int, params: SparseParams, rng: np.random.Generator) -> Iterator[Step]:
    """Find k cubes in a projection, then recover each cluster's largest coordinates only.

    The last step is the release. O(L n p + T n |C| p + N + k d) for N entries that are not 0.

    **Guarantee.** Add/remove or replace; ε-DP at δ = 0, else zCDP for (ε, δ). Bounds and s are public; n is public or
    bought and sets dimensions, levels and swaps.
    """
    few = session.sparsify(params.nonzeros)
    c = choose_constants(params.search, session.n, session.dim)
    view, centers, whole = yield from find_centers(few, k, c, rng)
    cells: partitions.Voronoi | partitions.ProjectedCells = view.cells(centers)
    rounds = _plan_rounds(params, session.accounting)
    for budget in whole.rounds(rounds, list(range(2, 2 + rounds))):
        step = recover_coordinates(few, cells, budget, params)
        yield step
        centers = np.zeros((k, session.dim))
        np.put_along_axis(centers, step.coordinates, step.noisy_means, axis=1)
        # Rows follow the centres in all columns from now on: a projection to a few dimensions blurs them.
        centers = few.region.clip(centers)
        cells = partitions.Voronoi(centers)
    yield CentersStep(
        title=f"Centres with at most {step.coordinates.shape[1]} of {session.dim:,} coordinates that are not 0",
        centers=centers,
        noisy_counts=step.noisy_counts,
        center_noise_sd=step.noise_sd,
    )


def recover_coordinates(
    session: PrivateSession, cells: partitions.Voronoi | partitions.ProjectedCells, budget: Budget, params: SparseParams
) -> CoordinatesStep:
    """The largest coordinates of each cell's mean, and noisy values for them, unit coordinates.

    **Guarantee.** ``budget``: .45 for the choice, .45 for the sums, .10 for the counts; cells in parallel.

    References
    ----------
    Balcan et al. 2017, Alg. 5 (corrected: see ``privacy/sums/chosen_coordinates.py``).
    """
    share = budget.split(choice=_CHOICE, sizes=_SIZES, counts=_COUNTS)
    counts = session.release(queries.Count(cells), share.counts, note="counts")
    kept = min(session.dim, ceil(2 * params.nonzeros / params.eta))
    question, note = queries.Weights(cells), "largest coordinates"
    chosen = session.ask(question, mechanisms.Peeling, share.choice, note=note, draws=kept, magnitudes=True).value
    sums = session.release(queries.ChosenSum(cells, chosen), share.sizes, note="sums of the chosen coordinates")
    per_row = np.maximum(counts.value, max(1.0, 2 * counts.sd))
    half = session.region.half[chosen]
    means = np.where(
        np.abs(sums.value) > _CLEAR_SDS * sums.sd, np.clip(sums.value / per_row[:, None], -half, half), 0.0
    )
    return CoordinatesStep(
        title=f"{kept} of {session.dim:,} coordinates chosen for each cluster, then measured",
        coordinates=chosen,
        noisy_means=means,
        noise_sd=sums.sd / per_row,
        noisy_counts=counts.value,
        nonzeros=params.nonzeros,
    )


def _plan_rounds(params: SparseParams, accounting: Accounting) -> int:
    return params.rounds or (1 if accounting is Accounting.PURE else 2)


def _compute_smallest_n(setting: Setting, params: SparseParams) -> float:
    """Two thresholds' worth of rows in each cluster, and sums whose noise is half of a full coordinate of all rows."""

    def noise(budget: Budget, part: float) -> float:
        amount = budget.fraction(part * _SIZES / _plan_rounds(params, budget.accounting)).amount
        few = min(params.nonzeros, setting.dim)
        return few * sqrt(2) / amount if budget.accounting is Accounting.PURE else sqrt(few / (2 * amount))

    return compute_smallest_n(setting, params.search, noise)


CARD = Card(
    **read_texts("balcan-sparse"),
    does="Tree",
    guarantees=(Guarantee.PURE, Guarantee.APPROX),
    params=SparseParams,
    plan=balcan_sparse,
    accounting=ACCOUNTING,
    smallest_n=_compute_smallest_n,
    operations=lambda setting, params: count_operations(setting, params.search),
    sample="words",
    sparse=True,
    release="coordinates are selected with floating-point Gumbel noise",
)
