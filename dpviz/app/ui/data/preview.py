"""A look at the rows of the open table, where it is allowed: the rows, two columns as dots, what the bounds cut off.

What they cut off is never read from a private file: bounds that are chosen by it carry its rows into the release.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from dpviz.app.charts.canvas import RevealedView, TitledPlot, draw_rows, new_plot, show_plane
from dpviz.app.ui.data_access import reveal
from dpviz.app.ui.figure import draw_badge, show_wide
from dpviz.app.ui.plane_choice import ask_plane
from dpviz.core import Array, Domain, Revealed
from dpviz.runs import OpenTable
from dpviz.tables import FileKind
from dpviz.words import choose_palette, format_percent, glossary

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
    """What declared bounds do to revealed rows.

    ``revealed``: usable rows, unit coordinates.
    """
    points, half = revealed.points, domain.region.half
    if len(points) == 0:
        nothing = np.zeros(domain.dim)
        return Clipping(_make_frame(domain, nothing, nothing, nothing, nothing), 0.0)
    clipped = domain.region.clip(points)
    moved = np.abs(clipped - points) > 1e-9 * domain.region.radius
    low, high = np.quantile(points, [0.01, 0.99], axis=0)
    return Clipping(
        _make_frame(
            domain,
            (points < -half).mean(axis=0),
            (points > half).mean(axis=0),
            (clipped.mean(axis=0) - points.mean(axis=0)) * domain.scale,
            1 - np.clip(np.minimum(high, half) - np.maximum(low, -half), 0, None) / (2 * half),
        ),
        float(moved.any(axis=1).mean()),
    )


def _make_frame(domain: Domain, below: Array, above: Array, shift: Array, empty: Array) -> pd.DataFrame:
    return pd.DataFrame(
        {"column": list(domain.columns), "below": below, "above": above, "mean shift": shift, "empty": empty}
    )


def draw_preview(table: OpenTable) -> None:
    """Rows, dots and clipping of ``table``, or why they are not shown."""
    what = "rows and dots" if table.kind is FileKind.PRIVATE else "rows, dots and clipping"
    revealed = reveal(table, f"{what} on the Data page")
    if revealed is None:
        st.caption(":material/visibility_off: The rows of a private file are not shown.")
        return
    dots, rows, bounds = st.tabs(["Dots", "Rows", "Bounds"], key="preview", on_change="rerun")
    if dots.open:
        with dots:
            _draw_dots(table, revealed)
    if rows.open:
        with rows:
            _draw_rows(table, revealed)
    if bounds.open:
        with bounds:
            if table.kind is FileKind.PRIVATE:
                _draw_no_clipping()
            elif revealed.inside:
                st.caption("What the bounds cut off is not known of a table that memory does not hold.")
            else:
                _draw_clipping(measure_clipping(revealed, table.domain))


def _draw_dots(table: OpenTable, revealed: Revealed) -> None:
    view = ask_plane(table.domain, key="preview")
    colors = choose_palette(st.context.theme.type)
    looked = RevealedView.of(revealed.points, "preview")
    drawn = len(looked.points)
    some = f"{drawn:,} of {len(revealed.points):,} rows" if drawn < len(revealed.points) else f"{drawn:,} rows"
    plot = new_plot(colors, legend_lines=0)
    draw_rows(plot, looked.points, view, colors)
    show_plane(plot, view, colors)
    draw_badge("revealed")
    shown = TitledPlot(f"{some} within the declared bounds", view.about, plot)
    show_wide(shown, alt=f"{some} as dots.", key="preview_dots", stem=f"{table.title} rows")
    outside = view.count_beyond(revealed.points) if table.kind is not FileKind.PRIVATE else 0
    if outside:
        st.caption(f"{outside:,} rows lie outside this picture: the bounds move them to its edge.")


def _draw_rows(table: OpenTable, revealed: Revealed) -> None:
    draw_badge("revealed")
    shown = revealed.points[:_ROWS_SHOWN]
    frame = pd.DataFrame(table.domain.from_unit(shown), columns=list(table.domain.columns))
    st.dataframe(frame, height=388, alt=f"The first {len(frame)} rows that are used.")
    if revealed.inside:
        st.caption(
            f"The first {len(frame):,} of {len(revealed.points):,} rows that stand for all of them: a fair sample, "
            "inside the bounds, the same in whatever order the file has them."
        )
        return
    left_out = table.loaded.n_rows - len(revealed.points)
    rule = "are left out" if table.private.relation.value == "add_remove" else "count as the middle of the bounds"
    st.caption(
        f"The first {len(frame):,} of {len(revealed.points):,} usable rows. {left_out:,} rows with missing cells, or "
        f"beyond the most rows of one person, {rule}."
    )


def _draw_no_clipping() -> None:
    """Why a private file has no such preview, and where the question can be settled."""
    st.info(
        "What they cut off is not shown of a private file, even to you: bounds moved because of it would tell of its "
        "rows. Try them on public data of the same kind, or on a synthetic table.",
        title="Bounds come from what is known without the rows",
        icon=":material/visibility_off:",
    )


def _draw_clipping(cost: Clipping) -> None:
    draw_badge("revealed")
    st.markdown(_describe_clipping(cost), help=glossary.explain_term("bounds"))
    shown = cost.by_column.copy()
    for name in ("below", "above", "empty"):
        shown[name] *= 100
    st.dataframe(
        shown,
        hide_index=True,
        column_config={
            "below": st.column_config.NumberColumn("below the bounds (%)", format="%.3g"),
            "above": st.column_config.NumberColumn("above the bounds (%)", format="%.3g"),
            "mean shift": st.column_config.NumberColumn("shift of the mean (data units)", format="%.3g"),
            "empty": st.column_config.NumberColumn(
                "empty width (%)", format="%.3g", help="Part of the declared width that 98 % of the rows do not use."
            ),
        },
        alt="Share of values clipped, shift of the mean and unused width for each column.",
    )


def _describe_clipping(cost: Clipping) -> str:
    """What the bounds do, in a sentence."""
    wide = cost.by_column.loc[cost.by_column["empty"] > _MUCH_EMPTY, "column"]
    if cost.rows_moved > _MUCH_CLIPPED:
        return f"The bounds move **{format_percent(cost.rows_moved)} of the rows**: consider wider ones."
    moved = "no row" if cost.rows_moved == 0 else f"{format_percent(cost.rows_moved)} of the rows"
    if len(wide):
        names = f"{len(wide)} column{'' if len(wide) == 1 else 's'}"
        return (
            f"The bounds move {moved}, but in {names} more than half of the declared width is empty: noise for nothing."
        )
    return f"The bounds move {moved} and fit well."
