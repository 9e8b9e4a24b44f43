"""Columns: which are clustered, what each one holds, bounds of many at once, and what all of that does to rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from dpviz.app.ui.bench.file_form import ask_style
from dpviz.app.ui.bench.hand import FILLED, Hand
from dpviz.app.ui.bench.in_hand import answer, ask_one, count_look, keep_hand, list_names, make_key, read_beginning
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import draw_badge, say_refusal
from dpviz.app.ui.page_sentences import SENTENCES
from dpviz.app.ui.session import make_once, recall, remember
from dpviz.app.ui.table_words import format_bullets
from dpviz.core import AccessKind, Array, RequestError
from dpviz.runs import KnownRows, compute_column_noise, count_cluster_rows
from dpviz.tables import (
    CsvFile,
    Declaration,
    IntakeError,
    LoadedTable,
    RowLoss,
    codings,
    declarations,
    file_format,
    list_texts,
)
from dpviz.words import format_number, format_percent, format_plus_minus, glossary

_SCALINGS = {"unit": "each column by its bounds", "common": "one scale for all"}
_NO_LABEL = "none"
_COUNTED = "cells that are no numbers, and the rows that they cost"
_PROPOSED = "the commonest values of a column"
# Values that a proposal takes from the rows, the commonest first.
_MOST_PROPOSED = 30


def ask_columns(hand: Hand) -> None:
    """Which columns are clustered, and how far apart they are; bounds of many; what becomes of rows."""
    with say_refusal("How is this file to be read?"):
        names = list_names(hand)
        with st.form(make_key(hand, "columns"), border=False), say_refusal():
            _ask_chosen(hand, names)
        _draw_fill_button(hand)
        _draw_lost_rows(hand)


def _ask_chosen(hand: Hand, names: Sequence[str]) -> None:
    declared = hand.declaration
    able = [name for name in names if name != declared.id_column]
    chosen = st.multiselect("By these columns", able, list(declared.columns), key=make_key(hand, "chosen"))
    about = SENTENCES.fill("scale")
    scaling = ask_one(hand, "scaling", "Scale", _SCALINGS, declared.scaling, draw=st.radio, help=about)
    radius = st.number_input(
        "Radius (optional)",
        min_value=0.0,
        value=declared.radius,
        format="%g",
        placeholder="none: the bounds alone limit a row",
        key=make_key(hand, "radius"),
        help=SENTENCES.fill("radius"),
    )
    labels = {"": _NO_LABEL} | {name: name for name in able}
    now = declared.label_column if declared.label_column in able else ""
    about = "A grouping that is known already. It is never clustered; it only judges results that may be seen."
    label = ask_one(hand, "label", "Label column (optional)", labels, now, help=about)
    if st.form_submit_button("So it is", type="primary", width="stretch"):
        said = hand.choose_columns(chosen)
        more: dict[str, Any] = {"scaling": scaling, "radius": radius and float(radius)}
        more |= {"label_column": label}
        answer(replace(said, declaration=replace(said.declaration, **more).validate()))


def _draw_fill_button(hand: Hand) -> None:
    chosen = [name for name in hand.declaration.columns if name not in _list_valued(hand)]
    if not hand.is_private and isinstance(hand.content, CsvFile | LoadedTable):
        help = "Least and largest value of each column by which is grouped: allowed because this file is public."
        look: dict[str, Any] = {"icon": ":material/unfold_more:", "disabled": not chosen, "help": help}
        if st.button("Fill from the rows", key=make_key(hand, "fill"), **look):
            answer(hand.take_bounds(_measure_bounds(hand, chosen)))


def _list_valued(hand: Hand) -> list[str]:
    """Columns whose bounds are those of declared values."""
    return [name for name, one in hand.declaration.coded.items() if one.ends is not None]


def _read_number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _measure_bounds(hand: Hand, columns: Sequence[str]) -> dict[str, declarations.ColumnBounds]:
    """Least and largest values among the whole rows of a public table."""
    values = _read_rows(hand).columns(columns)
    whole = values[np.isfinite(values).all(axis=1)]
    if not len(whole):
        return {}
    pairs = zip(columns, whole.min(axis=0).tolist(), whole.max(axis=0).tolist(), strict=True)
    return {name: declarations.ColumnBounds(low, high, FILLED) for name, low, high in pairs}


def _read_rows(hand: Hand) -> LoadedTable:
    """All columns that matter, read as declared; call it for public rows, or after a counted look."""
    content, declared = hand.content, hand.declaration
    if isinstance(content, CsvFile):
        numbers = [name for name in declared.columns if name not in declared.textual]
        text = [*declared.textual, *filter(None, [declared.id_column])]
        return content.read(declared.file, numbers=numbers, text=text)
    assert isinstance(content, LoadedTable)
    return content


class _Kind(NamedTuple):
    """How a kind of column is asked for: in words, and what the box under it holds."""

    words: str
    asked: str = ""
    placeholder: str = ""


_SCALES = ("linear", "log", "root")
_VALUES = ("categories", "closed", "order")
_KINDS: Mapping[str, _Kind] = {
    "linear": _Kind("numbers, as they are"),
    "log": _Kind("amounts on a log scale: money, sizes"),
    "root": _Kind("amounts on a root scale: 0 and negative ones too"),
    "categories": _Kind("categories", "Values, separated by commas", "North, South, East"),
    "closed": _Kind("one of two values", "The two values, separated by a comma", "no, yes"),
    "order": _Kind("ranks", "Values from first to last, separated by commas", "low, middle, high"),
    "dates": _Kind("dates"),
    "cycle": _Kind("hours, weekdays: a cycle", "It comes round again after", "24"),
}
_WRITTEN = {"ymd": "year first: 2015-01-31", "dmy": "day first: 31.1.2015", "mdy": "month first: 1/31/2015"}


def ask_column(hand: Hand, name: str) -> None:
    """What one column holds, its unit and weight, and how it writes its numbers."""
    declared = hand.declaration
    if name not in declared.columns:
        return
    form = _find_form(hand, name)
    st.markdown(f"**{escape_markdown(name)}**")
    kinds = {one: said.words for one, said in _KINDS.items()}
    kind = ask_one(
        hand, f"holds:{name}", "What it holds", kinds, _find_kind(form), help=SENTENCES.fill("what_it_holds")
    )
    with st.form(make_key(hand, f"column:{name}"), border=False), say_refusal():
        said = dict(_ask_form(hand, name, kind, form))
        unit_place, weight_place = st.columns(2)
        unit = unit_place.text_input(
            "Unit",
            declared.units.get(name, ""),
            max_chars=declarations.LONGEST_UNIT,
            key=make_key(hand, f"unit:{name}"),
        )
        weight = weight_place.number_input(
            "Weight (optional)",
            codings.LEAST_WEIGHT,
            codings.MOST_WEIGHT,
            declared.weights.get(name),
            placeholder="as usual",
            help=SENTENCES.fill("weight"),
            key=make_key(hand, f"weight:{name}"),
        )
        style = _ask_own_style(hand, name)
        if st.form_submit_button("So it is", type="primary", width="stretch"):
            units = {other: one for other, one in declared.units.items() if other != name}
            told = "".join(filter(str.isprintable, unit or "")).strip()
            changed = replace(
                declared, units={**units, **({name: told} if told else {})}, file=_set_style(declared.file, name, style)
            )
            answer(hand.declare(changed).say_column(name, said, weight))
    if kind in _VALUES and (isinstance(hand.content, LoadedTable) or read_beginning(hand.content) is not None):
        st.button(
            "Propose its values: a look at the first rows",
            help=f"The {_MOST_PROPOSED} commonest, for you to mend. What you declare then comes from the rows "
            "unless you know it from elsewhere.",
            key=make_key(hand, f"values:{name}"),
            on_click=_propose_values,
            args=(hand, name, make_key(hand, f"said:{kind}:{name}")),
        )
    if kind in _SCALES:
        st.caption(escape_markdown(describe_noise(hand, name, kind)), help=_MEASURED_ONCE)
        if None in declared.bounds[name][:2]:
            _ask_buying(hand, name)
    if st.button("Leave it out", icon=":material/close:", key=make_key(hand, f"out:{name}")):
        answer(hand.choose_columns([one for one in declared.columns if one != name]))


def _find_form(hand: Hand, name: str) -> Mapping[str, Any]:
    """What is declared of a column, else what a proposal takes it for, as a declaration says it."""
    coding = hand.declaration.codings.get(name)
    if coding is not None:
        return dict(coding.to_plain(*hand.declaration.bounds[name][:2]))
    return {} if hand.proposal is None else hand.proposal.list_forms(hand.declaration).get(name, {})


def _find_kind(form: Mapping[str, Any]) -> str:
    if form.get("closed"):
        return "closed"
    return str(form.get("scale") or next((key for key in form if key in _KINDS), "linear"))


def _ask_form(hand: Hand, name: str, kind: str, form: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What a declaration says of a column of that kind, part by part; ``form`` is what it says now."""
    low, high, _ = hand.declaration.bounds[name]
    if kind in _SCALES:
        yield from {"bounds": [None, None] if name in _list_valued(hand) else [low, high], "scale": kind}.items()
        return
    if kind == "dates":
        yield "dates", [*_ask_ends(hand, name, form.get("dates", (None, None)))]
        yield "written", ask_one(hand, f"written:{name}", "Written", _WRITTEN, form.get("written", "ymd"))
        return
    said = form.get("cycle", form.get("order", form.get("categories", ()))) if kind == _find_kind(form) else ()
    told = st.text_input(
        escape_markdown(_KINDS[kind].asked),
        f"{said:g}" if isinstance(said, int | float) else ", ".join(said),
        placeholder=_KINDS[kind].placeholder,
        key=make_key(hand, f"said:{kind}:{name}"),
    )
    if kind == "cycle":
        number = _read_number(told or "")
        yield "cycle", told if number is None else number
        return
    yield "order" if kind == "order" else "categories", [one.strip() for one in (told or "").split(",") if one.strip()]
    if kind == "closed":
        yield "closed", True


