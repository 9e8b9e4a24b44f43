"""The form in which an owner declares a table: how it is read, whose rows they are, and which bounds they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from dpviz.charts.wording import percent
from dpviz.privacy.room import N_SHARE
from dpviz.table.csv_intake import CsvFile
from dpviz.table.declaration import FROM_ROWS, NO_BOUNDS, ORIGINS, ColumnBounds, Declaration, FileKind
from dpviz.table.loaded_table import USUAL_LABEL, IntakeError, LoadedTable
from dpviz.table.sidecar import MAX_BYTES
from dpviz.ui.data.draft import Draft, draft_of, joined
from dpviz.ui.data.format_form import format_form
from dpviz.ui.escape import plain
from dpviz.ui.session import Source, remember, remembered
from dpviz.ui.table_words import RELATION_WORDS

_KINDS = {
    FileKind.PRIVATE: ("Private", "Rows about people. Never shown unless you ask; every look is counted."),
    FileKind.PUBLIC: ("Public", "Anybody may see the rows: previews and true scores are shown."),
    FileKind.SIMULATED: ("Simulated", "Made up: nobody is in it."),
}
_ROWS_OF_ONE = {"one": "one row a person", "several": "several; a column says whose"}
_N_ROWS = {"bought": f"no: buy a noisy one with {percent(N_SHARE)} of the budget", "declared": "yes, I declare it"}
_SCALINGS = {"unit": "each column by its bounds", "common": "one scale for all"}
_JSON_READ = "declare_json:read"


def declaration_form(source: Source, start: Declaration | None) -> Draft:
    """Everything there is to declare about ``source``, beginning with ``start``, or as a private file.

    Every answer stays for the visit as long as the same file is in hand.
    """
    draft = draft_of(source, start or Declaration(title=source.content.name))
    draft.begin()
    with st.container(border=True):
        _kind(draft)
        refusal = st.empty()
    try:
        _all_but_kind(draft)
    except IntakeError as error:
        draft.missing = [str(error)]
    if draft.settle():
        st.rerun()
    if sentence := draft.refusal:
        refusal.error(plain(sentence), icon=":material/block:")
    return draft


def _all_but_kind(draft: Draft) -> None:
    """All questions after the first.

    Raises
    ------
    IntakeError
        If no columns can be found under the format that is declared.
    """
    _format(draft)
    with st.container(border=True):
        _columns(draft)
        _bounds(draft)
    with st.container(border=True):
        _unit(draft)
        _n_public(draft)
    with st.container(border=True):
        _distances(draft)
        _label(draft)


def _kind(draft: Draft) -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom"):
        words = {kind.value: word for kind, (word, _) in _KINDS.items()}
        meanings = "  \n".join(f"**{word}**: {meaning}" for word, meaning in _KINDS.values())
        kind = FileKind(_one_of(draft, "kind", "Whose rows are these?", words, draft.start.kind.value, help=meanings))
        _json_panel(draft)
    draft.say(kind=kind)
    st.caption(_KINDS[kind][1])


def _json_panel(draft: Draft) -> None:
    """Upload or paste JSON: everything that it declares takes the place of what the form says."""
    with st.popover(
        "Use a declaration (JSON)",
        icon=":material/data_object:",
        help="The sidecar of the command line, whole or in part: how the file is read, bounds and their origins, who "
        "is protected.",
    ):
        file = st.file_uploader(
            "JSON file",
            type=["json"],
            key=f"declare_json:{draft.source.number}",
            max_upload_size=MAX_BYTES // 1_000_000,
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
        draft.change = lambda now: joined(now, text or "", draft.source.content)
    if file is not None and file.file_id != remembered(_JSON_READ, ""):
        remember(_JSON_READ, file.file_id)
        draft.change = lambda now: joined(now, _decoded(file.getvalue()), draft.source.content)


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except ValueError:
        raise IntakeError("The file is not JSON in UTF-8; choose a declaration, not the data.") from None


def _format(draft: Draft) -> None:
    """How the source is read: asked of a file, known of a table that was never one."""
    content = draft.source.content
    if isinstance(content, CsvFile):
        with st.container(border=True):
            format_form(content, draft)
    else:
        assert isinstance(content, LoadedTable)
        draft.names, draft.numbers = tuple(content.frame.columns), content.numeric_columns


def _columns(draft: Draft) -> None:
    columns = st.multiselect(
        "Columns to cluster",
        draft.numbers,
        default=[name for name in draft.start.columns if name in draft.numbers],
        help="Columns of numbers whose distances mean something. Ids, codes and labels do not belong here. What is "
        "chosen is read as numbers: a row in which such a cell is none counts as incomplete.",
        placeholder="choose columns of numbers",
        **draft.kept("columns"),
    )
    draft.say_bounds(columns)


def _bounds(draft: Draft) -> None:
    columns, public = draft.declaration.columns, draft.declaration.kind.may_be_shown
    st.markdown("**Bounds of each column**")
    st.caption(
        "Noise is as large as the bounds are wide, and values beyond them are moved to them. "
        "Say what a value can be at all; do not look the rows up: their least and largest belong to two people."
    )
    if columns:
        bounds_editor(draft, columns, public=public)
        draft.say_bounds(columns)
    else:
        st.info("Choose columns first.", icon=":material/arrow_upward:")
    if FROM_ROWS in draft.declaration.origins and not public:
        st.warning(
            "Bounds read from private rows give away two of them exactly, whatever ε is. Use them to study, never "
            "for a release.",
            icon=":material/warning:",
        )
    origin = st.text_input(
        "Where do these bounds come from, in a few words?",
        value=draft.start.bounds_origin,
        placeholder="e.g. the questionnaire allows 0 to 80 hours",
        help="Part of the declaration; it goes with every export, so that others can judge it.",
        max_chars=300,
        **draft.kept("origin"),
    )
    draft.say(bounds_origin=origin)


def _unit(draft: Draft) -> None:
    st.markdown("**Who is protected**")
    start = draft.start
    several = st.radio(
        "How many rows can one person have?",
        list(_ROWS_OF_ONE),
        format_func=_ROWS_OF_ONE.__getitem__,
        index=0 if start.id_column is None else 1,
        horizontal=True,
        help="The promise of ε is made to one unit of privacy: a row, or all rows of one person.",
        **draft.kept("several"),
    )
    draft.say(id_column=None, rows_per_person=1)
    if several == "several":
        column_place, rows_place = st.columns(2)
        choices = [name for name in draft.names if name not in draft.declaration.columns]
        id_column = column_place.selectbox(
            "Column that says whose row it is",
            choices,
            index=_place(start.id_column, choices),
            placeholder="choose a column that is not clustered",
            help="Read as text, cell by cell: 7 and 7.0 are one person, 7 and 07 are two. A row without an id is "
            "dropped, because nobody knows whose it is.",
            **draft.kept("id"),
        )
        if id_column is None:
            draft.missing.append("Choose the column that says whose row it is, or say that a person has one row.")
        rows_per_person = rows_place.number_input(
            "Most rows used of one person",
            1,
            10_000,
            value=start.rows_per_person,
            help="Further rows are left out. All noise grows in proportion.",
            **draft.kept("rows"),
        )
        draft.say(id_column=id_column, rows_per_person=int(rows_per_person))
    help = (
        "Added or removed hides even whether somebody is in the table. Replaced hides only their values: every line of "
        "the file is a row, so that their number is public, and a step in ε is about twice as large."
    )
    question = "Two tables are neighbours if one person is…"
    draft.say(relation=_one_of(draft, "relation", question, RELATION_WORDS, start.relation, help=help))


def _n_public(draft: Draft) -> None:
    start, public = draft.start, draft.declaration.kind.may_be_shown
    draft.say(n_public=None)
    if draft.declaration.relation == "replace":
        st.caption("The number of rows is public by the definition of “replaced”.")
        return
    answer = st.radio(
        "Is the number of rows public?",
        list(_N_ROWS),
        format_func=_N_ROWS.__getitem__,
        index=0 if start.n_public is None and not public else 1,
        horizontal=True,
        help="Where people may be added or removed, their number is itself private. The budget is ε; with "
        "a δ, it is the μ² or ρ that ε and δ are worth together.",
        **draft.kept(f"n:{public}"),
    )
    if answer == "bought":
        return
    # Only a file that anybody may see, or a declaration made before, fills this box.
    usual = max(1, draft.rows(draft.names[:1]).n_rows) if start.n_public is None and public else start.n_public
    n = st.number_input(
        "Public number of rows",
        1,
        1_000_000_000,
        value=usual,
        placeholder="as published elsewhere; it need not be exact",
        **draft.kept(f"n_value:{public}"),
    )
    if n is None:
        draft.missing.append("Type the public number of rows, or let a noisy one be bought.")
    else:
        draft.say(n_public=int(n))


def _distances(draft: Draft) -> None:
    st.markdown("**Distances**")
    help = (
        "By its bounds: every column counts the same, whatever its unit. One scale: distances keep their meaning "
        "(maps, pixels, embeddings)."
    )
    draft.say(scaling=_one_of(draft, "scaling", "Scale", _SCALINGS, draft.start.scaling, help=help))
    radius = st.number_input(
        "Radius (optional)",
        min_value=0.0,
        value=draft.start.radius,
        format="%g",
        placeholder="none: the bounds alone limit a row",
        help="The largest distance of a row from the middle of the bounds; less noise in many columns. In data "
        "units under one scale, in half-widths where each column has its own.",
        **draft.kept("radius"),
    )
    draft.say(radius=None if radius is None else float(radius))


def _label(draft: Draft) -> None:
    taken = (*draft.declaration.columns, draft.declaration.id_column)
    choices = [name for name in draft.names if name not in taken]
    start = draft.start.label_column
    if start is None and USUAL_LABEL not in draft.start.numbers:
        start = USUAL_LABEL  # taken for one wherever nothing else is declared
    label = st.selectbox(
        "Label column (optional)",
        choices,
        index=_place(start, choices),
        placeholder="none",
        help="A grouping that is known already. It is never clustered; it only judges results that may be seen.",
        **draft.kept("label"),
    )
    # Number columns are spelled out where some are text, or where a column named label is no label.
    no_label = label is None and USUAL_LABEL in draft.numbers and USUAL_LABEL not in draft.declaration.columns
    spelled_out = len(draft.numbers) < len(draft.names) or no_label
    draft.say(label_column=label or "", numbers=draft.numbers if spelled_out else ())


def _one_of(draft: Draft, name: str, question: str, words: Mapping[str, str], start: str, *, help: str) -> str:
    """One of a few answers, all of them in sight."""
    answer = st.segmented_control(
        question,
        list(words),
        format_func=lambda option: plain(words[option]),
        default=start,
        required=True,
        help=help,
        **draft.kept(name),
    )
    return answer or start


def _place(name: str | None, choices: Sequence[str]) -> int | None:
    return choices.index(name) if name in choices else None


def bounds_editor(draft: Draft, columns: Sequence[str], *, public: bool) -> None:
    """Let the owner type bounds for ``columns``; what was typed stays for the visit, until another file comes.

    Bounds of a private file come from declarations only; those that were filled in from the rows while it was said to
    be public are called what they are.
    """
    if draft.filled and not public:
        same = {name: read for name, read in draft.filled.items() if draft.bounds.get(name, read)[:2] == read[:2]}
        draft.set_bounds({name: read._replace(origin=FROM_ROWS) for name, read in same.items()})
        draft.filled = {}
    with st.container(horizontal=True, gap="small"):
        with st.popover("One pair for all", icon=":material/width:"):
            _one_pair(draft, columns)
        if public and st.button(
            "Fill from the rows",
            icon=":material/unfold_more:",
            key=draft.key("fill"),
            help="Least and largest value of each column: allowed because this file is public.",
        ):
            read = _from_rows(draft, columns)
            draft.set_bounds(read)
            draft.filled |= read
    origins = dict.fromkeys([*ORIGINS, *(bounds.origin for bounds in draft.bounds.values() if bounds.origin)])
    edited = draft.table(
        "bounds",
        as_frame(columns, draft.bounds),
        {
            "lower": st.column_config.NumberColumn("lower bound", help="The least a value can be, data units."),
            "upper": st.column_config.NumberColumn("upper bound", help="The most a value can be, data units."),
            "origin": st.column_config.SelectboxColumn(
                "where from?", options=list(origins), help="Where did this bound come from?"
            ),
        },
        draft.times_set,
        placeholder="not declared",
        alt=f"Declared bounds of {len(columns)} columns and where they come from.",
    )
    draft.bounds |= from_frame(edited)


def as_frame(columns: Sequence[str], bounds: Mapping[str, ColumnBounds]) -> pd.DataFrame:
    """The editor's table: one line a column."""
    lower, upper, origins = zip(*(bounds.get(column, NO_BOUNDS) for column in columns), strict=True)
    return pd.DataFrame(
        {
            "column": pd.Series(list(columns), dtype="str"),
            "lower": pd.Series(lower, dtype="float64"),
            "upper": pd.Series(upper, dtype="float64"),
            "origin": pd.Series([origin or None for origin in origins], dtype="object"),
        }
    )


