"""Public files, kept by this server for a while so that a reload of the page finds them again; private ones never are.

A file is found by a word that cannot be guessed, which only the link of its own page holds. Nothing is written to disk.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from dpviz.table.csv_intake import CsvFile
from dpviz.table.declaration import Declaration

MOST_BYTES, MOST_SECONDS = 300_000_000, 3_600.0


class KeptFile(NamedTuple):
    """A public file, and what is declared about it."""

    file: CsvFile
    declaration: Declaration


class KeptFiles:
    """A shelf of public files: the newest up to ``most_bytes``, each for ``most_seconds`` since it was last put there.

    Parameters
    ----------
    most_bytes : int
    most_seconds : float
    clock : callable
        The time in seconds.
    """

    def __init__(
        self,
        most_bytes: int = MOST_BYTES,
        most_seconds: float = MOST_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most_bytes, self._most_seconds, self._clock = most_bytes, most_seconds, clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[KeptFile, float]] = OrderedDict()

    def put(self, kept: KeptFile, word: str | None = None) -> str | None:
        """Keep a file under ``word``, or a new one; the word, or None if it may not be kept."""
        if not kept.declaration.kind.may_be_shown or len(kept.file.raw) > self._most_bytes:
            return None
        word = word or secrets.token_urlsafe(16)
        with self._lock:
            self._kept[word] = (kept, self._clock())
            self._kept.move_to_end(word)
            self._make_room()
        return word

    def find(self, word: str) -> KeptFile | None:
        """The file that was kept under ``word``, if it is still there."""
        with self._lock:
            self._make_room()
            found = self._kept.get(word)
        return None if found is None else found[0]

    def forget(self, word: str) -> None:
        """Keep that file no longer."""
        with self._lock:
            self._kept.pop(word, None)

    def _make_room(self) -> None:
        oldest = self._clock() - self._most_seconds
        size = sum(len(kept.file.raw) for kept, _ in self._kept.values())
        for word, (kept, since) in list(self._kept.items()):
            if since >= oldest and size <= self._most_bytes:
                return
            del self._kept[word]
            size -= len(kept.file.raw)


SHELF = KeptFiles()
"""Of this server."""
