"""The open table: what is promised about it, said back to its owner, and a look at its rows where that is allowed.

What bounds cut off is never read from a private file: bounds that are chosen by it carry its rows into the release.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from dpviz.app.charts.canvas import PlotCanvas, RevealedView, TitledPlot, new_plot
from dpviz.app.charts.picture import tabulate_points
from dpviz.app.ui import figure
from dpviz.app.ui.data_access import reveal
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import SENTENCES
from dpviz.app.ui.table_words import describe_columns, describe_delimiter, describe_unit
from dpviz.core import N_SHARE, Array, Domain, Revealed
from dpviz.runs import OpenTable, Script
from dpviz.tables import FileKind, declarations, file_format
from dpviz.words import format_number, format_percent, glossary, render


def draw_table_facts(table: OpenTable) -> None:
    """What is promised of the table, its declaration as a file and a program, its rows where they may be seen."""
    # What is assumed of it beyond what the sentence says: whom ε protects, and how the file is read.
    about = glossary.explain_words("ε, unit of privacy, neighbouring tables")
    st.markdown(":gray-badge[:material/handshake: assumed]", help=about)
    ways = {"unit": describe_unit(table), "escape": escape_markdown, "delimiter": describe_delimiter}
    ways |= {"columns": partial(describe_columns, most=4), "number": format_number}
    bought = format_percent(N_SHARE)
    st.markdown(render("assumptions.txt.j2", table=table, plain=file_format.PLAIN_FORMAT, bought=bought, **ways))
    # Public statements only.
    said, name = declarations.to_json(table.declaration), f"{table.loaded.name}.json"
    figure.draw_download(content=said, name=name, **figure.look_of("declaration_download", key="declaration_json"))
    script = partial(Script.for_table, table.loaded.name, table.declaration)
    figure.draw_python_section(script, key="data", stem="table")
    what = "rows and dots" if table.kind is FileKind.PRIVATE else "rows, dots and clipping"
    revealed = reveal(table, f"{what} under the picture")
    if revealed is None:
        st.caption(":material/visibility_off: The rows of a private file are not shown.")
        return
    tabs = {"Dots": _draw_dots, "Rows": _draw_rows, "Bounds": _draw_clipping}
    figure.draw_tabs({label: partial(draw, table, revealed) for label, draw in tabs.items()}, key="preview")


_ROWS_SHOWN = 200
# From these shares on the sentence above the table warns: of rows moved, and of a width without any.
_MUCH_CLIPPED, _MUCH_EMPTY = 0.01, 0.5


@dataclass(frozen=True, eq=False)
class Clipping:
    """The cost of bounds on revealed rows.

    ``by_column``: for each column: the shares of values below and above its bounds, the shift of its mean in data
    units, and the share of the declared width that the middle 98 % of the rows leave empty.
    """

    by_column: pd.DataFrame
    rows_moved: float


def measure_clipping(revealed: Revealed, domain: Domain) -> Clipping:
    """What declared bounds do to revealed, usable rows in unit coordinates."""
    points, half = revealed.points, domain.region.half
    if len(points) == 0:
        nothing = np.zeros(domain.dim)
        return Clipping(_make_frame(domain, nothing, nothing, nothing, nothing), 0.0)
    clipped = domain.region.clip(points)
    moved = np.abs(clipped - points) > 1e-9 * domain.region.radius
    low, high = np.quantile(points, [0.01, 0.99], axis=0)
    below, above = (points < -half).mean(axis=0), (points > half).mean(axis=0)
    shift = (clipped.mean(axis=0) - points.mean(axis=0)) * domain.scale
    empty = 1 - np.clip(np.minimum(high, half) - np.maximum(low, -half), 0, None) / (2 * half)
    return Clipping(_make_frame(domain, below, above, shift, empty), float(moved.any(axis=1).mean()))


def _make_frame(domain: Domain, below: Array, above: Array, shift: Array, empty: Array) -> pd.DataFrame:
    return pd.DataFrame(
        {"column": list(domain.columns), "below": below, "above": above, "mean shift": shift, "empty": empty}
    )


def _draw_dots(table: OpenTable, revealed: Revealed) -> None:
    view, colors = figure.ask_plane(table.domain, key="preview"), figure.read_palette()
    rows, whole = RevealedView.of(revealed.points, "preview"), len(revealed.points)
    some = f"{len(rows.points):,} of {whole:,} rows" if len(rows.points) < whole else f"{whole:,} rows"
    canvas = PlotCanvas(new_plot(colors, legend_lines=0), colors, view)
    canvas.plot.mark = figure.choose_mark(table)
    canvas.rows(rows)
    canvas.plane()
    figure.draw_badge("revealed")
    shown = TitledPlot(f"{some} drawn", view.about, canvas.plot)
    figure.show_wide(shown, alt=f"{some} as dots.", key="preview_dots", stem=f"{table.title} rows")
    outside = view.count_beyond(revealed.points) if table.kind is not FileKind.PRIVATE else 0
    if outside:
        st.caption(f"{outside:,} rows lie outside this picture: the bounds move them to its edge.")


def _draw_rows(table: OpenTable, revealed: Revealed) -> None:
    figure.draw_badge("revealed")
    frame = tabulate_points(revealed.points[:_ROWS_SHOWN], table.domain)
    st.dataframe(frame, height=388, alt=f"The first {len(frame)} rows that are used.")
    if revealed.inside:
        st.caption(SENTENCES.fill("fair_sample", shown=len(frame), rows=len(revealed.points)))
        return
    left_out = table.loaded.n_rows - len(revealed.points)
    rule = "are left out" if table.private.relation.value == "add_remove" else "count as the middle of the bounds"
    shown, rows = len(frame), len(revealed.points)
    st.caption(SENTENCES.fill("usable_rows", shown=shown, rows=rows, out=left_out, rule=rule))


def _draw_clipping(table: OpenTable, revealed: Revealed) -> None:
    """What the bounds cut off; of a private file why that is not shown, and where the question can be settled."""
    if table.kind is FileKind.PRIVATE:
        st.info(**figure.look_of("clipping_hidden"))
        return
    if revealed.inside:
        st.caption("What the bounds cut off is not known of a table that memory does not hold.")
        return
    cost = measure_clipping(revealed, table.domain)
    figure.draw_badge("revealed")
    wide = int((cost.by_column["empty"] > _MUCH_EMPTY).sum())
    moved, much = cost.rows_moved, cost.rows_moved > _MUCH_CLIPPED
    words = render("clipping.txt.j2", moved=moved, much=much, wide=wide, percent=format_percent)
    st.markdown(words, help=glossary.explain_term("bounds"))
    shown = cost.by_column.copy()
    shown[["below", "above", "empty"]] *= 100
    alt = "Share of values clipped, shift of the mean and unused width for each column."
    st.dataframe(shown, hide_index=True, column_config=figure.read_columns("clipping"), alt=alt)
