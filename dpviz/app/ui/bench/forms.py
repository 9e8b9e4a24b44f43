"""The form of each word that is no box, of the table's first: drawn below its paragraph, it changes what is in hand."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import partial
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dpviz.algorithms import CARDS, Guarantee
from dpviz.app.ui.bench.catalogue import draw_catalogue, draw_description, draw_params_form
from dpviz.app.ui.bench.hand import FILLED, Hand
from dpviz.app.ui.bench.in_hand import (
    answer,
    ask_one,
    close_word,
    count_answers,
    count_look,
    dress,
    find_hand,
    find_open_word,
    find_opened,
    find_refusal,
    keep_hand,
    list_names,
    look_and_propose,
    make_key,
    open_word,
    read_beginning,
)
from dpviz.app.ui.bench.sentence import MORE, Word, write_sentence
from dpviz.app.ui.controls import SHARES
from dpviz.app.ui.data.table_link import draw_file_here, draw_synthetic_form, open_sample
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import SENTENCES, draw_badge, format_badge, look_of, say_refusal
from dpviz.app.ui.session import make_once, recall, remember
from dpviz.app.ui.table_words import (
    DELIMITER_WORDS,
    RELATION_WORDS,
    describe_coding,
    describe_columns,
    describe_delimiter,
    format_bullets,
)
from dpviz.core import AccessKind, Array, RequestError, check
from dpviz.runs import Contender, KnownRows, Target, compute_column_noise, count_cluster_rows, list_columns
from dpviz.tables import (
    Content,
    CsvFile,
    Declaration,
    FileKind,
    IntakeError,
    LoadedTable,
    RowLoss,
    codings,
    declarations,
    file_format,
    find_sample,
    format_names,
    list_samples,
)
from dpviz.words import format_number, format_percent, format_plus_minus, glossary
from dpviz.words import list_names as join_names

# Whether the first line holds names, and whether units stand below them.
_FIRST_LINE: Mapping[tuple[bool | None, bool], str] = {
    (None, False): "as it stands",
    (True, False): "names",
    (False, False): "a row",
    (True, True): "names, units below",
}
_DELIMITERS = {"": "as in line 1", **DELIMITER_WORDS}
_HOW, _IS_ROW = "How is this file to be read?", "The first line is a row"


def draw_file_form(hand: Hand) -> None:
    """Of a CSV file how it is read; of any table what is declared of it, as JSON."""
    file = read_beginning(hand.content)
    if file is not None:
        with st.expander("How the file is read", icon=":material/tune:", expanded=not hand.is_complete):
            # Ask for a proposal from the rows; of private ones it is a look.
            counted, icon, costs = "", ":material/auto_fix_high:", "Anybody may see these rows, so it is free."
            if hand.is_private:
                counted, icon = " (counted)", ":material/visibility:"
                costs = "The rows are private: the look is counted, listed in the ledger and said in the declaration."
            help = (
                "Looks at some of the rows and fills in what they seem to be: delimiter, header, marks, number "
                f"columns. You can change all of it. {costs}"
            )
            with say_refusal():
                if st.button(f"Propose from the rows{counted}", icon=icon, help=help, key=make_key(hand, "propose")):
                    answer(hand.take_proposal(look_and_propose(hand.content, hand.declaration.kind)))
            with st.form(make_key(hand, "file"), border=False), say_refusal(_HOW):
                _ask_format(hand)
            if not find_refusal():  # which says more, and is said where the picture would be
                with say_refusal(_HOW):
                    # What the columns are called by now; public is what its owner has said to be so.
                    header = file.header(hand.declaration.file)
                    origin = "declared" if hand.declaration.file.names else "from the first line"
                    between = escape_markdown(describe_delimiter(header.delimiter))
                    st.caption(f"{describe_columns(header.names)}; {origin}, {between} between them")
                    if header.notes:
                        st.caption(escape_markdown(" ".join(header.notes)))
        draw_proposal(hand)
    _draw_json_panel(hand)


def _ask_format(hand: Hand) -> None:
    start = hand.declaration.file
    with st.grid(min_column_width=128, gap="small"):
        encoding = ask_one(hand, "encoding", start.encoding, {one: one for one in file_format.ENCODINGS})
        delimiter = ask_one(hand, "delimiter", start.delimiter, _DELIMITERS)
        header, units_line = ask_one(hand, "first", (start.units_line or start.header, start.units_line), _FIRST_LINE)
        style = ask_style(hand, start.style)
        quote = ask_one(hand, "quotation", start.quote)
        skip = st.number_input(max_value=file_format.MOST_SKIPPED, value=start.skip, **dress(hand, "skip"))
    names = st.text_area(value=format_names(start.names), **dress(hand, "names"))
    several = not hand.is_private and st.checkbox(value=start.several_lines, **dress(hand, "several_lines"))
    if st.form_submit_button(**look_of("read_so")):
        said = replace(start, encoding=encoding, delimiter=delimiter, header=header, names=read_names(names or ""))
        said = replace(said, style=style, quote=quote, skip=int(skip), units_line=units_line)
        said = replace(said, several_lines=bool(several))
        answer(hand.read_as(said, list_names(hand, said)))


def ask_style(hand: Hand, start: file_format.NumberStyle, of: str = "") -> file_format.NumberStyle:
    """How numbers are written, in the whole file or in one column."""
    decimal, grouping, negative = (
        ask_one(hand, name, getattr(start, name), of=of) for name in ("decimal", "grouping", "negative")
    )
    sign = st.text_input(value=start.sign, **dress(hand, "sign", of))
    missing = st.text_input(value=format_names(start.missing), **dress(hand, "missing", of))
    return file_format.NumberStyle(decimal, grouping, (sign or "").strip(), negative, read_names(missing or ""))


def draw_proposal(hand: Hand) -> None:
    """What was found in the rows, and what is left to their owner, one press an answer."""
    proposal, declared = hand.proposal, hand.declaration
    if read_beginning(hand.content) is None:
        return
    if proposal is not None and proposal.notes:
        found = f"{format_badge('revealed')} :small[found in some of the rows:]"
        st.markdown(f"{found}\n\n{format_bullets(proposal.notes)}")
    with st.container(horizontal=True, gap="xsmall"), say_refusal():
        # The near reading of a proposal; or, where nobody has declared names, that the first line is a row.
        file, icon = declared.file, ":material/swap_vert:"
        if proposal is not None and proposal.other is not None:
            if _is_pressed(hand, "other_reading", proposal.describe_other(), icon):
                answer(hand.take_proposal(look_and_propose(hand.content, declared.kind, proposal.other)))
        elif file.header is not False and not file.names and _is_pressed(hand, "is_row", _IS_ROW, icon):
            answer(_read_as_row(hand))
        if proposal is None:
            return
        for name, codes in proposal.missing.items():
            asked = name in declared.columns and not declared.file.get_style(name).missing
            means = f"{name}: {', '.join(codes)} means missing"
            if asked and _is_pressed(hand, f"codes:{name}", means, ":material/block:"):
                answer(hand.declare(proposal.declare_missing(declared, [name])))
        for name in proposal.list_kind("date"):
            by = name not in declared.columns and "dates" in proposal.list_forms(declared).get(name, ())
            if by and _is_pressed(hand, f"dates:{name}", f"By {name}, too", ":material/event:"):
                answer(hand.choose_columns((*declared.columns, name)))
        others = [name for name in proposal.measures if name not in declared.columns]
        if others and _is_pressed(hand, "all", f"Take all {len(proposal.measures)} measures", ":material/done_all:"):
            answer(hand.choose_columns((*declared.columns, *others)))


def _is_pressed(hand: Hand, name: str, words: str, icon: str) -> bool:
    return st.button(escape_markdown(words), icon=icon, key=make_key(hand, name))


def _read_as_row(hand: Hand) -> Hand:
    """The other answer to a first line that is read as names: its owner has seen a row."""
    file = read_beginning(hand.content)
    assert file is not None
    declared = hand.declaration.file
    header = file.header(declared)
    seen = "the first line, which was read as names until its owner said that it is a row"
    count_look(hand.content, hand.declaration.kind, AccessKind.ROWS, seen)
    names = tuple(f"column_{place}" for place in range(1, len(header.names) + 1))
    as_row = replace(declared, header=False, names=names, delimiter=header.delimiter, styles={}, units_line=False)
    return hand.read_as(as_row, names)


def draw_public_soon(hand: Hand) -> None:
    """What of a private file becomes public once it is used; until then nothing of it is called so."""
    declared = hand.declaration
    if not hand.is_private:
        return
    coded = {name: coding.to_plain(*declared.bounds[name][:2]) for name, coding in declared.coded.items()}
    values = [
        *(f"{name}: {describe_coding(one)}" for name, one in coded.items()),
        *(f"{name} in {unit}" for name, unit in declared.units.items()),
    ]
    with suppress(IntakeError):  # the form of the file says it
        said = "; ".join([f"the names of {describe_columns(list_names(hand))}", *map(escape_markdown, values)])
        st.caption(f"**These become public** once the sentence is complete: {said}")


def draw_file_button() -> None:
    """The way to this form from where there is no picture yet."""
    if st.button("How the file is read, or its declaration as JSON", icon=":material/tune:", key="bench:file"):
        open_word("table")
        st.rerun()


def _draw_json_panel(hand: Hand) -> None:
    """Upload or paste JSON: everything that it declares takes the place of what the sentence says."""
    with st.popover(**look_of("declaration_json")), st.form(make_key(hand, "json"), border=False):
        most = declarations.MAX_DECLARATION_BYTES // 1_000_000
        file = st.file_uploader(max_upload_size=most, **dress(hand, "json_file"))
        text = st.text_area(**look_of("bounds_json", key="bounds_json"))
        pressed = st.form_submit_button("Use these")
    if pressed:
        with say_refusal():
            try:
                said = text or "" if file is None else file.getvalue().decode("utf-8-sig")
            except ValueError:
                raise IntakeError("The file is not JSON in UTF-8; choose a declaration, not the data.") from None
            answer(hand.take_declaration(merge_declaration(hand.declaration, said, hand.content)))


def merge_declaration(declaration: Declaration, text: str, content: Content) -> Declaration:
    """A declaration with what a declaration file says instead."""
    joint = declarations.apply_declaration(text, declaration)
    names = list_columns(content, joint)
    for what, columns in {
        "columns to cluster": joint.columns,
        "number columns": joint.numbers,
        "id column": [joint.id_column or ""],
        "label column": [joint.label_column or ""],
    }.items():
        if strangers := [name for name in columns if name and name not in names]:
            raise IntakeError(
                f"The JSON names {join_names(strangers)} as {what}; the columns are {join_names(names)}; mend it, or "
                "how the file is read."
            )
    return (joint.over(names) if joint.lower else joint).validate()


def read_names(text: str) -> tuple[str, ...]:
    """Column names, one a line or with commas between them.

    >>> read_names('age, "height, cm"')
    ('age', 'height, cm')
    """
    try:
        records = [*csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)]  # whatever ends a line elsewhere
    except csv.Error:
        records = [[text]]  # a name that is longer than any: refused as one
    return tuple(name.strip() for record in records for name in record if name.strip())


_COUNTED = "cells that are no numbers, and the rows that they cost"
_PROPOSED = "the commonest values of a column"
# Values that a proposal takes from the rows, the commonest first.
_MOST_PROPOSED = 30
_LONGEST = 2_000  # letters of what is typed into a word


def ask_columns(hand: Hand) -> None:
    """Which columns are clustered, and how far apart they are; bounds of many; what becomes of rows."""
    with say_refusal(_HOW):
        names = list_names(hand)
        with st.form(make_key(hand, "columns"), border=False), say_refusal():
            declared = hand.declaration
            able = [name for name in names if name != declared.id_column]
            chosen = st.multiselect("By these columns", able, list(declared.columns), key=make_key(hand, "chosen"))
            scaling = ask_one(hand, "scaling", declared.scaling, by=st.radio)
            radius = st.number_input(value=declared.radius, **dress(hand, "radius"))
            now = declared.label_column if declared.label_column in able else ""
            label = ask_one(hand, "label", now, {"": "none", **{name: name for name in able}})
            if st.form_submit_button("So it is", type="primary", width="stretch"):
                said = hand.choose_columns(chosen)
                more: dict[str, Any] = {"scaling": scaling, "radius": radius and float(radius), "label_column": label}
                answer(replace(said, declaration=replace(said.declaration, **more).validate()))
        unset = [name for name in hand.declaration.columns if name not in _list_valued(hand)]
        if not hand.is_private and isinstance(hand.content, CsvFile | LoadedTable):
            pressed = st.button(**dress(hand, "fill", disabled=not unset))
            if pressed:
                # Least and largest values among the whole rows.
                values = _read_rows(hand).columns(unset)
                whole = values[np.isfinite(values).all(axis=1)]
                lows, highs = (whole.min(axis=0), whole.max(axis=0)) if len(whole) else ((), ())
                ends = zip(unset, map(float, lows), map(float, highs), strict=False)
                answer(
                    hand.take_bounds({name: declarations.ColumnBounds(low, high, FILLED) for name, low, high in ends})
                )
        _draw_lost_rows(hand)


def _list_valued(hand: Hand) -> list[str]:
    """Columns whose bounds are those of declared values."""
    return [name for name, one in hand.declaration.coded.items() if one.ends is not None]


def _read_number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _read_rows(hand: Hand) -> LoadedTable:
    """All columns that matter, read as declared; call it for public rows, or after a counted look."""
    content, declared = hand.content, hand.declaration
    if isinstance(content, CsvFile):
        numbers = [name for name in declared.columns if name not in declared.textual]
        text = [*declared.textual, *filter(None, [declared.id_column])]
        return content.read(declared.file, numbers=numbers, text=text)
    assert isinstance(content, LoadedTable)
    return content


_SCALES = ("linear", "log", "root")
_VALUES = ("categories", "closed", "order")


def ask_column(hand: Hand, name: str) -> None:
    """What one column holds, its unit and weight, and how it writes its numbers."""
    declared = hand.declaration
    if name not in declared.columns:
        return
    form = _find_form(hand, name)
    st.markdown(f"**{escape_markdown(name)}**")
    kind = ask_one(hand, "holds", _find_kind(form), of=f":{name}")
    with st.form(make_key(hand, f"column:{name}"), border=False), say_refusal():
        said = dict(_ask_form(hand, name, kind, form))
        unit_place, weight_place = st.columns(2)
        longest, least, most = declarations.LONGEST_UNIT, codings.LEAST_WEIGHT, codings.MOST_WEIGHT
        look = dress(hand, "unit", f":{name}", value=declared.units.get(name, ""), max_chars=longest)
        unit = unit_place.text_input(**look)
        look = dress(hand, "weight", f":{name}", value=declared.weights.get(name), min_value=least, max_value=most)
        weight = weight_place.number_input(**look)
        style = _ask_own_style(hand, name)
        if st.form_submit_button("So it is", type="primary", width="stretch"):
            units = {other: one for other, one in declared.units.items() if other != name}
            told = "".join(filter(str.isprintable, unit or "")).strip()
            units |= {name: told} if told else {}
            changed = replace(declared, units=units, file=_set_style(declared.file, name, style))
            answer(hand.declare(changed).say_column(name, said, weight))
    if kind in _VALUES and (isinstance(hand.content, LoadedTable) or read_beginning(hand.content) is not None):
        given = (hand, name, make_key(hand, f"said:{kind}:{name}"))
        st.button(**dress(hand, "values", f":{name}", on_click=_propose_values, args=given))
    if kind in _SCALES:
        measured = SENTENCES.fill("measured_once", rows=count_cluster_rows(None, 1))
        about = f"{measured}\n\n{glossary.explain_words('noise ε centre')}"
        st.caption(escape_markdown(describe_noise(hand, name, kind)), help=about)
        if None in declared.bounds[name][:2]:
            question = "Nobody knows its bounds: a part of ε buys them"
            bought = st.toggle(question, name in hand.buys, key=make_key(hand, f"buy:{name}"))
            if bought != (name in hand.buys):
                answer(replace(hand, buys=tuple({*hand.buys, name} if bought else {*hand.buys} - {name})))
    if st.button(**dress(hand, "out", f":{name}")):
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
    return str(form.get("scale") or next((key for key in form if key in look_of("holds")["words"]), "linear"))


def _ask_form(hand: Hand, name: str, kind: str, form: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What a declaration says of a column of that kind, part by part; ``form`` is what it says now."""
    low, high, _ = hand.declaration.bounds[name]
    if kind in _SCALES:
        yield from {"bounds": [None, None] if name in _list_valued(hand) else [low, high], "scale": kind}.items()
        return
    if kind == "dates":
        yield "dates", [*_ask_ends(hand, name, form.get("dates", (None, None)))]
        yield "written", ask_one(hand, "written", form.get("written", "ymd"), of=f":{name}")
        return
    said = form.get("cycle", form.get("order", form.get("categories", ()))) if kind == _find_kind(form) else ()
    now = f"{said:g}" if isinstance(said, int | float) else ", ".join(said)
    told = st.text_input(value=now, **look_of(f"said_{kind}", key=make_key(hand, f"said:{kind}:{name}")))
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


