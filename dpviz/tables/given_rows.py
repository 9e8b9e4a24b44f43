"""Rows as a program gives them: frames of several libraries, arrays, masks; what holds no numbers is refused by name.

Types and names alone decide. No message has a value of a cell.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from dpviz.core import Array, Domain, check, is_sparse
from dpviz.tables.coding_forms import FORMS, check_weight, read_coding
from dpviz.tables.codings import NUMBER, Coding, make_coded_domain
from dpviz.tables.loaded_table import IntakeError, stack_columns
from dpviz.tables.prepared_rows import Batch
from dpviz.words import list_names, quote_name

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


@dataclass(frozen=True)
class DeclaredFrame:
    """Columns of a data frame by name: bounds or values of each, and weights."""

    columns: tuple[str, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    codings: Mapping[str, Coding]
    weights: Mapping[str, float]

    @classmethod
    def of(
        cls,
        columns: Sequence[str],
        bounds: Any,
        categories: Mapping[str, Any] | None,
        weights: Mapping[str, float] | None,
    ) -> DeclaredFrame:
        """What is said of ``columns``: bounds by name in any form of a declaration, or a pair for all numbers.

        Parameters
        ----------
        columns : sequence of str
            Names of the columns.
        bounds : object
            By column in any form of a declaration, or one pair for all numbers.
        categories : mapping of str to object or None
            Declared values of each column that holds some.
        weights : mapping of str to float or None
            How much columns count.

        Returns
        -------
        DeclaredFrame
            Each column with its coding and bounds.

        Raises
        ------
        RequestError
            If a column is not declared, or two have one name, or what is declared is not there.
        """
        names = tuple(map(str, columns))
        if twice := [name for place, name in enumerate(names) if name in names[:place]]:
            raise IntakeError(f"Two columns are called {quote_name(twice[0])}; give every column its own name.")
        said = dict(bounds) if isinstance(bounds, Mapping) else {}
        said |= {name: {"categories": values} for name, values in (categories or {}).items()}
        if strangers := [str(name) for name in (*said, *(weights or {})) if name not in names]:
            raise IntakeError(
                f"There is no column {list_names(strangers)} in X; columns are {list_names(names)}; mend it."
            )
        others = [name for name in names if name not in said]
        if bounds is not None and not isinstance(bounds, Mapping):
            said |= dict(zip(others, _pair_bounds(bounds, others), strict=True))
        elif others:
            raise IntakeError(
                f"Nothing is declared of column {list_names(others)}: declare bounds of numbers, and the values "
                "of text "
                "as categories; they are never taken from rows."
            )
        read = {name: _read(name, said[name]) for name in names}
        return cls(
            names,
            tuple(lower for _, lower, _ in read.values()),
            tuple(upper for _, _, upper in read.values()),
            {name: coding for name, (coding, _, _) in read.items() if coding != NUMBER},
            {str(name): check_weight(str(name), weight) for name, weight in (weights or {}).items()},
        )

    def domain(self, **geometry: Any) -> Domain:
        """Their domain, with a radius and a scaling."""
        declared: dict[str, Any] = {"codings": self.codings, "weights": self.weights, **geometry}
        return make_coded_domain(self.columns, self.lower, self.upper, **declared)

    def numbers(self, frame: Any) -> Array:
        """Cells of ``frame`` as numbers (n, number of columns), each by itself; NaN where one is missing.

        Raises
        ------
        RequestError
            If a column that is declared as numbers holds text or dates.
        """
        frame.columns = [str(name) for name in frame.columns]
        for name in self.columns:
            plain = not self.codings.get(name, NUMBER).textual
            kind = frame[name].dtype
            if plain and (not pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_complex_dtype(kind)):
                raise IntakeError(
                    f"Column {quote_name(name)} holds {_name_kind(kind)}; they are never taken from rows."
                )
        cells = {name: self._read_cells(name, frame[name]) for name in self.columns}
        return stack_columns(cells, self.columns, self.codings)

    def _read_cells(self, name: str, cells: pd.Series[Any]) -> Any:
        if not self.codings.get(name, NUMBER).textual:
            return cells.to_numpy(dtype=np.float64, na_value=np.nan)
        # The categories of a pandas column come from its rows: only the names in the cells are used.
        return cells.astype(object) if isinstance(cells.dtype, pd.CategoricalDtype) else cells


def _name_kind(kind: Any) -> str:
    if pd.api.types.is_datetime64_any_dtype(kind):
        return 'dates: declare the first and the last, {"dates": [FIRST, LAST]}'
    if pd.api.types.is_complex_dtype(kind):
        return "complex numbers: give real ones"
    return "text: declare its categories"


def read_bounds(bounds: Any, dim: int) -> tuple[Any, Any]:
    """Lower and upper bounds of ``dim`` columns, each a number or an array.

    Parameters
    ----------
    bounds : object
        A pair (lower, upper), each a number or an array of shape (dim,); or a pair for each column.
    dim : int
        Columns.

    Returns
    -------
    number or array, number or array
        As they were given; nothing but their form was looked at.

    Raises
    ------
    RequestError
        If they are neither, or of two columns may be both.
    """
    try:
        shape = np.asarray(bounds, dtype=np.float64).shape
    except (TypeError, ValueError):  # an array and a number
        shape = ()
    if shape == (dim, 2) and (dim != 2 or _is_pair_a_column(bounds)):
        pairs = np.asarray(bounds, dtype=np.float64)
        return pairs[:, 0], pairs[:, 1]
    try:
        lower, upper = bounds
    except (TypeError, ValueError):
        raise check.RequestError(
            f"bounds is not a pair: give (lower, upper), numbers or arrays of shape ({dim},), or a list of {dim} pairs."
        ) from None
    return lower, upper


def _is_pair_a_column(bounds: Any) -> bool:
    """Of two columns, whether two pairs of numbers are pairs of a column: a list of tuples is, a tuple of arrays not.

    Whatever else may be either is refused, unless only one way makes every lower bound the smaller one.
    """
    each = {isinstance(one, tuple) for one in bounds}
    if isinstance(bounds, list) and each == {True}:
        return True
    if isinstance(bounds, tuple) and each == {False}:
        return False
    numbers = np.asarray(bounds, dtype=np.float64)
    by_column, by_end = bool((numbers[:, 0] < numbers[:, 1]).all()), bool((numbers[0] < numbers[1]).all())
    if by_column and by_end:
        raise check.RequestError(
            "bounds of two columns can be read in two ways: give a list of pairs, [(lower, upper), (lower, upper)], or "
            "a pair of lists, ([lower, lower], [upper, upper])."
        )
    return by_column


def _pair_bounds(bounds: Any, names: Sequence[str]) -> list[tuple[float, float]]:
    """Bounds of all columns of numbers as one pair a column."""
    lower, upper = read_bounds(bounds, len(names))
    try:
        low, high = (
            np.broadcast_to(np.asarray(end, dtype=np.float64), (len(names),)).tolist() for end in (lower, upper)
        )
    except (TypeError, ValueError):
        raise check.RequestError(
            f"bounds is not a pair (lower, upper) for the {len(names)} columns of numbers: give numbers, arrays of "
            f"shape ({len(names)},), or a dict by column name; {FORMS}."
        ) from None
    return list(zip(low, high, strict=True))


def _read(name: str, said: Any) -> tuple[Coding, float, float]:
    if isinstance(said, Mapping):
        coding, lower, upper = read_coding(name, said)
    else:
        coding, lower, upper = read_coding(name, {"bounds": said, "scale": "linear"})
    if lower is None or upper is None:
        raise IntakeError(f"The bounds of {quote_name(name)} are still open; declare two numbers.")
    return coding, lower, upper


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
