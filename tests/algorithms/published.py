"""Published tables, where they lie beside the checkout, and what runs on them lose over k-means++."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest

from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import find_reference, nicv
from dpviz.runs.one_run import run

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


class Published(NamedTuple):
    """A file, its number of clusters, and bounds as stated by whoever published it."""

    file: str
    k: int
    lower: tuple[float, ...] | float
    upper: tuple[float, ...] | float


S1 = Published("s1.csv", 15, 0, 1e6)
CENSUS = Published("adult_num.csv.gz", 5, (17, 12285, 1, 0, 0, 1), (90, 1490400, 16, 99999, 4356, 99))


@cache
def _judged(data: Published, n_is_public: bool, scaling: str) -> tuple[PrivateTable, object, float]:
    file = DATA / data.file
    if not file.exists():
        pytest.skip(f"{file.name} is not here")
    values = pd.read_csv(file).drop(columns="label", errors="ignore").to_numpy(float)
    domain = Domain.of([f"x{j}" for j in range(values.shape[1])], data.lower, data.upper, scaling=scaling)
    table = PrivateTable(values, domain, n_public=len(values) if n_is_public else None)
    if not n_is_public:
        _, points, best = _judged(data, True, scaling)
        return table, points, best
    revealed = clip_rows(table.reveal(note="test"), table.domain.region)
    return table, revealed.points, find_reference(revealed, data.k).nicv


def ratios(
    data: Published, algorithm: str, *, n_is_public: bool = True, scaling: str = "unit", **params: object
) -> Iterator[float]:
    """Losses of runs at ε = 1 over that of k-means++, without end."""
    table, points, best = _judged(data, n_is_public, scaling)
    for seed in count():
        done = run(algorithm, table, k=data.k, epsilon=1.0, params=params, seed=seed)
        yield nicv(points, done.unit_centers) / best
