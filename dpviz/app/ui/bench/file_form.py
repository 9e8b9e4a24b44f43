"""How a file is read, what its first rows look like, and a declaration as JSON: the form of the table's word."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

import streamlit as st

from dpviz.app.ui.bench.hand import Hand
from dpviz.app.ui.bench.in_hand import (
    answer,
    ask_one,
    count_look,
    dress,
    find_refusal,
    list_names,
    look_and_propose,
    make_key,
    open_word,
    read_beginning,
)
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import format_badge, look_of, say_refusal
from dpviz.app.ui.table_words import (
    DELIMITER_WORDS,
    describe_coding,
    describe_columns,
    describe_delimiter,
    format_bullets,
)
from dpviz.core import AccessKind
from dpviz.runs import list_columns
from dpviz.tables import Content, Declaration, IntakeError, declarations, file_format, format_names
from dpviz.words import list_names as join_names

# Whether the first line holds names, and whether units stand below them.
_FIRST_LINE: Mapping[tuple[bool | None, bool], str] = {
    (None, False): "as it stands",
    (True, False): "names",
    (False, False): "a row",
    (True, True): "names, units below",
}
_DELIMITERS = {"": "as in line 1", **DELIMITER_WORDS}
_HOW = "How is this file to be read?"


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
        now = (start.units_line or start.header, start.units_line)
        header, units_line = ask_one(hand, "first", now, _FIRST_LINE)
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
        st.markdown(
            f"{format_badge('revealed')} :small[found in some of the rows:]\n\n{format_bullets(proposal.notes)}"
        )
    with st.container(horizontal=True, gap="xsmall"), say_refusal():
        _ask_first_line(hand)
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
        every = f"Take all {len(proposal.measures)} measures"
        if others and _is_pressed(hand, "all", every, ":material/done_all:"):
            answer(hand.choose_columns((*declared.columns, *others)))


def _ask_first_line(hand: Hand) -> None:
    """The near reading of a proposal; or, where nobody has declared names, that the first line is a row."""
    proposal, file, icon = hand.proposal, hand.declaration.file, ":material/swap_vert:"
    if proposal is not None and proposal.other is not None:
        if _is_pressed(hand, "other_reading", proposal.describe_other(), icon):
            answer(hand.take_proposal(look_and_propose(hand.content, hand.declaration.kind, proposal.other)))
        return
    may_be_row = file.header is not False and not file.names
    if may_be_row and _is_pressed(hand, "is_row", "The first line is a row", icon):
        answer(_read_as_row(hand))


def _is_pressed(hand: Hand, name: str, words: str, icon: str) -> bool:
    return st.button(escape_markdown(words), icon=icon, key=make_key(hand, name))


def _read_as_row(hand: Hand) -> Hand:
    """The other answer to a first line that is read as names: its owner has seen a row."""
    file = read_beginning(hand.content)
    assert file is not None
    header = file.header(hand.declaration.file)
    count_look(
        hand.content,
        hand.declaration.kind,
        AccessKind.ROWS,
        "the first line, which was read as names until its owner said that it is a row",
    )
    names = tuple(f"column_{place}" for place in range(1, len(header.names) + 1))
    declared = hand.declaration.file
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
            said = text or "" if file is None else _decode(file.getvalue())
            answer(hand.take_declaration(merge_declaration(hand.declaration, said, hand.content)))


def _decode(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except ValueError:
        raise IntakeError("The file is not JSON in UTF-8; choose a declaration, not the data.") from None


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
