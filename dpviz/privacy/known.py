"""The closed lists: questions whose sensitivity and mechanisms whose cost are proved and tested.

The room refuses everything else, so that code which is not of the package never sees a row. Whoever adds a question, a
partition or a mechanism writes it here, and the contract tests ask for its proof.
"""

from __future__ import annotations

from dpviz.privacy.block_models import BlockKMeans
from dpviz.privacy.local_noise import EachRow, LocalNoise
from dpviz.privacy.mechanisms import Exponential, Gaussian, KNorm, Laplace, NoisyThreshold, SparseLaplace
from dpviz.privacy.noisy_centers import NoisyCenters
from dpviz.privacy.partitions import CubeTree, Everything, Grid, Projected, Voronoi
from dpviz.privacy.pulls import Pull
from dpviz.privacy.queries import Count, Loss, SparseCount, Sum, SwapLoss
from dpviz.privacy.residual_moments import ResidualMoments
from dpviz.privacy.tuple_averages import TupleAverages
from dpviz.privacy.tuples import Tuples

PARTITIONS: tuple[type, ...] = (Everything, Voronoi, Grid, Projected, CubeTree)
QUERIES: tuple[type, ...] = (Count, Sum, SparseCount, SwapLoss, Loss, Pull, Tuples, ResidualMoments, EachRow)
MECHANISMS: tuple[type, ...] = (
    *(Laplace, Gaussian, KNorm, Exponential, NoisyThreshold, SparseLaplace),
    *(NoisyCenters, TupleAverages, LocalNoise),
)
# Questions over universes that may be too large to write down, and the partitions that have one.
SPARSE: dict[type, tuple[type, ...]] = {SparseCount: (Grid, CubeTree)}
DENSE: tuple[type, ...] = (Everything, Voronoi, Grid, Projected)
# Fits for which a block's line depends on that block's rows alone.
BLOCK_MODELS: tuple[type, ...] = (BlockKMeans,)
