"""What the data owner declares beside a table, as JSON: bounds and their origin, unit of privacy, size."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from dpviz.table.loaded_table import FloatArray, IntakeError, listed, quoted

MAX_BYTES = 1_000_000
DEFAULT_UNIT = "one row"

_BOUNDS_FORMS = (
    'allowed are {"bounds": {"x": [0, 1]}} and {"lower": 0, "upper": 1, "columns": ["x"]}, finite numbers with '
    "lower < upper"
)


class Bounds(NamedTuple):
    """Declared bounds in data units, arrays of shape (d,)."""

    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True)
class Sidecar:
    """Public declarations about one table; nothing in it may be computed from private rows.

    Attributes
    ----------
    columns : tuple of str
        The columns with bounds, in order; empty when one pair of bounds serves every column.
    lower, upper : tuples of float
        One number a column, data units; one number each when ``columns`` is empty.
    bounds_origin : str
        Where the bounds come from.
    scaling : "unit" or "common"
    radius : float or None
        Largest distance from the middle of the bounds.
    unit_of_privacy : str
        What one person is.
    relation : "add_remove", "replace" or None
        How neighbouring tables differ; None leaves it open.
    n_public : int or None
        Number of rows, where it is public.
    public : bool
        Whether the rows themselves are public.
    label, id_column : str or None
        Columns that are no coordinates: a known grouping, and whose row it is.
    rows_per_person : int or None
        Most rows of one id.
    """

    title: str = ""
    description: str = ""
    columns: tuple[str, ...] = ()
    lower: tuple[float, ...] = ()
    upper: tuple[float, ...] = ()
    bounds_origin: str = ""
    scaling: Literal["unit", "common"] = "unit"
    radius: float | None = None
    unit_of_privacy: str = DEFAULT_UNIT
    relation: Literal["add_remove", "replace"] | None = None
    n_public: int | None = None
    public: bool = False
    source: str = ""
    licence: str = ""
    label: str | None = None
    id_column: str | None = None
    rows_per_person: int | None = None

    def __post_init__(self) -> None:
        _check_bounds(self)
        if self.scaling not in ("unit", "common"):
            raise IntakeError(f'The scaling is {quoted(str(self.scaling))}; write "unit" or "common".')
        if self.relation not in ("add_remove", "replace", None):
            raise IntakeError(f'The relation is {quoted(str(self.relation))}; write "add_remove" or "replace".')
        if self.radius is not None and not (math.isfinite(self.radius) and self.radius > 0):
            raise IntakeError(f"The radius is {self.radius:g}; write a finite number above 0, or leave it out.")
        for key in ("n_public", "rows_per_person"):
            value = getattr(self, key)
            if value is not None and value < 1:
                raise IntakeError(f'"{key}" is {value}; write a whole number of at least 1, or leave it out.')
        if (self.rows_per_person or 1) > 1 and self.id_column is None:
            raise IntakeError('"rows_per_person" needs "id_column", the column that says whose row it is; add it.')
        for key in ("label", "id_column"):
            if getattr(self, key) in self.columns:
                name = quoted(getattr(self, key))
                raise IntakeError(f'"{key}" is {name}, which has bounds too; it is no coordinate; drop one.')

    def bounds_for(self, columns: Sequence[str]) -> Bounds:
        """The declared bounds of ``columns``, in their order.

        Raises
        ------
        IntakeError
            If a column has no declared bounds.
        """
        if not self.columns:
            shape = len(columns)
            return Bounds(np.full(shape, self.lower[0]), np.full(shape, self.upper[0]))
        missing = [column for column in columns if column not in self.columns]
        if missing:
            raise IntakeError(
                f"No bounds are declared for {listed(missing)}; they are for {listed(self.columns)}; declare the "
                "missing ones or choose among these."
            )
        places = [self.columns.index(column) for column in columns]
        return Bounds(np.array(self.lower)[places], np.array(self.upper)[places])


def sidecar_for(csv_path: str | os.PathLike[str]) -> Path | None:
    """``x.json`` beside ``x.csv`` or ``x.csv.gz``, or None if there is none."""
    path = Path(csv_path)
    candidate = path.with_name(path.name.removesuffix(".gz")).with_suffix(".json")
    return candidate if candidate != path and candidate.is_file() else None


def read_sidecar(path: str | os.PathLike[str]) -> Sidecar:
    """The sidecar in a JSON file, in its full form or with bounds only.

    Raises
    ------
    IntakeError
        If the file is missing, is not JSON, or declares something that is not allowed.
    """
    name = quoted(Path(path).name)
    try:
        with Path(path).open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise IntakeError(f"There is no file {name} at that path; write LO,HI or the path of a JSON file.") from None
    except (OSError, ValueError):
        raise IntakeError(f"The file {name} cannot be read; give a JSON file you may open.") from None
    if len(raw) > MAX_BYTES:
        raise IntakeError(f"The file {name} is larger than 1 MB, the most allowed; give the JSON, not the data.")
    try:
        found = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise IntakeError(f"The file {name} is not JSON in UTF-8; {_BOUNDS_FORMS}; mend the file.") from None
    return from_json_value(found)


def parse_bounds_option(text: str) -> Sidecar:
    """What ``--bounds`` says: ``LO,HI`` for every column, or the path of a JSON file.

    Raises
    ------
    IntakeError
        If it is neither, or the bounds are not allowed.
    """
    parts = text.split(",")
    if len(parts) == 2:
        try:
            low, high = float(parts[0]), float(parts[1])
        except ValueError:
            pass
        else:
            return Sidecar(lower=(low,), upper=(high,), bounds_origin="declared with --bounds")
    return read_sidecar(text)


def from_json_value(found: Any) -> Sidecar:
    """A sidecar from parsed JSON; see ``read_sidecar``."""
    if not isinstance(found, dict):
        raise IntakeError(f"The sidecar is not a JSON object; {_BOUNDS_FORMS}; mend the file.")
    allowed = ("bounds", *_READERS, "columns", "lower", "upper")
    unknown = [key for key in found if key not in allowed]
    if unknown:
        allowed_keys = listed(allowed, most=len(allowed))
        raise IntakeError(f"The sidecar has unknown keys {listed(unknown)}; allowed are {allowed_keys}; mend it.")
    values = {key: read(key, found[key]) for key, read in _READERS.items() if found.get(key) is not None}
    return Sidecar(**_read_bounds(found), **values)


def to_json(sidecar: Sidecar) -> str:
    """The canonical text: one key a line, bounds by column, what is not declared left out.

    A pair of bounds for every column is written as ``lower`` and ``upper``.
    """
    lines = []
    for key in _ORDER:
        if key == "bounds":
            lines += _bounds_lines(sidecar)
        elif (value := getattr(sidecar, key)) not in ("", None):
            lines.append(f'  "{key}": {json.dumps(_shortest(value), ensure_ascii=False)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _bounds_lines(sidecar: Sidecar) -> list[str]:
    if not sidecar.columns:
        return [f'  "{key}": {json.dumps(_shortest(getattr(sidecar, key)[0]))}' for key in ("lower", "upper")]
    pairs = (
        f"    {json.dumps(name, ensure_ascii=False)}: {json.dumps([_shortest(low), _shortest(high)])}"
        for name, low, high in zip(sidecar.columns, sidecar.lower, sidecar.upper, strict=True)
    )
    return ['  "bounds": {\n' + ",\n".join(pairs) + "\n  }"]


def _shortest(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _check_bounds(sidecar: Sidecar) -> None:
    names = sidecar.columns or ("every column",)
    if len(set(names)) < len(names):
        raise IntakeError(f"Columns {listed(names)} repeat in the bounds; declare each once.")
    if not len(names) == len(sidecar.lower) == len(sidecar.upper):
        raise IntakeError(
            f"There are {len(sidecar.lower)} lower and {len(sidecar.upper)} upper bounds for {len(names)} column(s); "
            "declare one of each for every column."
        )
    for name, low, high in zip(names, sidecar.lower, sidecar.upper, strict=True):
        if not (math.isfinite(low) and math.isfinite(high) and low < high and math.isfinite(high - low)):
            raise IntakeError(
                f"The bounds of {quoted(name)} are {low:g} and {high:g}; both must be finite with lower < upper; "
                "declare other bounds."
            )


def _read_bounds(found: dict[str, Any]) -> dict[str, Any]:
    bounds = found.get("bounds")
    if bounds is None:
        return _read_lower_upper(found)
    if any(key in found for key in ("lower", "upper", "columns")):
        both = '"bounds" and "lower", "upper" or "columns"'
        raise IntakeError(f"The sidecar has both {both}; {_BOUNDS_FORMS}; keep one form.")
    if not isinstance(bounds, dict) or not bounds:
        raise IntakeError(f"The bounds are not an object of pairs by column; {_BOUNDS_FORMS}; mend them.")
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in bounds.values()):
        raise IntakeError(f"The bounds of a column are not a pair of numbers; {_BOUNDS_FORMS}; mend them.")
    return {
        "columns": tuple(bounds),
        "lower": tuple(_number(name, pair[0]) for name, pair in bounds.items()),
        "upper": tuple(_number(name, pair[1]) for name, pair in bounds.items()),
    }


def _read_lower_upper(found: dict[str, Any]) -> dict[str, Any]:
    if "lower" not in found or "upper" not in found:
        raise IntakeError(f"The sidecar declares no bounds; {_BOUNDS_FORMS}; add them.")
    columns = found.get("columns", [])
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        raise IntakeError(f'"columns" is not a list of names; {_BOUNDS_FORMS}; mend it.')
    read = {key: _one_or_many(key, found[key], max(1, len(columns))) for key in ("lower", "upper")}
    return {"columns": tuple(columns), **read}


def _one_or_many(key: str, value: Any, length: int) -> tuple[float, ...]:
    if isinstance(value, list):
        return tuple(_number(key, one) for one in value)
    return (_number(key, value),) * length


def _number(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise IntakeError(f"{quoted(key)} is not a number; {_BOUNDS_FORMS}; mend it.")
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _whole(key: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise IntakeError(f'"{key}" is not a whole number; write a whole number of at least 1, or leave it out.')
    return value


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise IntakeError(f'"{key}" is not text; write it between quotation marks.')
    return value


def _yes_or_no(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise IntakeError(f'"{key}" is not true or false; write one of them, without quotation marks.')
    return value


_READERS: dict[str, Any] = {
    "title": _text,
    "description": _text,
    "bounds_origin": _text,
    "scaling": _text,
    "radius": _number,
    "unit_of_privacy": _text,
    "relation": _text,
    "n_public": _whole,
    "public": _yes_or_no,
    "label": _text,
    "id_column": _text,
    "rows_per_person": _whole,
    "source": _text,
    "licence": _text,
}
_ORDER = ("title", "description", "bounds", *list(_READERS)[2:])
