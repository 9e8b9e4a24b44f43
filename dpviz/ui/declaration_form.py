"""The form in which an owner declares a table: what it holds, whose rows they are, and which bounds they have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import streamlit as st

from dpviz.charts.wording import percent
from dpviz.privacy.room import N_SHARE
from dpviz.table.csv_intake import LoadedTable
from dpviz.ui.bounds import FROM_ROWS, ORIGINS, ColumnBounds, origin_text
from dpviz.ui.bounds_editor import bounds_editor
from dpviz.ui.declaration import Declaration, FileKind

_KINDS = {
    FileKind.PRIVATE: ("Private", "Rows about people. Never shown unless you ask; every look is counted."),
    FileKind.PUBLIC: ("Public", "Anybody may see the rows: previews and true scores are shown."),
    FileKind.SIMULATED: ("Simulated", "Made up: nobody is in it."),
}
_RELATIONS = {"add_remove": "added or removed", "replace": "replaced by another"}
_SCALINGS = {"unit": "each column by its bounds", "common": "one scale for all"}
_ALL_COLUMNS_UP_TO = 12
_NO_MEASURES = frozenset({"id", "ids", "label", "labels", "class", "cluster", "target", "segment", "index", "key"})


class Declared(NamedTuple):
    """What the form says, and what it still lacks, in sentences."""

    declaration: Declaration
    missing: tuple[str, ...]


def declaration_form(loaded: LoadedTable, start: Declaration | None) -> Declared:
    """Everything there is to declare about ``loaded``, beginning with ``start``."""
    form = _Form(loaded, start or blank(loaded))
    with st.container(border=True):
        kind = form.kind()
        columns = form.columns()
    with st.container(border=True):
        bounds = form.bounds(columns, public=kind.may_be_shown)
        detail = form.bounds_detail()
    with st.container(border=True):
        unit = form.unit(columns)
        n_public = form.n_public(kind, unit.relation)
    with st.container(border=True):
        scaling, radius, label = form.scaling(), form.radius(), form.label(columns, unit.id_column)
    declaration = Declaration(
        columns=tuple(columns),
        lower=tuple(bounds.get(name, ColumnBounds()).lower for name in columns),
        upper=tuple(bounds.get(name, ColumnBounds()).upper for name in columns),
        bounds_origin=origin_text(columns, bounds, detail) if columns else "",
        radius=radius,
        scaling=scaling,
        relation=unit.relation,
        id_column=unit.id_column,
        rows_per_person=unit.rows_per_person,
        n_public=n_public,
        kind=kind,
        label_column=label,
        title=form.start.title,
    )
    return Declared(declaration, tuple(form.missing))


def blank(loaded: LoadedTable) -> Declaration:
    """What is assumed of a file at first: private, all its numeric columns if they are few, no bounds."""
    columns = tuple(
        name for name in loaded.numeric_columns if name not in loaded.constant_columns and not _is_no_measure(name)
    )
    columns = columns if len(columns) <= _ALL_COLUMNS_UP_TO else ()
    nothing = (None,) * len(columns)
    return Declaration(columns=columns, lower=nothing, upper=nothing, title=loaded.name)


def _is_no_measure(name: str) -> bool:
    """Whether a column sounds like an id or a known grouping rather than a measurement; only a first guess."""
    return name.lower().replace("-", "_").split("_")[-1] in _NO_MEASURES


class Unit(NamedTuple):
    """What one person is, and which tables are neighbours."""

    relation: str
    id_column: str | None
    rows_per_person: int


class _Form:
    """The questions, one method each; every answer stays for the visit as long as the same file is in hand."""

    def __init__(self, loaded: LoadedTable, start: Declaration) -> None:
        self.loaded, self.start = loaded, start
        self.missing: list[str] = []

    def kind(self) -> FileKind:
        return FileKind(
            st.radio(
                "Whose rows are these?",
                [kind.value for kind in _KINDS],
                format_func=lambda kind: _KINDS[FileKind(kind)][0],
                captions=[caption for _, caption in _KINDS.values()],
                index=list(_KINDS).index(self.start.kind),
                **self._kept("kind"),
            )
        )

    def columns(self) -> list[str]:
        return st.multiselect(
            "Columns to cluster",
            self.loaded.numeric_columns,
            default=[name for name in self.start.columns if name in self.loaded.numeric_columns],
            help="Numeric columns whose distances mean something. Ids, codes and labels do not belong here.",
            placeholder="choose at least one",
            **self._kept("columns"),
        )

    def bounds(self, columns: Sequence[str], *, public: bool) -> dict[str, ColumnBounds]:
        st.markdown("**Bounds of each column**")
        st.caption(
            "Noise is as large as the bounds are wide, and values beyond them are moved to them. "
            "Say what a value can be at all; do not look the rows up: their least and largest belong to two people."
        )
        if not columns:
            st.info("Choose columns first.", icon=":material/arrow_upward:")
            return {}
        bounds = bounds_editor(self.loaded, columns, _bounds_of(self.start), public=public)
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
            value=_origin_of(self.start)[1],
            placeholder="e.g. the questionnaire allows 0 to 80 hours",
            help="Stands beside the bounds on this page and goes with every export, so that others can judge it.",
            max_chars=300,
            **self._kept("origin"),
        )
        return words

    def unit(self, columns: Sequence[str]) -> Unit:
        st.markdown("**Who is protected**")
        several = st.radio(
            "How many rows can one person have?",
            ["one", "several"],
            format_func=lambda answer: {"one": "one row a person", "several": "several; a column says whose"}[answer],
            index=0 if self.start.id_column is None else 1,
            horizontal=True,
            help="The promise of ε is made to one unit of privacy: a row, or all rows of one person.",
            **self._kept("several"),
        )
        id_column, rows_per_person = None, 1
        if several == "several":
            choices = [name for name in self.loaded.frame.columns if name not in columns]
            column_place, rows_place = st.columns(2)
            id_column = column_place.selectbox(
                "Column that says whose row it is",
                choices,
                index=choices.index(self.start.id_column) if self.start.id_column in choices else None,
                placeholder="choose a column that is not clustered",
                **self._kept("id"),
            )
            if id_column is None:
                self.missing.append("Choose the column that says whose row it is, or say that a person has one row.")
            rows_per_person = rows_place.number_input(
                "Most rows used of one person",
                1,
                10_000,
                value=self.start.rows_per_person,
                help="Further rows are left out. All noise grows in proportion.",
                **self._kept("rows"),
            )
        relation = st.segmented_control(
            "Two tables are neighbours if one person is…",
            list(_RELATIONS),
            format_func=_RELATIONS.__getitem__,
            default=self.start.relation,
            required=True,
            help="Added or removed hides even whether somebody is in the table. Replaced hides only their values: the "
            "number of rows is public, and a step in ε is about twice as large.",
            **self._kept("relation"),
        )
        return Unit(relation or self.start.relation, id_column, int(rows_per_person))

    def n_public(self, kind: FileKind, relation: str) -> int | None:
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
            **self._kept(f"n:{kind.may_be_shown}"),
        )
        if answer == "bought":
            return None
        # Only a file that anybody may see, or a declaration made before, fills this box.
        usual = self.start.n_public or (max(1, self.loaded.n_rows) if kind.may_be_shown else None)
        n = st.number_input(
            "Public number of rows",
            1,
            1_000_000_000,
            value=usual,
            placeholder="as published elsewhere; it need not be exact",
            **self._kept(f"n_value:{kind.may_be_shown}"),
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
            **self._kept("scaling"),
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
            **self._kept("radius"),
        )
        return None if radius is None else float(radius)

    def label(self, columns: Sequence[str], id_column: str | None) -> str | None:
        choices = [name for name in self.loaded.frame.columns if name not in columns and name != id_column]
        return st.selectbox(
            "Label column (optional)",
            choices,
            index=choices.index(self.start.label_column) if self.start.label_column in choices else None,
            placeholder="none",
            help="A grouping that is known already. It is never clustered; it only judges results that may be seen.",
            **self._kept("label"),
        )

    def _kept(self, name: str) -> dict[str, Any]:
        return {"key": f"declare:{self.loaded.fingerprint[:12]}:{name}", "persist_state": "session"}


def _bounds_of(start: Declaration) -> dict[str, ColumnBounds]:
    origin = _origin_of(start)[0]
    pairs = zip(start.columns, start.lower, start.upper, strict=True)
    return {name: ColumnBounds(low, high, origin if low is not None else "") for name, low, high in pairs}


def _origin_of(start: Declaration) -> tuple[str, str]:
    """The kind of origin, and the words about it; a sidecar has words only, and is documentation."""
    kind, _, words = start.bounds_origin.partition(": ")
    if kind in ORIGINS:
        return kind, words
    return ("documentation", start.bounds_origin) if start.bounds_origin else ("", "")
