"""Public tables of the papers from OpenML, for whoever asks for them: the one place that asks another machine."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from dpviz.core.check import RequestError
from dpviz.runs.owner_files import translate_disk_errors, write_whole
from dpviz.tables.file_format import format_frame
from dpviz.tables.loaded_table import USUAL_LABEL


class PublicTable(NamedTuple):
    """A table on OpenML, and the file that is looked for.

    Parameters
    ----------
    title, file : str
    name : str
        On OpenML.
    version : int
    columns : tuple of str
        Those that are taken; empty: all.
    labelled : bool
        Whether its classes are kept, to judge by.
    """

    title: str
    file: str
    name: str
    version: int
    columns: tuple[str, ...] = ()
    labelled: bool = True


_ADULT = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
ON_OPENML = (
    PublicTable("Letter", "letter.csv.gz", "letter", 1),
    PublicTable("MNIST", "mnist.csv.gz", "mnist_784", 1),
    PublicTable("Adult, numeric columns", "adult_num.csv.gz", "adult", 2, _ADULT, labelled=False),
)


def fetch_missing(folder: Path, tables: Sequence[PublicTable] = ON_OPENML) -> list[str]:
    """Bring tables that do not lie in ``folder``, by scikit-learn's ``fetch_openml``; what lies there is kept.

    Parameters
    ----------
    folder : Path
        Of published files.
    tables : sequence of PublicTable

    Returns
    -------
    list of str
        The files that were written.

    Raises
    ------
    RequestError
        If OpenML does not answer, or answers with other columns, or the folder cannot be written to.
    """
    from sklearn.datasets import fetch_openml

    missing = [table for table in tables if not (folder / table.file).exists()]
    for table in missing:
        _write(_fetch(table, fetch_openml), folder / table.file)
    return [table.file for table in missing]


def _fetch(table: PublicTable, fetch: Callable[..., Any]) -> pd.DataFrame:
    """Numbers, and the classes as ``label``."""
    try:
        found = fetch(name=table.name, version=table.version, as_frame=True, cache=False, parser="auto")
        columns = list(table.columns) or list(found.data.columns)
        frame: pd.DataFrame = found.data[columns].astype("float64")
        labels = found.target.astype(str) if table.labelled else None
    except (OSError, EOFError):  # a name that is not found, a machine that is not reached, a lost connection
        raise RequestError(
            f"OpenML did not send {table.title}: try --fetch again where there is a network, or leave it out; tables "
            "that are not there are generated."
        ) from None
    except (KeyError, ValueError, TypeError):
        raise RequestError(
            f"What OpenML sent is not {table.title}, version {table.version}: leave --fetch out, and put the published "
            f"file into the folder as {table.file}."
        ) from None
    return frame if labels is None else frame.assign(**{USUAL_LABEL: labels.to_numpy()})


def _write(frame: pd.DataFrame, file: Path) -> None:
    with translate_disk_errors():
        write_whole(file, gzip.compress(format_frame(frame, end="\n", float_format="%.15g").encode("utf-8")))
