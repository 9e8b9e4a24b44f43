"""Noisy Lloyd rounds from random starts: a whole algorithm for dpviz in a package of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpviz.algorithms import Card, CentersStep, Guarantee, Params, param_field, pure_or
from dpviz.core import Accounting, PrivateSession, partitions, queries


@dataclass(frozen=True)
class RandomLloydParams(Params):
    """The form, the command line and the checks are made of these."""

    rounds: int = param_field(4, help="Rounds of Lloyd; each costs an equal part of the budget.", low=1, high=20)


def random_lloyd(
    session: PrivateSession, k: int, params: RandomLloydParams, rng: np.random.Generator
) -> Iterator[CentersStep]:
    """Lloyd's iteration on noisy counts and sums. The last step is the release.

    **Guarantee.** Add/remove or replace; ε-DP, or μ-GDP with a δ. The starts are public coins; n is not used.
    """
    centers = session.region.clip(rng.uniform(-1, 1, (k, session.dim)) * session.region.half)
    yield CentersStep(title="Random starts: no row has been read", centers=centers)
    for t, budget in enumerate(session.budget.rounds(params.rounds), start=1):
        cells, share = partitions.Voronoi(centers), budget.split(counts=1, sums=session.dim)
        counts = session.release(queries.Count(cells), share.counts, note=f"round {t}: rows of each cell")
        sums = session.release(queries.Sum(cells), share.sums, note=f"round {t}: what they add up to")
        # Where a cell holds less than its noise, the centre stays.
        full = counts.value > counts.sd
        means = sums.value / np.where(full, counts.value, 1.0)[:, None]
        previous, centers = centers, session.region.clip(np.where(full[:, None], means, centers))
        yield CentersStep(
            title=f"Round {t} of {params.rounds}: noisy means",
            centers=centers,
            previous=previous,
            noisy_counts=counts.value,
            count_noise_sd=float(counts.sd),
            ahead=params.rounds - t,
        )


CARD = Card(
    id="random-lloyd",
    title="Random Lloyd",
    does="Rounds",
    family="Example",
    paper="The example of a package: Lloyd's iteration on noisy counts and sums, after Blum et al. 2005",
    summary="Noisy Lloyd rounds from starts that are drawn without a look.",
    story=(
        "Draw k points anywhere. In each round ask how many rows are nearest to each and what they add up to, both "
        "with noise; their quotient is the new centre."
    ),
    when="To see how an algorithm is brought by a package; for results, take DPLloyd.",
    guarantees=(Guarantee.PURE, Guarantee.APPROX),
    params=RandomLloydParams,
    plan=random_lloyd,
    accounting=pure_or(Accounting.GDP),
    needs_n=False,
)