def _propose_values(hand: Hand, name: str, key: str) -> None:
    """The commonest values into the box, of all rows that are in hand; a look, which the declaration says."""
    table = hand.content if isinstance(hand.content, LoadedTable) else read_beginning(hand.content)
    assert table is not None
    count_look(hand.content, hand.declaration.kind, AccessKind.PROPOSAL, _PROPOSED)
    with suppress(IntakeError):
        if not isinstance(table, LoadedTable):
            table = table.read(hand.declaration.file, numbers=(), text=(name,))
        common = pd.Series(table.find_texts(name)).value_counts().index[:_MOST_PROPOSED]
        st.session_state[key] = ", ".join(sorted(value for value in common if "," not in value))
    keep_hand(replace(hand, declaration=replace(hand.declaration, proposed=True)))


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
    known = {
        name: bounds
        for name, bounds in declaration.bounds.items()
        if (bounds.lower is not None and bounds.upper is not None and bounds.lower < bounds.upper)
    }
    if not known or (declaration.scaling == "common" and len(known) < len(declaration.columns)):
        return {}
    # Where each column has its own scale, the bounds of the others do not matter, only how many there are.
    bounds = [known.get(name, declarations.ColumnBounds(1.0, 2.0)) for name in declaration.columns]
    try:
        domain = declaration.with_bounds(declaration.columns, bounds).make_domain()
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


