"""The form in which an owner declares a table: how it is read, whose rows they are, and which bounds they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.app.ui.data.column_rows import describe_lacks, draw_bounds_at_once, draw_codings_form, draw_column_rows
from dpviz.app.ui.data.draft import Change, Draft, merge_declaration, open_draft
from dpviz.app.ui.data.format_form import (
    READ_BY_DECLARATION,
    draw_format_form,
    draw_proposal_notes,
    draw_propose_button,
    draw_row_button,
    is_readable_at_first,
)
from dpviz.app.ui.data.table_link import is_large
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import draw_badge
from dpviz.app.ui.session import DataAccess, Source, count_access, make_once, recall, remember
from dpviz.app.ui.table_words import RELATION_WORDS, describe_coding, describe_columns, format_bullets
from dpviz.core import N_SHARE, AccessKind, Array
from dpviz.tables import (
    USUAL_LABEL,
    ArrowTable,
    CsvFile,
    Declaration,
    FileKind,
    IntakeError,
    LoadedTable,
    RowLoss,
    declarations,
    file_format,
)
from dpviz.words import format_percent, glossary

_MEANINGS = (
    "**Private**: about people, shown only if you ask; every look is counted.  \n"
    "**Public**: anybody may see the rows.  \n**Simulated**: made up, nobody is in it."
)
_KINDS = (FileKind.PRIVATE, FileKind.PUBLIC, FileKind.SIMULATED)
_LONGEST_ORIGIN, _MOST_OFFERED = 300, 4
_MOST_ROWS = 1_000_000_000
_ROWS_OF_ONE = {"one": "one row", "several": "several rows; a column says whose"}
_N_ROWS = {
    "bought": f"buy a noisy one with {format_percent(N_SHARE)} of the budget",
    "declared": "a public number",
    "range": "a public range",
}
_HARM = "Said wrong, ε protects rows, not people: 20 rows, 20 times the ε."
_SCALINGS = {"unit": "each column by its bounds", "common": "one scale for all"}
_MORE = {True: "More: reading, distances, label", False: "More: reading, protection, distances"}
_JSON_READ = "declare_json:read"


def draw_declaration_form(source: Source, start: Declaration | None, head: DeltaGenerator) -> Draft:
    """Draw everything there is to declare of a file.

    What a release rests on is asked first and in this order: what one person is, how many rows there are, which
    columns with which bounds, where these come from. Every answer stays for the visit as long as the same file is in
    hand. Of a table that is open all but the lines of the columns is folded away.
    """
    draft = open_draft(source, start or Declaration(title=source.content.name))
    draft.begin()
    with head:
        _ask_kind(draft)
    soon = st.container()
    refusal, proposing, first, tools, lines = st.empty(), st.container(), st.container(), st.container(), st.container()
    lines_of_file = draft.read_beginning()
    readable = lines_of_file is None or is_readable_at_first(lines_of_file, draft)
    more = st.expander(_MORE[start is None], expanded=not readable, icon=":material/tune:")
    with proposing if start is None else more:
        row_of_proposing = st.container(horizontal=True, gap="xsmall")
        notes = st.container()  # there without notes too: lines that are moved lose the cursor
    with tools if start is None else more:
        row_of_tools = st.container(horizontal=True, gap="xsmall")
    try:
        with more:
            st.caption(_MEANINGS)
            _draw_format(draft)
            draft.say_columns()
        with more:
            _ask_relation(draft)
        with first if start is None else more:
            who, how_many = st.columns(2, gap="large")  # side by side, so that the columns are in sight below them
            with who:
                _ask_unit(draft)
            with how_many:
                _ask_n_public(draft)
        with more:
            _ask_distances(draft)
            below = st.container()
        with notes:
            draw_proposal_notes(draft)
        with row_of_tools:
            if start is None:
                st.markdown("**3. Columns and bounds**", width="content", help=glossary.explain_term("bounds"))
            draw_bounds_at_once(draft, public=draft.may_read_rows)
        with lines:
            draw_column_rows(draft)
            draw_codings_form(draft)
        with lines if start is None else below:
            _ask_origin(draft)
        with lines:
            draw_lost_rows(draft)
        with below:
            _ask_label(draft)
        if start is None:
            with soon:
                _draw_public_soon(draft)
        if not draft.missing and draft.declaration.columns:
            draft.complete = draft.declaration
        if sentence := describe_lacks(draft.declaration):
            draft.missing.insert(0, sentence)
    except IntakeError as error:
        draft.missing = [str(error)]
    with row_of_proposing:
        if lines_of_file is not None:
            draw_propose_button(lines_of_file, draft)
        _draw_json_panel(draft)
        if start is None:
            draw_row_button(draft)
    if draft.settle():
        st.rerun()
    if sentence := draft.refusal:
        refusal.error(escape_markdown(sentence), icon=":material/block:")
    return draft


def _draw_public_soon(draft: Draft) -> None:
    """What of the source becomes public with the press that uses it; until then nothing of it is called so."""
    declared = draft.declaration
    if declared.kind.may_be_shown:
        return
    coded = {name: coding.to_plain(*declared.bounds[name][:2]) for name, coding in declared.coded.items()}
    values = [
        *(f"{name}: {describe_coding(one)}" for name, one in coded.items()),
        *(f"{name} in {unit}" for name, unit in declared.units.items()),
    ]
    said = "; ".join([f"the names of {describe_columns(draft.names)}", *map(escape_markdown, values)])
    st.caption(f"**These become public** with *So it is*: {said}")


def _ask_kind(draft: Draft) -> None:
    words = {kind.value: kind.value.capitalize() for kind in _KINDS}
    kind = FileKind(_ask_one_of(draft, "kind", "Whose rows are these?", words, draft.start.kind.value, label=False))
    draft.say(kind=kind)


def _draw_json_panel(draft: Draft) -> None:
    """Upload or paste JSON: everything that it declares takes the place of what the form says."""
    with st.popover(
        "Use a declaration (JSON)",
        icon=":material/data_object:",
        help="The declaration file of the command line, whole or in part: how the file is read, bounds and their "
        "origins, who is protected.",
    ):
        file = st.file_uploader(
            "JSON file",
            type=["json"],
            key=f"declare_json:{draft.source.number}",
            max_upload_size=declarations.MAX_DECLARATION_BYTES // 1_000_000,
        )
        with st.form(f"declare_json_text:{draft.source.number}", border=False):
            text = st.text_area(
                "or paste it",
                placeholder='{"bounds": {"age": [18, 100]},\n "bounds_origin": "law"}',
                help="Or one pair of bounds for all columns: lower, upper.",
                key="bounds_json",
            )
            pressed = st.form_submit_button("Use these")
    if pressed:
        draft.change = lambda now: merge_declaration(now, text or "", draft.source.content)
    if file is not None and file.file_id != recall(_JSON_READ, ""):
        remember(_JSON_READ, file.file_id)
        draft.change = lambda now: merge_declaration(now, _decode(file.getvalue()), draft.source.content)


def _decode(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except ValueError:
        raise IntakeError("The file is not JSON in UTF-8; choose a declaration, not the data.") from None


def _draw_format(draft: Draft) -> None:
    """How the source is read: asked of a file, known of a table that was never one."""
    content, lines_of_file = draft.source.content, draft.read_beginning()
    if lines_of_file is not None:
        st.markdown("**How the file is read**", help=READ_BY_DECLARATION)
        draw_format_form(lines_of_file, draft)
    elif isinstance(content, ArrowTable):
        draft.names, draft.numbers = content.columns, content.numeric_columns
    else:
        assert isinstance(content, LoadedTable)
        draft.names, draft.numbers = tuple(content.frame.columns), content.numeric_columns


def _ask_origin(draft: Draft) -> None:
    start = draft.start.bounds_origin
    options = [*declarations.ORIGINS, *([start] if start and start not in declarations.ORIGINS else [])]
    origin = st.selectbox(
        "Where are these bounds from?",
        options,
        index=_find_place(start, options),
        placeholder="choose or type",
        accept_new_options=True,
        help=glossary.explain_term(
            "bounds",
            "The rows' own belong to two people. The answer goes with every export, so that others can judge it.",
        ),
        **draft.bind_to_visit("origin"),
    )
    draft.say(bounds_origin=(origin or "")[:_LONGEST_ORIGIN])
    if draft.declaration.bounds_from_rows and not draft.declaration.kind.may_be_shown:
        st.warning(
            "Bounds read from private rows give two of them away, whatever ε is: study with them, release nothing.",
            icon=":material/warning:",
        )


def _ask_unit(draft: Draft) -> None:
    st.markdown("**1. One person is**", help=glossary.explain_term("unit"))
    start = draft.start
    several = st.radio(
        "How many rows can one person have?",
        list(_ROWS_OF_ONE),
        format_func=_ROWS_OF_ONE.__getitem__,
        index=0 if start.id_column is None else 1,
        horizontal=True,
        help=glossary.explain_term("unit", _HARM),
        label_visibility="collapsed",
        **draft.bind_to_visit("several"),
    )
    draft.say(id_column=None, rows_per_person=1)
    if several != "several":
        _offer_ids(draft)
        return
    column_place, rows_place = st.columns(2)
    ids = draft.proposal.whose if draft.proposal is not None else ()
    others = [name for name in draft.names if name not in draft.declaration.columns]
    choices = [*(name for name in ids if name in others), *(name for name in others if name not in ids)]
    id_column = column_place.selectbox(
        "Column that says whose row it is",
        choices,
        index=_find_place(start.id_column, choices),
        placeholder="choose a column that is not clustered",
        help="Read as text, cell by cell: 7 and 7.0 are one person, 7 and 07 are two. A row without an id is "
        "dropped, because nobody knows whose it is.",
        **draft.bind_to_visit("id"),
    )
    if id_column is None:
        draft.missing.append("Choose the column that says whose row it is, or say that a person has one row.")
    rows_per_person = rows_place.number_input(
        "Most rows used of one person",
        1,
        10_000,
        value=start.rows_per_person,
        help="Further rows are left out. All noise grows in proportion.",
        **draft.bind_to_visit("rows"),
    )
    draft.say(id_column=id_column, rows_per_person=int(rows_per_person))


def _offer_ids(draft: Draft) -> None:
    """The harm of a wrong answer, and a button for each column that a proposal took for ids."""
    st.caption(_HARM)
    ids = [] if draft.proposal is None else [name for name in draft.proposal.whose if name in draft.names]
    with st.container(horizontal=True, gap="xsmall"):
        for name in ids[:_MOST_OFFERED]:
            if st.button(
                f"{escape_markdown(name)} says whose row it is",
                icon=":material/badge:",
                key=draft.make_key("whose", name),
            ):
                draft.change = _make_id_change(name)


def _make_id_change(name: str) -> Change:
    def changed(now: Declaration) -> Declaration:
        columns = [column for column in now.columns if column != name]
        kept = now.with_bounds(columns, [now.bounds[column] for column in columns])
        return replace(kept, id_column=name, rows_per_person=1)

    return changed


def _ask_relation(draft: Draft) -> None:
    """Folded away with the rest: nearly everybody's answer is the first."""
    help = glossary.explain_term(
        "neighbours",
        "Added or removed hides even whether somebody is in the table. Replaced hides only their values: every line of "
        "the file is a row, so that their number is public, and a step in ε is about twice as large.",
    )
    question = "Two tables are neighbours if one person is…"
    draft.say(relation=_ask_one_of(draft, "relation", question, RELATION_WORDS, draft.start.relation, help=help))


