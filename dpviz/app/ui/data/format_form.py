"""How the file is read, as its owner declares it: bytes, first line, numbers; a look at its rows can be asked for."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, cast

import pandas as pd
import streamlit as st

from dpviz.app.ui.data.draft import Draft
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import draw_caption_with_badge, format_badge
from dpviz.app.ui.session import make_once
from dpviz.app.ui.table_words import DELIMITER_WORDS, describe_columns, describe_delimiter, format_bullets
from dpviz.core import AccessKind
from dpviz.tables import (
    TEXT,
    CsvFile,
    Declaration,
    Header,
    IntakeError,
    declarations,
    file_format,
    format_names,
    propose,
)

# Whether the first line holds names, and whether units stand below them.
_FIRST_LINE: Mapping[str, tuple[bool | None, bool]] = {
    "as it stands": (None, False),
    "names": (True, False),
    "a row": (False, False),
    "names, units below": (True, True),
}
_DELIMITERS = {"": "as in line 1", **DELIMITER_WORDS}
_DECIMALS = {".": "point: 1.5", ",": "comma: 1,5"}
_GROUPINGS = {
    **{"": "none", ",": "comma: 1,234", ".": "point: 1.234", "'": "apostrophe: 1'234", " ": "blank: 1 234"},
    file_format.INDIAN: "Indian: 12,34,567",
}
_QUOTES = {'"': 'double: "a"', "'": "single: 'a'"}
_NEGATIVES = {"": "minus in front: −5", "()": "parentheses: (5)", "-": "minus behind: 5−"}
READ_BY_DECLARATION = (
    "A row is read by these declarations and by nothing that other rows hold: one line is one row, and a line that "
    "does not fit them is a row without values."
)
"""How a file is read, whatever stands in it."""

_NUMBER, _TEXT = "number", "text"
_ABOUT_GROUPS, _ABOUT_SIGN = "Between groups of three digits; ' is an apostrophe.", "“none” where the file has one."
# Words for marks that would not be seen: none at all, where the file's other columns have one, and a blank.
_NONE, _BLANK = "none", "blank"
_WORDS = {"": _NONE, " ": _BLANK}
_MARKS = {word: mark for mark, word in _WORDS.items()}


def draw_format_form(file: CsvFile, draft: Draft) -> None:
    """The questions about how the file is read; what is wrong is said in place."""
    try:
        draft.say(file=_ask_file_format(draft))
        header = _read_header(file, draft)
    except IntakeError as error:
        st.error(escape_markdown(str(error)), title="How is this file to be read?", icon=":material/block:")
        raise
    origin = "declared" if draft.declaration.file.names else "from the first line"
    between = escape_markdown(describe_delimiter(header.delimiter))
    about = f"{describe_columns(header.names)}; {origin}, {between} between them"
    if draft.in_force is None and not draft.declaration.kind.may_be_shown:
        st.caption(about)  # public is what its owner has said to be so
    else:
        draw_caption_with_badge("public", about)
    if header.notes:
        st.caption(escape_markdown(" ".join(header.notes)))
    draft.names = header.names
    _draw_column_formats(draft)


def is_readable_at_first(file: CsvFile, draft: Draft) -> bool:
    """Whether the first line is a header, and no more need be asked, as the form begins."""
    try:
        make_once("declare:begins", (draft.source.number, draft.start.file), lambda: file.header(draft.start.file))
    except IntakeError:
        return False
    return True


def draw_proposal_notes(draft: Draft) -> None:
    """What a proposal found in the rows, and the other reading of the first line where it cannot tell."""
    if not draft.notes:
        return
    st.markdown(f"{format_badge('revealed')} :small[found in some of the rows:]\n\n{format_bullets(draft.notes)}")
    draw_proposal_questions(draft)


def draw_proposal_questions(draft: Draft) -> None:
    """What a proposal leaves to the owner, one press an answer: the near reading, codes for missing, all measures."""
    proposal, file = draft.proposal, draft.read_beginning()
    if proposal is None or file is None:
        return
    with st.container(horizontal=True, gap="xsmall"):
        other, key = proposal.other, draft.make_key("other_reading")
        if other is not None and st.button(
            escape_markdown(proposal.describe_other()), icon=":material/swap_vert:", key=key
        ):
            draft.change = lambda now: _propose(now, file, draft, other)
        for name, codes in proposal.missing.items():
            asked = name in draft.declaration.columns and not draft.declaration.file.get_style(name).missing
            means = f"{name}: {', '.join(codes)} means missing"
            if asked and st.button(escape_markdown(means), icon=":material/block:", key=draft.make_key("codes", name)):
                draft.change = partial(proposal.declare_missing, names=[name])
        if others := [name for name in proposal.measures if name not in draft.declaration.columns]:
            words = f"Take all {len(proposal.measures)} measures"
            if st.button(words, icon=":material/done_all:", key=draft.make_key("take_all")):
                draft.change = partial(_take_columns, names=others)


def _take_columns(now: Declaration, names: Sequence[str]) -> Declaration:
    """``now`` with these columns to cluster, too; their bounds are open."""
    columns = (*now.columns, *names)
    return now.with_bounds(columns, [now.bounds.get(name, declarations.NO_BOUNDS) for name in columns])


def draw_row_button(draft: Draft) -> None:
    """The other answer to a first line that is read as names, where nobody has declared any."""
    file = draft.read_beginning()
    declared, proposal = draft.declaration.file, draft.proposal
    if file is None or declared.header is False or declared.names or (proposal is not None and proposal.other):
        return
    if st.button("The first line is a row", icon=":material/swap_vert:", key=draft.make_key("is_row")):
        draft.change = lambda now: _read_as_row(now, file)
        note = "the first line, which was read as names until its owner said that it is a row"
        draft.count_look(AccessKind.ROWS, note)


def _read_as_row(now: Declaration, file: CsvFile) -> Declaration:
    """``now`` with columns that have names of their own; what was said of those before is forgotten."""
    header = file.header(now.file)
    names = tuple(f"column_{place}" for place in range(1, len(header.names) + 1))
    as_row = replace(now.file, header=False, names=names, delimiter=header.delimiter, styles={}, units_line=False)
    bare = replace(now, codings={}, weights={}, units={}, numbers=(), describe={}, id_column=None, rows_per_person=1)
    return replace(bare.with_bounds((), ()), file=as_row, label_column=None)


def draw_propose_button(file: CsvFile, draft: Draft) -> None:
    """Ask for a proposal from the rows; of private ones it is a look."""
    kind = draft.declaration.kind
    counted, icon, costs = "", ":material/auto_fix_high:", "Anybody may see these rows, so it is free."
    if not kind.may_be_shown:
        counted, icon = " (counted)", ":material/visibility:"
        costs = "The rows are private: the look is counted, listed in the ledger and said in the declaration."
    help = (
        "Looks at some of the rows and fills in what they seem to be: delimiter, header, marks, number columns. "
        f"You can change all of it. {costs}"
    )
    if st.button(f"Propose from the rows{counted}", icon=icon, help=help, key=draft.make_key("propose")):
        draft.change = lambda now: _propose(now, file, draft)
        draft.count_look(AccessKind.PROPOSAL, "a proposal of how the file is read")


def _propose(
    now: Declaration, file: CsvFile, draft: Draft, reading: file_format.FileFormat | None = None
) -> Declaration:
    draft.proposal = propose(file, reading=reading)
    draft.notes = draft.proposal.notes
    return draft.proposal.join_to(now)


def _ask_file_format(draft: Draft) -> file_format.FileFormat:
    """The format of all columns, as the controls say it."""
    start = draft.start.file
    with st.grid(min_column_width=128, gap="small"):
        encoding = st.selectbox(
            "Encoding",
            file_format.ENCODINGS,
            index=file_format.ENCODINGS.index(start.encoding),
            **draft.bind_to_visit("encoding"),
        )
        delimiter = _ask_choice("Delimiter", _DELIMITERS, start.delimiter, draft, own=True)
        first = st.selectbox(
            "The first line is",
            list(_FIRST_LINE),
            index=list(_FIRST_LINE.values()).index((start.units_line or start.header, start.units_line)),
            help="As it stands: names, but refused where a cell reads like a number, a date or an amount, "
            "because a row must not become names.",
            **draft.bind_to_visit("first"),
        )
        decimal = _ask_choice("Decimal mark", _DECIMALS, start.style.decimal, draft)
        grouping = _ask_choice("Grouping mark", _GROUPINGS, start.style.grouping, draft)
        negative = _ask_choice("Negative numbers", _NEGATIVES, start.style.negative, draft)
        sign = st.text_input(
            "Sign to strip",
            value=start.style.sign,
            max_chars=8,
            placeholder="none",
            help="Before or behind each number: %, $, €, kg. The number itself stays as it is.",
            **draft.bind_to_visit("sign"),
        )
        missing = st.text_input(
            "Means missing",
            value=format_names(start.style.missing),
            placeholder="-999, refused",
            help="Numbers and words that stand for a missing cell, in every column; with commas between them.",
            **draft.bind_to_visit("missing"),
        )
        quote = _ask_choice("Quotation mark", _QUOTES, start.quote, draft)
        skip = st.number_input(
            "Lines to skip",
            0,
            file_format.MOST_SKIPPED,
            value=start.skip,
            help="Titles, comments and blank lines above the names.",
            **draft.bind_to_visit("skip"),
        )
    header, units_line = _FIRST_LINE[first or "as it stands"]
    names: tuple[str, ...] = ()
    if header is False or start.names:
        names = read_names(
            st.text_area(
                "Column names, in their order",
                value=format_names(start.names),
                height=68,
                placeholder="age, income, person",
                help="With commas between them or one a line; as many as a row has fields.",
                **draft.bind_to_visit("names"),
            )
            or ""
        )
    several = draft.declaration.kind.may_be_shown and st.checkbox(
        "A quoted cell may go on over several lines",
        value=start.several_lines,
        help="For public files only: one row could then change how all rows below it are read.",
        **draft.bind_to_visit("several_lines"),
    )
    style = file_format.NumberStyle(decimal, grouping, sign.strip(), negative, read_names(missing or ""))
    more: dict[str, Any] = {"several_lines": bool(several), "skip": int(skip), "units_line": units_line, "quote": quote}
    return file_format.FileFormat(encoding or start.encoding, delimiter, header, names, style, **more)


def _ask_choice(label: str, words: Mapping[str, str], start: str, draft: Draft, *, own: bool = False) -> str:
    options = [*words, *([] if start in words else [start])]
    return cast(
        "str",
        st.selectbox(
            label,
            options,
            index=options.index(start),
            format_func=lambda option: words.get(option, option),
            accept_new_options=own,
            **draft.bind_to_visit(label.split()[0].lower()),
        ),
    )


def _read_header(file: CsvFile, draft: Draft) -> Header:
    """The header, kept while nothing changes: an encoding may have to be turned into another as a whole."""
    declared = draft.declaration.file
    return make_once("declare:header", (draft.source.number, declared), lambda: file.header(declared))


def _draw_column_formats(draft: Draft) -> None:
    start, declared = draft.start, draft.declaration.file
    text = tuple(name for name in draft.names if start.numbers and name not in start.numbers)
    styles = {name: style for name, style in start.file.styles.items() if name in draft.names}
    choose = st.column_config.SelectboxColumn
    groupings, negatives = ([_WORDS.get(mark, mark) for mark in marks] for marks in (_GROUPINGS, _NEGATIVES))
    st.caption("Column by column: text, and numbers written in another way")
    with st.container():
        edited = draft.draw_table(
            "styles",
            make_frame(draft.names, ColumnStyles(text, styles)),
            {
                "kind": choose("holds", options=[_NUMBER, _TEXT], required=True),
                "decimal": choose("decimal mark", options=list(_DECIMALS)),
                "grouping": choose("grouping mark", options=groupings, help=_ABOUT_GROUPS),
                "sign": st.column_config.TextColumn("sign to strip", max_chars=8, help=_ABOUT_SIGN),
                "negative": choose("negative", options=negatives, help="(5), 5- or only -5."),
                "missing": st.column_config.TextColumn("means missing", help="With commas between them."),
            },
            placeholder="as the file",
            alt=f"Kind and number style of {len(draft.names)} columns.",
        )
        columns = read_frame(edited, declared.style)
        try:
            draft.say(file=replace(declared, styles=columns.styles))
        except IntakeError as error:
            st.error(escape_markdown(str(error)), icon=":material/block:")
            raise
    draft.numbers = tuple(name for name in draft.names if name not in columns.text)


class ColumnStyles(NamedTuple):
    """What is said column by column.

    ``text`` are the columns that hold none; ``styles`` those whose numbers are not written like the others.
    """

    text: tuple[str, ...]
    styles: Mapping[str, file_format.NumberStyle]


def make_frame(names: Sequence[str], columns: ColumnStyles) -> pd.DataFrame:
    """The editor's table: one line a column; a mark that is the file's own is left open."""

    def cells(marks: Iterable[str | None]) -> pd.Series:
        return pd.Series(list(marks), dtype="object")

    styles = [columns.styles.get(name) for name in names]
    return pd.DataFrame(
        {
            "column": pd.Series(list(names), dtype=TEXT),
            "kind": cells(_TEXT if name in columns.text else _NUMBER for name in names),
            "decimal": cells(style and style.decimal for style in styles),
            "grouping": cells(style and _WORDS.get(style.grouping, style.grouping) for style in styles),
            "sign": cells(style and (style.sign or _NONE) for style in styles),
            "negative": cells(style and (style.negative or _NONE) for style in styles),
            "missing": cells(style and (format_names(style.missing) or _NONE) for style in styles),
        }
    )


def read_frame(frame: pd.DataFrame, usual: file_format.NumberStyle) -> ColumnStyles:
    """What the editor's table says."""
    text, styles = [], {}
    for name, kind, *marks in frame[["column", "kind", *file_format.NumberStyle._fields]].itertuples(index=False):
        own: dict[str, Any] = {
            mark: _MARKS.get(value.strip(), value.strip())
            for mark, value in zip(file_format.NumberStyle._fields, marks, strict=True)
            if isinstance(value, str) and value.strip()
        }
        if "missing" in own:
            own["missing"] = read_names(own["missing"])
        if kind == _TEXT:
            text.append(str(name))
        elif own:
            styles[str(name)] = usual._replace(**own)
    return ColumnStyles(tuple(text), {name: style for name, style in styles.items() if style != usual})


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
