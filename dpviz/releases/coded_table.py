"""A table of codes alone, and noisy histograms of its columns, one by one: what can be asked without bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpviz.core import (
    Accounting,
    AnySource,
    Array,
    Domain,
    Entry,
    PrivateTable,
    Scaling,
    mechanisms,
    partitions,
    queries,
)
from dpviz.releases.coding_rules import CodingRule, code_rows
from dpviz.releases.release_sentences import make_refusal
from dpviz.runs import list_columns
from dpviz.tables import ArrowTable, Content, CsvFile, Declaration, LoadedTable


@dataclass(frozen=True, eq=False)
class NoisyBins:
    """A released histogram of one column: ``noisy_counts`` (bins,) with Laplace noise of that ``scale``."""

    column: str
    noisy_counts: Array
    scale: float

    @property
    def sd(self) -> float:
        """Standard deviation of the noise on one count."""
        return float(np.sqrt(2) * self.scale)


@dataclass(frozen=True, eq=False)
class Histograms:
    """One released histogram a column, and what they cost."""

    bins: tuple[NoisyBins, ...]
    entries: tuple[Entry, ...]


def spell_out_columns(source: Content, declaration: Declaration) -> Declaration:
    """The declaration with every column that it is about, checked; bounds may be missing."""
    return declaration.validate().over(list_columns(source, declaration)).validate()


def make_coded_table(source: Content, declaration: Declaration, rules: Mapping[str, CodingRule]) -> PrivateTable:
    """A table, unread, of one coordinate for each column that ``rules`` name: the code of its cell, by that rule.

    A rule is given the number that the declaration makes of a cell, such as the place of a category. Every row is in
    it, whatever cells are missing. ``declaration`` is spelled out; its bounds are not used.
    """
    loaded = _load(source, declaration, tuple(rules))
    codings = {name: coding for name, coding in declaration.codings.items() if name in rules}
    columns = loaded.encode_columns(tuple(rules), codings)
    codes = np.stack([rule.codes(column) for rule, column in zip(rules.values(), columns.T, strict=True)], axis=1)
    domain = Domain.of(tuple(rules), -1.0, 1.0, scaling=Scaling.COMMON)
    numbers = np.array([rule.number for rule in rules.values()])
    persons = declaration.id_column
    return PrivateTable(
        code_rows(codes, numbers, bits=domain.region.row_bits),
        domain,
        relation=declaration.relation,
        n_public=declaration.n_public,
        persons=None if persons is None else loaded.identifiers(persons),
        rows_per_person=declaration.rows_per_person,
    )


def count_histograms(
    table: PrivateTable, rules: Mapping[str, CodingRule], *, epsilon: float, noise: AnySource, notes: Sequence[str]
) -> Histograms:
    """A histogram of every column of a coded table, each with ``epsilon`` and its own note. O(n) a column.

    **Guarantee.** ``epsilon`` times the number of columns, pure: a row is in one bin of each column, so that columns
    add up and bins do not.
    """
    session = table.open(
        epsilon=epsilon * len(rules), delta=0.0, accounting=Accounting.PURE, noise=noise, needs_n=False
    )
    shares = session.budget.rounds(len(rules))
    found = []
    for place, (column, rule, share, note) in enumerate(zip(rules, rules.values(), shares, notes, strict=True)):
        along = np.ones(len(rules), dtype=np.int64)
        along[place] = rule.number
        answer = session.ask(
            queries.Count(partitions.Grid(np.ones(len(rules)), along)), mechanisms.Laplace, share, note=note
        )
        found.append(NoisyBins(column, answer.value, answer.mechanism.scale))
    return Histograms(tuple(found), tuple(session.ledger.entries))


def refuse_beyond_memory(source: Content, columns: Sequence[str]) -> None:
    """Only tables of named columns that fit into memory: told before anything is charged."""
    fits = isinstance(source, ArrowTable) and source.fits(len(columns))
    if not fits and not isinstance(source, LoadedTable | CsvFile):
        raise make_refusal("bought_beyond_memory", columns=columns)


def _load(source: Content, declaration: Declaration, columns: tuple[str, ...]) -> LoadedTable:
    """The columns as they stand in the file, and the id column."""
    refuse_beyond_memory(source, columns)
    persons = [] if declaration.id_column is None else [declaration.id_column]
    coded = [name for name in columns if name in declaration.textual]
    return read_columns(source, declaration, [name for name in columns if name not in coded], persons, coded=coded)


def read_columns(
    source: Content, declaration: Declaration, numbers: Sequence[str], text: Sequence[str], *, coded: Sequence[str] = ()
) -> LoadedTable:
    """A table in memory with these columns, as they were declared: of one that is there already, that."""
    if isinstance(source, CsvFile):
        return source.read(declaration.file, numbers=numbers, text=[*text, *coded])
    if isinstance(source, ArrowTable):
        return source.read(numbers, text=text, coded=coded)
    assert isinstance(source, LoadedTable)
    return source