def _ask_n_public(draft: Draft) -> None:
    start, public = draft.start, draft.declaration.kind.may_be_shown
    draft.say(n_public=None, n_range=None)
    st.markdown("**2. Number of rows**")
    if draft.declaration.relation == "replace":
        st.caption("The number of rows is public by the definition of “replaced”.")
        return
    begins = "declared" if start.n_public is not None or (start.n_range is None and draft.knows_rows) else "bought"
    answer = st.radio(
        "Is the number of rows public?",
        list(_N_ROWS),
        format_func=_N_ROWS.__getitem__,
        index=list(_N_ROWS).index(begins if start.n_range is None else "range"),
        horizontal=True,
        help="Where people may be added or removed, their number is itself private. The budget is ε; with "
        "a δ, it is the μ² or ρ that ε and δ are worth together. Advice which ε to choose needs a number: a declared "
        "one, a range, or the noisy one that a run has bought.",
        label_visibility="collapsed",
        **draft.bind_to_visit(f"n:{public}"),
    )
    if answer == "range":
        _ask_n_range(draft)
    if answer != "declared":
        return
    # Only a file that anybody may see, or a declaration made before, fills this box.
    usual = start.n_public
    if usual is None and draft.knows_rows:
        usual = max(1, draft.count_rows())
    n = st.number_input(
        "Public number of rows",
        1,
        _MOST_ROWS,
        value=usual,
        placeholder="as published elsewhere; it need not be exact",
        help=glossary.explain_term("public"),
        **draft.bind_to_visit(f"n_value:{public}"),
    )
    if n is None:
        draft.missing.append("Type the public number of rows, or let a noisy one be bought.")
    else:
        draft.say(n_public=int(n))


