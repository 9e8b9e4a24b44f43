"""What was released says of clusters: how many rows each has, and how wide it is. Post-processing: nothing is spent.

The synopsis says how many rows lie in the cells of a cluster, rounds say it again, with noise of another size: together
they say it best. Where clusters cannot be told apart on the synopsis it is off by more than its noise, as earlier
rounds are where centres still move.

Constants were chosen on the families of ``benchmarks/families.py`` that do not judge; ``benchmarks/cluster_sizes.py``
says how often intervals hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from dpviz.algorithms.auto.polishing import PolishStep
from dpviz.algorithms.auto.view_synopsis import SynopsisStep
from dpviz.algorithms.size_estimates import Sizes, combine_sizes
from dpviz.algorithms.steps import Step
from dpviz.core import Array, Region

# Rows in a cell on the border of two clusters may all be in either: their variance, of an even share of them.
_EITHER = 1 / 12
_TINY = 1e-9


class Extents(NamedTuple):
    """Rows of each cluster (k,), their mean squared distance to its centre along the view (k,), and the variance of the
    rows (k,): noise, and cells that may be another cluster's."""

    rows: Array
    radii2: Array
    variance: Array


def measure_extents(synopsis: SynopsisStep, centers: Array) -> Extents:
    """Each cell that was kept goes to the centre (k, d) nearest to its middle, along the view; unit coordinates."""
    points, weights, _, middle = synopsis.cloud()
    inside = centers if synopsis.frame is None else centers @ synopsis.frame.T
    k, kept = len(centers), slice(0, len(synopsis.kept))
    # The two nearest of each point: with many clusters a table of all distances would be large.
    found = cKDTree(inside).query(points + middle, k=[1, 2])
    apart, nearest = np.asarray(found[0]), np.asarray(found[1])
    own, far = nearest[:, 0], apart[:, 0] ** 2
    border = np.zeros(len(points), dtype=bool)
    border[kept] = apart[kept, 1] - apart[kept, 0] < np.sqrt(12 * synopsis.spreads / points.shape[1])
    far[kept] += synopsis.spreads
    rows: Array = np.bincount(own, weights, k).astype(np.float64)
    # A cluster of which no cell was kept may hold rows, too.
    variance = synopsis.sd**2 * (1 + np.bincount(own, minlength=k)) + _EITHER * np.bincount(own, weights**2 * border, k)
    return Extents(rows, np.bincount(own, weights * far, k) / np.maximum(rows, _TINY), variance)


def estimate_sizes(steps: Sequence[Step], region: Region) -> Sizes | None:
    """Sizes (k,) of the clusters of a finished run, by its synopsis and the counts of all rounds after the last split.

    Sources are weighed by the inverse of their variance. None where there is no round.

    **Guarantee.** Post-processing of released values.
    """
    rounds = list(takewhile(lambda step: isinstance(step, PolishStep), reversed(steps)))
    last = rounds[0] if rounds else None
    if not isinstance(last, PolishStep) or last.noisy_counts is None or last.count_noise_sd is None:
        return None
    counts, variance = last.noisy_counts, np.full(len(last.centers), last.count_noise_sd**2)
    values, variances = [counts], [variance]
    for step in rounds[1:]:
        assert isinstance(step, PolishStep) and step.noisy_counts is not None and step.count_noise_sd is not None
        values.append(step.noisy_counts)
        variances.append(np.full(len(counts), step.count_noise_sd**2))
    synopsis = next((step for step in steps if isinstance(step, SynopsisStep)), None)
    if synopsis is not None:
        rows, _, own = measure_extents(synopsis, last.centers)
        values.append(rows)
        variances.append(own)
    return combine_sizes(values, variances)
