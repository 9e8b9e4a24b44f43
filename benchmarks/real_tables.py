"""Published tables for benchmarks, where the user has them, with bounds that are stated as constants, not read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dpviz.core.domain import Domain, Scaling
from dpviz.core.private_session import PrivateTable
from dpviz.tables.csv_intake import load_csv


@dataclass(frozen=True)
class RealTable:
    """A published file: its clusters as in the papers, its scaling, and bounds as constants."""

    file: str
    k: int
    scaling: Scaling
    lower: tuple[float, ...] | float
    upper: tuple[float, ...] | float


REAL = {
    "s1": RealTable("s1.csv", 15, Scaling.COMMON, 0.0, 1e6),
    "letter": RealTable("letter.csv.gz", 26, Scaling.COMMON, 0.0, 15.0),
    "adult": RealTable(
        "adult_num.csv.gz", 5, Scaling.UNIT, (17, 12285, 1, 0, 0, 1), (90, 1490400, 16, 99999, 4356, 99)
    ),
    "gowalla": RealTable("gowalla.csv.gz", 5, Scaling.UNIT, (-90.0, -180.0), (90.0, 180.0)),
    "roads": RealTable("roads_california.csv", 2, Scaling.UNIT, (-125.0, 32.0), (-114.0, 43.0)),
    "house": RealTable("image_house.csv", 3, Scaling.UNIT, 0.0, 255.0),
}


def real_table(name: str, folder: Path) -> tuple[PrivateTable, int]:
    """The table with n public, and its number of clusters."""
    declared = REAL[name]
    loaded = load_csv(folder / declared.file)
    columns = [column for column in loaded.numeric_columns if column != "label"]
    lower, upper = declared.lower, declared.upper
    if name == "gowalla" and columns[0].lower().startswith("lon"):
        lower, upper = (-180.0, -90.0), (180.0, 90.0)
    domain = Domain.of(columns, lower, upper, scaling=declared.scaling)
    return PrivateTable(loaded.columns(columns), domain, n_public=loaded.n_rows), declared.k
