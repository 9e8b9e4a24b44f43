"""The closed lists: questions whose sensitivity and mechanisms whose cost are proved and tested.

The session refuses everything else, so that code which is not of the package never sees a row. Whoever adds a question,
a partition or a mechanism writes it here, and the contract tests ask for its proof (``docs/proofs/sensitivities.md``).
"""

from __future__ import annotations

from typing import Any

from dpviz.core import check
from dpviz.core.block_models import BlockKMeans
from dpviz.core.kernel_draw import DistanceWeights, KernelDraw
from dpviz.core.local_model import EachRow, LocalNoise, LocalReports, UserQuestion
from dpviz.core.losses import CappedLosses, Loss, MedianLoss, PoolLoss, SwapLoss
from dpviz.core.mechanisms import (
    Exponential,
    Gaussian,
    KNorm,
    Laplace,
    Mechanism,
    NoisyExcess,
    NoisyThreshold,
    PathCounts,
    Peeling,
    SparseLaplace,
)
from dpviz.core.partitions import (
    MOST_CELLS,
    CubeTree,
    Everything,
    Grid,
    HashCodes,
    HashTree,
    ProjectedCells,
    UnevenGrid,
    Voronoi,
    Zoomed,
)
from dpviz.core.quantiles import ExponentialQuantile, Medians, Quantiles, SmoothMedian
from dpviz.core.queries import (
    BoxSum,
    ChosenSum,
    Count,
    Pull,
    Query,
    Radii,
    ResidualMoments,
    ResidualSum,
    ScaledResidualSum,
    SparseCount,
    Spread,
    Sum,
    Weights,
)
from dpviz.core.segment_counts import DistanceScales, SegmentHistogram
from dpviz.core.tuples import NoisyCenters, TupleAverages, Tuples

PARTITIONS: tuple[type, ...] = (
    Everything,
    Voronoi,
    Grid,
    UnevenGrid,
    Zoomed,
    ProjectedCells,
    CubeTree,
    HashCodes,
    HashTree,
)
QUERIES: tuple[type, ...] = (
    *(Count, Sum, SparseCount, SwapLoss, Loss, MedianLoss),
    *(Pull, PoolLoss, DistanceWeights, BoxSum, Quantiles, Medians, Tuples, ResidualMoments, EachRow),
    *(
        Weights,
        ChosenSum,
        Radii,
        ResidualSum,
        ScaledResidualSum,
        Spread,
        SegmentHistogram,
        DistanceScales,
        CappedLosses,
    ),
)
MECHANISMS: tuple[type, ...] = (
    *(Laplace, Gaussian, KNorm, Exponential, NoisyThreshold, SparseLaplace),
    *(Peeling, KernelDraw, ExponentialQuantile, SmoothMedian, PathCounts, LocalReports),
    *(NoisyCenters, TupleAverages, LocalNoise, NoisyExcess),
)
# What users answer one by one; only messages that are private on their own may leave.
LOCAL: dict[type, type] = {UserQuestion: LocalReports}
# Questions over universes that may be too large to write down, and the partitions that have one.
SPARSE: dict[type, tuple[type, ...]] = {
    SparseCount: (Grid, ProjectedCells, CubeTree, HashCodes),
    UserQuestion: (HashCodes,),
}
DENSE: tuple[type, ...] = (Everything, Voronoi, Grid, UnevenGrid, Zoomed, ProjectedCells, HashTree)
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
    inner = over.inner if isinstance(over, ProjectedCells) else over
    suits = SPARSE.get(type(query), DENSE)
    if type(over) not in suits or type(inner) not in suits or isinstance(inner, ProjectedCells):
        raise check.RequestError(
            f"{type(query).__name__} over {type(over).__name__} is not a question the session knows."
        )
    if type(query) in SPARSE and over is not None and over.n_cells > MOST_CELLS:
        raise check.RequestError(
            f"The partition has {over.n_cells:.2g} cells: use at most 2^62, so that each has a code."
        )