def _count_rows(declaration: Declaration) -> int | None:
    """The number of rows, or the least that there may be."""
    known = KnownRows.read(declaration)
    return None if known is None else known.low


def _draw_lost_rows(hand: Hand) -> None:
    """What the declarations do to rows: of a private file as a rule, and counted if that is asked."""
    declared, content, asked = hand.declaration, hand.content, make_key(hand, "counts")
    if not declared.columns:
        return
    is_loaded = isinstance(content, CsvFile | LoadedTable)
    if not is_loaded or (hand.is_private and not recall(asked, usual=False)):
        fate = "is dropped" if declared.relation == "add_remove" else "counts as the middle of the bounds"
        st.caption(f"A row without a number in one of these columns {fate}; values outside move to the bound.")
        if is_loaded:
            st.button(on_click=remember, args=(asked, True), **dress(hand, "count_lost"))
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
    # A button for each column whose other cells another style would read.
    with st.container(horizontal=True, gap="small"):
        for column in loss.columns:
            if column.style is not None and st.button(
                f"Read {escape_markdown(column.name)} like {escape_markdown(column.style)}",
                icon=":material/auto_fix_high:",
                key=make_key(hand, f"mend:{column.name}"),
            ):
                mended = _set_style(hand.declaration.file, column.name, column.style)
                answer(hand.declare(replace(hand.declaration, file=mended)))


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


