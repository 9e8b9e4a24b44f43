"""The program that stands alone beside a release: whoever holds a row finds its segment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from string import Template

import pandas as pd

from dpviz.arrays import Array
from dpviz.check import RequestError
from dpviz.table.codings import Closed, Cycle, Dates, DeclaredColumn, Nominal, Ordinal, Stretched
from dpviz.table.domain import Domain
from dpviz.table.file_format import MISSING, PLAIN_FORMAT, FileFormat
from dpviz.table.loaded_table import canonical_ids

_TEMPLATE = Path(__file__).with_name("assign.py.txt")
_OF_CATEGORIES = Path(__file__).with_name("assign_mixed.py.txt")


def assign_script(domain: Domain, centers: Array, *, title: str, file: FileFormat = PLAIN_FORMAT) -> str:
    """The text of ``assign.py``: Python and NumPy only, everything declared and released stands in it as numbers.

    Parameters
    ----------
    domain : Domain
        As declared: bounds, scaling, radius.
    centers : array of shape (k, d)
        Released, data units, as they are published.
    title : str
        Of the table.
    file : FileFormat
        How the rows are written.

    Raises
    ------
    RequestError
        If the centres have another number of coordinates than the domain.
    """
    if centers.ndim != 2 or centers.shape[1] != domain.dim:
        raise RequestError(f"The centres have shape {centers.shape}: give (k, {domain.dim}), a coordinate a column.")
    styles = [file.style_of(name) for name in domain.names]
    template, of_columns = (_OF_CATEGORIES, _coded(domain)) if domain.declared else (_TEMPLATE, _plain(domain))
    return Template(template.read_text(encoding="utf-8")).substitute(
        of_columns,
        title=repr(title),
        columns=_lines(map(repr, domain.names)),
        centers=_lines(map(repr, centers.tolist())),
        encoding=repr(file.encoding),
        delimiter=repr(file.delimiter),
        names=repr(list(file.names)),
        has_header=file.header is not False,
        styles=_lines(repr((style.decimal, "".join(style.grouping_marks), style.sign)) for style in styles),
    )


def _plain(domain: Domain) -> dict[str, object]:
    """What is said of columns of numbers."""
    return {
        "lower": domain.lower.tolist(),
        "upper": domain.upper.tolist(),
        "scaling": repr(domain.scaling.value),
        "radius": repr(None if domain.radius is None else float(domain.radius)),
    }


def _coded(domain: Domain) -> dict[str, object]:
    """The same where some column has a coding."""
    blocks, region = domain.region.blocks, domain.region
    longest = region.radius if blocks is None else blocks.free_radius
    return {
        "holds": _lines(repr(_holds(column)) for column in domain.declared),
        "sides": [column.side for column in domain.declared],
        "radius": repr(None if domain.radius is None else longest),
        "middle": domain.center.tolist(),
        "scale": domain.scale.tolist(),
        "missing": sorted(MISSING),
    }


def _holds(column: DeclaredColumn) -> tuple[object, ...]:
    """What a column holds, as the program reads it."""
    match coding := column.coding:
        case Nominal():
            return ("categories", list(_canonical(coding.names)))
        case Closed() | Ordinal():
            kind = "closed" if isinstance(coding, Closed) else "order"
            return (kind, column.lower, column.upper, list(_canonical(coding.values)))
        case Dates():
            return ("dates", column.lower, column.upper, coding.written, coding.first.toordinal())
        case Cycle():
            return ("cycle", coding.period)
        case Stretched():
            raise RequestError(f"Column {column.name!r} is on an uneven scale, which this program does not know.")
        case _:
            return ("number", column.lower, column.upper)


def _canonical(names: Sequence[str]) -> list[str]:
    """Declared values as cells of a file are compared with them."""
    return [str(text) for text in canonical_ids(pd.Series(list(names), dtype="str"))]


def _lines(values: Iterable[str]) -> str:
    return f"[\n{''.join(f'    {value},{chr(10)}' for value in values)}]"
