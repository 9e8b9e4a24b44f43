"""Columns that are more than a number between bounds: categories, ranks, dates, cycles, scales, and weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from dpviz.app.ui.data.draft import Draft
from dpviz.app.ui.escape import escape_markdown, strip_markdown
from dpviz.app.ui.table_words import describe_coding
from dpviz.core import RequestError
from dpviz.runs import compute_column_noise, count_cluster_rows
from dpviz.tables import Declaration, IntakeError, LoadedTable, codings, declarations, list_texts
from dpviz.words import format_number, format_things, quote_name

# Values that a proposal takes from the rows, the commonest first.
_MOST_PROPOSED = 30


class _Form(NamedTuple):
    """How a kind of column is asked for: in words, and what the box under it holds."""

    words: str
    asked: str = ""
    placeholder: str = ""


_TWO_DATES = "2015-01-01, 2024-12-31"
_WRITTEN = {"ymd": "year first: 2015-01-31", "dmy": "day first: 31.1.2015", "mdy": "month first: 1/31/2015"}
_FORMS: Mapping[str, _Form] = {
    "categories": _Form("categories", "Values, separated by commas", "North, South, East"),
    "closed": _Form("one of two values", "The two values, separated by a comma", "no, yes"),
    "order": _Form("ranks", "Values from first to last, separated by commas", "low, middle, high"),
    "dates": _Form("dates", "First and last date", _TWO_DATES),
    "cycle": _Form("hours, weekdays: a cycle", "It comes round again after", "24"),
    "log": _Form("amounts on a log scale"),
    "root": _Form("amounts on a root scale (0 and negative ones too)"),
    "linear": _Form("numbers, evenly"),
}
_ABOUT = (
    "Categories are declared, never taken from the rows: a value that is there only where somebody is would tell of "
    "that person. Any other value, and none at all, is a value of its own."
)


def draw_codings_form(draft: Draft) -> None:
    """What is declared of such columns, and a line to declare another one."""
    if draft.looked:
        draft.say(proposed=True)
    coded = draft.declaration.coded
    weights = draft.declaration.weights
    proposed = {} if draft.proposal is None else draft.proposal.list_forms(draft.declaration)
    with st.expander(
        "Categories, ranks, dates, hours, log scales, weights",
        icon=":material/category:",
        expanded=bool(coded or proposed),
    ):
        if proposed:
            _draw_proposed(draft, proposed)
        for declared in dict.fromkeys((*coded, *weights)):
            _draw_line(draft, declared)
        choices = [name for name in draft.names if name != draft.declaration.id_column]
        name = st.selectbox(
            "Column", choices, index=None, placeholder="choose a column", **draft.bind_to_visit("coded")
        )
        if name is None:
            st.caption(_ABOUT)
            return
        usual = "categories" if name not in draft.numbers else "log"
        kind = st.selectbox(
            "What it holds",
            list(_FORMS),
            index=list(_FORMS).index(usual),
            format_func=lambda one: _FORMS[one].words,
            key=draft.make_key("coded_kind", name),
        )
        form, said = _FORMS[kind], ""
        if form.asked:
            key = draft.make_key("coded_said", name, kind)
            said = st.text_input(escape_markdown(form.asked), placeholder=form.placeholder, key=key) or ""
        written = _ask_written(draft, name) if kind == "dates" else "ymd"
        weight = st.number_input(
            "Weight (optional)",
            codings.LEAST_WEIGHT,
            codings.MOST_WEIGHT,
            value=None,
            placeholder="as usual",
            help="How much the column counts: the half-width of numbers (usually 1), how far two categories lie apart "
            "(usually 0.7).",
            key=draft.make_key("coded_weight", name),
        )
        if kind in ("log", "root"):
            _draw_harm(draft, name, kind)
        with st.container(horizontal=True, gap="small"):
            if st.button("Declare it so", type="primary", key=draft.make_key("coded_declare", name)):
                draft.change = _make_change(name, kind, said, weight, written)
            if kind in ("categories", "order") and _has_rows(draft):
                st.button(
                    "Propose its values: a look at the first rows",
                    help=f"The {_MOST_PROPOSED} commonest, for you to mend. What you declare then comes from the rows "
                    "unless you know it from elsewhere.",
                    key=draft.make_key("coded_propose", name),
                    on_click=_propose,
                    args=(draft, name, draft.make_key("coded_said", name, kind)),
                )


def _draw_line(draft: Draft, name: str) -> None:
    """What is declared of one column, with a button that takes it back."""
    declared = draft.declaration
    bounds = declared.bounds.get(name, declarations.NO_BOUNDS)
    coding, weight = declared.codings.get(name), declared.weights.get(name)
    parts = [] if coding is None else [describe_coding(coding.to_plain(*bounds[:2]))]
    parts += [] if weight is None else [f"weight {weight:g}"]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{escape_markdown(name)}**: {escape_markdown('; '.join(parts))}", width="stretch")
        if st.button(
            f"Take back {escape_markdown(name)}", icon=":material/undo:", key=draft.make_key("coded_back", name)
        ):
            draft.change = lambda now: remove_coding(now, name)


def _ask_written(draft: Draft, name: str, begins: str = "ymd") -> str:
    """In which order day, month and year stand."""
    written = st.selectbox(
        f"{strip_markdown(name)} is written",
        list(_WRITTEN),
        index=list(_WRITTEN).index(begins),
        format_func=_WRITTEN.__getitem__,
        key=draft.make_key("coded_written", name),
    )
    return str(written)


def _draw_proposed(draft: Draft, proposed: Mapping[str, Mapping[str, Any]]) -> None:
    """What a proposal took columns for, to be mended and declared together; what is left empty stays out."""
    st.markdown("**Found in the rows.** Keep what you know to be so, empty the rest, and declare it together.")
    filled = dict(_ask_proposed(draft, proposed))
    said = {name: form for name, form in filled.items() if form is not None}
    if st.button(
        f"Declare {format_things(len(said), 'column')}",
        type="primary",
        icon=":material/done_all:",
        disabled=not said,
        help="What you declare then comes from the rows unless you know it from elsewhere; the declaration says so.",
        key=draft.make_key("coded_all"),
    ):
        draft.change = lambda now: _declare_forms(now, said)


def _ask_proposed(
    draft: Draft, proposed: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, Mapping[str, Any] | None]]:
    for name, form in proposed.items():
        values = next(iter(form.values()))
        if "cycle" in form:
            words = escape_markdown(f"{name} comes round again after {values:g}")
            if st.checkbox(words, key=draft.make_key("kept", name)):
                yield name, form
            continue
        dates = "dates" in form
        what = "first and last date" if dates else "ranks, the first one first" if "order" in form else "categories"
        left, right = st.columns([3, 1]) if dates else (st.container(), None)
        said = left.text_input(
            escape_markdown(f"{name}: {what}"),
            value="" if dates else ", ".join(values),
            placeholder=_TWO_DATES,
            key=draft.make_key("kept", name),
        )
        told = [one.strip() for one in (said or "").split(",") if one.strip()]
        filled = {**form, next(iter(form)): told}
        if right is not None:
            with right:
                filled["written"] = _ask_written(draft, name, form["written"])
        yield name, filled if told else None


def _declare_forms(now: Declaration, forms: Mapping[str, Mapping[str, Any]]) -> Declaration:
    """``now`` with each of the columns as its form says."""
    for name, form in forms.items():
        now = now.with_coding(name, form)
    return now


def _make_change(
    name: str, kind: str, said: str, weight: float | None, written: str
) -> Callable[[Declaration], Declaration]:
    values = [one.strip() for one in said.split(",") if one.strip()]

    def change(now: Declaration) -> Declaration:
        bounds = now.bounds.get(name, declarations.NO_BOUNDS)
        forms: dict[str, Any] = {
            "categories": {"categories": values},
            "closed": {"categories": values, "closed": True},
            "order": {"order": values},
            "dates": {"dates": values, "written": written},
            "cycle": {"cycle": _read_number(said)},
            "log": {"bounds": list(bounds[:2]), "scale": "log"},
            "root": {"bounds": list(bounds[:2]), "scale": "root"},
            "linear": {"bounds": list(bounds[:2]), "scale": "linear"},
        }
        return now.with_coding(name, forms[kind], weight)

    return change


def _read_number(said: str) -> float | str:
    try:
        return float(said)
    except ValueError:
        return said


def remove_coding(now: Declaration, name: str) -> Declaration:
    """Make a column plain numbers again; its bounds are open where they were those of declared values."""
    coding = now.codings.get(name)
    others = {other: one for other, one in now.codings.items() if other != name}
    weights = {other: one for other, one in now.weights.items() if other != name}
    plain_now = replace(now, codings=others, weights=weights)
    if coding is None or coding.ends is None:
        return plain_now
    columns = [one for one in now.columns if one != name or not coding.textual]
    return plain_now.with_bounds(
        columns, [declarations.NO_BOUNDS if one == name else now.bounds[one] for one in columns]
    )


def _has_rows(draft: Draft) -> bool:
    return draft.read_beginning() is not None or isinstance(draft.source.content, LoadedTable)


def _propose(draft: Draft, name: str, key: str) -> None:
    """The commonest values of the first rows, into the box."""
    lines = draft.read_beginning()
    try:
        if lines is not None:
            column = lines.read(draft.declaration.file, numbers=(), text=(name,)).get_cells(name)
        else:
            content = draft.source.content
            assert isinstance(content, LoadedTable)
            column = content.get_cells(name)
    except IntakeError:
        return
    common = pd.Series(list_texts(column)).value_counts().index[:_MOST_PROPOSED]
    st.session_state[key] = ", ".join(sorted(value for value in common if "," not in value))
    draft.looked = True


def _draw_harm(draft: Draft, name: str, kind: str) -> None:
    """What a long tail costs: the noise on a centre on either scale, from what is declared alone."""
    bounds = draft.declaration.bounds.get(name, declarations.NO_BOUNDS)
    if bounds.lower is None or bounds.upper is None:
        st.caption(
            f"Type the bounds of {escape_markdown(quote_name(name))} above; the smallest amount that matters first."
        )
        return
    noises = compare_noise_on_scales(draft.declaration, name, kind)
    if noises is not None:
        even, stretched, middle = noises
        st.caption(
            f"Bounds of {format_number(bounds.upper)} cost ± {format_number(even)} on every centre; on this scale ± "
            f"{format_number(stretched)} on one of {format_number(middle)}, and in proportion elsewhere; by "
            f"declarations alone."
        )


def compare_noise_on_scales(declaration: Declaration, name: str, kind: str) -> tuple[float, float, float] | None:
    """Noise on a centre on an even scale and on another one.

    Returns standard deviations on an even scale, and on the other one around its middle, and that middle, all in
    data units; None where the other scale does not take these bounds.
    """
    bounds = declaration.bounds[name]
    assert bounds.lower is not None and bounds.upper is not None
    rows, noises = count_cluster_rows(declaration.n_public, 5), []
    try:
        codings.Stretched(kind).check_bounds(name, bounds.lower, bounds.upper)
        for coded in ({}, {name: codings.Stretched(kind)}):
            domain = codings.make_coded_domain([name], bounds.lower, bounds.upper, codings=coded, weights={})
            noises.append(float(compute_column_noise(domain, rows=rows, epsilon=1.0)[0]))
    except RequestError:
        return None
    return noises[0], noises[1], float(np.asarray(domain.center)[0])
