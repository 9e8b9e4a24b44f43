"""A table in a database file of DuckDB, read where it lies, in batches of Arrow; the file is opened for reading alone.

It is named as ``duckdb:///FILE?table=NAME``, with three slashes before a path from here and four before one from the
root; the name may say its schema, ``main.customers``. A view is read as a table. Nothing else of the file is looked at,
and nothing that it says can make the database open another file, an address or an extension.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pyarrow as pa

from dpviz.core import check
from dpviz.tables.arrow_intake import ArrowTable
from dpviz.tables.loaded_table import IntakeError, StoredTable
from dpviz.words import foreign

SCHEME = "duckdb"
# What the database takes for itself; rows go on in batches, wherever it keeps them.
_SETTINGS = {"memory_limit": "128MB", "threads": "1", "enable_external_access": "false", "lock_configuration": "true"}


@dataclass(frozen=True, eq=False)
class DuckTable(StoredTable, ArrowTable):
    """A table in a database file; nothing of its rows has been looked at.

    Parameters
    ----------
    path : Path
        Of the file.
    table : str
        Its name, after that of its schema and a point where there is one.
    """

    path: Path
    table: str
    packed, changed = "database_packed", "database_changed"

    @classmethod
    def find(cls, address: str) -> DuckTable:
        """The table that an address names.

        Raises
        ------
        IntakeError
            If it names none.
        """
        try:
            parts = urlsplit(address)
            said = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True))
        except ValueError:
            parts, said = urlsplit(""), {}
        path = unquote(parts.path).removeprefix("/")
        if parts.scheme != SCHEME or parts.netloc or parts.fragment or not path or [*said] != ["table"]:
            raise IntakeError.of("no_duckdb_address")
        return cls(Path(path), said["table"])

    @property
    def name(self) -> str:
        """What the table is called on screen."""
        return foreign.format_name(Path(self.table.rpartition(".")[2].replace("/", " ")))

    @property
    def part(self) -> str:
        return self.table

    def _list_files(self) -> tuple[Path, ...]:
        with foreign.open_file(self.path):  # refuses one that may not be read
            return (self.path,)

    def _read_schema(self) -> pa.Schema:
        with self._select("*", " LIMIT 0") as found:
            schema: pa.Schema = found.to_arrow_reader(1).schema
        return schema

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are: a private number under add/remove, neither shown nor used unpaid."""
        with self._select("count(*)") as found:
            return int(found.to_arrow_table().column(0)[0].as_py())

    def _read_parts(self, columns: Sequence[str], rows: int) -> Iterator[Any]:
        with self._select(", ".join(map(_quote, columns))) as found:
            for part in found.to_arrow_reader(rows):
                yield from (part.slice(first, rows) for first in range(0, part.num_rows, rows))

    def _read_whole(self, columns: Sequence[str]) -> list[pa.Table]:
        with self._select(", ".join(map(_quote, columns))) as found:
            return [found.to_arrow_table()]

    @contextmanager
    def _select(self, what: str, only: str = "") -> Iterator[Any]:
        """The answer to a question about the table, on a connection of its own, which nothing can write by."""
        duckdb = check.import_extra("duckdb")
        named = ".".join(map(_quote, self.table.split(".")))
        with self._refuse_damaged():
            _ = self.states  # before anything is read
            with duckdb.connect(str(self.path), read_only=True, config=_SETTINGS) as connection:
                try:
                    found = connection.sql(f"SELECT {what} FROM {named}{only}")
                except duckdb.CatalogException:
                    raise IntakeError.of("no_duckdb_table", table=self.table) from None
                yield found

    def _refuse_damaged(self) -> AbstractContextManager[None]:
        missing = IntakeError.of("no_file", name=self.path.name)
        return foreign.refuse_as(IntakeError.of("database_damaged"), foreign.DATABASE, missing=missing)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
