"""What is promised about the open table, said back to its owner: what is public, what is assumed."""

from __future__ import annotations

import streamlit as st

from dpviz.charts.wording import number, percent
from dpviz.privacy.room import N_SHARE
from dpviz.ui.badges import badge
from dpviz.ui.bounds import FROM_ROWS
from dpviz.ui.escape import plain
from dpviz.ui.state import FileKind, OpenTable
from dpviz.ui.table_words import KIND_WORDS, columns_line, rows_line, unit_line

_SHOWN = 4


def table_summary(table: OpenTable) -> None:
    """A green box with the declarations in force."""
    with st.container(border=True):
        st.success(f"**{plain(table.title)}** is open: {KIND_WORDS[table.kind]}.", icon=":material/check_circle:")
        public, assumed = st.columns(2, gap="medium")
        with public:
            badge("public")
            st.markdown("\n".join(f"- {line}" for line in _public(table)))
        with assumed:
            st.markdown(":gray-badge[:material/handshake: assumed]")
            st.markdown("\n".join(f"- {line}" for line in _assumed(table)))


def _public(table: OpenTable) -> list[str]:
    domain = table.domain
    pairs = zip(domain.columns, domain.lower, domain.upper, strict=True)
    bounds = [f"{plain(name)} {number(low)} to {number(high)}" for name, low, high in pairs]
    more = f", and {len(bounds) - _SHOWN} more" if len(bounds) > _SHOWN else ""
    lines = [
        columns_line(table, _SHOWN),
        f"bounds: {', '.join(bounds[:_SHOWN])}{more}",
        f"they come from: {plain(table.declaration.bounds_origin or 'not stated')}",
    ]
    if domain.radius is not None:
        lines.append(f"radius {number(domain.radius)}")
    if table.n_public is not None:
        lines.append(rows_line(table))
    return lines


def _whose(table: OpenTable) -> str:
    if table.kind != FileKind.PRIVATE:
        return "nobody in it needs protection"
    if FROM_ROWS in table.declaration.bounds_origin:
        return ":orange[the bounds were read from these rows: no ε covers that]"
    return "the bounds were not read from these rows"


def _assumed(table: OpenTable) -> list[str]:
    lines = [
        f"ε protects {unit_line(table)}",
        _whose(table),
        "each column counts the same" if table.domain.scaling.value == "unit" else "all columns share one scale",
    ]
    if table.n_public is None:
        lines.append(f"the number of rows is private: each run buys a noisy one with {percent(N_SHARE)} of its budget")
    if table.declaration.id_column is not None:
        lines.append(f"{plain(table.declaration.id_column)} says whose row it is")
    return lines