def _ask_ends(hand: Hand, name: str, ends: Sequence[Any]) -> Iterator[str]:
    known = [None if end is None else date.fromisoformat(str(end)) for end in ends] or [None, None]
    for label, value in zip(("First day", "Last day"), known, strict=True):
        key = make_key(hand, f"{label}:{name}")
        said = st.date_input(escape_markdown(label), value, date(1900, 1, 1), date(2200, 1, 1), key=key)
        if isinstance(said, date):
            yield str(said)


def _ask_own_style(hand: Hand, name: str) -> file_format.NumberStyle:
    """How this column writes its numbers."""
    style = hand.declaration.file.get_style(name)
    if read_beginning(hand.content) is None:
        return style
    with st.expander("How its numbers are written", icon=":material/tune:"):
        return ask_style(hand, style, f":{name}")


def _set_style(file: file_format.FileFormat, name: str, style: file_format.NumberStyle) -> file_format.FileFormat:
    others = {other: one for other, one in file.styles.items() if other != name}
    return replace(file, styles=others if style == file.style else {**others, name: style})


def _ask_buying(hand: Hand, name: str) -> None:
    question = "Nobody knows its bounds: a part of ε buys them"
    bought = st.toggle(question, name in hand.buys, key=make_key(hand, f"buy:{name}"))
    if bought != (name in hand.buys):
        answer(replace(hand, buys=tuple({*hand.buys, name} if bought else {*hand.buys} - {name})))


