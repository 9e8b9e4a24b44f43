"""A declaration that is joined by what a JSON file or a proposal says. No Streamlit here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dpviz.table.csv_intake import CsvFile
from dpviz.table.declaration import Declaration
from dpviz.table.file_format import FileFormat
from dpviz.table.loaded_table import IntakeError, LoadedTable, listed
from dpviz.table.proposal import Proposal
from dpviz.table.sidecar import Stated
from dpviz.table.sparse_intake import SparseTable

MOST_PRESELECTED = 12
_NO_MEASURES = frozenset({"id", "ids", "label", "labels", "class", "cluster", "target", "segment", "index", "key"})


def names_of(content: CsvFile | LoadedTable | SparseTable, file: FileFormat) -> tuple[str, ...]:
    """The columns that there are: public, they come from the header or from the declaration.

    Raises
    ------
    IntakeError
        If the first line cannot be a header.
    """
    if isinstance(content, CsvFile):
        return content.header(file).names
    return content.columns if isinstance(content, SparseTable) else tuple(content.frame.columns)


def joined(now: Declaration, stated: Stated, content: CsvFile | LoadedTable | SparseTable) -> Declaration:
    """``now`` with everything that JSON has ``stated`` about ``content`` in its place.

    One pair of bounds for all columns is that of the columns chosen now, or of all number columns while none is.

    Raises
    ------
    IntakeError
        If the two contradict each other, or the file has no such column.
    """
    said: dict[str, Any] = dict(stated)
    if "lower" in said and not said["columns"]:
        many = max(1, len(now.columns))
        said |= {"columns": now.columns, **{bound: said[bound] * many for bound in ("lower", "upper")}, "origins": ()}
    told = replace(now, **said)
    if told.id_column is None and "rows_per_person" not in said:
        told = replace(told, rows_per_person=1)
    names = names_of(content, told.file)
    _refuse_strangers("columns to cluster", told.columns, names)
    _refuse_strangers("number columns", told.numbers, names)
    _refuse_strangers("id column", [told.id_column or ""], ("", *names))
    _refuse_strangers("label column", [told.label_column or ""], ("", *names))
    return (told.over(names) if told.lower else told).checked()


def with_proposal(now: Declaration, found: Proposal) -> Declaration:
    """``now`` with the file read as proposed; columns that were chosen stay where they hold numbers."""
    others = (now.id_column, now.label_column)
    measures = [name for name in found.numbers if name not in others and not _is_no_measure(name)]
    first = measures if len(measures) <= MOST_PRESELECTED else []
    chosen = [name for name in now.columns if name in found.numbers] or first
    bounds = dict(zip(now.columns, zip(now.lower, now.upper, strict=True), strict=True))
    origins = dict(zip(now.columns, now.origins, strict=False))
    open_bounds = (None, None)
    return replace(
        now,
        file=found.file,
        numbers=found.numbers if found.text else (),
        columns=tuple(chosen),
        lower=tuple(bounds.get(name, open_bounds)[0] for name in chosen),
        upper=tuple(bounds.get(name, open_bounds)[1] for name in chosen),
        origins=tuple(origins.get(name, "") for name in chosen),
        id_column=now.id_column if now.id_column in found.names else None,
        rows_per_person=now.rows_per_person if now.id_column in found.names else 1,
        label_column=now.label_column if now.label_column in found.names else None,
        proposed=True,
    )


def _is_no_measure(name: str) -> bool:
    """Whether a column sounds like an id or a known grouping rather than a measurement; only a first guess."""
    return name.lower().replace("-", "_").split("_")[-1] in _NO_MEASURES


def _refuse_strangers(what: str, asked: Sequence[str], names: Sequence[str]) -> None:
    if strangers := [name for name in asked if name not in names]:
        raise IntakeError(
            f"The JSON names {listed(strangers)} as {what}; the columns are {listed([*filter(None, names)])}; mend it, "
            "or how the file is read."
        )
