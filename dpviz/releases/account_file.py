"""The file of an account: SQLite, for its owner alone, changed by one process at a time, and read only if it is whole.

What goes wrong is a sentence. A seal, the SHA-256 of all that is told in the file, is renewed by every change: SQLite
notices a broken page, and the seal a number that is no longer what was written. It is no signature: whoever means to
write another number can write another seal, and other hashes of the charges: these contradict the cards that left.
"""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG

from dpviz.core import RequestError, check
from dpviz.releases.release_sentences import make_refusal

APPLICATION, VERSION = 0x64707661, 2
"""What the head of the file says: "dpva", and which form of it."""

_OWNER_ONLY = 0o600
_BESIDE = ("-wal", "-shm", "-journal")
_SCHEMA = (
    """CREATE TABLE account (
        one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL, opened TEXT NOT NULL,
        cap_epsilon REAL NOT NULL, cap_delta REAL NOT NULL, seal TEXT NOT NULL)""",
    """CREATE TABLE release (
        number INTEGER PRIMARY KEY, at TEXT NOT NULL, who TEXT NOT NULL, version TEXT NOT NULL,
        epsilon REAL NOT NULL CHECK (epsilon > 0), delta REAL NOT NULL CHECK (delta >= 0),
        algorithm TEXT NOT NULL, k INTEGER NOT NULL, unit TEXT NOT NULL, relation TEXT NOT NULL,
        columns TEXT NOT NULL, lower TEXT NOT NULL, upper TEXT NOT NULL,
        state TEXT NOT NULL, card_sha256 TEXT, why TEXT, previous_sha256 TEXT, sha256 TEXT)""",
    "CREATE TRIGGER release_stays BEFORE DELETE ON release BEGIN SELECT RAISE(ABORT, 'a charge stays'); END",
)
# What a file of each earlier version lacks.
_ADD = "ALTER TABLE release ADD COLUMN"
_SINCE = {1: [f"{_ADD} previous_sha256 TEXT", f"{_ADD} sha256 TEXT"]}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_BARRED = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}
_BARRED |= {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}


class AccountLocked(RequestError):
    """Another process holds the account: nothing was read or charged."""


def create(path: Path, *, name: str, cap_epsilon: float, cap_delta: float, opened: str, wait: float) -> None:
    """Make the file of an account without releases, mode 0600 from the moment it is there."""
    _claim(path)
    try:
        with _connect(path, wait) as file:
            if file.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
                raise make_refusal("account_remote", file=_format_name(path))
            file.execute("BEGIN IMMEDIATE")
            for statement in _SCHEMA:
                file.execute(statement)
            file.execute(f"PRAGMA application_id = {APPLICATION}")
            file.execute(f"PRAGMA user_version = {VERSION}")
            file.execute("INSERT INTO account VALUES (1, ?, ?, ?, ?, '')", (name, opened, cap_epsilon, cap_delta))
            _commit(file)
    except RequestError:
        for end in ("", *_BESIDE):  # it is ours, and nobody has charged anything to it
            with suppress(OSError):  # a name that is too long with that end
                _make_sibling(path, end).unlink()
        raise
    _keep_name(path.absolute().parent)


@contextmanager
def open_to_read(path: Path, *, wait: float) -> Iterator[sqlite3.Connection]:
    """The account as it is at one moment."""
    _refuse_missing(path)
    with _connect(path, wait) as file:
        file.execute("BEGIN")
        _refuse_other(path, file)
        yield file


@contextmanager
def open_to_change(path: Path, *, wait: float) -> Iterator[sqlite3.Connection]:
    """The account while nobody else can change it; the change is on the disk when the block has ended, or not made."""
    _refuse_missing(path)
    with _connect(path, wait) as file:
        file.execute("BEGIN IMMEDIATE")  # what is read from here on stays so until the end
        _refuse_other(path, file)
        # A file of an earlier version is brought to this form in the transaction that changes it.
        for statement in _SINCE.get(_read_pragma(file, "user_version"), ()):
            file.execute(statement)
        file.execute(f"PRAGMA user_version = {VERSION}")
        yield file
        _commit(file)


