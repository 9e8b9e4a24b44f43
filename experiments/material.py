"""The tables of the papers: the published file where there is one, else a synthetic table of the same size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.core.arrays import Array, Codes
from dpviz.core.check import RequestError
from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable
from dpviz.runs.clipped_rows import JudgedTable
from dpviz.runs.study.study import Yardstick, measure_yardstick
from dpviz.tables.csv_intake import load_csv
from dpviz.tables.declarations import find_declaration_path, read_declaration
from dpviz.words import quote_name

PUBLISHED, SUBSTITUTE, SYNTHETIC, RECIPE = (
    "published file",
    "substitute file",
    "generated stand-in",
    "the paper's recipe",
)
"""Where a table comes from; the last two are generated, the last as the paper says that its own was."""

FOLDER_VARIABLE = "DPVIZ_DATA"
"""The environment variable that names a folder of published files."""


@dataclass(frozen=True, eq=False)
class Material:
    """A table of a claim: public, or generated from public numbers.

    Parameters
    ----------
    name, origin : str
    values : array of shape (n, d)
        Data units.
    domain : Domain
    labels : int array of shape (n,) or None
    """

    name: str
    origin: str
    values: Array
    domain: Domain
    labels: Codes | None = None
    _yardsticks: dict[int, Yardstick] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def private(self) -> PrivateTable:
        """The table behind its session; its number of rows is public, as in all of these papers."""
        return PrivateTable(self.values, self.domain, n_public=len(self.values))

    @cached_property
    def judged(self) -> JudgedTable:
        """The table with its rows revealed, to run on and to judge by: it is public."""
        return JudgedTable.of(self.private, self.private.reveal(note="reproduce"), self.labels)

    def yardstick(self, k: int) -> Yardstick:
        """What losses with ``k`` centres are measured against, worked out once."""
        if k not in self._yardsticks:
            self._yardsticks[k] = measure_yardstick(self.judged, k)
        return self._yardsticks[k]

    @property
    def facts(self) -> dict[str, Any]:
        """What every row of a result says of its table."""
        return {"data": self.name, "origin": self.origin, "n": len(self.values), "d": self.domain.dim}


# One number for all columns, or one for each; None where nothing is published.
Bound = float | tuple[float, ...] | None


@dataclass(frozen=True)
class PaperTable:
    """A table that a paper used.

    Parameters
    ----------
    name : str
    files : mapping of file name to origin
        The names under which a folder may hold it, the best first.
    make_synthetic : function of nothing to Material
    lower, upper : numbers or tuples
        Bounds as published; None: a declaration file beside the file must declare them.
    radius : float or None
        In data units; columns then share one scale.
    """

    name: str
    files: Mapping[str, str]
    make_synthetic: Callable[[], Material]
    lower: Bound = None
    upper: Bound = None
    radius: float | None = None


class DatasetCache:
    """The tables that claims ask for by name.

    Parameters
    ----------
    folder : Path or None
        PaperTable files; what it does not hold is generated.
    catalogue : tuple of PaperTable

    Raises
    ------
    RequestError
        If there is no such folder.
    """

    def __init__(self, folder: Path | None, catalogue: tuple[PaperTable, ...]) -> None:
        if folder is not None and not folder.is_dir():
            raise RequestError("--data is not a folder: give one that holds published files, or leave it out.")
        self._folder = folder
        self._catalogue = {entry.name: entry for entry in catalogue}
        self._tables: dict[str, Material] = {}

    def table(self, name: str) -> Material:
        """The published file, or a synthetic table of the same size; read or made once."""
        if name not in self._tables:
            entry = self._catalogue[name]
            found = self._file(entry)
            self._tables[name] = entry.make_synthetic() if found is None else _read(entry, *found)
        return self._tables[name]

    def origin(self, name: str) -> str:
        """Where ``table(name)`` would come from; "" where only its synthetic table knows."""
        found = self._file(self._catalogue[name])
        return "" if found is None else found[1]

    def _file(self, entry: PaperTable) -> tuple[Path, str] | None:
        if self._folder is None:
            return None
        there = ((self._folder / file, origin) for file, origin in entry.files.items())
        return next(((path, origin) for path, origin in there if path.is_file()), None)


def _read(entry: PaperTable, path: Path, origin: str) -> Material:
    """A file with float columns and perhaps one named ``label``; its bounds are published, or declared beside it."""
    loaded = load_csv(path)
    columns = [name for name in loaded.numeric_columns if name != "label"]
    beside = find_declaration_path(path)
    if beside is not None:
        declared = read_declaration(beside)
        bounds = declared.list_bounds(columns)
        domain = Domain.of(columns, bounds.lower, bounds.upper, radius=declared.radius, scaling=declared.scaling)
    elif entry.lower is not None and entry.upper is not None:
        wanted = len(entry.lower) if isinstance(entry.lower, tuple) else len(columns)
        if len(columns) != wanted:
            raise RequestError(
                f"{quote_name(path.name)} has {len(columns)} columns of numbers where the published file has {wanted}: "
                f"take that one, or put the bounds of yours into {quote_name(_name_sidecar(path))} beside it."
            )
        scaling = "unit" if entry.radius is None else "common"
        domain = Domain.of(columns, entry.lower, entry.upper, radius=entry.radius, scaling=scaling)
    else:
        beside_it = quote_name(_name_sidecar(path))
        raise RequestError(f"{quote_name(path.name)} has no declared bounds: put them into {beside_it} beside it.")
    labels = None
    if "label" in loaded.frame.columns:
        labels = np.unique(loaded.frame["label"].to_numpy(), return_inverse=True)[1].astype(np.int64)
    return Material(entry.name, origin, loaded.columns(columns), domain, labels)


def _name_sidecar(path: Path) -> str:
    """The name of a declaration file beside ``path``."""
    return Path(path.name.removesuffix(".gz")).stem + ".json"
