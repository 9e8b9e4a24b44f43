"""What is promised about the open table, said back to its owner and handed on: what is public, what is assumed."""

from __future__ import annotations

import streamlit as st

from dpviz.charts.wording import number, percent
from dpviz.glossary import words_of
from dpviz.privacy.room import N_SHARE
from dpviz.runs.open_table import OpenTable
from dpviz.table.declaration import Declaration, FileKind
from dpviz.table.file_format import PLAIN_FORMAT, PLAIN_STYLE, FileFormat
from dpviz.table.loaded_table import listed
from dpviz.table.sidecar import to_json
from dpviz.ui.badges import badge
from dpviz.ui.escape import plain
from dpviz.ui.table_words import (
    coding_words,
    columns_words,
    delimiter_words,
    rows_line,
    unit_line,
)

_SHOWN = 4


def table_summary(table: OpenTable) -> None:
    """The declarations in force: what is public, what is assumed."""
    public, assumed = st.columns(2, gap="medium")
    with public:
        badge("public")
        st.markdown("\n".join(f"- {line}" for line in _public(table)))
    with assumed:
        st.markdown(
            ":gray-badge[:material/handshake: assumed]", help=words_of("ε, unit of privacy, neighbouring tables")
        )
        st.markdown("\n".join(f"- {line}" for line in _assumed(table)))


def declaration_download(table: OpenTable) -> None:
    """A button that hands on what is declared about ``table``: public statements only."""
    st.download_button(
        "Declaration (JSON)",
        to_json(table.declaration),
        f"{table.loaded.name}.json",
        "application/json",
        key="declaration_json",
        icon=":material/download:",
        help="What is declared, for the next visit or the command line: put it beside the CSV under the same name.",
        on_click="ignore",
    )


def _public(table: OpenTable) -> list[str]:
    domain = table.domain
    bounds = [_bounds_words(table.declaration, name) for name in table.declaration.bounds]
    rest = f", and {len(bounds) - _SHOWN} more" if len(bounds) > _SHOWN else ""
    lines = [
        columns_words(domain.names, _SHOWN),
        f"bounds: {', '.join(bounds[:_SHOWN])}{rest}",
        f"they come from: {plain(_origins(table))}",
    ]
    if table.declaration.file != PLAIN_FORMAT:
        lines.append(f"read as {_format_words(table.declaration.file)}")
    if domain.radius is not None:
        lines.append(f"radius {number(domain.radius)}")
    if table.n_public is not None or table.declaration.n_range is not None:
        lines.append(rows_line(table))
    return [*lines, *map(plain, domain.notes)]


def _bounds_words(declared: Declaration, name: str) -> str:
    """Bounds or values of a column, its scale and its weight."""
    low, high, _ = declared.bounds[name]
    ends = "" if low is None or high is None else f" {number(low)} to {number(high)}"
    coding, weight = declared.codings.get(name), declared.weights.get(name)
    if coding is not None:
        said = coding_words(coding.said(low, high))
        ends = f"{ends}, {said}" if coding.ends is None else f": {said}"
    return plain(name + ends) + ("" if weight is None else f", weight {weight:g}")


def _origins(table: OpenTable) -> str:
    """Where the bounds come from: each origin once, with the columns that it is said of where origins differ."""
    columns = table.domain.names
    said: dict[str, list[str]] = {}
    for column in columns:
        said.setdefault(table.declaration.origin_of(column), []).append(column)
    if len(said) == 1:
        return next(iter(said))
    return "; ".join(f"{origin} ({listed(names, most=_SHOWN)})" for origin, names in said.items())


def _format_words(file: FileFormat) -> str:
    """How the file is read, where it is not plain CSV."""
    said = [
        plain(file.encoding.upper()),
        f"{plain(delimiter_words(file.delimiter))} between fields" if file.delimiter else "",
        "the first line is a row" if file.header is False else "",
        f"{file.skip} line{'' if file.skip == 1 else 's'} above skipped" if file.skip else "",
        "units below the names" if file.units_line else "",
        f"numbers like {plain(str(file.style))}" if file.style != PLAIN_STYLE else "",
        f"in another way in {columns_words(tuple(file.styles), _SHOWN)}" if file.styles else "",
        "rows over several lines" if file.several_lines else "",
    ]
    return ", ".join(filter(None, said))


def _whose(table: OpenTable) -> str:
    if table.kind != FileKind.PRIVATE:
        return "nobody in it needs protection"
    if table.declaration.bounds_from_rows:
        return ":red[the bounds were read from these rows: no ε covers that]"
    return "the bounds were not read from these rows"


def _assumed(table: OpenTable) -> list[str]:
    lines = [
        f"ε protects {unit_line(table)}",
        _whose(table),
        "each column counts the same" if table.domain.scaling.value == "unit" else "all columns share one scale",
    ]
    if table.n_public is None:
        lines.append(f"the number of rows is private: each run buys a noisy one with {percent(N_SHARE)} of its budget")
    if table.declaration.proposed:
        lines.append("how the file is read was proposed by a look at its rows")
    if table.declaration.id_column is not None:
        lines.append(f"{plain(table.declaration.id_column)} says whose row it is")
    return lines
