"""A line for each column: whether it is used, its bounds, its unit, and the noise that these bounds cost.

What is typed is in the draft before anything is drawn: no rerun, change of page or leaf through the columns loses it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import streamlit as st

from dpviz.app.ui.controls import USUAL_CLUSTERS, USUAL_EPSILON
from dpviz.app.ui.data.draft import Draft
from dpviz.app.ui.escape import escape_markdown, strip_markdown
from dpviz.app.ui.session import read_setting, recall, remember
from dpviz.core import RequestError
from dpviz.runs import KnownRows, compute_column_noise, count_cluster_rows
from dpviz.tables import Declaration, codings, declarations
from dpviz.words import format_number, glossary, quote_name

COLUMNS_SHOWN = 12
"""Columns on the page at a time; there are arrows to the others."""

_MEASURED_ONCE = (
    "Standard deviation of each coordinate of a centre, the rows shared evenly by k clusters: Laplace noise on "
    "the sums and the size of a cluster, measured once with all of ε. Wider bounds and fewer rows make more of it. "
    f"Where the number of rows is private, {count_cluster_rows(None, 1):,} in a cluster are assumed. Read from "
    "declarations alone."
)
_NAMED = 3
# A box of 120 pixels or more has buttons for steps, which nobody wants here.
_NAME, _BOUND, _UNIT = 210, 119, 100


def draw_column_rows(draft: Draft) -> None:
    """The lines of up to ``COLUMNS_SHOWN`` columns; what they say goes into the draft's declaration."""
    coded = draft.declaration.codings
    names = tuple(name for name in draft.numbers if name not in coded or coded[name].ends is None)
    first = _draw_pages(draft, len(names))
    draft.say_columns()
    noise = compute_noise_by_column(draft.declaration, k=_read_clusters(), epsilon=_read_epsilon())
    about_noise = st.empty()  # there from the start: lines that are moved by what comes above lose the cursor
    if noise:
        about_noise.caption(
            _describe_noise(draft.declaration), help=f"{_MEASURED_ONCE}\n\n{glossary.explain_words('noise ε centre')}"
        )
    with st.container(gap="xsmall"):
        for name in names[first : first + COLUMNS_SHOWN]:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                _draw_line(draft, name, noise.get(name))
    draft.say_columns()


def describe_lacks(declaration: Declaration) -> str | None:
    """The one sentence that says which columns lack what, or None if nothing is missing.

    >>> describe_lacks(Declaration(columns=("age", "pay"), lower=(0.0, 5.0), upper=(None, 1.0)))
    'Still needed: the upper bound of "age"; a lower bound of "pay" that is below the upper one.'
    """
    if not declaration.columns:
        return "Still needed: tick a column, or type its bounds."
    lacks = [what for name, bounds in declaration.bounds.items() if (what := _describe_lack(bounds, quote_name(name)))]
    rest = len(lacks) - _NAMED
    more = f"; bounds of {rest} more column{'' if rest == 1 else 's'}" if rest > 0 else ""
    return f"Still needed: {'; '.join(lacks[:_NAMED])}{more}." if lacks else None


def compute_noise_by_column(declaration: Declaration, *, k: int, epsilon: float) -> Mapping[str, float]:
    """The noise on a centre (see ``compute_column_noise``) of each column whose bounds are declared, data units.

    Where all columns share one scale it depends on the bounds of all: none is known before they all are.

    Returns standard deviation by column, data units.
    """
    known = {name: bounds for name, bounds in declaration.bounds.items() if _describe_lack(bounds, name) is None}
    if not known or (declaration.scaling == "common" and len(known) < len(declaration.columns)):
        return {}
    # Where each column has its own scale, the bounds of the others do not matter, only how many there are.
    bounds = [known.get(name, declarations.ColumnBounds(1.0, 2.0)) for name in declaration.columns]
    try:
        domain = codings.make_coded_domain(
            declaration.columns,
            np.array([one.lower for one in bounds], dtype=np.float64),
            np.array([one.upper for one in bounds], dtype=np.float64),
            codings=declaration.coded,
            weights=declaration.weights,
            radius=declaration.radius,
            scaling=declaration.scaling,
        )
        noise = compute_column_noise(
            domain,
            rows=count_cluster_rows(_count_rows(declaration), k),
            epsilon=epsilon,
            relation=declaration.relation,
            rows_per_person=declaration.rows_per_person,
        )
    except RequestError:  # said when the table is opened
        return {}
    firsts = (place.start for place in domain.places)
    return {name: float(noise[first]) for name, first in zip(declaration.columns, firsts, strict=True) if name in known}


def _describe_lack(bounds: declarations.ColumnBounds, name: str) -> str | None:
    low, high, _ = bounds
    if low is None or high is None:
        missing = "both bounds" if low is None and high is None else f"the {'lower' if low is None else 'upper'} bound"
        return f"{missing} of {name}"
    return None if low < high else f"a lower bound of {name} that is below the upper one"