def _ask_n_range(draft: Draft) -> None:
    """Both ends of a public range."""
    begins, (low_place, high_place) = draft.start.n_range or (None, None), st.columns(2)
    about: dict[str, Any] = {"min_value": 1, "max_value": _MOST_ROWS, "placeholder": "as is known"}
    low = low_place.number_input("At least so many rows", value=begins[0], **about, **draft.bind_to_visit("n_low"))
    high = high_place.number_input("At most so many rows", value=begins[1], **about, **draft.bind_to_visit("n_high"))
    if low is None or high is None or low > high:
        draft.missing.append("Type the least and the largest number of rows, the smaller first.")
    else:
        draft.say(n_range=(int(low), int(high)))


def _ask_distances(draft: Draft) -> None:
    st.markdown("**Distances**")
    help = (
        "By its bounds: every column counts the same, whatever its unit. One scale: distances keep their meaning "
        "(maps, pixels, embeddings)."
    )
    draft.say(scaling=_ask_one_of(draft, "scaling", "Scale", _SCALINGS, draft.start.scaling, help=help))
    radius = st.number_input(
        "Radius (optional)",
        min_value=0.0,
        value=draft.start.radius,
        format="%g",
        placeholder="none: the bounds alone limit a row",
        help="The largest distance of a row from the middle of the bounds; less noise in many columns. In data "
        "units under one scale, in half-widths where each column has its own.",
        **draft.bind_to_visit("radius"),
    )
    draft.say(radius=None if radius is None else float(radius))


