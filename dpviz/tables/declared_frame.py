"""What is declared of the columns of a data frame in memory, and its cells as the numbers of their codings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpviz.core import Array, Domain, check
from dpviz.tables.coded_domain import make_coded_domain
from dpviz.tables.coding_forms import FORMS, check_weight, read_coding
from dpviz.tables.codings import NUMBER, Coding
from dpviz.tables.loaded_table import IntakeError, list_names, quote_name, stack_columns


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
