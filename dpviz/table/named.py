"""The table that one word names, for the command line and for the page that it opens: a file, or else a sample."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple, TypeAlias

from dpviz.table.csv_intake import CsvFile, open_csv
from dpviz.table.loaded_table import LoadedTable
from dpviz.table.samples import SAMPLES, Sample
from dpviz.table.sidecar import Stated, read_stated, sidecar_for
from dpviz.table.sparse_intake import SparseTable, load_sparse

GIVEN = "DPVIZ_OPEN"
"""The variable of the environment in which ``dpviz open`` hands such a word to the dashboard."""

Content: TypeAlias = CsvFile | LoadedTable | SparseTable


class Named(NamedTuple):
    """What was named, and what is stated about it: by a sample, or by the sidecar of a file."""

    content: Content
    stated: Stated


def named(word: str) -> Named:
    """The file at the path ``word``, or the sample of that id; a file goes first.

    Raises
    ------
    IntakeError
        If it is neither, or the file or its sidecar cannot be used.
    """
    if (sample := sample_named(word)) is not None:
        table, declaration = sample.load()
        return Named(table, vars(declaration))
    path = Path(word)
    beside = sidecar_for(path)
    stated = {} if beside is None else read_stated(beside)
    return Named(load_sparse(path) if path.suffix == ".npz" else open_csv(path), stated)


def sample_named(word: str) -> Sample | None:
    """The sample of that id, unless a file of that name is there."""
    if os.path.isfile(word):  # noqa: PTH113 (a path too long to be one is no file, and no error)
        return None
    return next((sample for sample in SAMPLES if sample.id == word), None)
