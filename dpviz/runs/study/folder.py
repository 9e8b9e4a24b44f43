"""The folder of a study: ``manifest.json`` says what was asked, ``results.csv`` has one line a finished run.

A line is appended and closed the moment its run has ended, so a kill tears at most the last line, which a resumed study
cuts off and runs again. That is all that a database would do here, and a CSV file is read by everything. Its losses
are true ones: both files are for their owner only.
"""

from __future__ import annotations

import csv
import io
import json
import os
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.core import RequestError
from dpviz.runs.owner_files import OWNER_ONLY, lock_writer, open_to, translate_disk_errors, write_whole
from dpviz.runs.run_sentences import demand, make_refusal
from dpviz.tables import format_csv
from dpviz.words import foreign

_TEXT = ("contender", "algorithm", "preset", "trial")
_WHOLE = ("k", "n", "repeat")
# Without these, results.csv is not the file of a study; what later versions added may be missing.
_NEEDED = frozenset({*_TEXT, "k", "repeat", "epsilon", "ratio"})

MOST_NUMBERS = 12_000
"""Centres of more coordinates do not fit into a cell that readers of CSV files allow (2^17 characters)."""


class StudyFolder:
    """Reads and writes one study, as the only process that does; a line is on disk as soon as its run has ended.

    * ``path``: made if it is not there.
    * ``resume``: whether results that are there already are to be kept.
    * ``called``, ``again``: what the folder is called by whoever gave it, and how they go on after a mishap.

    Raises
    ------
    RequestError
        If the folder cannot be used, is in use, is damaged, or holds results that nobody asked to resume.
    """

    def __init__(self, path: Path, *, resume: bool, called: str = "--out", again: str = "give --resume") -> None:
        self._results, self._manifest = path / "results.csv", path / "manifest.json"
        self._called, self._again = called, again
        with ExitStack() as held, translate_disk_errors(called=called):
            demand(resume or not self._results.exists(), "has_results", called=called, again=again)
            path.mkdir(parents=True, exist_ok=True)
            held.enter_context(lock_writer(path / ".lock", called=called))
            self._earlier = self._read_manifest()
            if self._results.exists():
                if not resume:  # it came while the lock was taken
                    raise RequestError(f"{called} has just been given the results of a study: give another folder.")
                # What a killed study wrote of its last line is cut.
                if not self._results.is_file():
                    raise RequestError(f"results.csv in {self._called} is no file: give another folder.")
                raw = self._results.read_bytes()
                if not raw.endswith(b"\n"):
                    os.truncate(self._results, raw.rfind(b"\n") + 1)
                if b"\n" not in raw:
                    self._results.unlink()
            self.done = frozenset(row["trial"] for row in self._read())
            self._held = held.pop_all()

    def __enter__(self) -> StudyFolder:
        return self

    def __exit__(self, *raised: object) -> None:
        self._held.close()

    def seed(self, *, given: int | None) -> int:
        """The study's seed: the one that is given, else that of the study being resumed, else 0.

        A study is no release: its noise need not be secret, and who repeats it wants to find the same.
        """
        return self._earlier.get("seed", 0) if given is None else given

    def begin(self, manifest: Mapping[str, Any], *, must_agree: Sequence[str]) -> None:
        """Write down what is asked."""
        if self.done and not self._earlier:
            raise RequestError(f"{self._called} has the results of a study but no manifest.json: give another folder.")
        changed = [key for key in must_agree if self.done and self._earlier.get(key) != manifest[key]]
        demand(not changed, "another_request", called=self._called, changed=" and ".join(changed))
        text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
        with translate_disk_errors(called=self._called):
            write_whole(self._manifest, text.encode(), mode=OWNER_ONLY)

    def append(self, row: Mapping[str, Any]) -> None:
        """Add a finished run."""
        with self._explain_disk_errors():
            is_new = not self._results.exists()
            if not is_new and self._columns() != list(row):
                self._write(self._read(), list(row))
            with open_to(self._results, os.O_APPEND) as file:
                file.write(format_csv([*([[*row]] if is_new else []), map(_format_value, row.values())]))

    def rows(self, planned: Sequence[str]) -> list[dict[str, Any]]:
        """The finished runs of a plan, in its order."""
        rows = {row["trial"]: row for row in self._read()}
        return [rows[key] for key in planned if key in rows]

    def finish(self, planned: Sequence[str]) -> None:
        """Bring the lines into the order of the plan, so that the same study gives the same file; others stay below."""
        wanted = frozenset(planned)
        rows = self.rows(planned) + [row for row in self._read() if row["trial"] not in wanted]
        if rows:
            with self._explain_disk_errors():
                self._write(rows, list(rows[0]))

    def _explain_disk_errors(self) -> AbstractContextManager[None]:
        after = f", then {self._again}: the runs that have finished are kept"
        return translate_disk_errors(called=self._called, after=after)

    def _columns(self) -> list[str]:
        with self._results.open(newline="", encoding="utf-8") as file:
            return next(csv.reader(file))

    def _write(self, rows: Sequence[Mapping[str, Any]], columns: list[str]) -> None:
        """All lines at once, in place of the file; a column that an earlier version did not know stays empty."""
        lines = ([_format_value(row.get(name, "")) for name in columns] for row in rows)
        write_whole(self._results, format_csv([columns, *lines]).encode(), mode=OWNER_ONLY)

    def _read(self) -> list[dict[str, Any]]:
        if not self._results.exists():
            return []
        with (
            foreign.refuse_as(make_refusal("results_damaged", called=self._called), foreign.STUDY_FOLDER),
            foreign.open_file(self._results) as raw,
            io.TextIOWrapper(raw, encoding="utf-8", newline="") as file,
        ):
            lines = csv.DictReader(file, strict=True)
            if not set(lines.fieldnames or ()) >= _NEEDED:
                raise ValueError("columns are missing")
            return [{name: _read_back(name, text) for name, text in row.items()} for row in lines]

    def _read_manifest(self) -> dict[str, Any]:
        if not self._manifest.exists():
            return {}
        from dpviz.runs.study.study_document import StudyManifest  # slow to import
        from dpviz.words import documents

        damaged = make_refusal("manifest_damaged", called=self._called)
        with foreign.refuse_as(damaged, foreign.STUDY_FOLDER):
            raw = foreign.read_bytes(self._manifest, foreign.STUDY_FOLDER.most_bytes)
            manifest: dict[str, Any] = json.loads(raw.decode("utf-8"))
        try:
            documents.read_document(StudyManifest, manifest, RequestError)
        except RequestError:  # nobody writes one by hand
            raise damaged from None
        return manifest


def _format_value(value: Any) -> Any:
    if isinstance(value, np.ndarray):  # centres: how many, and their bytes
        return f"{len(value)}:{b64encode(value.astype('<f8').tobytes()).decode()}"
    return "" if isinstance(value, float) and isnan(value) else value


def _read_back(name: str | None, text: str | None) -> Any:
    if name is None or text is None:
        raise ValueError("a line is too long or too short")
    if name in _TEXT:
        return text
    if name == "centers":
        k, _, coordinates = text.partition(":")
        return np.frombuffer(b64decode(coordinates, validate=True), "<f8").reshape(int(k), -1)
    if name in _WHOLE and text:
        return int(text)
    return float(text) if text else nan