@st.cache_resource(show_spinner=False)
def declare_component(name: str) -> Any:
    """A component of the bench: a paragraph of the sentence, or the axis of ε that is its control."""
    home = files("dpviz.app.ui") / "bench"
    html, css, js = ((home / f"{name}.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js"))
    return st.components.v2.component(f"dpviz_{name}", html=html, css=css, js=js, isolate_styles=False)


def draw_sentence(hand: Hand) -> None:
    """A paragraph each, and below it the form of its word that is open."""
    opened, go = find_open_word(), count_answers()
    for place, pieces in enumerate(write_sentence(hand)):
        told = [piece if isinstance(piece, str) else vars(piece) for piece in pieces]
        # Where ``go`` is another number than before, the next gap is gone to.
        key = f"bench:sentence:{place}"
        data = {"pieces": told, "open": opened, "table": hand.number, "go": go if place == 0 else 0}
        data["heard"] = recall(f"{key}:heard", 0)
        act = {"on_word_change": partial(_open, key), "on_typed_change": partial(_type, key)}
        declare_component("sentence")(data=data, key=key, **act)
        if any(isinstance(piece, Word) and piece.id == opened and not piece.is_box for piece in pieces):
            with st.container(border=True, key="bench_form", gap="small"):
                name, _, column = opened.partition(":")
                if name == "column":
                    ask_column(hand, column)
                else:
                    _FORMS[name](hand)


