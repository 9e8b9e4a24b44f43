"""The program that stands alone beside a release: whoever holds a row finds its segment."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from string import Template

from dpviz.arrays import Array
from dpviz.check import RequestError
from dpviz.table.domain import Domain
from dpviz.table.file_format import PLAIN_FORMAT, FileFormat

_TEMPLATE = Path(__file__).with_name("assign.py.txt")


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
    styles = [file.style_of(name) for name in domain.columns]
    return Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        title=repr(title),
        columns=_lines(map(repr, domain.columns)),
        lower=domain.lower.tolist(),
        upper=domain.upper.tolist(),
        scaling=repr(domain.scaling.value),
        radius=repr(None if domain.radius is None else float(domain.radius)),
        centers=_lines(map(repr, centers.tolist())),
        encoding=repr(file.encoding),
        delimiter=repr(file.delimiter),
        names=repr(list(file.names)),
        has_header=file.header is not False,
        styles=_lines(repr((style.decimal, "".join(style.grouping_marks), style.sign)) for style in styles),
    )


def _lines(values: Iterable[str]) -> str:
    return f"[\n{''.join(f'    {value},{chr(10)}' for value in values)}]"
