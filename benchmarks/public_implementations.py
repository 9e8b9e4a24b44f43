"""Other public implementations, measured where they can be imported, with what they really spend; and guests.

A guest is a published way to run an algorithm of this package, beside an honest twin that differs in one thing only.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from math import inf

import numpy as np
import numpy.typing as npt

from dpviz.algorithms.registry import CARDS
from dpviz.algorithms.steps import GridStep
from dpviz.algorithms.su2016.eugkm import make_problem
from dpviz.algorithms.tools.solvers import find_best_of_starts
from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable
from dpviz.runs.evaluation import compute_mean_losses
from dpviz.runs.one_run import Run, run

Array = npt.NDArray[np.float64]
Fit = Callable[[Array, int, float, int], tuple[Array, float]]

# What Su et al. take for the typical offset of a centre; diffprivlib divides its budget with it.
_OFFSET = 0.225


def _diffprivlib(rows: Array, k: int, epsilon: float, seed: int) -> tuple[Array, float]:
    """Its two shares come back in the other order than its caller takes them: sums get what counts should."""
    from diffprivlib.models import KMeans

    dim = rows.shape[1]
    bounds = (np.full(dim, -1.0), np.full(dim, 1.0))
    fitted = KMeans(n_clusters=k, epsilon=epsilon, bounds=bounds, random_state=seed).fit(rows)
    ratio = (4 * dim * _OFFSET**2) ** (1 / 3)
    return np.asarray(fitted.cluster_centers_), epsilon * (1 + dim * ratio) / (dim + ratio)


def _found() -> dict[str, Fit]:
    """Those that are installed and get on with the other libraries that are."""
    if find_spec("diffprivlib") is None:
        return {}
    # Its forests, which are imported beside it and not used here, name types that scikit-learn has dropped since.
    trees = import_module("sklearn.tree._tree")
    for name, kind in (("DOUBLE", np.float64), ("DTYPE", np.float32)):
        if not hasattr(trees, name):
            setattr(trees, name, kind)
    try:
        import_module("diffprivlib.models")
    except ImportError:
        return {}
    return {"diffprivlib KMeans": _diffprivlib}


PUBLIC = _found()

# A grid whose size depends on n, ε and k, solved from ten starts; the size is ours, from Eqs. 9 and 10 of Su et al.
_BY_K = {"fineness": "errors", "starts": 10}


def _run_grid_by_k(rows: Array, k: int, epsilon: float, seed: int) -> Run:
    domain = Domain.of([f"x{column}" for column in range(rows.shape[1])], -1.0, 1.0)
    table = PrivateTable(rows, domain, n_public=len(rows))
    return run("eugkm", table, k=k, epsilon=epsilon, params=_BY_K, seed=seed)


def _choose_by_noisy_counts(rows: Array, k: int, epsilon: float, seed: int) -> tuple[Array, float]:
    """The start that loses least on the released grid: whatever is chosen there is free."""
    made = _run_grid_by_k(rows, k, epsilon, seed)
    return made.unit_centers, made.spent_epsilon


def _choose_by_true_loss(rows: Array, k: int, epsilon: float, seed: int) -> tuple[Array, float]:
    """On the same grid, that start or one of nine others, whichever loses least on the rows: no ε covers that."""
    made = _run_grid_by_k(rows, k, epsilon, seed)
    (grid,) = (frame.step for frame in made.frames if isinstance(frame.step, GridStep))
    region = Domain.of([f"x{column}" for column in range(rows.shape[1])], -1.0, 1.0).region
    params = CARDS["eugkm"].params.parse(_BY_K)
    cells, starts = make_problem(grid, k, region, params, np.random.default_rng(seed))
    others = [solution.centers for solution in find_best_of_starts(cells, starts[:-1], region).solutions]
    solved = np.stack([made.unit_centers, *others])
    return solved[int(compute_mean_losses(rows, solved).argmin())], inf


GUESTS: dict[str, Fit] = {
    "grid by k, start by its counts": _choose_by_noisy_counts,
    "grid by k, start by the true loss": _choose_by_true_loss,
}
