"""The table that one word names, for the command line and for the page that it opens: a file, or else a sample."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple, TypeAlias

from dpviz.tables.csv_intake import CsvFile, TooLarge, open_csv
from dpviz.tables.csv_stream import CsvOnDisk
from dpviz.tables.declaration import Declaration
from dpviz.tables.declaration_file import apply_declaration_file, find_declaration_path
from dpviz.tables.loaded_table import LoadedTable
from dpviz.tables.parquet_intake import ParquetTable, is_parquet
from dpviz.tables.samples import SAMPLES, Sample
from dpviz.tables.sparse_intake import SparseTable, load_sparse

GIVEN = "DPVIZ_OPEN"
"""The variable of the environment in which ``dpviz open`` hands such a word to the dashboard."""

Content: TypeAlias = CsvFile | CsvOnDisk | ParquetTable | LoadedTable | SparseTable


class Named(NamedTuple):
    """What was named, and what is declared about it: by a sample, or by the declaration file of a file."""

    content: Content
    declaration: Declaration


def open_named(word: str) -> Named:
    """The file at the path ``word``, or the sample of that id; a file goes first.

    Raises
    ------
    IntakeError
        If it is neither, or the file or its declaration file cannot be used.
    """
    if (sample := find_sample(word)) is not None:
        return Named(*sample.load())
    path = Path(word)
    content = open_file(path)
    nothing, beside = declare_nothing(content), find_declaration_path(path)
    return Named(content, nothing if beside is None else apply_declaration_file(beside, nothing).validate())


def open_file(path: Path) -> CsvFile | CsvOnDisk | ParquetTable | SparseTable:
    """The file at ``path``, or a folder of Parquet files: in memory where it fits, none of its rows looked at.

    Raises
    ------
    IntakeError
        If it is not there, or cannot be used.
    """
    if path.suffix == ".npz":
        return load_sparse(path)
    if is_parquet(path):
        return ParquetTable(path)
    try:
        return open_csv(path)
    except TooLarge:
        return CsvOnDisk(path)


def declare_nothing(content: Content) -> Declaration:
    """What holds of a table of which nothing is declared: the columns of a sparse one share a scale."""
    return Declaration(scaling="common" if isinstance(content, SparseTable) else "unit")


def find_sample(word: str) -> Sample | None:
    """The sample of that id, unless a file of that name is there."""
    if os.path.isfile(word):  # noqa: PTH113 (a path too long to be one is no file, and no error)
        return None
    return next((sample for sample in SAMPLES if sample.id == word), None)