def _open(key: str) -> None:
    said = st.session_state[key].get("word")
    if isinstance(said, Mapping):
        word = str(said.get("id"))
        if word == MORE:
            keep_hand(replace(find_hand(), unfolded=True))
        open_word("" if word == MORE else word)


def _type(key: str) -> None:
    for said in st.session_state[key].get("typed") or ():
        if said["number"] <= recall(f"{key}:heard", 0):
            continue  # it travels until its number comes back
        remember(f"{key}:heard", said["number"])
        word, text = str(said["id"]), str(said["text"])[:_LONGEST]
        if word in {piece.id for pieces in write_sentence(find_hand()) for piece in pieces if isinstance(piece, Word)}:
            keep_hand(find_hand().type_in(word, text))


def _ask_table(hand: Hand) -> None:
    """How the table in hand is read and declared, and the ways to another one."""
    draw_file_form(hand)
    titles = {one.id: one.title for one in list_samples()}
    chosen = st.selectbox(options=list(titles), index=None, format_func=titles.__getitem__, **dress(hand, "sample"))
    if chosen is not None and (found := find_sample(chosen)) is not None:
        with st.spinner("Opening…"):
            open_sample(found)
        close_word()
    draw_file_here()
    with st.popover("Made-up rows", icon=":material/casino:"):
        if draw_synthetic_form():
            close_word()