def _propose_values(hand: Hand, name: str, key: str) -> None:
    """The commonest values of the first rows, into the box; a look, which the declaration says."""
    table = hand.content if isinstance(hand.content, LoadedTable) else read_beginning(hand.content)
    assert table is not None
    count_look(hand.content, hand.declaration.kind, AccessKind.PROPOSAL, _PROPOSED)
    with suppress(IntakeError):
        if not isinstance(table, LoadedTable):
            table = table.read(hand.declaration.file, numbers=(), text=(name,))
        cells = table.get_cells(name)
        common = pd.Series(list_texts(cells)).value_counts().index[:_MOST_PROPOSED]
        st.session_state[key] = ", ".join(sorted(value for value in common if "," not in value))
    keep_hand(replace(hand, declaration=replace(hand.declaration, proposed=True)))


_MEASURED_ONCE = (
    "Nine in ten: noise on each coordinate of a centre, the rows shared evenly by k clusters: Laplace noise on "
    "the sums and the size of a cluster, measured once with all of ε. Wider bounds and fewer rows make more of it. "
    f"Where the number of rows is private, {count_cluster_rows(None, 1):,} in a cluster are assumed. Read from "
    f"declarations alone.\n\n{glossary.explain_words('noise ε centre')}"
)


def describe_noise(hand: Hand, name: str, scale: str) -> str:
    """The noise on a centre of a column whose bounds are declared, on this scale and, of another, on the even one."""
    low, high, _ = hand.declaration.bounds[name]
    told: dict[str, float] = {}
    for one in dict.fromkeys((scale, "linear")):
        with suppress(RequestError):
            weight = hand.declaration.weights.get(name)
            tried = hand.declaration.with_coding(name, {"bounds": [low, high], "scale": one}, weight)
            noise = compute_noise_by_column(tried, k=hand.request.k, epsilon=hand.request.epsilon)
            told |= {one: noise[name]} if name in noise else {}
    if low is None or high is None or scale not in told:
        return "What noise does to it is told once its bounds are."
    known = _count_rows(hand.declaration)
    rows, assumed = count_cluster_rows(known, hand.request.k), " (assumed)" if known is None else ""
    said = f"{format_plus_minus(told[scale])} {hand.declaration.units.get(name, '')}".strip()
    if scale != "linear":  # there the noise grows with the amount
        stretched = codings.Stretched(scale)
        middle = stretched.unstretch(stretched.stretch(np.array([low, high])).mean(keepdims=True))
        even = format_plus_minus(told["linear"])
        said += f" at {format_number(float(middle[0]))}, where numbers as they are have {even},"
    return f"{said} on a centre of {format_number(rows)} rows{assumed} at ε = {format_number(hand.request.epsilon)}"