def _ask_label(draft: Draft) -> None:
    taken = (*draft.declaration.columns, draft.declaration.id_column)
    choices = [name for name in draft.names if name not in taken]
    start = draft.start.label_column
    if start is None and USUAL_LABEL not in draft.start.numbers:
        start = USUAL_LABEL  # taken for one wherever nothing else is declared
    large = is_large(draft.source.content)
    label = st.selectbox(
        "Label column (optional)",
        choices,
        index=None if large else _find_place(start, choices),
        disabled=large,
        placeholder="none: only read of a table that memory holds" if large else "none",
        help="A grouping that is known already. It is never clustered; it only judges results that may be seen.",
        **draft.bind_to_visit("label"),
    )
    # Number columns are spelled out where some are text, or where a column named label is no label.
    no_label = label is None and USUAL_LABEL in draft.numbers and USUAL_LABEL not in draft.declaration.columns
    spelled_out = len(draft.numbers) < len(draft.names) or no_label
    draft.say(label_column=label or "", numbers=draft.numbers if spelled_out else ())


def _ask_one_of(
    draft: Draft,
    name: str,
    question: str,
    words: Mapping[str, str],
    start: str,
    *,
    help: str | None = None,
    label: bool = True,
) -> str:
    """One of a few answers, all of them in sight."""
    answer = st.segmented_control(
        question,
        list(words),
        format_func=lambda option: escape_markdown(words[option]),
        default=start,
        required=True,
        help=help,
        label_visibility="visible" if label else "collapsed",
        **draft.bind_to_visit(name),
    )
    return answer or start