def _describe_noise(declaration: Declaration) -> str:
    rows = count_cluster_rows(_count_rows(declaration), _read_clusters())
    assumed = " (assumed)" if _count_rows(declaration) is None else ""
    return f"± noise on the centre of {format_number(rows)} rows{assumed} at ε = {format_number(_read_epsilon())}"


def _count_rows(declaration: Declaration) -> int | None:
    """The number of rows, or the least that there may be."""
    known = KnownRows.read(declaration)
    return None if known is None else known.low


def _draw_line(draft: Draft, name: str, noise: float | None) -> None:
    bounds = draft.bounds.get(name, declarations.NO_BOUNDS)
    use_key = _make_key(draft, "use", name)
    # Set anew: a column is used as soon as a bound of it is typed.
    st.session_state[use_key] = name in draft.columns
    st.checkbox(escape_markdown(name), key=use_key, width=_NAME, on_change=_tick, args=(draft, name, use_key))
    with st.container(horizontal=True, width="content", gap="xsmall"):  # side by side in a narrow window too
        for end in ("lower", "upper"):
            key = _make_key(draft, end, name)
            if key not in st.session_state:  # drawn for the first time, or again after another page or leaf
                st.session_state[key] = getattr(bounds, end)
            typed = st.number_input(
                f"{strip_markdown(name)}, {end} bound",
                value=None,  # what is not empty at first cannot be emptied
                step=1.0,
                format="%.12g",
                placeholder=end,
                label_visibility="collapsed",
                width=_BOUND,
                key=key,
                on_change=_type_bound,
                args=(draft, name, end, key),
            )
            if typed != getattr(bounds, end):  # what stands in the box is what holds
                draft.type_bounds(name, **{end: typed})
        key = _make_key(draft, "unit", name)
        if key not in st.session_state:
            st.session_state[key] = draft.units.get(name, "")
        unit = st.text_input(
            f"{strip_markdown(name)}, unit",
            placeholder="unit",
            max_chars=declarations.LONGEST_UNIT,
            label_visibility="collapsed",
            width=_UNIT,
            key=key,
            on_change=_type_unit,
            args=(draft, name, key),
        )
        _take_unit(draft, name, unit)
    if noise is not None:
        where = _describe_amount(draft.declaration, name)
        st.caption(f"± {format_number(noise)} {escape_markdown(draft.units.get(name, ''))}{where}", width="content")


def _describe_amount(declaration: Declaration, name: str) -> str:
    """Of which amount the noise on a log or root scale is told: it grows with the amount."""
    coding, (low, high, _) = declaration.codings.get(name), declaration.bounds.get(name, declarations.NO_BOUNDS)
    if not isinstance(coding, codings.Stretched) or low is None or high is None:
        return ""
    return f" at {format_number(float(coding.unstretch(coding.stretch(np.array([low, high])).mean(keepdims=True))[0]))}"


def _make_key(draft: Draft, what: str, name: str) -> str:
    return draft.make_key(what, name, draft.times_set)


def _tick(draft: Draft, name: str, key: str) -> None:
    if st.session_state.get(key):
        draft.use(name)
    else:
        draft.leave_out(name)


def _type_bound(draft: Draft, name: str, end: str, key: str) -> None:
    draft.type_bounds(name, **{end: st.session_state.get(key)})


def _type_unit(draft: Draft, name: str, key: str) -> None:
    _take_unit(draft, name, st.session_state.get(key) or "")


def _take_unit(draft: Draft, name: str, unit: str) -> None:
    draft.units[name] = "".join(filter(str.isprintable, unit)).strip()


def _draw_pages(draft: Draft, number_of_columns: int) -> int:
    """Where the columns on the page begin, with arrows where there are more."""
    if number_of_columns <= COLUMNS_SHOWN:
        return 0
    kept = draft.make_key("first")
    last = (number_of_columns - 1) // COLUMNS_SHOWN * COLUMNS_SHOWN
    first = min(recall(kept, 0), last)
    end = min(first + COLUMNS_SHOWN, number_of_columns)
    used = sum(name in draft.numbers for name in draft.columns)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Columns before",
            icon=":material/chevron_left:",
            key=draft.make_key("before"),
            disabled=first == 0,
            on_click=remember,
            args=(kept, max(0, first - COLUMNS_SHOWN)),
        )
        st.button(
            "Columns after",
            icon=":material/chevron_right:",
            key=draft.make_key("after"),
            disabled=first == last,
            on_click=remember,
            args=(kept, first + COLUMNS_SHOWN),
        )
        st.caption(f"{first + 1:d} to {end:d} of {number_of_columns:,d}; {used:,d} used", width="content")
    return first


def _read_clusters() -> int:
    return int(read_setting("k", USUAL_CLUSTERS))


def _read_epsilon() -> float:
    return float(read_setting("epsilon", USUAL_EPSILON))