def _ask_kind(hand: Hand) -> None:
    chosen = FileKind(ask_one(hand, "kind", hand.declaration.kind, by=st.radio))
    if chosen != hand.declaration.kind:
        answer(hand.say_kind(chosen))


def _ask_person(hand: Hand) -> None:
    with say_refusal():
        names = list_names(hand)
        declared, found = hand.declaration, hand.proposal
        likely = () if found is None else found.whose
        choices = {"": "each person has one row"}
        choices |= {name: f"column {name} says it" for name in (*(one for one in likely if one in names), *names)}
        column = ask_one(hand, "whose", declared.id_column or "", choices) or None
        most = 1
        if column is None:
            st.caption("Said wrong, ε protects rows, not people: 20 rows, 20 times the ε.")
        else:
            at, most_allowed = max(1, declared.rows_per_person), check.MOST_ROWS_PER_PERSON
            most = int(st.number_input(**dress(hand, "most", value=at, min_value=1, max_value=most_allowed)))
        relation = ask_one(hand, "relation", declared.relation, RELATION_WORDS, by=st.radio)
        if st.button("So it is", type="primary", key=make_key(hand, "person"), width="stretch"):
            answer(hand.say_person(column, most, relation))


def _ask_origin(hand: Hand) -> None:
    if hand.declaration.bounds_from_rows and hand.is_private:
        st.warning(**look_of("bounds_from_private_rows"))
    origin = st.selectbox(**dress(hand, "origin", ":said", options=declarations.ORIGINS, index=None))
    if origin:
        answer(hand.say_origin(str(origin)[:300]))


def _ask_algorithm(hand: Hand) -> None:
    """All of them, each after what it does; its parameters, and the seed of a study."""
    titles = {card.id: f"{card.does}: {card.title}" for _, _, of_kind in CARDS.list_kinds() for card in of_kind}
    card = CARDS[ask_one(hand, "algorithm", hand.request.algorithm, titles)]
    st.caption(escape_markdown(card.summary))
    with st.expander("Parameters, and the noise of a study", icon=":material/tune:"):
        params = draw_params_form(card)
        seeded = st.toggle(value=hand.request.seed is not None, **look_of("study_noise", key="study_noise"))
        seed = int(st.number_input("Seed", 0, 2**31 - 1, hand.request.seed or 0, key="study_seed", disabled=not seeded))
    with st.expander("How it works", icon=":material/school:"):
        draw_description(card)
    said = replace(hand.request, contender=Contender(card.id, params), seed=seed if seeded else None)
    if Guarantee.APPROX in card.guarantees and not said.delta and Guarantee.PURE not in card.guarantees:
        said = replace(said, delta=check.choose_usual_delta(None if hand.rows is None else hand.rows.high))
    draw_catalogue(make_key(hand, "algorithm"), find_opened(hand))
    if said != hand.request or dict(said.params) != dict(hand.request.params):
        keep_hand(replace(hand, request=said))
        st.rerun()


def _ask_often(hand: Hand) -> None:
    look = dress(hand, "often", default=hand.target.share, format_func=lambda one: f"{10 * one:g} of 10")
    share = st.segmented_control(options=SHARES, **look)
    if share and share != hand.target.share:
        answer(replace(hand, target=Target(hand.target.loss, float(share))))


_FORMS: Mapping[str, Callable[[Hand], Any]] = {
    "table": _ask_table,
    "kind": _ask_kind,
    "person": _ask_person,
    "columns": ask_columns,
    "origin": _ask_origin,
    "algorithm": _ask_algorithm,
    "often": _ask_often,
}
