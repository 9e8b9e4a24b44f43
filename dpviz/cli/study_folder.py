"""The folder of a study: ``manifest.json`` says what was asked, ``results.csv`` has one line a finished run.

A line is appended and closed the moment its run has ended, so a kill tears at most the last line, which a resumed study
cuts off and runs again. That is all that a database would do here, and a CSV file is read by everything.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from math import isnan, nan
from pathlib import Path
from typing import Any

from dpviz.check import RequestError

_TEXT = ("contender", "algorithm", "preset", "trial")
_WHOLE = ("k", "n", "repeat")


class StudyFolder:
    """Reads and writes one study; a line is on disk as soon as its run has ended.

    Parameters
    ----------
    path : Path
        Made if it is not there.
    resume : bool
        Whether results that are there already are to be kept.

    Raises
    ------
    RequestError
        If the folder cannot be used, or holds results that nobody asked to resume.
    """

    def __init__(self, path: Path, *, resume: bool) -> None:
        self._results, self._manifest = path / "results.csv", path / "manifest.json"
        if self._results.exists() and not resume:
            raise RequestError("--out holds the results of a study: give --resume to go on with it, or another folder.")
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._earlier = json.loads(self._manifest.read_text("utf-8")) if self._manifest.exists() else {}
        except (OSError, ValueError):
            raise RequestError(
                "--out cannot be used as the folder of a study: give another folder, one that you may write to."
            ) from None
        if self._results.exists():
            self._drop_torn_line()
        self.done = frozenset(row["trial"] for row in self._read())

    def seed(self, *, asked: int | None) -> int:
        """The study's seed: as asked for, else that of the study being resumed, else 0.

        A study is no release: its noise need not be secret, and who repeats it wants to find the same.
        """
        return int(self._earlier.get("seed", 0)) if asked is None else asked

    def begin(self, manifest: Mapping[str, Any], *, must_agree: Sequence[str]) -> None:
        """Write down what is asked.

        Raises
        ------
        RequestError
            If the folder holds a study of something else.
        """
        changed = [key for key in must_agree if self.done and self._earlier.get(key) != manifest[key]]
        if changed:
            raise RequestError(
                f"The study in --out was asked with another {' and '.join(changed)}: repeat that request, or give "
                "another folder."
            )
        self._manifest.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", "utf-8")

    def append(self, row: Mapping[str, Any]) -> None:
        """Add a finished run."""
        is_new = not self._results.exists()
        if not is_new and self._columns() != list(row):
            self._write(self._read(), list(row))
        with self._results.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(row))
            if is_new:
                writer.writeheader()
            writer.writerow({name: _written(value) for name, value in row.items()})

    def rows(self, planned: Sequence[str]) -> list[dict[str, Any]]:
        """The finished runs of a plan, in its order."""
        found = {row["trial"]: row for row in self._read()}
        return [found[key] for key in planned if key in found]

    def finish(self, planned: Sequence[str]) -> None:
        """Bring the lines into the order of the plan, so that the same study gives the same file; others stay below."""
        wanted = frozenset(planned)
        rows = self.rows(planned) + [row for row in self._read() if row["trial"] not in wanted]
        if rows:
            self._write(rows, list(rows[0]))

    def _columns(self) -> list[str]:
        with self._results.open(newline="", encoding="utf-8") as file:
            return next(csv.reader(file))

    def _write(self, rows: Sequence[Mapping[str, Any]], columns: list[str]) -> None:
        """All lines at once, in place of the file; a column that an earlier version did not know stays empty."""
        whole = self._results.with_suffix(".tmp")
        with whole.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows({name: _written(value) for name, value in row.items()} for row in rows)
        whole.replace(self._results)

    def _read(self) -> list[dict[str, Any]]:
        if not self._results.exists():
            return []
        with self._results.open(newline="", encoding="utf-8") as file:
            return [{name: _read_back(name, text) for name, text in row.items()} for row in csv.DictReader(file)]

    def _drop_torn_line(self) -> None:
        """Cut what a killed study wrote of its last line."""
        raw = self._results.read_bytes()
        if not raw.endswith(b"\n"):
            os.truncate(self._results, raw.rfind(b"\n") + 1)
        if b"\n" not in raw:
            self._results.unlink()


def _written(value: Any) -> Any:
    return "" if isinstance(value, float) and isnan(value) else value


def _read_back(name: str, text: str) -> Any:
    if name in _TEXT:
        return text
    if name in _WHOLE and text:
        return int(text)
    return float(text) if text else nan
