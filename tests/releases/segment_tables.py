"""Small described tables, and segments asked of them in any kind of session."""

import json
from typing import Any

import numpy as np
import pandas as pd

from dpviz.releases.described_table import DescribedTable, Description, make_described_table
from dpviz.releases.segments import ask_segments
from dpviz.releases.segments_report import SegmentsReport
from dpviz.runs.open_table import declare
from dpviz.tables.codings import Described
from dpviz.tables.declarations import Declaration, apply_declaration
from dpviz.tables.loaded_table import make_numeric_table
from tests.contract.sessions import open_seeded

CENTERS = np.array([[-0.5, -0.5], [0.5, 0.5], [0.6, -0.6]])
DECLARED = Declaration(
    columns=("x", "y"),
    lower=(-1.0, -1.0),
    upper=(1.0, 1.0),
    describe={"height": Described(bounds=(0.0, 2.0)), "region": Described(categories=("1", "2"))},
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


KINDS: dict[str, Any] = {
    "age": [0, 100],
    "pay": {"bounds": [100, 100_000], "scale": "log"},
    "region": {"categories": ["N", "S"]},
    "sex": {"categories": ["F", "M"], "closed": True},
    "stage": {"order": ["I", "II", "III"]},
    "joined": {"dates": ["2020-01-01", "2022-12-31"]},
    "hour": {"cycle": 24},
}
"""A declared column of every kind."""


def mixed_frame(n: int, seed: int = 0) -> pd.DataFrame:
    """Rows in three groups, with a column of every kind; and whose they are."""
    rng = np.random.default_rng(seed)
    who = np.arange(n) % 3
    region = np.array(["N", "S", "elsewhere", None], dtype=object)
    days = np.array([60, 500, 1000])[who] + rng.integers(0, 30, n)
    return pd.DataFrame(
        {
            "age": np.array([20.0, 50.0, 80.0])[who] + rng.normal(0, 3, n),
            "pay": np.array([300.0, 3000.0, 30000.0])[who] * np.exp(rng.normal(0, 0.3, n)),
            "region": region[np.where(rng.random(n) < 0.3, 2 + who % 2, who % 2)],
            "sex": np.array(["F", "M"], dtype=object)[(rng.random(n) < 0.2 + 0.3 * who).astype(int)],
            "stage": np.array(["I", "II", "III"], dtype=object)[who],
            "joined": (np.datetime64("2020-01-01") + days).astype(str),
            "hour": (np.array([7.0, 13.0, 23.0])[who] + rng.normal(0, 1, n)) % 24,
            "town": np.array(["X", "Y"], dtype=object)[who % 2],
            "who": np.arange(n) // 2,
        }
    )


def described_mixed(frame: pd.DataFrame, **declared: Any) -> DescribedTable:
    """The described table of such rows."""
    source = make_numeric_table(frame)
    said = apply_declaration(json.dumps({"bounds": KINDS, **declared})).validate()
    return make_described_table(declare(source, said), source)


def middles(description: Description) -> np.ndarray:
    """Centres of the three groups of ``mixed_frame``, unit coordinates."""
    domain, codes = (
        description.domain,
        [[20, 300, 0, 0, 1, 75, 7], [50, 3000, 1, 0, 2, 515, 13], [80, 30000, 0, 1, 3, 1015, 23]],
    )
    return domain.to_unit(np.array(codes, dtype=np.float64))


def report_of(table: DescribedTable, centers: np.ndarray = CENTERS, **opening: Any) -> SegmentsReport:
    """What is said of its segments."""
    return ask_segments(open_seeded(table.private, **opening), centers, table.description)


def clustered_only(rows: np.ndarray, lower: float = -1.0, upper: float = 1.0) -> DescribedTable:
    """A table of nothing but clustered columns, whose number of rows is public."""
    source = make_numeric_table(rows)
    declaration = Declaration(lower=(lower,), upper=(upper,), n_public=len(rows), scaling="common")
    return make_described_table(declare(source, declaration), source)