def from_frame(frame: pd.DataFrame) -> dict[str, ColumnBounds]:
    """What the editor's table says."""
    said = frame.astype(object).where(frame.notna(), None)
    return {
        str(name): ColumnBounds(low, high, origin or "") for name, low, high, origin in said.itertuples(index=False)
    }


def _one_pair(draft: Draft, columns: Sequence[str]) -> None:
    with st.form(draft.key("pair"), border=False):
        low = st.number_input("lower bound of every column", value=None, format="%g")
        high = st.number_input("upper bound of every column", value=None, format="%g")
        origin = st.selectbox("where from?", ORIGINS, index=None, placeholder="choose")
        if st.form_submit_button("Use for all columns"):
            draft.set_bounds(dict.fromkeys(columns, ColumnBounds(low, high, origin or "")))


def _from_rows(draft: Draft, columns: Sequence[str]) -> dict[str, ColumnBounds]:
    """Least and largest values among the whole rows of a public source."""
    values = draft.rows(columns).columns(columns)
    whole = values[np.isfinite(values).all(axis=1)]
    if not len(whole):
        return {}
    pairs = zip(columns, whole.min(axis=0).tolist(), whole.max(axis=0).tolist(), strict=True)
    return {name: ColumnBounds(low, high, "public data") for name, low, high in pairs}
