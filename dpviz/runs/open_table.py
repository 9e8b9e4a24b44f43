"""From a file and what is declared about it to a table that algorithms may run on: one way, for all who open tables."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from dpviz.core import Array, Codes, Domain, PrivateTable, RequestError, Revealed, Rows, RowSource, check
from dpviz.runs.run_sentences import make_refusal
from dpviz.tables import (
    ArrowTable,
    ClusterRows,
    Content,
    CsvFile,
    CsvOnDisk,
    Declaration,
    FileKind,
    LatticeFile,
    LoadedTable,
    ParquetTable,
    Piece,
    Preparation,
    SparkTable,
    SparseTable,
)


@dataclass(frozen=True, eq=False)
class LargeTable:
    """What is said of a table that memory does not hold; ``n_rows``, those in use, is private under add/remove.

    ``name`` and ``fingerprint`` are those of the ``file``.
    """

    file: CsvOnDisk | ArrowTable
    n_rows: int
    name: str
    fingerprint: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class OpenTable:
    """A table with everything declared: algorithms may run on it.

    ``declaration`` spells out the columns. ``labels`` are codes of shape (n,) in the order of the loaded rows, -1 where
    a row has none, or None without a label column. ``source_key`` is the same for all tables of one file, whatever is
    declared: over them releases add up, and looks are counted together.
    """

    loaded: LoadedTable | SparseTable | LargeTable
    declaration: Declaration
    private: PrivateTable
    labels: Codes | None
    source_key: str

    def __post_init__(self) -> None:
        self.private.source = self.source_key

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

    def read_labels(self, revealed: Revealed) -> Codes | None:
        """Known groups of the revealed rows as codes of shape (n,), -1 where a row has none; or None."""
        return None if self.labels is None else self.labels[revealed.kept]


def declare(source: Content, declaration: Declaration, *, progress: Callable[[float], None] | None = None) -> OpenTable:
    """The open table that ``declaration`` makes of ``source``, whose rows are read as it says.

    Where memory does not hold them they are prepared in a file without a name, and ``progress`` is told the part of
    ``source`` that has been read.

    Parameters
    ----------
    source : Content
    declaration : Declaration
    progress : function or None
        Is told a part between 0 and 1.

    Returns
    -------
    OpenTable

    Raises
    ------
    RequestError
        If a bound is missing, or the declarations contradict each other or the table (``IntakeError`` is one).
    """
    plan = Plan.of(source, declaration)
    declared, domain = plan.declaration, plan.domain
    if isinstance(source, SparkTable):
        return plan.over(source.prepare(declared, domain))
    if isinstance(source, SparseTable):
        if domain.declared:
            raise RequestError("A sparse table has plain numbers only: leave out weights, scales and categories.")
        return plan.open(source, declared.make_private_table(source.values, domain))
    if not plan.in_memory:
        file = LatticeFile(domain.region)
        for read in prepare_rows(plan, file):
            if progress is not None:
                progress(read)
        return plan.over(Rows(file, domain.region))
    id_column, label = declared.id_column, declared.label_column or None
    text, coded = [*dict.fromkeys(name for name in (id_column, label) if name is not None)], declared.textual
    numbers = [name for name in declared.columns if name not in coded]
    loaded = source
    if isinstance(source, CsvFile):
        loaded = source.read(declared.file, numbers=numbers, text=[*text, *coded])
    elif isinstance(source, ArrowTable):
        loaded = source.read(numbers, text=text, coded=coded)
    assert isinstance(loaded, LoadedTable)
    persons = None if id_column is None else loaded.identifiers(id_column)
    private = declared.make_private_table(loaded.encode_columns(declared.columns, declared.coded), domain, persons)
    return plan.open(loaded, private, None if label is None else loaded.groups(label))


def declare_on_cluster(source: Content, declaration: Declaration) -> OpenTable:
    """As ``declare``, with the rows on the workers of the Dask cluster that this process is connected to.

    Parameters
    ----------
    source : Content
    declaration : Declaration

    Returns
    -------
    OpenTable

    Raises
    ------
    RequestError
        Also if ``source`` is not Parquet, which workers read by themselves, or the cluster does not answer.
    """
    plan = Plan.of(source, declaration)
    if not isinstance(source, ParquetTable):
        raise make_refusal("no_parquet")
    declared, dask = plan.declaration, check.import_extra("dask")
    pieces = source.pieces(declared.columns, id_column=declared.id_column, codings=declared.coded)
    batches = [dask.delayed(Piece.batch)(piece) for piece in pieces]
    most = None if declared.id_column is None else declared.rows_per_person
    rows = ClusterRows.of(batches, plan.domain, drop_incomplete=declared.drops_incomplete, rows_per_person=most)
    source.check_unchanged()
    return plan.over(rows)


@dataclass(frozen=True, eq=False)
class Plan:
    """A table and everything declared of it, checked; no row has been read."""

    source: Content
    declaration: Declaration
    domain: Domain

    @property
    def in_memory(self) -> bool:
        """Whether memory is to hold the rows, decided before any is read; answers are the same either way.

        Public: the size of the file in bytes (of a packed CSV file, unpacked), the columns, and what is declared; and
        the number of rows where the relation makes it public.
        The number of rows has no say in it, since what is not in memory has fewer algorithms, labels and pictures.
        """
        if isinstance(self.source, ArrowTable):
            declared = self.declaration
            n_public = declared.n_public if declared.drops_incomplete else self.source.n_rows
            return self.source.fits(len(declared.columns), n_public=n_public)
        return not isinstance(self.source, CsvOnDisk)

    def over(self, rows: RowSource, sample: Array | None = None) -> OpenTable:
        """The open table of its rows, which were prepared somewhere else, with a sample of them if there is one.

        ``sample`` (m, d), data units, for their owner's eyes.
        """
        assert isinstance(self.source, ArrowTable | CsvOnDisk)
        declared = self.declaration
        told = {**declared.facts, "with_persons": declared.id_column is not None, "sample": sample}
        loaded = LargeTable(self.source, len(rows), self.source.name, self.source.fingerprint)
        return self.open(loaded, PrivateTable.over(rows, self.domain, **told))

    def open(
        self, loaded: LoadedTable | SparseTable | LargeTable, private: PrivateTable, labels: Codes | None = None
    ) -> OpenTable:
        """The open table, called as its file is where nobody says otherwise, unless it is sparse.

        Of a private number of rows a public range limits δ, which has to be below 1/n.
        """
        declared = self.declaration
        if private.n_public is None and declared.n_range is not None:
            private.n_most = declared.n_range[1]
        if not isinstance(loaded, SparseTable):
            declared = replace(declared, title=declared.title or loaded.name)
        return OpenTable(loaded, declared, private, labels, self.source.fingerprint)

    @classmethod
    def of(cls, source: Content, declaration: Declaration) -> Plan:
        """What is declared of ``source``, checked and spelled out."""
        declaration = declaration.validate()
        spelled_out = declaration.over(list_columns(source, declaration)).validate()
        if spelled_out.id_column is not None and isinstance(source, ArrowTable | LoadedTable):
            source.check_id(spelled_out.id_column)
        return cls(source, spelled_out, spelled_out.make_domain())


def prepare_rows(plan: Plan, file: LatticeFile) -> Iterator[float]:
    """Fill ``file`` with the rows of a table that memory does not hold, on the lattice; the part read by then."""
    declared, source = plan.declaration, plan.source
    most, drops = declared.rows_per_person, declared.drops_incomplete
    rows = Preparation(plan.domain, drop_incomplete=drops, rows_per_person=most, file=file)
    assert isinstance(source, ArrowTable | CsvOnDisk)
    written: dict[str, Any] = {"declared": declared.file} if isinstance(source, CsvOnDisk) else {}
    for batch in source.read_batches(declared.columns, id_column=declared.id_column, codings=declared.coded, **written):
        rows.take(batch)
        yield batch.read
    rows.finish()


def list_columns(source: Content, declaration: Declaration) -> tuple[str, ...]:
    """The columns that there are: public, they come from the header or the declaration.

    Parameters
    ----------
    source : Content
    declaration : Declaration

    Returns
    -------
    tuple of str
        Names.
    """
    if isinstance(source, CsvFile | CsvOnDisk):
        return source.header(declaration.file).names
    if isinstance(source, ArrowTable):
        return source.columns
    if isinstance(source, LoadedTable):
        return tuple(source.frame.columns)
    if declaration.columns or declaration.id_column is not None:
        raise make_refusal("no_named_columns", columns=declaration.columns)
    return source.columns
