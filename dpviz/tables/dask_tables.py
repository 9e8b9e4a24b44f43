"""Dask arrays and data frames: their rows as batches that workers read, each in its place."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from dpviz.core import Array, check
from dpviz.tables.given_rows import refuse_array, refuse_other_types
from dpviz.tables.prepared_rows import Batch


def is_collection(values: Any) -> bool:
    """Whether ``values`` is a Dask array or data frame."""
    # Nobody has one who has not imported Dask.
    return "dask" in sys.modules and hasattr(values, "__dask_graph__")


def make_example_row(collection: Any) -> Any:
    """One row of the same columns, in memory, of which nothing is from the rows.

    Raises
    ------
    RequestError
        If the collection is not a table of numbers.
    """
    if hasattr(collection, "dtypes"):  # a data frame
        import pandas as pd

        refuse_other_types(collection)
        return pd.DataFrame(np.zeros((1, len(collection.columns))), columns=list(collection.columns))
    refuse_array(collection.dtype)
    if collection.ndim != 2 or collection.dtype.kind not in "biuf":
        raise check.RequestError("X is not a table of numbers: give a Dask array of shape (n, d), or a data frame.")
    return np.zeros((1, collection.shape[1]))


def make_empty_frame(frame: Any) -> Any:
    """A data frame of the same columns without rows."""
    import pandas as pd

    return pd.DataFrame(columns=list(frame.columns))


def list_batches(collection: Any, numbers: Callable[[Any], Array]) -> list[Any]:
    """The parts of ``collection``, delayed, as batches of what ``numbers`` makes of each.

    Parameters
    ----------
    collection : object
        A Dask array or data frame.
    numbers : function
        Of a part, to an array of shape (rows, d) in data units.

    Returns
    -------
    list of object
        Delayed; nothing is computed.
    """
    delayed = import_module("dask").delayed(partial(_make_batch, numbers=numbers))
    return [delayed(part) for part in _list_parts(collection)]


def compute_in_parts(compute: Callable[[Any], Any], collection: Any) -> Any:
    """A Dask array of what ``compute`` makes of each part: one number a row.

    Parameters
    ----------
    compute : function
        Of a part, to an array of shape (rows,).
    collection : object
        A Dask array or data frame.

    Returns
    -------
    Dask array
        Of shape (n,), nothing computed.
    """
    array = import_module("dask.array")
    delayed = import_module("dask").delayed(partial(_apply, compute=compute))
    parts = [delayed(part) for part in _list_parts(collection)]
    made = [array.from_delayed(part, shape=(np.nan,), dtype=np.int64) for part in parts]
    return array.concatenate(made, allow_unknown_chunksizes=True)


def _list_parts(collection: Any) -> list[Any]:
    if hasattr(collection, "dtypes"):
        return list(collection.to_delayed())
    whole_rows = collection.rechunk({1: -1})
    return list(whole_rows.to_delayed().ravel())


def read_plain_numbers(part: Any) -> Array:
    """A part of numbers as it is."""
    return np.asarray(part, dtype=np.float64)


def _make_batch(part: Any, *, numbers: Callable[[Any], Array]) -> Batch:
    return Batch(numbers(part), None, 1.0)


def _apply(part: Any, *, compute: Callable[[Any], Any]) -> Any:
    return compute(part)