def compute_noise_by_column(declaration: Declaration, *, k: int, epsilon: float) -> Mapping[str, float]:
    """The noise on a centre (see ``compute_column_noise``) by column whose bounds are declared: sd, data units.

    Where all columns share one scale it depends on the bounds of all: none is known before they all are.
    """
    known = {name: bounds for name, bounds in declaration.bounds.items() if _stands(bounds)}
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


def _stands(bounds: declarations.ColumnBounds) -> bool:
    return bounds.lower is not None and bounds.upper is not None and bounds.lower < bounds.upper


def _count_rows(declaration: Declaration) -> int | None:
    """The number of rows, or the least that there may be."""
    known = KnownRows.read(declaration)
    return None if known is None else known.low


def _draw_lost_rows(hand: Hand) -> None:
    """What the declarations do to rows: of a private file as a rule, and counted if that is asked."""
    declared, content, asked = hand.declaration, hand.content, make_key(hand, "counts")
    if not declared.columns:
        return
    if not isinstance(content, CsvFile | LoadedTable):
        st.caption(_describe_rule(declared))
        return
    if hand.is_private and not recall(asked, usual=False):
        st.caption(_describe_rule(declared))
        st.button(
            "Count what drops out (counted)",
            icon=":material/visibility:",
            key=make_key(hand, "count_lost"),
            on_click=remember,
            args=(asked, True),
            help=SENTENCES.fill("count_what_drops_out"),
        )
        return
    if hand.is_private:
        count_look(content, declared.kind, AccessKind.ROWS, _COUNTED)
    kinds = tuple(declared.coded.items())
    given = (hand.number, declared.file, declared.columns, declared.relation, declared.id_column, kinds)
    rows = make_once("bench:lost", given, lambda: _read_rows(hand))
    loss = make_once("bench:loss", given, lambda: RowLoss.of_table(rows, declared))
    moved = ""
    if not hand.is_private:
        moved = describe_moves(rows.encode_columns(declared.columns, declared.coded), declared)
    draw_badge("revealed")
    st.markdown(escape_markdown(" ".join(loss.sentences)) if loss.is_none else format_bullets(loss.sentences))
    if moved:
        st.markdown(escape_markdown(moved))
    _offer_style(hand, loss)


def _offer_style(hand: Hand, loss: RowLoss) -> None:
    """A button for each column whose other cells another style would read."""
    with st.container(horizontal=True, gap="small"):
        for column in loss.columns:
            if column.style is not None and st.button(
                f"Read {escape_markdown(column.name)} like {escape_markdown(column.style)}",
                icon=":material/auto_fix_high:",
                key=make_key(hand, f"mend:{column.name}"),
            ):
                mended = _set_style(hand.declaration.file, column.name, column.style)
                answer(hand.declare(replace(hand.declaration, file=mended)))


def _describe_rule(declared: Declaration) -> str:
    fate = "is dropped" if declared.relation == "add_remove" else "counts as the middle of the bounds"
    return f"A row without a number in one of these columns {fate}; values outside move to the bound."


def describe_moves(values: Array, declared: Declaration) -> str:
    """What declared bounds do to whole rows (n, d), data units, that anybody may see.

    >>> told = Declaration(columns=("age",), lower=(0.0,), upper=(50.0,))
    >>> describe_moves(np.array([[31.0], [np.nan], [60.0], [40.0]]), told)
    '33.3 % of the whole rows move to the bounds.'
    """
    whole = values[np.isfinite(values).all(axis=1)]
    if len(whole) == 0:
        return ""
    ends = [declared.bounds.get(name, declarations.NO_BOUNDS) for name in declared.columns]
    low = np.array([-np.inf if end.lower is None else end.lower for end in ends])
    high = np.array([np.inf if end.upper is None else end.upper for end in ends])
    outside = ((whole < low) | (whole > high)).any(axis=1)
    return f"{format_percent(outside.mean())} of the whole rows move to the bounds." if outside.any() else ""
