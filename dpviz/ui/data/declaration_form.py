"""The form in which an owner declares a table: how it is read, whose rows they are, and which bounds they have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import streamlit as st

from dpviz.charts.wording import percent
from dpviz.privacy.room import N_SHARE
from dpviz.table.csv_intake import CsvFile
from dpviz.table.declaration import FROM_ROWS, Declaration, FileKind
from dpviz.table.loaded_table import USUAL_LABEL, IntakeError, LoadedTable
from dpviz.ui.data.begun import Begun, begun_for
from dpviz.ui.data.bounds import NO_BOUNDS, ColumnBounds
from dpviz.ui.data.bounds_editor import bounds_editor
from dpviz.ui.data.declared_json import json_panel
from dpviz.ui.data.format_form import Format, format_form
from dpviz.ui.data.public_rows import public_rows
from dpviz.ui.escape import plain
from dpviz.ui.session import Source

_KINDS = {
    FileKind.PRIVATE: ("Private", "Rows about people. Never shown unless you ask; every look is counted."),
    FileKind.PUBLIC: ("Public", "Anybody may see the rows: previews and true scores are shown."),
    FileKind.SIMULATED: ("Simulated", "Made up: nobody is in it."),
}
_RELATIONS = {"add_remove": "added or removed", "replace": "replaced by another"}
_SCALINGS = {"unit": "each column by its bounds", "common": "one scale for all"}


class Declared(NamedTuple):
    """What the form says, and what it still lacks, in sentences."""

    declaration: Declaration
    missing: tuple[str, ...]


def declaration_form(source: Source, start: Declaration | None) -> Declared:
    """Everything there is to declare about ``source``, beginning with ``start``, or as a private file."""
    begun = begun_for(source, start or Declaration(title=source.content.name))
    form = _Form(begun)
    with st.container(border=True):
        kind = form.kind()
        refusal = st.empty()
    try:
        declared = form.declared(kind)
    except IntakeError as error:
        declared = Declared(replace(begun.start, kind=kind), (str(error),))
    if begun.settle(declared.declaration):
        st.rerun()
    if sentence := begun.refusal(declared.declaration):
        refusal.error(plain(sentence), icon=":material/block:")
    return declared


class Unit(NamedTuple):
    """What one person is, and which tables are neighbours."""

    relation: str
    id_column: str | None
    rows_per_person: int


class _Form:
    """The questions, one method each; every answer stays for the visit as long as the same file is in hand."""

    def __init__(self, begun: Begun) -> None:
        self.begun, self.source, self.start = begun, begun.source, begun.start
        self.missing: list[str] = []

    def declared(self, kind: FileKind) -> Declared:
        """All questions after the first.

        Raises
        ------
        IntakeError
            If no columns can be found under the format that is declared.
        """
        read = self.format(kind)
        with st.container(border=True):
            columns = self.columns(read)
            bounds = self.bounds(read, columns, public=kind.may_be_shown)
            detail = self.bounds_detail()
        with st.container(border=True):
            unit = self.unit(read, columns)
            n_public = self.n_public(read, kind, unit.relation)
        with st.container(border=True):
            scaling, radius = self.scaling(), self.radius()
            label = self.label(read, [*columns, unit.id_column])
        declaration = replace(
            self.start,
            columns=tuple(columns),
            lower=tuple(bounds.get(name, NO_BOUNDS).lower for name in columns),
            upper=tuple(bounds.get(name, NO_BOUNDS).upper for name in columns),
            bounds_origin=detail,
            origins=tuple(bounds.get(name, NO_BOUNDS).origin for name in columns),
            radius=radius,
            scaling=scaling,
            relation=unit.relation,
            id_column=unit.id_column,
            rows_per_person=unit.rows_per_person,
            n_public=n_public,
            kind=kind,
            label_column=label or "",
            numbers=_numbers(read, columns, label),
            file=read.file,
        )
        return Declared(declaration, tuple(self.missing))

    def kind(self) -> FileKind:
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom"):
            answer = st.segmented_control(
                "Whose rows are these?",
                [kind.value for kind in _KINDS],
                format_func=lambda kind: _KINDS[FileKind(kind)][0],
                default=self.start.kind.value,
                required=True,
                help="  \n".join(f"**{word}**: {meaning}" for word, meaning in _KINDS.values()),
                **self.begun.kept("kind"),
            )
            json_panel(self.begun)
        kind = FileKind(answer or self.start.kind)
        st.caption(_KINDS[kind][1])
        return kind

    def format(self, kind: FileKind) -> Format:
        """How the source is read: asked of a file, known of a table that was never one."""
        content = self.source.content
        if isinstance(content, CsvFile):
            with st.container(border=True):
                return format_form(content, self.begun, kind)
        assert isinstance(content, LoadedTable)
        return Format(self.start.file, tuple(content.frame.columns), content.text_columns)

    def columns(self, read: Format) -> list[str]:
        numbers = [name for name in read.names if name not in read.text]
        return st.multiselect(
            "Columns to cluster",
            numbers,
            default=[name for name in self.start.columns if name in numbers],
            help="Columns of numbers whose distances mean something. Ids, codes and labels do not belong here. What is "
            "chosen is read as numbers: a row in which such a cell is none counts as incomplete.",
            placeholder="choose columns of numbers",
            **self.begun.kept("columns"),
        )

    def bounds(self, read: Format, columns: Sequence[str], *, public: bool) -> dict[str, ColumnBounds]:
        st.markdown("**Bounds of each column**")
        st.caption(
            "Noise is as large as the bounds are wide, and values beyond them are moved to them. "
            "Say what a value can be at all; do not look the rows up: their least and largest belong to two people."
        )
        if not columns:
            st.info("Choose columns first.", icon=":material/arrow_upward:")
            return {}
        bounds = bounds_editor(self.begun, columns, fill=self._rows_filler(read, columns) if public else None)
        if any(bounds[name].origin == FROM_ROWS for name in columns if name in bounds) and not public:
            st.warning(
                "Bounds read from private rows give away two of them exactly, whatever ε is. Use them to study, never "
                "for a release.",
                icon=":material/warning:",
            )
        return bounds

    def bounds_detail(self) -> str:
        words: str = st.text_input(
            "Where do these bounds come from, in a few words?",
            value=self.start.bounds_origin,
            placeholder="e.g. the questionnaire allows 0 to 80 hours",
            help="Part of the declaration; it goes with every export, so that others can judge it.",
            max_chars=300,
            **self.begun.kept("origin"),
        )
        return words

    def unit(self, read: Format, columns: Sequence[str]) -> Unit:
        st.markdown("**Who is protected**")
        several = st.radio(
            "How many rows can one person have?",
            ["one", "several"],
            format_func=lambda answer: {"one": "one row a person", "several": "several; a column says whose"}[answer],
            index=0 if self.start.id_column is None else 1,
            horizontal=True,
            help="The promise of ε is made to one unit of privacy: a row, or all rows of one person.",
            **self.begun.kept("several"),
        )
        id_column, rows_per_person = None, 1
        if several == "several":
            choices = [name for name in read.names if name not in columns]
            column_place, rows_place = st.columns(2)
            id_column = column_place.selectbox(
                "Column that says whose row it is",
                choices,
                index=choices.index(self.start.id_column) if self.start.id_column in choices else None,
                placeholder="choose a column that is not clustered",
                help="Read as text, cell by cell: 7 and 7.0 are one person, 7 and 07 are two. A row without an id is "
                "dropped, because nobody knows whose it is.",
                **self.begun.kept("id"),
            )
            if id_column is None:
                self.missing.append("Choose the column that says whose row it is, or say that a person has one row.")
            rows_per_person = rows_place.number_input(
                "Most rows used of one person",
                1,
                10_000,
                value=self.start.rows_per_person,
                help="Further rows are left out. All noise grows in proportion.",
                **self.begun.kept("rows"),
            )
        relation = st.segmented_control(
            "Two tables are neighbours if one person is…",
            list(_RELATIONS),
            format_func=_RELATIONS.__getitem__,
            default=self.start.relation,
            required=True,
            help="Added or removed hides even whether somebody is in the table. Replaced hides only their values: "
            "every line of the file is a row, so that their number is public, and a step in ε is about twice as large.",
            **self.begun.kept("relation"),
        )
        return Unit(relation or self.start.relation, id_column, int(rows_per_person))

    def n_public(self, read: Format, kind: FileKind, relation: str) -> int | None:
        if relation == "replace":
            st.caption("The number of rows is public by the definition of “replaced”.")
            return None
        answer = st.radio(
            "Is the number of rows public?",
            ["bought", "declared"],
            format_func=lambda answer: {
                "bought": f"no: buy a noisy one with {percent(N_SHARE)} of the budget",
                "declared": "yes, I declare it",
            }[answer],
            index=0 if self.start.n_public is None and not kind.may_be_shown else 1,
            horizontal=True,
            help="Where people may be added or removed, their number is itself private. The budget is ε; with "
            "a δ, it is the μ² or ρ that ε and δ are worth together.",
            **self.begun.kept(f"n:{kind.may_be_shown}"),
        )
        if answer == "bought":
            return None
        # Only a file that anybody may see, or a declaration made before, fills this box.
        usual = self.start.n_public
        if usual is None and kind.may_be_shown:
            usual = max(1, public_rows(self.source, read.file, read.names[:1]).n_rows)
        n = st.number_input(
            "Public number of rows",
            1,
            1_000_000_000,
            value=usual,
            placeholder="as published elsewhere; it need not be exact",
            **self.begun.kept(f"n_value:{kind.may_be_shown}"),
        )
        if n is None:
            self.missing.append("Type the public number of rows, or let a noisy one be bought.")
        return None if n is None else int(n)

    def scaling(self) -> str:
        st.markdown("**Distances**")
        scaling = st.segmented_control(
            "Scale",
            list(_SCALINGS),
            format_func=_SCALINGS.__getitem__,
            default=self.start.scaling,
            required=True,
            help="By its bounds: every column counts the same, whatever its unit. One scale: distances keep their "
            "meaning (maps, pixels, embeddings).",
            **self.begun.kept("scaling"),
        )
        return scaling or self.start.scaling

    def radius(self) -> float | None:
        radius = st.number_input(
            "Radius (optional)",
            min_value=0.0,
            value=self.start.radius,
            format="%g",
            placeholder="none: the bounds alone limit a row",
            help="The largest distance of a row from the middle of the bounds; less noise in many columns. In data "
            "units under one scale, in half-widths where each column has its own.",
            **self.begun.kept("radius"),
        )
        return None if radius is None else float(radius)

    def label(self, read: Format, taken: Sequence[str | None]) -> str | None:
        choices = [name for name in read.names if name not in taken]
        start = self.start.label_column
        if start is None and USUAL_LABEL not in self.start.numbers:
            start = USUAL_LABEL  # taken for one wherever nothing else is declared
        return st.selectbox(
            "Label column (optional)",
            choices,
            index=choices.index(start) if start in choices else None,
            placeholder="none",
            help="A grouping that is known already. It is never clustered; it only judges results that may be seen.",
            **self.begun.kept("label"),
        )

    def _rows_filler(self, read: Format, columns: Sequence[str]) -> Callable[[], dict[str, ColumnBounds]]:
        """What fills the bounds in from the rows, which anybody may see."""

        def from_rows() -> dict[str, ColumnBounds]:
            values = public_rows(self.source, read.file, columns).columns(columns)
            found = values[np.isfinite(values).all(axis=1)]
            if not len(found):
                return {}
            pairs = zip(columns, found.min(axis=0).tolist(), found.max(axis=0).tolist(), strict=True)
            return {name: ColumnBounds(low, high, "public data") for name, low, high in pairs}

        return from_rows


def _numbers(read: Format, columns: Sequence[str], label: str | None) -> tuple[str, ...]:
    """The number columns where they have to be spelled out: some are text, or a column named label is no label."""
    numbers = tuple(name for name in read.names if name not in read.text)
    no_label = label is None and USUAL_LABEL in numbers and USUAL_LABEL not in columns
    return numbers if len(numbers) < len(read.names) or no_label else ()
