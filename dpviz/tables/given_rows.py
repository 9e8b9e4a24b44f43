"""Rows as a program gives them: frames of several libraries, arrays, masks; each cell is read by itself.

What is refused follows from what is declared, from names and from the schema of an Arrow or Polars table. The type of a
column of pandas is none: it is made of all cells. No message has a value of a cell. Rows on the workers of a Dask
cluster are prepared where they lie.

"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from dpviz.core import Array, Domain, Engine, EngineRows, Region, Rows, add_up, check, is_sparse
from dpviz.tables.arrow_intake import holds_numbers
from dpviz.tables.codings import NUMBER, Coding, check_weight, read_coding
from dpviz.tables.declarations import Declaration
from dpviz.tables.loaded_table import (
    IntakeError,
    demand,
    list_numbers,
    refuse_repeats,
    refuse_unknown,
    stack_columns,
    take_frame,
)
from dpviz.tables.prepared_rows import Batch, Records, cap_rows, deal_persons, deal_rows, draw_rows, make_lattice_rows

# So many answers are added up by one task.
_FAN_IN = 8
_SECONDS_TO_ANSWER = 10


def connect(address: str) -> None:
    """From now on this process asks the Dask scheduler at ``address``.

    Raises
    ------
    RequestError
        If it is not there, or Dask is not installed.
    """
    check.import_extra("dask")
    distributed = check.import_extra("distributed")
    try:
        distributed.Client(address, timeout=_SECONDS_TO_ANSWER)
    except Exception:
        raise IntakeError.of("no_dask_scheduler", address=check.format_value(address)) from None


class DaskEngine:
    """Parts are delayed values of Dask, kept on the workers of a cluster, or in this process where there is none."""

    def map(self, call: Callable[..., Any], *columns: Sequence[Any]) -> list[Any]:
        """What ``call`` makes of the entries of the columns, one by one, kept on the workers."""
        dask = check.import_extra("dask")
        delayed = dask.delayed(call)
        with refuse_gone():
            return list(dask.persist(*(delayed(*given) for given in zip(*columns, strict=True))))

    def exchange(
        self, deal: Callable[..., list[Any]], gather: Callable[[list[Any], int], Any], *columns: Sequence[Any]
    ) -> list[Any]:
        """As many parts as before, dealt out and gathered by the workers."""
        dask = check.import_extra("dask")
        number = len(columns[0])
        dealing, gathering = dask.delayed(deal, nout=number), dask.delayed(gather)
        hands = [dealing(*given) for given in zip(*columns, strict=True)]
        with refuse_gone():
            return list(dask.persist(*(gathering([hand[at] for hand in hands], at) for at in range(number))))

    def total(self, ask: Callable[[Any], list[Any]], parts: Sequence[Any]) -> list[Any]:
        """Sums of the answers over all parts, added up on the workers."""
        dask = check.import_extra("dask")
        asked, together = dask.delayed(ask), dask.delayed(add_up)
        answers = [asked(part) for part in parts]
        while len(answers) > 1:
            answers = [together(answers[i : i + _FAN_IN]) for i in range(0, len(answers), _FAN_IN)]
        with refuse_gone():
            (total,) = dask.compute(answers[0])
        answer: list[Any] = total
        return answer

    def collect(self, parts: Sequence[Any]) -> list[Any]:
        """The parts, fetched."""
        with refuse_gone():
            return list(check.import_extra("dask").compute(*parts))


class ClusterRows(EngineRows):
    """Rows with an engine, made of batches that lie there."""

    @classmethod
    def of(
        cls,
        batches: Sequence[Any],
        domain: Domain,
        *,
        drop_incomplete: bool,
        rows_per_person: int | None = None,
        engine: Engine | None = None,
    ) -> ClusterRows:
        """The rows of batches, prepared where they lie as declared (see ``Preparation``).

        ``batches``: delayed batches of rows, data units.
        """
        engine = DaskEngine() if engine is None else engine
        if rows_per_person is None:
            parts = engine.map(partial(_prepare, domain=domain, drop_incomplete=drop_incomplete), batches)
        else:
            deal = partial(deal_rows, domain=domain, drop_incomplete=drop_incomplete, number=len(batches))
            drawn = engine.exchange(deal, partial(draw_rows, most=rows_per_person), batches)
            gather = partial(_gather, region=domain.region, most=rows_per_person)
            parts = engine.exchange(partial(deal_persons, number=len(batches)), gather, drawn)
        return cls(parts, engine.collect(engine.map(len, parts)), domain.region, engine)


def _prepare(batch: Batch, *, domain: Domain, drop_incomplete: bool) -> Rows:
    unit, _ = make_lattice_rows(batch, domain, drop_incomplete=drop_incomplete)
    return Rows.on_lattice(unit, domain.region)


def _gather(hands: list[Records], at: int, *, region: Region, most: int) -> Rows:
    return Rows.on_lattice(cap_rows(np.concatenate(hands), most)["row"], region)


@contextmanager
def refuse_gone(gone: str = "cluster_gone", **said: str) -> Iterator[None]:
    """What a cluster fails with as one sentence: its own may quote rows."""
    try:
        yield
    except (check.RequestError, MemoryError):
        raise
    except Exception:
        raise IntakeError.of(gone, **said) from None


@dataclass(frozen=True, eq=False)
class GivenRows:
    """Rows as NumPy, SciPy, pandas or Dask have them: ``values`` in memory, or a collection that stays where it is.

    ``others``: the columns that hold no numbers by the schema of a table that has one.
    """

    values: Any
    others: frozenset[str] = frozenset()

    @classmethod
    def read(cls, values: Any) -> GivenRows:
        """What a program gives: another library's frame becomes one of pandas, and a masked cell a missing one.

        What is behind a mask is not used.
        """
        frame = take_frame(values)
        others = _list_others(frame) if frame is not values and isinstance(frame, pd.DataFrame) else ()
        return cls(_convert(frame), frozenset(others))

    @property
    def is_collection(self) -> bool:
        """Whether they are a Dask array or data frame."""
        # Nobody has one who has not imported Dask.
        return "dask" in sys.modules and hasattr(self.values, "__dask_graph__")

    def make_example(self) -> GivenRows:
        """One row of numbers of the same columns as a collection has, in memory, of which nothing is from the rows."""
        collection = self.values
        if hasattr(collection, "dtypes"):  # a data frame
            return GivenRows(pd.DataFrame(np.zeros((1, len(collection.columns))), columns=list(collection.columns)))
        _refuse_array(collection.dtype)
        demand(collection.ndim == 2 and collection.dtype.kind in "biuf", "no_dask_table")
        return GivenRows(np.zeros((1, collection.shape[1])))

    def refuse_other_types(self, textual: Collection[str] = ()) -> None:
        """Refuse columns, other than those that are ``textual``, whose schema says that they hold no numbers."""
        if wrong := sorted(self.others.difference(textual)):
            raise IntakeError.of("no_numbers", wrong=wrong)

    def list_numbers(self) -> Any:
        """The same rows with each cell as a number, NaN where it holds none; sparse ones as they are.

        A list is read cell by cell too: NumPy would make text of all of it where one is text.
        """
        values = self.values
        if is_sparse(values):
            return values
        if isinstance(values, pd.DataFrame):
            columns = [list_numbers(values.iloc[:, place]) for place in range(values.shape[1])]
            table = np.stack(columns, axis=1) if columns else np.empty(values.shape)
            return pd.DataFrame(table, columns=values.columns, index=values.index, copy=False)
        try:
            array = np.asarray(values, dtype=object if isinstance(values, list | tuple) else None)
        except (TypeError, ValueError):
            raise IntakeError.of("no_table") from None
        _refuse_array(array.dtype)
        if array.dtype.kind in "biuf":
            return array
        demand(array.ndim == 2, "no_table")
        return list_numbers(array.ravel()).reshape(array.shape)

    def compute_in_parts(self, compute: Callable[[Any], Any]) -> Any:
        """A Dask array of shape (n,) of what ``compute`` makes of each part of a collection; nothing is computed yet.

        ``compute``: of a part, to an array of shape (rows,). Returns of shape (n,).
        """
        array = import_module("dask.array")
        delayed = import_module("dask").delayed(compute)
        parts = [delayed(part) for part in _list_delayed(self.values)]
        made = [array.from_delayed(part, shape=(np.nan,), dtype=np.int64) for part in parts]
        return array.concatenate(made, allow_unknown_chunksizes=True)

    def prepare(self, domain: Domain, declared: DeclaredFrame | None, *, drop_incomplete: bool) -> ClusterRows:
        """The rows of a collection, prepared where they lie."""
        make = partial(_make_batch, numbers=_list_numbers if declared is None else declared.encode)
        delayed = import_module("dask").delayed(make)
        batches = [delayed(part) for part in _list_delayed(self.values)]
        return ClusterRows.of(batches, domain, drop_incomplete=drop_incomplete)


class DeclaredFrame(Declaration):
    """What is declared of the columns of a data frame by name: bounds or values of each, and weights."""

    @classmethod
    def of(
        cls,
        columns: Sequence[str],
        bounds: Any,
        categories: Mapping[str, Any] | None,
        weights: Mapping[str, float] | None,
    ) -> DeclaredFrame:
        """What is said of ``columns``: bounds by name in any form of a declaration, or a pair for all numbers."""
        names = tuple(map(str, columns))
        refuse_repeats(names)
        said = dict(bounds) if isinstance(bounds, Mapping) else {}
        said |= {name: {"categories": values} for name, values in (categories or {}).items()}
        refuse_unknown(map(str, (*said, *(weights or {}))), names)
        others = [name for name in names if name not in said]
        if bounds is not None and not isinstance(bounds, Mapping):
            lower, upper = DeclaredFrame.read_bounds(bounds, len(others))
            try:
                both = (np.asarray(end, dtype=np.float64) for end in (lower, upper))
                low, high = (np.broadcast_to(end, (len(others),)).tolist() for end in both)
            except (TypeError, ValueError):
                raise IntakeError.of("bounds_no_pairs", many=len(others)) from None
            said |= dict(zip(others, list(zip(low, high, strict=True)), strict=True))
        elif others:
            raise IntakeError.of("not_declared", others=others)
        read = {name: _read(name, said[name]) for name in names}
        lowest, highest = (tuple(ends[place] for _, *ends in read.values()) for place in (0, 1))
        codings = {name: coding for name, (coding, _, _) in read.items() if coding != NUMBER}
        weighed = {str(name): check_weight(str(name), weight) for name, weight in (weights or {}).items()}
        return cls(names, lowest, highest, codings=codings, weights=weighed)

    @staticmethod
    def read_bounds(bounds: Any, dim: int) -> tuple[Any, Any]:
        """Lower and upper bounds of ``dim`` columns, each a number or an array.

        ``bounds``: A pair (lower, upper), each a number or an array of shape (dim,); or a pair for each column.
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
            raise IntakeError.of("bounds_no_pair", dim=dim) from None
        return lower, upper

    def encode(self, frame: Any) -> Array:
        """Cells of ``frame`` as numbers (n, number of columns), each by itself; NaN where one is missing."""
        columns = {str(name): frame.iloc[:, place] for place, name in enumerate(frame.columns)}
        read = {name: columns[name] if name in self.textual else list_numbers(columns[name]) for name in columns}
        return stack_columns(read, self.columns, self.codings)


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
        raise IntakeError.of("bounds_of_two_columns")
    return by_column


