"""The same table with one person in it and without: what the promise of differential privacy compares."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpviz.core import Array, PrivateTable, RequestError
from dpviz.runs.open_table import OpenTable
from dpviz.tables import FileKind, LoadedTable


class NeighboringTables(NamedTuple):
    """Two neighbouring tables, and where the person's rows lie: unit coordinates, shape (m, d)."""

    present: PrivateTable
    absent: PrivateTable
    person: Array


def make_neighbors(table: OpenTable, row: int) -> NeighboringTables:
    """``table`` with whoever the given row belongs to, and without them.

    Their cells become empty: under ``add_remove`` such rows are dropped, under ``replace`` the middle of the bounds
    stands in, so the two tables are neighbours by the table's own relation and unit of privacy.

    Parameters
    ----------
    table : OpenTable
        Public or simulated.
    row : int
        Its position among the loaded rows.

    Returns
    -------
    Worlds
        Two tables.

    Raises
    ------
    RequestError
        If the table is private or sparse, or has no such row.
    """
    if table.kind is FileKind.PRIVATE:
        raise RequestError("An attack knows all rows: choose a public or simulated table.")
    if not isinstance(table.loaded, LoadedTable):
        raise RequestError("An attack needs a table with written-out columns: choose one that is not sparse.")
    declared, persons = table.declaration, None
    values = table.loaded.encode_columns(declared.columns, declared.coded)
    if not 0 <= row < len(values):
        raise RequestError(f"There is no row {row + 1:,}: choose one from 1 to {len(values):,}.")
    theirs = np.arange(len(values)) == row
    if declared.id_column is not None:
        persons = table.loaded.identifiers(declared.id_column)
        if persons[row] >= 0:
            theirs = persons == persons[row]
    without = values.copy()
    without[theirs] = np.nan

    def opened(rows: Array) -> PrivateTable:
        return PrivateTable(
            rows,
            table.domain,
            relation=declared.relation,
            n_public=declared.n_public,
            persons=persons,
            rows_per_person=declared.rows_per_person,
        )

    present = opened(values)
    domain = table.domain
    person = domain.region.settle_points(domain.to_unit(domain.limit(values[theirs & np.isfinite(values).all(axis=1)])))
    if not len(person):
        raise RequestError("This row has an empty cell and is not used: choose another.")
    return NeighboringTables(present, opened(without), person)


def find_farthest_row(table: OpenTable) -> int:
    """The row that lies farthest from the middle of all rows, in unit coordinates: the one that is hardest to hide."""
    assert isinstance(table.loaded, LoadedTable)
    values = table.loaded.encode_columns(table.declaration.columns, table.declaration.coded)
    whole = np.flatnonzero(np.isfinite(values).all(axis=1))
    points = table.domain.to_unit(table.domain.limit(values[whole], far=1e9))
    return int(whole[np.linalg.norm(points - points.mean(axis=0), axis=1).argmax()])