def may_be_account(path: Path) -> bool:
    """Whether a file that nobody has named says that it is an account; neither locks it, nor writes beside it."""
    try:
        _refuse_missing(path)
        # Read by SQLite, not by us: to close a file in one thread takes the locks away that it has in another.
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as file:
            return _read_pragma(file, "application_id") == APPLICATION
    except (RequestError, sqlite3.Error):
        return False


def _claim(path: Path) -> None:
    left = [end for end in _BESIDE if os.path.lexists(_make_sibling(path, end))]
    if left and not os.path.lexists(path):
        raise make_refusal("account_left", file=_format_name(_make_sibling(path, left[0])))
    try:
        # SQLite would leave the mode to the umask; to its files beside this one it gives the mode of this one.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, _OWNER_ONLY))
    except FileExistsError:
        raise make_refusal("account_there", file=_format_name(path)) from None
    except (OSError, ValueError) as error:
        raise make_refusal("account_not_made", file=_format_name(path), why=type(error).__name__) from None


@contextmanager
def _connect(path: Path, wait: float) -> Iterator[sqlite3.Connection]:
    """A connection for one block: what its transaction has not committed is undone at the end."""
    try:
        address = f"{path.absolute().as_uri()}?mode=rw"
        with closing(sqlite3.connect(address, uri=True, timeout=wait, isolation_level=None)) as file:
            # On the disk before COMMIT returns, whichever journal a copy of the file may have.
            file.execute("PRAGMA synchronous = EXTRA")
            file.execute("PRAGMA fullfsync = ON")
            file.execute("PRAGMA cell_size_check = ON")
            yield file
    except sqlite3.Error as error:
        raise _make_error(path, error, wait) from None
    except UnicodeDecodeError:  # SQLite tells of damage in the words that are damaged
        raise make_refusal("account_damaged", file=_format_name(path)) from None


def _make_error(path: Path, error: sqlite3.Error, wait: float) -> RequestError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    if code in _BUSY:
        return make_refusal("account_locked", kind=AccountLocked, file=_format_name(path), wait=wait)
    barred = "account_barred" if code in _BARRED else "account_damaged"
    return make_refusal("no_account" if code == sqlite3.SQLITE_NOTADB else barred, file=_format_name(path))


def _refuse_missing(path: Path) -> None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        raise make_refusal("account_missing", file=_format_name(path)) from None
    if not S_ISREG(found.st_mode):
        raise make_refusal("account_no_file", file=_format_name(path))
    if not found.st_size:  # SQLite would take it for new, and throw away what lies beside it
        raise make_refusal("account_empty", file=_format_name(path))


def _refuse_other(path: Path, file: sqlite3.Connection) -> None:
    """Refuse what is no account, of a newer version, or damaged."""
    if _read_pragma(file, "application_id") != APPLICATION:
        raise make_refusal("other_database", file=_format_name(path))
    if _read_pragma(file, "user_version") > VERSION:
        raise make_refusal("account_newer", file=_format_name(path))
    whole = file.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
    if not whole or file.execute("SELECT seal FROM account").fetchall() != [(_seal(file),)]:
        raise make_refusal("account_damaged", file=_format_name(path))


def _commit(file: sqlite3.Connection) -> None:
    file.execute("UPDATE account SET seal = ?", (_seal(file),))
    file.execute("COMMIT")


def _seal(file: sqlite3.Connection) -> str:
    caps = file.execute("SELECT name, opened, cap_epsilon, cap_delta FROM account").fetchall()
    releases = file.execute("SELECT * FROM release ORDER BY number").fetchall()
    return sha256(json.dumps([caps, releases], default=repr).encode()).hexdigest()


def _read_pragma(file: sqlite3.Connection, pragma: str) -> int:
    return int(file.execute(f"PRAGMA {pragma}").fetchone()[0])


def _make_sibling(path: Path, end: str) -> Path:
    return Path(f"{path}{end}")


def _format_name(path: Path) -> str:
    return check.format_value(path.name or str(path))


def _keep_name(folder: Path) -> None:
    """A new file is lost with the power unless its folder is on the disk, too."""
    with suppress(OSError):  # Windows opens no folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
