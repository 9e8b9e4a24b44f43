"""How the file is read, as its owner declares it: bytes, first line, numbers; a look at its rows can be asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, cast

import pandas as pd
import streamlit as st

from dpviz.runs.record import LookKind
from dpviz.table.csv_intake import CsvFile
from dpviz.table.declaration import Declaration, FileKind
from dpviz.table.file_format import ENCODINGS, FileFormat, NumberStyle
from dpviz.table.header import Header
from dpviz.table.loaded_table import IntakeError
from dpviz.table.proposal import propose
from dpviz.ui.badges import badge_text
from dpviz.ui.data.begun import Begun
from dpviz.ui.data.column_styles import GROUPINGS, NUMBER, TEXT, Columns, as_frame, as_text, from_frame, names_in
from dpviz.ui.data.stated import with_proposal
from dpviz.ui.escape import plain
from dpviz.ui.looks import count_look
from dpviz.ui.table_words import DELIMITER_WORDS, columns_words, delimiter_words

PROPOSAL_LOOK = "a proposal of how the file is read"

_FIRST_LINE = {"as it stands": None, "names": True, "a row": False}
_DELIMITERS = {"": "as in line 1", **DELIMITER_WORDS}
_DECIMALS = {".": "point: 1.5", ",": "comma: 1,5"}
_GROUPINGS = {"": "none", ",": "comma: 1,234", ".": "point: 1.234", "'": "apostrophe: 1'234", " ": "blank: 1 234"}
_HEADER, _EDITED, _LOOKED_AT = "declare:header", "declare:styles", "declare:looked_at"
_ROW_PIXELS, _MOST_PIXELS = 35, 318
_NOTES_SHOWN = 12


class Format(NamedTuple):
    """What the controls say, and the columns that it makes; ``text`` columns hold no numbers."""

    file: FileFormat
    names: tuple[str, ...]
    text: tuple[str, ...]


def format_form(file: CsvFile, begun: Begun, kind: FileKind) -> Format:
    """The section *How the file is read*; what is wrong is said in it.

    Raises
    ------
    IntakeError
        If the declared format contradicts itself, or the first line is no header under it.
    """
    _head(file, begun, kind)
    try:
        declared, header = _whole_file(file, begun, kind)
    except IntakeError as error:
        st.error(plain(str(error)), title="How is this file to be read?", icon=":material/block:")
        st.caption(
            "Answer above what the first line is and the rest; or use a declaration; or let the rows propose it."
        )
        raise
    origin = "declared" if declared.names else "from the first line"
    between = plain(delimiter_words(header.delimiter))
    st.caption(f"{badge_text('public')} {columns_words(header.names)}; {origin}, {between} between them")
    if header.notes:
        st.caption(plain(" ".join(header.notes)))
    _proposal_notes(begun.notes)
    return _column_by_column(begun, declared, header.names)


def _head(file: CsvFile, begun: Begun, kind: FileKind) -> None:
    private = kind == FileKind.PRIVATE
    looked_at = cast("set[int]", st.session_state.setdefault(_LOOKED_AT, set()))
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown("**How the file is read**", width="content", help=_HELP)
        if st.button(
            "Propose from the rows (counted)" if private else "Propose from the rows",
            icon=":material/visibility:" if private else ":material/auto_fix_high:",
            help="Looks at the first rows and fills in what they seem to be: delimiter, header, marks, number columns. "
            "You can change all of it. "
            + (
                "The rows are private: the look is counted, listed on the Ledger page and said in the declaration."
                if private
                else "Anybody may see these rows, so it is free."
            ),
            key=begun.kept("propose")["key"],
        ):
            looked_at.add(begun.source.number)
            begun.asked = lambda now: _proposed(now, file, begun)
    if begun.source.number in looked_at:
        # Also where the rows were said to be public first: what was seen does not become unseen.
        count_look(begun.source.key, file.fingerprint, file.name, kind, LookKind.PROPOSAL, PROPOSAL_LOOK)


def _proposed(now: Declaration, file: CsvFile, begun: Begun) -> Declaration:
    found = propose(file)
    begun.notes = found.notes
    return with_proposal(now, found)


_HELP = (
    "A row is read by these declarations and by nothing that other rows hold: one line is one row, and a line that "
    "does not fit them is a row without values."
)


def _whole_file(file: CsvFile, begun: Begun, kind: FileKind) -> tuple[FileFormat, Header]:
    start = begun.start.file
    with st.grid(min_column_width=128, gap="small"):
        encoding = st.selectbox("Encoding", ENCODINGS, index=ENCODINGS.index(start.encoding), **begun.kept("encoding"))
        delimiter = _one_of("Delimiter", _DELIMITERS, start.delimiter, begun, own=True)
        first = st.selectbox(
            "The first line is",
            list(_FIRST_LINE),
            index=list(_FIRST_LINE.values()).index(start.header),
            help="As it stands: names, but refused where a cell reads like a number, a date or an amount, "
            "because a row must not become names.",
            **begun.kept("first"),
        )
        decimal = _one_of("Decimal mark", _DECIMALS, start.style.decimal, begun)
        grouping = _one_of("Grouping mark", _GROUPINGS, start.style.grouping, begun)
        sign = st.text_input(
            "Sign to strip",
            value=start.style.sign,
            max_chars=8,
            placeholder="none",
            help="Before or behind each number: %, $, €, kg. The number itself stays as it is.",
            **begun.kept("sign"),
        )
    header = _FIRST_LINE[first or "as it stands"]
    names: tuple[str, ...] = ()
    if header is False or start.names:
        names = names_in(
            st.text_area(
                "Column names, in their order",
                value=as_text(start.names),
                height=68,
                placeholder="age, income, person",
                help="With commas between them or one a line; as many as a row has fields.",
                **begun.kept("names"),
            )
            or ""
        )
    several = kind.may_be_shown and st.checkbox(
        "A quoted cell may go on over several lines",
        value=start.several_lines,
        help="For public files only: one row could then change how all rows below it are read.",
        **begun.kept("several_lines"),
    )
    style = NumberStyle(decimal, grouping, sign.strip())
    declared = FileFormat(encoding or start.encoding, delimiter, header, names, style, several_lines=bool(several))
    return declared, _header(file, begun.source.number, declared)


def _one_of(label: str, words: dict[str, str], start: str, begun: Begun, *, own: bool = False) -> str:
    options = [*words, *([] if start in words else [start])]
    return cast(
        "str",
        st.selectbox(
            label,
            options,
            index=options.index(start),
            format_func=lambda option: words.get(option, option),
            accept_new_options=own,
            **begun.kept(label.split()[0].lower()),
        ),
    )


def _header(file: CsvFile, number: int, declared: FileFormat) -> Header:
    """The header, kept while nothing changes: an encoding may have to be turned into another as a whole."""
    kept = cast("tuple[int, FileFormat, Header] | None", st.session_state.get(_HEADER))
    if kept is None or kept[:2] != (number, declared):
        kept = st.session_state[_HEADER] = (number, declared, file.header(declared))
    return kept[2]


def _column_by_column(begun: Begun, declared: FileFormat, names: tuple[str, ...]) -> Format:
    start = begun.start
    text = tuple(name for name in names if start.numbers and name not in start.numbers)
    styles = {name: style for name, style in start.file.styles.items() if name in names}
    with st.expander(
        "Column by column: text, and numbers written in another way",
        expanded=bool(text or styles),
        icon=":material/tune:",
    ):
        said = _edited(begun, declared.style, names, Columns(text, styles))
        try:
            whole = replace(declared, styles=said.styles)
        except IntakeError as error:
            st.error(plain(str(error)), icon=":material/block:")
            raise
    return Format(whole, names, said.text)


def _edited(begun: Begun, usual: NumberStyle, names: Sequence[str], start: Columns) -> Columns:
    key = begun.kept("styles", names)["key"]
    kept = cast("_Edited | None", st.session_state.get(_EDITED))
    if kept is None or kept.key != key:
        kept = st.session_state[_EDITED] = _Edited(key, as_frame(names, start))
    elif key not in st.session_state:
        # The page was left and is back. While the editor lives, its input must not change.
        kept.given = kept.last
    edited = st.data_editor(
        kept.given,
        key=key,
        hide_index=True,
        num_rows="fixed",
        disabled=["column"],
        placeholder="as the file",
        height=min(_MOST_PIXELS, _ROW_PIXELS * (len(names) + 1) + 3),
        column_config={
            "column": st.column_config.TextColumn("column", width="medium"),
            "kind": st.column_config.SelectboxColumn("holds", options=[NUMBER, TEXT], required=True),
            "decimal": st.column_config.SelectboxColumn("decimal mark", options=list(_DECIMALS)),
            "grouping": st.column_config.SelectboxColumn(
                "grouping mark", options=list(GROUPINGS), help="Between groups of three digits; ' is an apostrophe."
            ),
            "sign": st.column_config.TextColumn("sign to strip", max_chars=8, help="“none” where the file has one."),
        },
        alt=f"Kind and number style of {len(names)} columns.",
    )
    kept.last = edited
    return from_frame(edited, usual)


class _Edited:
    """What the editor was given at first, and what it said last."""

    def __init__(self, key: str, frame: pd.DataFrame) -> None:
        self.key, self.given, self.last = key, frame, frame


def _proposal_notes(notes: Sequence[str]) -> None:
    """What a proposal found, for the owner's eyes."""
    if not notes:
        return
    rest = len(notes) - _NOTES_SHOWN
    more = [f"and {rest} more notes"] if rest > 0 else []
    lines = "\n".join(f"- {line}" for line in (*map(plain, notes[:_NOTES_SHOWN]), *more))
    st.markdown(f"{badge_text('revealed')} :small[found in the first rows:]\n\n{lines}")
