"""Bytes of a CSV file to a table, as declared; nothing is worked out from rows, and no cell is ever quoted."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from dpviz.table.file_format import PLAIN_FORMAT, FileFormat
from dpviz.table.header import Header, read_header
from dpviz.table.loaded_table import USUAL_LABEL, IntakeError, LoadedTable, listed, numeric_table, quoted, table_of
from dpviz.table.records import Column, Wanted, read_lines, read_records

__all__ = ["CsvFile", "IntakeError", "LoadedTable", "load_csv", "numeric_table", "open_csv"]

MAX_BYTES = 200_000_000
_MOST_SEVERAL_LINES = 20_000_000
_TOO_LARGE = "The file is larger than 200 MB, the most allowed; keep only the columns you need, or fewer rows."


@dataclass(frozen=True, eq=False)
class CsvFile:
    """The bytes of a file in hand, unpacked; nothing of its rows has been looked at.

    Attributes
    ----------
    name : str
        What the table is called on screen.
    raw : bytes
    """

    name: str
    raw: bytes = field(repr=False)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the bytes: it tells files apart, however they are read."""
        return hashlib.sha256(self.raw).hexdigest()

    def header(self, declared: FileFormat = PLAIN_FORMAT) -> Header:
        """Column names and delimiter, from the first line and the declaration.

        Raises
        ------
        IntakeError
            If the first line cannot be a header.
        """
        return read_header(declared.as_lines(self.raw), declared)

    def read(
        self, declared: FileFormat = PLAIN_FORMAT, *, numbers: Sequence[str] | None = None, text: Sequence[str] = ()
    ) -> LoadedTable:
        """The declared columns; every line below the header is a row, whatever stands in it.

        A cell of a number column that is no number in the declared style is missing, and so is every cell of a line
        that is broken, too long or too short: it concerns that row only.

        Parameters
        ----------
        numbers, text : sequence of str
            Columns to read as numbers, and as text; all those that are not text are numbers by default.

        Raises
        ------
        IntakeError
            If the first line cannot be a header, or has no such column.
        """
        lines = declared.as_lines(self.raw)
        header = read_header(lines, declared)
        asked = [name for name in header.names if name not in text] if numbers is None else list(numbers)
        place = {name: number for number, name in enumerate(header.names)}
        unknown = [name for name in (*asked, *text) if name not in place]
        if unknown:
            raise IntakeError(
                f"There is no column {listed(unknown)}; the columns are {listed(header.names)}; choose among these, "
                "or declare other names."
            )
        wanted = Wanted(
            len(header.names),
            header.delimiter,
            declared.byte_encoding,
            {place[name]: declared.style_of(name) for name in asked},
            [place[name] for name in text],
        )
        if declared.several_lines:
            if len(lines) > _MOST_SEVERAL_LINES:
                raise IntakeError(
                    "The file is larger than 20 MB, the most allowed where cells go on over several lines; write one "
                    "record a line, or keep only the columns you need."
                )
            columns = read_records(lines[header.body :].decode(wanted.encoding, errors="replace"), wanted)
        else:
            columns = read_lines(lines, wanted, first=header.body)
        chosen = {name: columns[place[name]] for name in header.names if place[name] in columns}
        return table_of(chosen, name=self.name, notes=(*header.notes, *_notes(chosen, asked, declared)))


def open_csv(source: bytes | str | os.PathLike[str], *, name: str | None = None) -> CsvFile:
    """A CSV file in hand, as bytes or by its path; gzip is unpacked.

    Parameters
    ----------
    source : bytes or path
    name : str, optional
        What to call the table; the file name without its ending by default.

    Raises
    ------
    IntakeError
        If the file is not there, cannot be unpacked, or is larger than 200 MB.
    """
    raw = _unpacked(source if isinstance(source, bytes) else _read_file(Path(source)))
    return CsvFile(name or ("table" if isinstance(source, bytes) else _stem(Path(source))), raw)


def load_csv(
    source: bytes | str | os.PathLike[str],
    *,
    declared: FileFormat = PLAIN_FORMAT,
    numbers: Sequence[str] | None = None,
    text: Sequence[str] | None = None,
    name: str | None = None,
) -> LoadedTable:
    """Read a CSV file as it is declared: by default UTF-8, a header line, decimal points.

    All columns are numbers by default, but for ``text``, which is a column named ``label`` where there is one. How a
    record is read depends on that record and on the declaration only. See ``CsvFile.read``.

    Raises
    ------
    IntakeError
        If the file is not there, larger than 200 MB, or not as declared.
    """
    file = open_csv(source, name=name)
    if text is None:
        text = [column for column in file.header(declared).names if column == USUAL_LABEL]
    return file.read(declared, numbers=numbers, text=text)


def _notes(columns: Mapping[str, Column], numbers: Sequence[str], declared: FileFormat) -> list[str]:
    """A word to the owner where most cells of a column are missing: then it is written in another way, or is text."""
    missing = [name for name in numbers if 2 * int(np.isnan(columns[name]).sum()) > len(columns[name])]
    if not missing:
        return []
    style = declared.style_of(missing[0])
    return [
        f"For the eyes of the file's owner: most cells of {listed(missing)} are no numbers written like {style}; "
        '"dpviz declare FILE" proposes how to read the file.'
    ]


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise IntakeError(f"There is no file {quoted(path.name)} at that path; check the path.") from None
    except (OSError, ValueError):
        raise IntakeError(f"The file {quoted(path.name)} cannot be read; give a CSV file you may open.") from None
    if len(raw) > MAX_BYTES:
        raise IntakeError(_TOO_LARGE)
    return raw


def _unpacked(raw: bytes) -> bytes:
    if raw.startswith(b"\x1f\x8b"):
        raw = _gunzip(raw)
    if len(raw) > MAX_BYTES:
        raise IntakeError(_TOO_LARGE)
    return raw


def _gunzip(packed: bytes) -> bytes:
    """All members of a gzip file, and never much more than the size allowed, whatever it would unpack to."""
    pieces: list[bytes] = []
    room = MAX_BYTES + 1
    while packed and room > 0:
        member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        try:
            pieces.append(member.decompress(packed, room))
        except zlib.error:
            raise IntakeError("The gzip file is damaged; pack it again, or load the CSV itself.") from None
        room -= len(pieces[-1])
        if room > 0 and not member.eof:
            raise IntakeError("The gzip file ends too early; pack it again, or load the CSV itself.")
        packed = member.unused_data.lstrip(b"\0")
    return b"".join(pieces)


def _stem(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).stem
