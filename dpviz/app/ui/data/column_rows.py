"""Columns of a declaration: a line for each with its bounds and their noise, bounds of many at once, and other kinds.

What is typed is in the draft before anything is drawn: no rerun, change of page or leaf through the columns loses it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from dpviz.app.ui.controls import USUAL_CLUSTERS, USUAL_EPSILON
from dpviz.app.ui.data.draft import Draft
from dpviz.app.ui.escape import escape_markdown, strip_markdown
from dpviz.app.ui.session import read_setting, recall, remember
from dpviz.app.ui.table_words import describe_coding
from dpviz.core import RequestError
from dpviz.runs import KnownRows, compute_column_noise, count_cluster_rows
from dpviz.tables import Declaration, IntakeError, LoadedTable, codings, declarations, list_texts
from dpviz.words import format_number, format_plus_minus, format_things, glossary, list_names, quote_name

_MARKS = ("\t", ";", ",")


def draw_bounds_at_once(draft: Draft, *, public: bool) -> None:
    """The buttons for bounds of many columns.

    Bounds of a private file come from declarations only; those that were filled in from the rows while it was said to
    be public are called what they are.
    """
    if draft.filled and not public:
        now = {name: (read, draft.bounds.get(name, read)) for name, read in draft.filled.items()}
        still = [name for name, (a, b) in now.items() if a.lower == b.lower or a.upper == b.upper]
        draft.set_bounds({name: draft.bounds[name]._replace(origin=declarations.FROM_ROWS) for name in still})
        draft.filled = {}
    with st.popover("Same bounds for all", icon=":material/width:"):
        _draw_one_pair(draft)
    with st.popover("Paste bounds", icon=":material/content_paste:"):
        _draw_paste_box(draft)
    chosen = [name for name in draft.columns if name in draft.numbers]
    if public and st.button(
        "Fill from the rows",
        icon=":material/unfold_more:",
        key=draft.make_key("fill"),
        disabled=not chosen,
        help="Least and largest value of each ticked column: allowed because this file is public.",
    ):
        read = _measure_bounds(draft, chosen)
        draft.set_bounds(read)
        draft.filled |= read


class Pasted(NamedTuple):
    """What lines say, by column."""

    bounds: dict[str, declarations.ColumnBounds]
    units: dict[str, str]


def read_bounds(text: str, names: Sequence[str]) -> Pasted:
    """Bounds and units by column in lines ``name,lower,upper,unit``; semicolons or tabs will do, and the unit may miss.

    A first line that holds no number is a heading.

    >>> read_bounds("age,0,120,years", ["age"]).bounds["age"].upper
    120.0
    """
    mark = next((mark for mark in _MARKS if mark in text), ",")
    records = csv.reader(io.StringIO(text), delimiter=mark, skipinitialspace=True)
    pasted = Pasted({}, {})
    try:
        lines = [(place, [cell.strip() for cell in record]) for place, record in enumerate(records, start=1)]
    except csv.Error:
        raise IntakeError("The lines cannot be taken apart; write name,lower,upper,unit, one column a line.") from None
    for place, (name, *cells) in ((place, cells) for place, cells in lines if any(cells)):
        low, high, unit, *rest = [*cells, "", "", ""]
        if place == 1 and name not in names and _read_number(low) is None and _read_number(high) is None:
            continue
        if name not in names:
            raise IntakeError(f"Line {place} names no column of the file; the columns are {list_names(names)}.")
        if any(rest) or (low and _read_number(low) is None) or (high and _read_number(high) is None):
            raise IntakeError(f"Line {place} is not name,lower,upper,unit; write numbers with a decimal point.")
        if len(unit) > declarations.LONGEST_UNIT or not unit.isprintable():
            raise IntakeError(
                f"The unit in line {place} is longer than {declarations.LONGEST_UNIT} characters; shorten it."
            )
        pasted.bounds[name] = declarations.ColumnBounds(_read_number(low), _read_number(high))
        if unit:
            pasted.units[name] = unit
    if not pasted.bounds:
        raise IntakeError("There is no line to read; write name,lower,upper,unit, one column a line.")
    return pasted


def _read_number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _draw_one_pair(draft: Draft) -> None:
    with st.form(draft.make_key("pair"), border=False):
        low = st.number_input("lower bound of every column", value=None, format="%.12g")
        high = st.number_input("upper bound of every column", value=None, format="%.12g")
        origin = st.selectbox("where from?", declarations.ORIGINS, index=None, placeholder="choose")
        st.caption("For the ticked columns; for all, if none is.")
        if st.form_submit_button("Use for all columns"):
            chosen = [name for name in draft.columns if name in draft.numbers] or draft.numbers
            draft.use(*chosen)
            draft.set_bounds(dict.fromkeys(chosen, declarations.ColumnBounds(low, high, origin or "")))


def _draw_paste_box(draft: Draft) -> None:
    with st.form(draft.make_key("paste"), border=False):
        text = st.text_area("One column a line", placeholder="name,lower,upper,unit\nage,0,120,years", height=160)
        if not st.form_submit_button("Use these lines"):
            return
        try:
            pasted = read_bounds(text or "", draft.numbers)
        except IntakeError as error:
            st.error(escape_markdown(error), icon=":material/block:")
            return
        draft.use(*pasted.bounds)
        draft.units |= pasted.units
        draft.set_bounds(pasted.bounds)


def _measure_bounds(draft: Draft, columns: Sequence[str]) -> dict[str, declarations.ColumnBounds]:
    """Least and largest values among the whole rows of a public source."""
    values = draft.read_columns(columns).columns(columns)
    whole = values[np.isfinite(values).all(axis=1)]
    if not len(whole):
        return {}
    pairs = zip(columns, whole.min(axis=0).tolist(), whole.max(axis=0).tolist(), strict=True)
    return {name: declarations.ColumnBounds(low, high, "public data") for name, low, high in pairs}


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
    k, epsilon = _read_setting()
    noise = compute_noise_by_column(draft.declaration, k=k, epsilon=epsilon)
    about_noise = st.empty()  # there from the start: lines that are moved by what comes above lose the cursor
    if noise:
        about = f"{_MEASURED_ONCE}\n\n{glossary.explain_words('noise ε centre')}"
        about_noise.caption(_describe_noise(draft.declaration), help=about)
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
    (k, epsilon), known = _read_setting(), _count_rows(declaration)
    assumed = " (assumed)" if known is None else ""
    rows = count_cluster_rows(known, k)
    return f"± is nine in ten: noise on a centre of {format_number(rows)} rows{assumed} at ε = {format_number(epsilon)}"


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
            on_change=lambda: _take_unit(draft, name, st.session_state.get(key) or ""),
        )
        _take_unit(draft, name, unit)
    if noise is not None:
        where = _describe_amount(draft.declaration, name)
        st.caption(f"{format_plus_minus(noise)} {escape_markdown(draft.units.get(name, ''))}{where}", width="content")


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
    ways = (("before", "left", first == 0, max(0, first - COLUMNS_SHOWN)), ("after", "right", first == last, end))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for way, side, ended, there in ways:
            icon, key, turned = f":material/chevron_{side}:", draft.make_key(way), (kept, there)
            st.button(
                escape_markdown(f"Columns {way}"), icon=icon, key=key, disabled=ended, on_click=remember, args=turned
            )
        st.caption(f"{first + 1:d} to {end:d} of {number_of_columns:,d}; {used:,d} used", width="content")
    return first


def _read_setting() -> tuple[int, float]:
    """k and ε as they are set."""
    return int(read_setting("k", USUAL_CLUSTERS)), float(read_setting("epsilon", USUAL_EPSILON))


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
            _draw_coded(draft, declared)
        choices = [name for name in draft.names if name != draft.declaration.id_column]
        look = {"placeholder": "choose a column"} | draft.bind_to_visit("coded")
        name = st.selectbox("Column", choices, index=None, **look)
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
            has_rows = draft.read_beginning() is not None or isinstance(draft.source.content, LoadedTable)
            if kind in ("categories", "order") and has_rows:
                st.button(
                    "Propose its values: a look at the first rows",
                    help=f"The {_MOST_PROPOSED} commonest, for you to mend. What you declare then comes from the rows "
                    "unless you know it from elsewhere.",
                    key=draft.make_key("coded_propose", name),
                    on_click=_propose,
                    args=(draft, name, draft.make_key("coded_said", name, kind)),
                )


def _draw_coded(draft: Draft, name: str) -> None:
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
        f"{escape_markdown(name)} is written",
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
            "cycle": {"cycle": _read_cycle(said)},
            "log": {"bounds": list(bounds[:2]), "scale": "log"},
            "root": {"bounds": list(bounds[:2]), "scale": "root"},
            "linear": {"bounds": list(bounds[:2]), "scale": "linear"},
        }
        return now.with_coding(name, forms[kind], weight)

    return change


def _read_cycle(said: str) -> float | str:
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
    bounds = [declarations.NO_BOUNDS if one == name else now.bounds[one] for one in columns]
    return plain_now.with_bounds(columns, bounds)


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
        whose = escape_markdown(quote_name(name))
        st.caption(f"Type the bounds of {whose} above; the smallest amount that matters first.")
        return
    noises = compare_noise_on_scales(draft.declaration, name, kind)
    if noises is not None:
        even, stretched, middle = noises
        st.caption(
            f"Bounds of {format_number(bounds.upper)} cost {format_plus_minus(even)} on every centre; on this scale "
            f"{format_plus_minus(stretched)} on one of {format_number(middle)}, and in proportion elsewhere; by "
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
