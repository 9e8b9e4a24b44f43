"""Rows as a program gives them: frames of several libraries, arrays, masks; what holds no numbers is refused by name.

Types and names alone decide. No message has a value of a cell.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dpviz.core import check, is_sparse
from dpviz.tables.loaded_table import list_names, quote_name

_WHAT_TO_DO = (
    "choose columns of numbers. A date becomes one as days since an origin that you choose, or by bounds={NAME: "
    '{"dates": [FIRST, LAST]}}; text is declared by its values, bounds={NAME: {"categories": [...]}}.'
)


def read_given(values: Any) -> Any:
    """``values`` as NumPy, SciPy, pandas or Dask have them; another library's frame becomes one of pandas.

    A masked cell becomes a missing one: what is behind a mask is not used.

    Raises
    ------
    RequestError
        If the type of the array holds no real numbers, or two columns have one name.
    """
    if isinstance(values, np.ma.MaskedArray):
        refuse_array(values.dtype)
        return np.ma.filled(values.astype(np.float64), np.nan)
    if hasattr(values, "to_pandas") and not hasattr(values, "__dask_graph__"):  # Polars, Arrow
        values = values.to_pandas()
    if isinstance(getattr(values, "dtype", None), np.dtype):
        refuse_array(values.dtype)
    if hasattr(values, "columns") and hasattr(values, "dtypes"):
        names = list(map(str, values.columns))
        if twice := [name for place, name in enumerate(names) if name in names[:place]]:
            raise check.RequestError(
                f"Two columns of X are called {quote_name(twice[0])}: give every column its own name."
            )
    if isinstance(values, pd.DataFrame) and any(isinstance(kind, pd.SparseDtype) for kind in values.dtypes):
        return values.astype({name: kind.subtype for name, kind in _list_sparse(values)})
    return values


def _list_sparse(frame: pd.DataFrame) -> list[tuple[Any, pd.SparseDtype]]:
    return [
        (name, kind) for name, kind in zip(frame.columns, frame.dtypes, strict=True) if isinstance(kind, pd.SparseDtype)
    ]


def refuse_array(kind: np.dtype[Any]) -> None:
    """Refuse arrays of dates, durations, complex numbers and records, which NumPy would turn into some number.

    Raises
    ------
    RequestError
        If it is one.
    """
    wrong = {"M": "dates", "m": "durations", "c": "complex numbers", "V": "records"}.get(kind.kind)
    if wrong == "complex numbers":  # in the words that scikit-learn's checks look for
        raise check.RequestError("Complex data not supported: X holds complex numbers; give real ones.")
    if wrong is not None:
        raise check.RequestError(f"X is an array of {wrong}, not of numbers: give real numbers of shape (n, d).")


def refuse_other_types(frame: Any) -> None:
    """Refuse columns of a data frame, in memory or of Dask, whose type says that they hold no real numbers.

    Categories that are numbers pass; dates do not, which NumPy would count in nanoseconds. What is no frame passes, and
    so do columns of objects in memory, of which nobody knows before they are read.

    Raises
    ------
    RequestError
        If there are such columns.
    """
    if not hasattr(frame, "dtypes") or not hasattr(frame, "columns"):
        return
    in_memory = not hasattr(frame, "__dask_graph__")
    wrong = [
        name
        for name, kind in zip(frame.columns, frame.dtypes, strict=True)
        if not _holds_numbers(kind) and not (in_memory and kind == np.dtype(object))
    ]
    if wrong:
        raise check.RequestError(describe_wrong_columns(wrong))


def describe_wrong_columns(names: list[Any]) -> str:
    """That these columns hold no numbers, and what to do."""
    return f"Columns {list_names(list(map(str, names)))} of X hold no numbers: {_WHAT_TO_DO}"


def list_objects(frame: Any) -> list[Any]:
    """Columns of a data frame in memory that may hold anything; nothing of what is no frame."""
    if not isinstance(frame, pd.DataFrame):
        return []
    return [name for name, kind in zip(frame.columns, frame.dtypes, strict=True) if kind == np.dtype(object)]


def _holds_numbers(kind: Any) -> bool:
    if isinstance(kind, pd.CategoricalDtype):
        return kind.categories is None or not hasattr(kind.categories, "dtype") or _holds_numbers(kind.categories.dtype)
    return pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_complex_dtype(kind)


def list_parts(values: Any, rows: int) -> list[Any]:
    """Sparse rows in parts of at most so many rows; whatever else as one part.

    Parameters
    ----------
    values : array-like of shape (n, d)
        As they were given.
    rows : int
        At most in a part.

    Returns
    -------
    list
        Of array-likes, in their order.
    """
    if not is_sparse(values):
        return [values]
    return [values[start : start + rows] for start in range(0, max(1, values.shape[0]), rows)]
