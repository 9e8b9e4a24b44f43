"""Fits of diffprivlib's KMeans, for an environment that has it and not dpviz: it wants an older scikit-learn.

Called by ``benchmarks.post_baselines`` as ``diffprivlib_fits.py ROWS.npy EPSILON K,K,K REPEATS OUT.npz``.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import diffprivlib
import numpy as np
from diffprivlib.models import KMeans, k_means


def main(rows_file: str, epsilon: str, ks: str, repeats: str, out: str) -> None:
    """Centres, seconds and rounds of the fits of each k, and the ε that was really spent."""
    rows = np.load(rows_file)
    found: dict[str, Any] = {"version": diffprivlib.__version__, "spent": _spent(rows, float(epsilon))}
    for k in ks.split(","):
        fits = [_fit(rows, int(k), float(epsilon), seed) for seed in range(int(repeats))]
        found[f"centers_{k}"] = [centers for centers, _, _ in fits]
        found[f"rounds_{k}"] = [rounds for _, rounds, _ in fits]
        found[f"seconds_{k}"] = [seconds for _, _, seconds in fits]
    np.savez(out, **found)


def _fit(rows: Any, k: int, epsilon: float, seed: int) -> tuple[Any, int, float]:
    """As in the post, the bounds are read from the rows themselves, which no budget accounts for."""
    began, bounds = time.perf_counter(), (rows.min(axis=0), rows.max(axis=0))
    model = KMeans(n_clusters=k, epsilon=epsilon, bounds=bounds, random_state=seed).fit(rows)
    return model.cluster_centers_, model.n_iter_, time.perf_counter() - began


def _spent(rows: Any, epsilon: float) -> float:
    """The sum of ε over all draws of a fit with one cluster: a row is then met by every draw."""
    drawn: list[float] = []
    for name in ("GeometricFolded", "LaplaceBoundedDomain"):
        setattr(k_means, name, _metered(getattr(k_means, name), drawn))
    _fit(rows[:100], 1, epsilon, 0)
    return sum(drawn)


def _metered(mechanism: Any, drawn: list[float]) -> Any:
    """``mechanism``, each of whose instances draws once and says its ε."""

    def made(**given: Any) -> Any:
        drawn.append(given["epsilon"])
        return mechanism(**given)

    return made


if __name__ == "__main__":
    main(*sys.argv[1:])
