"""Small described tables, and segments asked of them in any kind of session."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dpviz.privacy.accounting import Accounting
from dpviz.privacy.noise import StudyNoise
from dpviz.privacy.private_session import PrivateSession, PrivateTable
from dpviz.releases.described_table import DescribedTable, make_described_table
from dpviz.releases.segments import ask_segments
from dpviz.releases.segments_report import SegmentsReport
from dpviz.runs.open_table import declare
from dpviz.table.declaration import Declaration
from dpviz.table.described import Described
from dpviz.table.loaded_table import make_numeric_table
from tests.contract.sessions import open_as

CENTERS = np.array([[-0.5, -0.5], [0.5, 0.5], [0.6, -0.6]])
DECLARED = Declaration(
    columns=("x", "y"),
    lower=(-1.0, -1.0),
    upper=(1.0, 1.0),
    describe={"height": Described(lower=0.0, upper=2.0), "region": Described(categories=("1", "2"))},
)


def rows_of(n: int, seed: int = 0) -> np.ndarray:
    """Rows (n, 5) around the centres: two coordinates, a height, a region, and whose it is."""
    rng = np.random.default_rng(seed)
    who = rng.integers(0, 3, n)
    points = np.clip(CENTERS[who] + rng.normal(0, 0.1, (n, 2)), -1, 1)
    height = np.where(rng.random(n) < 0.1, np.nan, 0.5 + 0.3 * who)
    return np.column_stack([points, height, 1 + (who == 1), np.arange(n) // 2])


def described(rows: np.ndarray, **declared: Any) -> DescribedTable:
    """The described table of such rows."""
    frame = pd.DataFrame(rows, columns=["x", "y", "height", "region", "who"])
    source = make_numeric_table(frame.astype({"who": np.int64}))  # floats are no ids
    declaration = Declaration(**{**DECLARED.__dict__, **declared})
    return make_described_table(declare(source, declaration), source)


def opened(
    table: PrivateTable, *, epsilon: float = 1.0, seed: int = 0, session: type[PrivateSession] | None = None
) -> PrivateSession:
    """A session of pure ε over a table."""
    noise = StudyNoise(np.random.default_rng(seed))
    return open_as(table, session).open(
        epsilon=epsilon, delta=0.0, accounting=Accounting.PURE, noise=noise, needs_n=False
    )


def report_of(table: DescribedTable, centers: np.ndarray = CENTERS, **opening: Any) -> SegmentsReport:
    """What is said of its segments."""
    return ask_segments(opened(table.private, **opening), centers, table.description)


def clustered_only(rows: np.ndarray, lower: float = -1.0, upper: float = 1.0) -> DescribedTable:
    """A table of nothing but clustered columns, whose number of rows is public."""
    source = make_numeric_table(rows)
    declaration = Declaration(lower=(lower,), upper=(upper,), n_public=len(rows), scaling="common")
    return make_described_table(declare(source, declaration), source)
