"""What is promised about the open table, said back to its owner and handed on: what is public, what is assumed."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import draw_badge
from dpviz.app.ui.python_section import draw_python_section
from dpviz.app.ui.table_words import describe_coding, describe_columns, describe_delimiter, describe_rows, describe_unit
from dpviz.core import N_SHARE
from dpviz.runs import OpenTable, Script
from dpviz.tables import Declaration, FileKind, declarations, file_format
from dpviz.words import format_number, format_percent, glossary, list_names

_SHOWN = 4


def draw_table_summary(table: OpenTable) -> None:
    """The declarations in force: what is public, what is assumed."""
    public, assumed = st.columns(2, gap="medium")
    with public:
        draw_badge("public")
        st.markdown("\n".join(f"- {line}" for line in _draw_public_facts(table)))
    with assumed:
        st.markdown(
            ":gray-badge[:material/handshake: assumed]",
            help=glossary.explain_words("ε, unit of privacy, neighbouring tables"),
        )
        st.markdown("\n".join(f"- {line}" for line in _describe_assumptions(table)))


def draw_declaration_download(table: OpenTable) -> None:
    """A button that hands on what is declared about ``table``: public statements only."""
    st.download_button(
        "Declaration (JSON)",
        declarations.to_json(table.declaration),
        f"{table.loaded.name}.json",
        "application/json",
        key="declaration_json",
        icon=":material/download:",
        help="What is declared, for the next visit or the command line: put it beside the CSV under the same name.",
        on_click="ignore",
    )


def draw_table_in_python(table: OpenTable) -> None:
    """What opens ``table`` as it is declared, as a program."""
    script = partial(Script.for_table, table.loaded.name, table.declaration)
    draw_python_section(script, key="data", stem="table")


def _draw_public_facts(table: OpenTable) -> list[str]:
    domain = table.domain
    bounds = [_describe_bounds(table.declaration, name) for name in table.declaration.bounds]
    rest = f", and {len(bounds) - _SHOWN} more" if len(bounds) > _SHOWN else ""
    lines = [
        describe_columns(domain.names, _SHOWN),
        f"bounds: {', '.join(bounds[:_SHOWN])}{rest}",
        f"they come from: {escape_markdown(_describe_origins(table))}",
    ]
    if table.declaration.file != file_format.PLAIN_FORMAT:
        lines.append(f"read as {_describe_format(table.declaration.file)}")
    if domain.radius is not None:
        lines.append(f"radius {format_number(domain.radius)}")
    if table.n_public is not None or table.declaration.n_range is not None:
        lines.append(describe_rows(table))
    return [*lines, *map(escape_markdown, domain.notes)]


def _describe_bounds(declared: Declaration, name: str) -> str:
    """Bounds or values of a column, its scale and its weight."""
    low, high, _ = declared.bounds[name]
    ends = "" if low is None or high is None else f" {format_number(low)} to {format_number(high)}"
    coding, weight = declared.codings.get(name), declared.weights.get(name)
    if coding is not None:
        said = describe_coding(coding.to_plain(low, high))
        ends = f"{ends}, {said}" if coding.ends is None else f": {said}"
    return escape_markdown(name + ends) + ("" if weight is None else f", weight {weight:g}")


def _describe_origins(table: OpenTable) -> str:
    """Where the bounds come from: each origin once, with the columns that it is said of where origins differ."""
    columns = table.domain.names
    said: dict[str, list[str]] = {}
    for column in columns:
        said.setdefault(table.declaration.describe_origin(column), []).append(column)
    if len(said) == 1:
        return next(iter(said))
    return "; ".join(f"{origin} ({list_names(names, most=_SHOWN)})" for origin, names in said.items())


def _describe_format(file: file_format.FileFormat) -> str:
    """How the file is read, where it is not plain CSV."""
    said = [
        escape_markdown(file.encoding.upper()),
        f"{escape_markdown(describe_delimiter(file.delimiter))} between fields" if file.delimiter else "",
        "the first line is a row" if file.header is False else "",
        f"{file.skip} line{'' if file.skip == 1 else 's'} above skipped" if file.skip else "",
        "units below the names" if file.units_line else "",
        f"numbers like {escape_markdown(str(file.style))}" if file.style != file_format.PLAIN_STYLE else "",
        f"in another way in {describe_columns(tuple(file.styles), _SHOWN)}" if file.styles else "",
        "rows over several lines" if file.several_lines else "",
    ]
    return ", ".join(filter(None, said))


def _describe_owner(table: OpenTable) -> str:
    if table.kind != FileKind.PRIVATE:
        return "nobody in it needs protection"
    if table.declaration.bounds_from_rows:
        return ":red[the bounds were read from these rows: no ε covers that]"
    return "the bounds were not read from these rows"


def _describe_assumptions(table: OpenTable) -> list[str]:
    lines = [
        f"ε protects {describe_unit(table)}",
        _describe_owner(table),
        "each column counts the same" if table.domain.scaling.value == "unit" else "all columns share one scale",
    ]
    if table.n_public is None:
        lines.append(
            f"the number of rows is private: each run buys a noisy one with {format_percent(N_SHARE)} of its budget"
        )
    if table.declaration.proposed:
        lines.append("how the file is read was proposed by a look at its rows")
    if table.declaration.id_column is not None:
        lines.append(f"{escape_markdown(table.declaration.id_column)} says whose row it is")
    return lines
