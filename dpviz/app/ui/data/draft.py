"""A declaration in the making: what the form about one source began with, and what it says by now."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

import pandas as pd
import streamlit as st

from dpviz.app.ui.session import DataAccess, Source, count_access, make_once, recall, remember
from dpviz.core import AccessKind
from dpviz.runs import list_columns
from dpviz.tables import (
    ArrowTable,
    Content,
    CsvFile,
    CsvOnDisk,
    Declaration,
    IntakeError,
    LoadedTable,
    Proposal,
    declarations,
)
from dpviz.words import list_names

_BEGUN = "declare:begun"
_DRAFT, _VERSIONS, _ROWS, _BEGINNING = "declare:draft", "declare:versions", "declare:rows", "declare:beginning"
_ROW_PIXELS, _MOST_PIXELS = 35, 388

Change = Callable[[Declaration], Declaration]
"""What makes another declaration of the one that the form says."""


class _TypedTable(NamedTuple):
    """A table to type into: the key of its widget, what it was given, and what it said last."""

    key: str
    given: pd.DataFrame
    last: pd.DataFrame


@dataclass(eq=False)
class Draft:
    """A declaration of one source while its owner fills in the form."""

    source: Source
    start: Declaration
    version: int
    declaration: Declaration = declarations.NOTHING_DECLARED
    missing: list[str] = field(default_factory=list)
    names: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    bounds: dict[str, declarations.ColumnBounds] = field(default_factory=dict)
    filled: dict[str, declarations.ColumnBounds] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    in_force: Declaration | None = None
    complete: Declaration | None = None
    notes: tuple[str, ...] = ()
    proposal: Proposal | None = None
    counts_losses: bool = False
    change: Change | None = None
    times_set: int = 0
    looked: bool = False
    _refused: tuple[Declaration, str] | None = None
    _tables: dict[str, _TypedTable] = field(default_factory=dict)
    _stated: dict[str, declarations.ColumnBounds] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._begin_anew()

    def begin(self) -> None:
        """Before the form is drawn: nothing is said yet."""
        self.declaration, self.missing, self.complete = self.start, [], None

    def say(self, **answers: Any) -> None:
        """Take answers into the declaration, by the names of its fields."""
        self.declaration = replace(self.declaration, **answers)

    def say_columns(self) -> None:
        """Take the columns to cluster, the bounds that are known of them, and all units into the declaration."""
        coded = self.declaration.codings
        columns = [
            name
            for name in self.columns
            if name in self.numbers or (name in self.names and name in coded and coded[name].textual)
        ]
        bounded = self.declaration.with_bounds(
            columns, [self.bounds.get(name, declarations.NO_BOUNDS) for name in columns]
        )
        self.declaration = replace(bounded, units={name: unit for name, unit in self.units.items() if unit})

    def use(self, *names: str) -> None:
        """Cluster these columns, too."""
        self.columns = tuple(dict.fromkeys((*self.columns, *names)))

    def leave_out(self, name: str) -> None:
        """Do not cluster this column; its bounds stay known."""
        self.columns = tuple(column for column in self.columns if column != name)

    def type_bounds(self, name: str, **ends: float | None) -> None:
        """Take what was typed as a bound of a column, which is then used.

        Where the bounds come from is known as long as one of the two is what it was when that was stated.

        **ends : float or None
            ``lower`` or ``upper``, data units; None: left open.
        """
        typed = self.bounds.get(name, declarations.NO_BOUNDS)._replace(**ends, origin="")
        stated = self._stated.get(name, declarations.NO_BOUNDS)
        if any(one is not None and one == other for one, other in zip(typed[:2], stated[:2], strict=True)):
            typed = typed._replace(origin=stated.origin)
        self.bounds[name] = typed
        if any(end is not None for end in ends.values()):
            self.use(name)

    def set_bounds(self, bounds: Mapping[str, declarations.ColumnBounds]) -> None:
        """Put bounds in that were not typed column by column: what shows them begins anew."""
        self.bounds |= bounds
        self._stated |= bounds
        self.times_set += 1

    def _begin_anew(self) -> None:
        self.columns = self.start.columns
        self.bounds |= self.start.bounds
        self._stated |= self.start.bounds
        self.units |= self.start.units

    def make_key(self, name: str, *depends: object) -> str:
        """The key of a widget about this file."""
        on = f"{zlib.crc32(repr(depends).encode('utf-8', 'backslashreplace')):08x}:" if depends else ""
        return f"declare:{self.source.number}.{self.version}:{on}{name}"

    def bind_to_visit(self, name: str) -> dict[str, Any]:
        """What makes the answer of the widget ``name`` stay for the visit."""
        return {"key": self.make_key(name), "persist_state": "session"}

    def draw_table(
        self, name: str, columns: pd.DataFrame, config: Mapping[str, Any], *depends: object, **look: Any
    ) -> Any:
        """A table to type into.

        **look
            Further settings of Streamlit's editor.
        """
        key = self.make_key(name, tuple(columns["column"]), depends)
        table = self._tables.get(name)
        if table is None or table.key != key:
            table = _TypedTable(key, columns, columns)
        elif key not in st.session_state:  # the page was left and is back
            table = table._replace(given=table.last)
        last = st.data_editor(
            table.given,
            key=key,
            hide_index=True,
            num_rows="fixed",
            disabled=["column"],
            height=min(_MOST_PIXELS, _ROW_PIXELS * (len(columns) + 1) + 3),
            column_config={"column": st.column_config.TextColumn("column", width="medium"), **config},
            **look,
        )
        self._tables[name] = table._replace(last=last)
        return last

    def read_columns(self, columns: Sequence[str]) -> LoadedTable:
        """Columns of a source that is declared public, read as declared; call it for no other."""
        content, file = self.source.content, self.declaration.file
        if isinstance(content, CsvFile):
            text = tuple(name for name in columns if name in self.declaration.textual)
            numbers = tuple(name for name in columns if name not in text)
            given = (self.source.number, file, numbers, text)
            return make_once(_ROWS, given, lambda: content.read(file, numbers=numbers, text=text))
        assert isinstance(content, LoadedTable)
        return content

    def read_rows(self) -> LoadedTable:
        """All columns that matter, read as declared; of private rows only where their owner asked."""
        content, declared = self.source.content, self.declaration
        if isinstance(content, CsvFile):
            numbers = [name for name in declared.columns if name not in declared.textual]
            return content.read(
                declared.file, numbers=numbers, text=[*declared.textual, *filter(None, [declared.id_column])]
            )
        assert isinstance(content, LoadedTable)
        return content

    @property
    def may_read_rows(self) -> bool:
        """Whether all rows may be looked at for the form: they are public, and memory holds them."""
        return self.declaration.kind.may_be_shown and isinstance(self.source.content, CsvFile | LoadedTable)

    @property
    def knows_rows(self) -> bool:
        """Whether their number is there to be shown: they are public, and the file says it or is read for it."""
        in_file = isinstance(self.source.content, ArrowTable)
        return self.may_read_rows or (in_file and self.declaration.kind.may_be_shown)

    def count_rows(self) -> int:
        """How many rows the source has; ask only where it ``knows_rows``."""
        content = self.source.content
        return content.n_rows if isinstance(content, ArrowTable) else self.read_columns(self.names[:1]).n_rows

    def read_beginning(self) -> CsvFile | None:
        """The first lines of a source that is a CSV file; None for any other."""
        content = self.source.content
        if isinstance(content, CsvOnDisk):
            return make_once(_BEGINNING, self.source.number, content.read_beginning)
        return content if isinstance(content, CsvFile) else None

    def count_look(self, what: AccessKind, note: str) -> None:
        """Count that rows of the file were seen before it is opened."""
        seen = self.source.content
        count_access(DataAccess(seen.fingerprint, seen.fingerprint, seen.name, self.declaration.kind, what, note))

    def settle(self) -> bool:
        """Make the change that was asked for, now that the form is drawn; whether the page is to be drawn anew."""
        change, self.change = self.change, None
        if change is None:
            return False
        self._refused = None
        try:
            self.start = change(self.declaration)
        except IntakeError as error:
            self._refused = (self.declaration, str(error))
            return False
        self._begin_anew()
        self.version = _count_version()
        return True

    @property
    def refusal(self) -> str | None:
        """Why the last change was refused, as long as the form says the same as then."""
        return self._refused[1] if self._refused is not None and self._refused[0] == self.declaration else None


def open_draft(source: Source, start: Declaration) -> Draft:
    """The draft about a file as it stands, or a new one."""
    draft = cast("Draft | None", st.session_state.get(_DRAFT))
    if draft is None or draft.source.number != source.number:
        draft = st.session_state[_DRAFT] = Draft(source, start, _count_version())
    return draft


def begin_draft_anew(source: Source, start: Declaration) -> Declaration:
    """Begin a draft from what is declared by now, unless the last one began with that; what it starts with."""
    draft = cast("Draft | None", st.session_state.get(_DRAFT))
    if draft is not None and draft.source.number == source.number and recall(_BEGUN, None) == start:
        return draft.start
    remember(_BEGUN, start)
    st.session_state[_DRAFT] = Draft(source, start, _count_version())
    return start


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
                f"The JSON names {list_names(strangers)} as {what}; the columns are {list_names(names)}; mend it, or "
                "how the file is read."
            )
    return (joint.over(names) if joint.lower else joint).validate()


def _count_version() -> int:
    return remember(_VERSIONS, recall(_VERSIONS, 0) + 1)
