"""Other public implementations, measured where they can be imported, with what they really spend."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt

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
