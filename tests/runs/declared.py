"""Small tables with everything declared, as a record needs them."""

from typing import Any

from scipy.sparse import csr_array

from dpviz.runs.one_run import Run, run
from dpviz.runs.open_table import OpenTable, declare
from dpviz.tables.csv_intake import open_csv
from dpviz.tables.declarations import Declaration
from dpviz.tables.loaded_table import make_numeric_table
from dpviz.tables.sparse_intake import SparseTable
from tests.contract.tables import make_blobs

BOX: dict[str, Any] = {"columns": ("x", "y"), "lower": (-1.0, -2.0), "upper": (1.0, 2.0)}


def open_rows(names: tuple[str, ...] = ("x", "y"), **declared: Any) -> OpenTable:
    """400 rows around three centres, with bounds of [-1, 1] and [-2, 2]."""
    return declare(make_numeric_table(make_blobs(400), names), Declaration(**(BOX | {"columns": names} | declared)))


def open_persons(persons: int = 50, rows_per_person: int = 3) -> OpenTable:
    """300 rows of so many persons, from a file."""
    lines = "".join(f"p{i % persons},{i % 9 / 9},{i % 7 / 7}\n" for i in range(300))
    told = Declaration(**BOX, id_column="person", rows_per_person=rows_per_person)
    return declare(open_csv(f"person,x,y\n{lines}".encode(), name="visits"), told)


def open_sparse() -> OpenTable:
    """400 rows of 200 sparse columns, with one pair of bounds for all."""
    told = Declaration(lower=(-1.0,), upper=(1.0,), bounds_origin="a word is there or not", scaling="common")
    return declare(SparseTable("words", csr_array((make_blobs(400, 200) > 0.4).astype(float))), told)


def finished(table: OpenTable, algorithm: str | None = None, **asked: Any) -> Run:
    """A run with k = 3, ε = 1 and a seed, unless something else is asked for; of an algorithm that can serve."""
    usual = "balcan-sparse" if table.private.sparse else "dplloyd"
    return run(algorithm or usual, table.private, **({"k": 3, "epsilon": 1.0, "seed": 0} | asked))
