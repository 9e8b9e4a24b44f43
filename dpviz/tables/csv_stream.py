"""A CSV file too large to hold: its lines read in bounded pieces, each line as it would be in memory."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

import pandas as pd

from dpviz.tables import records
from dpviz.tables.csv_intake import CsvFile, Header, read_header, refuse_unreadable, strip_endings
from dpviz.tables.file_format import PLAIN_FORMAT, FileFormat
from dpviz.tables.loaded_table import NO_CODINGS, CellCoding, IntakeError, stack_columns
from dpviz.tables.prepared_rows import Batch
from dpviz.tables.records import read_lines
from dpviz.words import foreign

_BYTES_AT_ONCE = 2**23
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, eq=False)
class CsvOnDisk:
    """A CSV file by its path; nothing of its rows has been looked at.

    Parameters
    ----------
    path : Path
        Gzip is unpacked on the way.
    """

    path: Path

    @property
    def name(self) -> str:
        """What the table is called on screen."""
        return strip_endings(self.path)

    @property
    def notes(self) -> tuple[str, ...]:
        """Nothing: what a batch shows of its rows is not put together."""
        return ()

    @cached_property
    def fingerprint(self) -> str:
        """Tells files apart, and two states of one file: by place, size and time."""
        place = str(self.path.resolve()).encode("utf-8", "surrogatepass")
        size, time = self._state
        return hashlib.sha256(place + f"|{size}|{time}".encode()).hexdigest()

    @cached_property
    def _state(self) -> tuple[int, int]:
        """Size and time of the file when it was first looked at."""
        return self._read_state()

    def _read_state(self) -> tuple[int, int]:
        with _translate_errors(self.path):
            state = self.path.stat()
        return state.st_size, state.st_mtime_ns

    def header(self, declared: FileFormat = PLAIN_FORMAT) -> Header:
        """Column names and delimiter, from the first line and the declaration.

        Raises
        ------
        IntakeError
            If the first line cannot be a header, or the file cannot be read.
        """
        first, _ = next(self._read_pieces(declared), (b"", 1.0))
        return read_header(first, declared)

    def read_beginning(self) -> CsvFile:
        """The first lines in memory: what a form shows, and a proposal looks at.

        Raises
        ------
        IntakeError
            If the file cannot be read.
        """
        with _translate_errors(self.path), foreign.open_file(self.path) as packed:
            is_gzip = packed.read(2) == _GZIP
            packed.seek(0)
            file: IO[bytes] = gzip.GzipFile(fileobj=packed) if is_gzip else packed  # type: ignore[assignment]
            raw = file.read(_BYTES_AT_ONCE)
        return CsvFile(self.name, raw[: raw.rfind(b"\n") + 1] or raw)

    def read_batches(
        self,
        numbers: Sequence[str],
        declared: FileFormat = PLAIN_FORMAT,
        *,
        id_column: str | None = None,
        codings: Mapping[str, CellCoding] = NO_CODINGS,
    ) -> Iterator[Batch]:
        """All rows, a bounded number at a time, columns with a coding as the numbers that it makes.

        Parameters
        ----------
        numbers : sequence of str
            Columns that hold numbers.
        declared : FileFormat
            How the file is read.
        id_column : str or None
            Whose row each is; None: one row a person.
        codings : mapping of str to CellCoding
            Coding of each column that has one.

        Yields
        ------
        Batch
            Columns in data units, NaN where a number is missing, and ids as text.

        Raises
        ------
        IntakeError
            If the file cannot be read, or not as declared.
        """
        if declared.several_lines:
            raise IntakeError(
                "Records over several lines are declared of a file that memory does not hold; write one record a line."
            )
        header: Header | None = None
        for piece, read in self._read_pieces(declared):
            first = 0
            if header is None:
                header = read_header(piece, declared)
                first = header.body
            textual = [name for name in numbers if name in codings and codings[name].textual]
            plain = [name for name in numbers if name not in textual]
            wanted = header.list_wanted(declared, plain, [*textual, *([] if id_column is None else [id_column])])
            columns = header.key_by_name(read_lines(piece, wanted, first=first).columns)
            values = stack_columns(columns, numbers, codings)
            yield Batch(values, None if id_column is None else pd.Series(columns[id_column]), read)
        if self._read_state() != self._state:
            raise IntakeError("The file changed while it was read: open it again when nobody writes to it.")

    def _read_pieces(self, declared: FileFormat) -> Iterator[tuple[bytes, float]]:
        """Whole lines in an encoding in which a line ends with one byte, and the part of the file read by then.

        Of a line that is too long to be read there is as much as shows that.
        """
        rest = b""
        for raw, read in self._decode(declared):
            rest += raw
            end = rest.rfind(b"\n") + 1
            if end:
                yield rest[:end], read
                rest = rest[end:]
            rest = rest[: records.LONGEST_LINE + 1]
        if rest:
            yield rest, 1.0

    def _decode(self, declared: FileFormat) -> Iterator[tuple[bytes, float]]:
        """Bytes of the file in the encoding that lines are read in, without a byte order mark."""
        as_it_is = declared.encoding == declared.byte_encoding
        _ = self._state  # before anything is read
        decoder = None if as_it_is else codecs.getincrementaldecoder(declared.encoding)(errors="replace")
        with _translate_errors(self.path), foreign.open_file(self.path) as packed:
            size, start = max(1, self.path.stat().st_size), True
            is_gzip = packed.read(2) == _GZIP
            packed.seek(0)
            file: IO[bytes] = gzip.GzipFile(fileobj=packed) if is_gzip else packed  # type: ignore[assignment]
            while raw := file.read(_BYTES_AT_ONCE):
                if decoder is not None:
                    raw = decoder.decode(raw).encode("utf-8", errors="replace")
                if start and declared.byte_encoding == "utf-8":
                    raw = raw.removeprefix(codecs.BOM_UTF8)
                start = False
                yield raw, packed.tell() / size
            if decoder is not None:
                yield decoder.decode(b"", final=True).encode("utf-8", errors="replace"), 1.0


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    with refuse_unreadable(path):
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise IntakeError("The gzip file is damaged or ends too early; pack it again, or load the CSV.") from None
