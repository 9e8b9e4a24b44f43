"""From a file and what is declared about it to a table that algorithms may run on: one way, for all who open tables."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from dpviz.arrays import Codes
from dpviz.check import RequestError
from dpviz.privacy.room import PrivateTable, Revealed
from dpviz.table.csv_intake import CsvFile
from dpviz.table.declaration import Declaration, FileKind
from dpviz.table.domain import Domain
from dpviz.table.loaded_table import LoadedTable, listed
from dpviz.table.named import Content
from dpviz.table.sparse_intake import SparseTable


@dataclass(frozen=True, eq=False)
class OpenTable:
    """A table with everything declared: algorithms may run on it.

    ``declaration`` spells out the columns. ``labels`` are codes of shape (n,) in the order of the loaded rows, -1 where
    a row has none, or None without a label column. ``source_key`` is the same for all tables of one file, whatever is
    declared: over them releases add up, and looks are counted together.
    """

    loaded: LoadedTable | SparseTable
    declaration: Declaration
    private: PrivateTable
    labels: Codes | None
    source_key: str

    @property
    def key(self) -> str:
        """Tells any two tables or declarations apart, neighbouring ones too: use it for every cache."""
        return hashlib.sha256(f"{self.loaded.fingerprint}|{self.declaration!r}".encode()).hexdigest()

    @property
    def domain(self) -> Domain:
        return self.private.domain

    @property
    def kind(self) -> FileKind:
        return self.declaration.kind

    @property
    def title(self) -> str:
        return self.declaration.title or self.loaded.name

    @property
    def n_public(self) -> int | None:
        """The number of rows where it is public: declared, or given by the replace relation."""
        return self.private.n_public

    def labels_of(self, revealed: Revealed) -> Codes | None:
        """Known groups of the revealed rows as codes of shape (n,), -1 where a row has none; or None."""
        return None if self.labels is None else self.labels[revealed.kept]


def declare(source: Content, declaration: Declaration) -> OpenTable:
    """The open table that ``declaration`` makes of ``source``, whose rows are read as it says.

    Raises
    ------
    RequestError
        If a bound is missing, or the declarations contradict each other or the table (``IntakeError`` is one).
    """
    declaration = declaration.checked()
    spelled_out = declaration.over(column_names(source, declaration)).checked()
    columns = spelled_out.columns
    if not columns:
        raise RequestError("No column is chosen: choose at least one column of numbers to cluster.")
    bounds = spelled_out.bounds_for(columns)
    domain = Domain.of(
        columns,
        bounds.lower,
        bounds.upper,
        radius=declaration.radius,
        scaling=declaration.scaling,
        units=declaration.units,
    )
    if isinstance(source, SparseTable):
        private = PrivateTable(source.values, domain, relation=declaration.relation, n_public=declaration.n_public)
        return OpenTable(source, spelled_out, private, None, source.fingerprint)
    id_column, label = spelled_out.id_column, spelled_out.label_column or None
    loaded = source
    if isinstance(source, CsvFile):
        text = [name for name in (id_column, label) if name is not None]
        loaded = source.read(declaration.file, numbers=columns, text=[*dict.fromkeys(text)])
    assert isinstance(loaded, LoadedTable)
    private = PrivateTable(
        loaded.columns(columns),
        domain,
        relation=declaration.relation,
        n_public=declaration.n_public,
        persons=None if id_column is None else loaded.identifiers(id_column),
        rows_per_person=declaration.rows_per_person,
    )
    titled = replace(spelled_out, title=declaration.title or loaded.name)
    labels = None if label is None else loaded.identifiers(label)
    return OpenTable(loaded, titled, private, labels, source.fingerprint)


def column_names(source: Content, declaration: Declaration) -> tuple[str, ...]:
    """The columns that there are: public, they come from the header or the declaration."""
    if isinstance(source, CsvFile):
        return source.header(declaration.file).names
    if isinstance(source, LoadedTable):
        return tuple(source.frame.columns)
    if declaration.columns or declaration.id_column is not None:
        raise RequestError(
            f"A sparse file has no named columns, but {listed(declaration.columns)} are declared: declare one pair of "
            "bounds for all columns and no id column."
        )
    return source.columns