def _read(name: str, said: Any) -> tuple[Coding, float, float]:
    form = said if isinstance(said, Mapping) else {"bounds": said, "scale": "linear"}
    coding, lower, upper = read_coding(name, form)
    if lower is None or upper is None:
        raise IntakeError.of("bounds_open", name=name)
    return coding, lower, upper


def _make_batch(part: Any, *, numbers: Callable[[Any], Array]) -> Batch:
    return Batch(numbers(part), None, 1.0)


def _convert(values: Any) -> Any:
    if isinstance(values, np.ma.MaskedArray):
        _refuse_array(values.dtype)
        hidden, shown = np.ma.getmaskarray(values), GivenRows(values.data).list_numbers()
        return np.where(hidden, np.nan, shown)
    if isinstance(getattr(values, "dtype", None), np.dtype):
        _refuse_array(values.dtype)
    if hasattr(values, "columns") and hasattr(values, "dtypes"):
        refuse_repeats(list(map(str, values.columns)))
    return values


def _list_others(frame: Any) -> list[str]:
    """The columns of a table with a schema that hold no numbers; one that is empty may be anything."""
    return [str(name) for name, kind in frame.dtypes.items() if not holds_numbers(kind.pyarrow_dtype)]


def _refuse_array(kind: np.dtype[Any]) -> None:
    """Refuse arrays of dates, durations, complex numbers and records, which NumPy would turn into some number."""
    wrong = {"M": "dates", "m": "durations", "c": "complex numbers", "V": "records"}.get(kind.kind)
    if wrong == "complex numbers":  # in the words that scikit-learn's checks look for
        raise IntakeError.of("complex_numbers")
    demand(wrong is None, "array_of", what=wrong)


def _list_delayed(collection: Any) -> list[Any]:
    if hasattr(collection, "dtypes"):
        return list(collection.to_delayed())
    return list(collection.rechunk({1: -1}).to_delayed().ravel())


def _list_numbers(part: Any) -> Array:
    return np.asarray(GivenRows(part).list_numbers(), dtype=np.float64)