def _find_place(name: str | None, choices: Sequence[str]) -> int | None:
    return choices.index(name) if name in choices else None


_COUNTED = "cells that are no numbers, and the rows that they cost"


def draw_lost_rows(draft: Draft) -> None:
    """What the declarations do to rows, below the bounds: of a private file as a rule, and counted if that is asked."""
    declared = draft.declaration
    if not declared.columns:
        return
    if not isinstance(draft.source.content, CsvFile | LoadedTable):
        st.caption(_describe_rule(declared))
        return
    if not draft.may_read_rows and not draft.counts_losses:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(_describe_rule(declared), width="content")
            if st.button(
                "Count what drops out (counted)",
                icon=":material/visibility:",
                key=draft.make_key("count_lost"),
                help="How many cells of each column are empty or no numbers, and how many rows that costs. The rows "
                "are private: the look is listed in the ledger, and no file that leaves says what it found.",
            ):
                draft.counts_losses = True
                st.rerun()
        return
    if not draft.may_read_rows:
        seen = draft.source.content.fingerprint
        count_access(DataAccess(seen, seen, draft.source.content.name, declared.kind, AccessKind.ROWS, _COUNTED))
    kinds = tuple(declared.coded.items())
    given = (draft.source.number, declared.file, declared.columns, declared.relation, declared.id_column, kinds)
    loss = make_once("declare:loss", given, lambda: RowLoss.of_table(draft.read_rows(), declared))
    said = "" if loss.is_none else format_bullets(loss.sentences)
    moved = ""
    if draft.may_read_rows:
        bounds = (declared.lower, declared.upper)
        values = draft.read_columns(declared.columns).encode_columns
        moved = make_once(
            "declare:moved",
            (*given, bounds),
            lambda: describe_moves(values(declared.columns, declared.coded), declared),
        )
    if said or moved or not draft.may_read_rows:
        draw_badge("revealed")
        st.markdown(said or escape_markdown(" ".join(loss.sentences)))
        if moved:
            st.markdown(escape_markdown(moved))
    _offer_style(draft, loss)


def _offer_style(draft: Draft, loss: RowLoss) -> None:
    """A button for each column whose other cells another style would read."""
    with st.container(horizontal=True, gap="small"):
        for column in loss.columns:
            if column.style is not None and st.button(
                f"Read {escape_markdown(column.name)} like {escape_markdown(column.style)}",
                icon=":material/auto_fix_high:",
                key=draft.make_key("mend", column.name, column.style),
            ):
                draft.change = _make_reading(column.name, column.style)


def _make_reading(name: str, style: file_format.NumberStyle) -> Change:
    return lambda now: replace(now, file=replace(now.file, styles={**now.file.styles, name: style}))


def _describe_rule(declared: Declaration) -> str:
    return f"A row without a number in a ticked column {describe_fate(declared)}; values outside move to the bound."


def describe_fate(declared: Declaration) -> str:
    """What becomes of a row that is not complete."""
    return "is dropped" if declared.relation == "add_remove" else "counts as the middle of the bounds"


def describe_moves(values: Array, declared: Declaration) -> str:
    """What declared bounds do to whole rows.

    ``values`` (n, d), whole rows that anybody may see, data units.

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
