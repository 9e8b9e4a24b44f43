"""From a CSV file and what is declared about it, on the command line or in its sidecar, to a private table."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn, TypeVar

import numpy as np
import pandas as pd

from dpviz.check import RequestError
from dpviz.privacy.room import PrivateTable, Revealed
from dpviz.table.csv_intake import load_csv
from dpviz.table.domain import Codes, Domain
from dpviz.table.loaded_table import LoadedTable, listed, quoted
from dpviz.table.sidecar import Sidecar, parse_bounds_option, read_sidecar, sidecar_for
from dpviz.table.sparse_intake import SparseTable, load_sparse

T = TypeVar("T")

_LABEL = "label"
_NO_GEOMETRY = ("relation", "n_public", "label", "id_column", "rows_per_person")
_USUAL_RELATION = "add_remove"


@dataclass(frozen=True, eq=False)
class DeclaredTable:
    """A table ready to be asked, the column with known groups if there is one, and what was decided on the way."""

    loaded: LoadedTable | SparseTable
    private: PrivateTable
    label: str | None
    notes: tuple[str, ...]

    def labels_of(self, revealed: Revealed) -> Codes | None:
        """Known groups of the revealed rows as codes of shape (n,), or None."""
        if self.label is None or not isinstance(self.loaded, LoadedTable):
            return None
        codes, _ = pd.factorize(self.loaded.frame[self.label].iloc[revealed.kept])
        return np.asarray(codes, dtype=np.int64)


@dataclass(frozen=True)
class _Declared:
    """The sidecar in force; ``own_bounds`` where the bounds are its own rather than LO,HI of the command line."""

    sidecar: Sidecar | None
    bounds: Sidecar
    own_bounds: bool


def declared_table(arguments: argparse.Namespace) -> DeclaredTable:
    """Read the file and its declarations; an option of the command line goes before the sidecar.

    Raises
    ------
    RequestError
        If the file or a declaration is missing or wrong.
    """
    path = Path(arguments.data)
    declared = _declarations(path, arguments.bounds)
    if path.suffix == ".npz":
        return _sparse_table(path, arguments, declared)
    loaded = load_csv(path)
    sidecar = declared.sidecar
    label = _label_column(loaded, sidecar)
    id_column = _id_column(arguments.id_column, sidecar)
    columns, notes = _columns(arguments.columns, loaded, declared, left_out=(label, id_column))
    if id_column in columns:
        raise RequestError(f"{quoted(str(id_column))} is the id column, not a coordinate: leave it out of one.")
    values = loaded.columns(columns)
    bounds = declared.bounds.bounds_for(columns)
    domain = Domain.of(
        columns,
        bounds.lower,
        bounds.upper,
        radius=_first(arguments.radius, sidecar.radius if sidecar and declared.own_bounds else None),
        scaling=_first(arguments.scaling, sidecar.scaling if sidecar else "unit"),
    )
    private = PrivateTable(
        values,
        domain,
        relation=_relation(arguments, sidecar),
        n_public=_first(arguments.n_public, sidecar.n_public if sidecar else None),
        persons=None if id_column is None else loaded.identifiers(id_column),
        rows_per_person=_rows_per_person(arguments, sidecar, id_column),
    )
    label = None if label in columns else label
    return DeclaredTable(loaded, private, label, (*loaded.notes, *notes))


def _sparse_table(path: Path, arguments: argparse.Namespace, declared: _Declared) -> DeclaredTable:
    """A sparse file: all of its columns, with one pair of bounds for all."""
    loaded, sidecar = load_sparse(path), declared.sidecar
    if arguments.columns is not None or _id_column(arguments.id_column, sidecar) is not None:
        raise RequestError("A sparse file has no named columns: leave out --columns and --id-column.")
    bounds = declared.bounds.bounds_for(loaded.columns)
    domain = Domain.of(
        loaded.columns,
        bounds.lower,
        bounds.upper,
        radius=_first(arguments.radius, sidecar.radius if sidecar and declared.own_bounds else None),
        scaling=_first(arguments.scaling, sidecar.scaling if sidecar else "common"),
    )
    n_public = _first(arguments.n_public, sidecar.n_public if sidecar else None)
    private = PrivateTable(loaded.values, domain, relation=_relation(arguments, sidecar), n_public=n_public)
    return DeclaredTable(loaded, private, None, loaded.notes)


def _declarations(path: Path, option: str | None) -> _Declared:
    """LO,HI replaces the sidecar's bounds; a JSON file replaces its geometry, and whatever else it declares."""
    given = None if option is None else parse_bounds_option(option)
    beside = sidecar_for(path)
    sidecar = None if beside is None else read_sidecar(beside)
    if given is None and sidecar is None:
        _refuse_without_bounds(path)
    if given is None or sidecar is None:
        only = given or sidecar
        assert only is not None
        return _Declared(only, only, own_bounds=True)
    if not Path(str(option)).is_file():
        return _Declared(sidecar, given, own_bounds=False)
    # A file with nothing but bounds must not silently change what one person is.
    kept = {name: getattr(given, name) or getattr(sidecar, name) for name in _NO_GEOMETRY}
    return _Declared(replace(given, **kept), given, own_bounds=True)


def _refuse_without_bounds(path: Path) -> NoReturn:
    if not path.is_file():
        load_csv(path)  # says what is wrong with the path
    beside = quoted(Path(path.name.removesuffix(".gz")).stem + ".json")
    raise RequestError(
        "No bounds are declared for this table: give --bounds LO,HI for all columns, --bounds FILE.json, or put "
        f'{{"bounds": {{"COLUMN": [LO, HI], ...}}}} into {beside} next to it; they come from what is known '
        "beforehand, never from the rows."
    )


def _label_column(loaded: LoadedTable, sidecar: Sidecar | None) -> str | None:
    name = sidecar.label if sidecar is not None and sidecar.label is not None else _LABEL
    return name if name in loaded.frame.columns else None


def _id_column(option: str | None, sidecar: Sidecar | None) -> str | None:
    if option is not None:
        return option or None
    return sidecar.id_column if sidecar is not None else None


def _columns(
    option: list[str] | None, loaded: LoadedTable, declared: _Declared, *, left_out: tuple[str | None, ...]
) -> tuple[list[str], tuple[str, ...]]:
    """The columns to cluster, and the sentence that says so where nobody named them."""
    if option is not None:
        return option, ()
    if declared.sidecar is not None and declared.sidecar.columns:
        return list(declared.sidecar.columns), ()
    chosen = [name for name in loaded.numeric_columns if name not in left_out]
    without = [name for name in loaded.numeric_columns if name in left_out]
    if not chosen:
        raise RequestError(
            f"No numeric column is left beside {listed(without)}: clustering needs one; name it with --columns."
        )
    but = f" but {listed(without)}" if without else ""
    return chosen, (f"No columns were named, so all numeric columns{but} are used: {listed(chosen)}.",)


def _relation(arguments: argparse.Namespace, sidecar: Sidecar | None) -> str:
    declared = sidecar.relation if sidecar is not None else None
    return str(arguments.relation or declared or _USUAL_RELATION)


def _rows_per_person(arguments: argparse.Namespace, sidecar: Sidecar | None, id_column: str | None) -> int:
    if arguments.rows_per_person is not None:
        return int(arguments.rows_per_person)
    if sidecar is not None and id_column is not None and id_column == sidecar.id_column:
        return sidecar.rows_per_person or 1
    return 1


def _first(option: T, declared: T) -> T:
    return declared if option is None else option
