"""What an algorithm must not do: ``dpviz audit`` names the mistake of each of these two.

Python has no walls. The session's methods are the only way to rows that is paid for, and nothing but care, a reader and
an audit keeps a plan from taking another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dpviz.algorithms import Card, CentersStep, Guarantee, Params, always
from dpviz.core import Accounting, PrivateSession, partitions, queries


def _one_round(session: PrivateSession, centers: np.ndarray, part: float) -> CentersStep:
    """Noisy means of the cells of ``centers``; ``part`` of the budget goes to the counts."""
    cells, share = partitions.Voronoi(centers), session.budget.split(counts=part, sums=1 - part)
    counts = session.release(queries.Count(cells), share.counts, note="rows of each cell").value
    sums = session.release(queries.Sum(cells), share.sums, note="what they add up to").value
    means = sums / np.maximum(counts, 1.0)[:, None]
    return CentersStep(title="Noisy means", centers=session.region.clip(means), noisy_counts=counts)


def peeking_start(session: PrivateSession, k: int, params: Params, rng: np.random.Generator) -> Iterator[CentersStep]:
    """One noisy round from rows that are taken through the back: they stand in its first step, and nobody paid."""
    rows = session._rows.values
    centers = rows[rng.integers(0, len(rows), k)] if len(rows) else np.zeros((k, session.dim))
    yield CentersStep(title="Starts", centers=np.asarray(centers, dtype=np.float64))
    yield _one_round(session, session.region.clip(centers), 0.5)


def peeking_scale(session: PrivateSession, k: int, params: Params, rng: np.random.Generator) -> Iterator[CentersStep]:
    """One noisy round whose noise is set by the true number of rows: whoever reads the scale of the noise reads it."""
    n = len(session._rows)
    yield _one_round(session, session.region.clip(rng.uniform(-1, 1, (k, session.dim))), 1 / (2 + n / 1000))


START = Card(
    id="peeking-start",
    title="Peeking start",
    does="Rounds",
    family="Example",
    paper="The example of a package that peeks",
    summary="Starts from true rows, and says nothing of it.",
    story="A mistake on purpose: centres that depend on rows which nobody has released.",
    when="Never.",
    guarantees=(Guarantee.PURE,),
    params=Params,
    plan=peeking_start,
    accounting=always(Accounting.PURE),
    needs_n=False,
)
SCALE = replace(
    START,
    id="peeking-scale",
    title="Peeking scale",
    summary="Sets its noise by the true number of rows.",
    story="A mistake on purpose: noise whose scale depends on a number that nobody has released.",
    plan=peeking_scale,
)
