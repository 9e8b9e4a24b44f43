"""The table that one word names, for the command line and for the page that it opens: a file, or else a sample.

Samples are tables that anybody may look at: files of ``sample_data/``, tables made on demand, scikit-learn's digits.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from dpviz.core import check
from dpviz.tables import duckdb_intake, spark_intake
from dpviz.tables.arrow_intake import ENDING, ArrowTable, ParquetTable
from dpviz.tables.csv_intake import CsvFile, CsvOnDisk, TooLarge, load_csv, open_csv
from dpviz.tables.declarations import Declaration, apply_declaration_file, find_declaration_path, read_declaration
from dpviz.tables.duckdb_intake import DuckTable
from dpviz.tables.loaded_table import USUAL_LABEL, LoadedTable, make_numeric_table
from dpviz.tables.spark_intake import SparkTable
from dpviz.tables.sparse_intake import SparseTable, load_sparse
from dpviz.words import RESOURCES

FOLDER = RESOURCES / "sample_data"
_DIGITS = FOLDER / "digits.json"
# How many clusters were put into each.
_FILES = {"fifteen": 15, "city": 8, "people": 6, "colours": 6, "outlier": 3, "towns": 2, "laboratories": 2}


class LoadedSample(NamedTuple):
    """A sample and what is declared about it."""

    table: LoadedTable
    declaration: Declaration


@dataclass(frozen=True)
class Sample:
    """One entry of the list of samples; nothing is read or made before ``load``.

    ``clusters`` is how many were put into it: public, as the sample is. ``cells`` is how many numbers are made for it
    when it is loaded, 0 where a file holds it.
    """

    id: str
    title: str
    description: str
    clusters: int
    load: Callable[[], LoadedSample]
    cells: int = 0


def sample(sample_id: str) -> Sample:
    """The sample of that id.

    Raises
    ------
    RequestError
        If there is none.
    """
    samples = {entry.id: entry for entry in list_samples()}
    check.one_of((*samples,), sample_id=sample_id)
    return samples[sample_id]


sample.__module__ = "dpviz"


def _load_file(path: Path) -> LoadedSample:
    declared = read_declaration(path.with_suffix(".json"))
    described = [name for name, one in declared.describe.items() if one.categories]
    text = [name for name in (declared.id_column, declared.label_column, *described) if name is not None]
    numbers = [*declared.columns, *(name for name in declared.describe if name not in described)]
    table = load_csv(path, declared=declared.file, numbers=numbers, text=text, name=declared.title)
    return LoadedSample(table, declared)


def _make_sample(sample_id: str, clusters: int, make: Callable[[], LoadedTable], declared: Declaration) -> Sample:
    """A sample whose rows are made when they are wanted."""
    cells = (declared.n_public or 0) * len(declared.columns)
    said = (sample_id, declared.title, declared.description, clusters)
    return Sample(*said, lambda: LoadedSample(make(), declared), cells)


def _load_digits() -> LoadedTable:
    from sklearn.datasets import load_digits  # slow to import

    digits, declared = load_digits(), read_declaration(_DIGITS)
    values = np.column_stack([digits.data, digits.target])
    return make_numeric_table(values, [*declared.columns, USUAL_LABEL], name=declared.title)


@cache
def list_samples() -> tuple[Sample, ...]:
    """All samples; what is declared about them is read when somebody asks first."""
    from dpviz.tables import made_tables  # here, because whoever opens a file makes none

    samples = []
    for stem, clusters in _FILES.items():
        path = FOLDER / f"{stem}.csv"
        if path.is_file() and path.with_suffix(".json").is_file():
            declared = read_declaration(path.with_suffix(".json"))
            samples.append(Sample(stem, declared.title, declared.description, clusters, partial(_load_file, path)))
    return (
        *samples,
        _make_sample("thermometers", 2, made_tables.make_thermometers, made_tables.THERMOMETERS),
        _make_sample("mixture64", 64, made_tables.make_gaussian_mixture, made_tables.MIXTURE),
        _make_sample("words", 5, made_tables.make_bag_of_words, made_tables.WORDS),
        *([_make_sample("digits", 10, _load_digits, read_declaration(_DIGITS))] if _DIGITS.is_file() else []),
    )


GIVEN = "DPVIZ_OPEN"
"""The variable of the environment in which ``dpviz open`` hands such a word to the dashboard."""

Content: TypeAlias = CsvFile | CsvOnDisk | ArrowTable | LoadedTable | SparseTable


def open_named(word: str) -> tuple[Content, Declaration]:
    """The file at the path ``word``, the table at that address, or the sample of that id; a file goes first.

    What is declared about it comes along: by the sample, or by the declaration file beside the file.

    Raises
    ------
    IntakeError
        If it is neither, or the file or its declaration file cannot be used.
    """
    if (sample := find_sample(word)) is not None:
        return sample.load()
    content = open_file(word)
    nothing = declare_nothing(content)
    beside = None if isinstance(content, DuckTable | SparkTable) else find_declaration_path(Path(word))
    return content, nothing if beside is None else apply_declaration_file(beside, nothing).validate()


def open_file(place: str | Path) -> CsvFile | CsvOnDisk | ArrowTable | SparseTable:
    """The file at a path, a folder of Parquet files, or the table at an address (see ``DuckTable`` and ``SparkTable``).

    A CSV file is in memory where it fits; none of its rows are looked at.

    Raises
    ------
    IntakeError
        If it is not there, or cannot be used.
    """
    if (typed := open_typed(place)) is not None:
        return typed
    path = Path(place)
    if path.suffix == ".npz":
        return load_sparse(path)
    try:
        return open_csv(path)
    except TooLarge:
        return CsvOnDisk(path)


def open_typed(place: str | Path) -> ArrowTable | None:
    """The table at ``place`` if its columns have types, none of its rows looked at; None of any other file."""
    if isinstance(place, str) and place.startswith(f"{duckdb_intake.SCHEME}:"):
        return DuckTable.find(place)
    if isinstance(place, str) and place.startswith(f"{spark_intake.SCHEME}://"):
        return SparkTable.find(place)
    path = Path(place)
    is_folder = os.path.isdir(path)  # noqa: PTH112 (a path too long to be one is none)
    return ParquetTable(path) if path.suffix == ENDING or is_folder else None


def declare_nothing(content: Content) -> Declaration:
    """What holds of a table of which nothing is declared: the columns of a sparse one share a scale."""
    return Declaration(scaling="common" if isinstance(content, SparseTable) else "unit")


def find_sample(word: str) -> Sample | None:
    """The sample of that id, unless a file of that name is there."""
    if os.path.isfile(word):  # noqa: PTH113 (a path too long to be one is no file, and no error)
        return None
    return next((sample for sample in list_samples() if sample.id == word), None)


def read_declared(
    data: Any, declaration: Declaration | Mapping[str, Any] | str | os.PathLike[str] | None
) -> tuple[Content, Declaration]:
    """The table that ``data`` names, none of its rows read, and what is declared of it.

    Parameters
    ----------
    data : path, name of a sample, address, data frame or array of shape (n, d)
        A frame of Spark stays where it is.
    declaration : Declaration, mapping, path or None
        None: what the sample, or the JSON file beside the file, declares.

    Returns
    -------
    table, Declaration
    """
    if isinstance(data, str | Path):
        if declaration is None or find_sample(str(data)) is not None:
            content, beside = open_named(str(data))
        else:
            content = open_file(data)
            beside = declare_nothing(content)
    elif hasattr(data, "mapInArrow"):
        content, beside = SparkTable(data), Declaration()
    else:
        content, beside = make_numeric_table(data), Declaration()
    if declaration is None:
        return content, beside
    return content, read_declaration(declaration, declare_nothing(content))
