"""The closed lists: questions whose sensitivity and mechanisms whose cost are proved and tested.

The session refuses everything else, so that code which is not of the package never sees a row. Whoever adds a question,
a partition or a mechanism writes it here, and the contract tests ask for its proof (``docs/proofs/sensitivities.md``).
"""

from __future__ import annotations

from typing import Any

from dpviz.core import (
    check,
    kernel_draw,
    local_model,
    losses,
    mechanisms,
    partitions,
    quantiles,
    queries,
    segment_counts,
    tuples,
)
from dpviz.core.block_models import BlockKMeans
from dpviz.core.mechanisms import Mechanism
from dpviz.core.queries import Query

QUERIES: tuple[type, ...] = (
    *(queries.Count, queries.Sum, queries.SparseCount, queries.Radii, queries.Spread, queries.ResidualMoments),
    *(queries.ResidualSum, queries.ScaledResidualSum, queries.Pull, queries.BoxSum, queries.Weights, queries.ChosenSum),
    *(losses.SwapLoss, losses.Loss, losses.MedianLoss, losses.PoolLoss, losses.CappedLosses),
    *(segment_counts.SegmentHistogram, segment_counts.DistanceScales, kernel_draw.DistanceWeights),
    *(quantiles.Quantiles, quantiles.Medians, tuples.Tuples, local_model.EachRow),
)
MECHANISMS: tuple[type, ...] = (
    *(mechanisms.Laplace, mechanisms.Gaussian, mechanisms.KNorm, mechanisms.Exponential, mechanisms.Peeling),
    *(mechanisms.NoisyThreshold, mechanisms.SparseLaplace, mechanisms.NoisyExcess, mechanisms.PathCounts),
    *(kernel_draw.KernelDraw, quantiles.ExponentialQuantile, quantiles.SmoothMedian),
    *(tuples.NoisyCenters, tuples.TupleAverages, local_model.LocalNoise, local_model.LocalReports),
)
# What users answer one by one; only messages that are private on their own may leave.
LOCAL: dict[type, type] = {local_model.UserQuestion: local_model.LocalReports}
# Questions over universes that may be too large to write down, and the partitions that have one.
SPARSE: dict[type, tuple[type, ...]] = {
    queries.SparseCount: (partitions.Grid, partitions.ProjectedCells, partitions.CubeTree, partitions.HashCodes),
    local_model.UserQuestion: (partitions.HashCodes,),
}
DENSE: tuple[type, ...] = (
    *(partitions.Everything, partitions.Voronoi, partitions.Grid, partitions.UnevenGrid, partitions.Zoomed),
    *(partitions.ProjectedCells, partitions.HashTree),
)
# Fits for which a block's line depends on that block's rows alone.
BLOCK_MODELS: tuple[type, ...] = (BlockKMeans,)


def refuse_unknown(query: Query, mechanism: Mechanism[Any]) -> None:
    """Only questions and mechanisms that are proved: code that is not of the package never sees a row.

    Raises ``RequestError`` if one of them, or the partition, is not on its list, or has too many cells.
    """
    if type(mechanism) not in MECHANISMS:
        raise check.RequestError(f"{type(mechanism).__name__} is not a mechanism the session knows.")
    local = type(query) in LOCAL and type(mechanism) is LOCAL[type(query)]
    over = query.over if type(query) in QUERIES or local else None
    inner = over.inner if isinstance(over, partitions.ProjectedCells) else over
    suits = SPARSE.get(type(query), DENSE)
    if type(over) not in suits or type(inner) not in suits or isinstance(inner, partitions.ProjectedCells):
        raise check.RequestError(
            f"{type(query).__name__} over {type(over).__name__} is not a question the session knows."
        )
    if type(query) in SPARSE and over is not None and over.n_cells > partitions.MOST_CELLS:
        raise check.RequestError(
            f"The partition has {over.n_cells:.2g} cells: use at most 2^62, so that each has a code."
        )
