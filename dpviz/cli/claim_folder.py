"""The folder of reproduced claims: a table and a page for each claim, and a manifest of how they were made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from dpviz import __version__
from dpviz.charts.standalone import standalone_page
from dpviz.charts.studies.claim_figure import ClaimFigure
from dpviz.charts.theme import palette
from dpviz.check import RequestError
from dpviz.claims.claim import Claim, Finding, Verdict
from dpviz.runs.study.owner_files import in_a_sentence, written_whole

# Digits of a number in a table: more would be rounding, and the files are small.
FORMAT = "%.6g"


class ClaimFolder:
    """Writes what was reproduced; claims that lie there already are kept unless they are computed again.

    Raises
    ------
    RequestError
        If the folder cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._manifest = path / "manifest.json"
            found = json.loads(self._manifest.read_text("utf-8")) if self._manifest.exists() else {}
            self._claims: dict[str, Any] = dict(found.get("claims", {}))
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            raise RequestError(
                "--out cannot be used as the folder of reproduced claims: give another one, that you may write to."
            ) from None

    def write_table(self, claim: Claim, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
        """The rows as a file, and what can be read back from it: verdict and figure rest on nothing else."""
        file = self._path / f"{claim.id}.csv"
        with in_a_sentence(), written_whole(file) as table:
            pd.DataFrame(list(rows)).to_csv(table, index=False, float_format=FORMAT, lineterminator="\n")
        return pd.read_csv(file)

    def write_page(self, claim: Claim, table: pd.DataFrame, verdict: Verdict) -> None:
        """Claim, verdict, findings and figures, to be opened from the disk."""
        colors = palette("light")
        figures = [ClaimFigure(table, picture, verdict.sentence).draw(colors) for picture in claim.pictures]
        page = standalone_page(
            figures,
            title=f"{claim.paper}: {verdict.outcome.value}",
            paragraphs=[claim.claim, f"Data: {tables_text(table)}.", *claim.notes],
            points=[finding_text(finding) for finding in verdict.findings],
            palette=colors,
        )
        with in_a_sentence(), written_whole(self._path / f"{claim.id}.html") as file:
            file.write(page)

    def write_manifest(self, claim: Claim, table: pd.DataFrame, *, command: str, quick: bool, seconds: float) -> None:
        """How the table of ``claim`` was made."""
        self._claims[claim.id] = {
            "dpviz": __version__,
            "command": command,
            "quick": quick,
            "settings": asdict(claim.settings(quick=quick)),
            "data": tables_of(table),
            "rows": len(table),
            "seconds": round(seconds),
        }
        text = json.dumps({"claims": self._claims}, indent=1, ensure_ascii=False, sort_keys=True)
        with in_a_sentence(), written_whole(self._manifest) as file:
            file.write(text + "\n")


def tables_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The tables behind a result: name, origin, and how large."""
    columns = [column for column in ("data", "origin", "n", "d") if column in table.columns]
    found: list[dict[str, Any]] = [
        {str(name): value for name, value in row.items()} for row in table[columns].drop_duplicates().to_dict("records")
    ]
    return found if len(found) <= _MOST_LISTED else [{**found[0], "number": len(found)}]


_MOST_LISTED = 12


def tables_text(table: pd.DataFrame) -> str:
    """The same in words, tables of one name together."""
    found = []
    for key, part in table.groupby(["data", "origin"], sort=False):
        name, origin = (str(word) for word in key)
        sizes = [_sizes(part[column]) for column in ("n", "d") if column in part.columns and part[column].notna().all()]
        found.append(f"{name} ({', '.join([origin, ' × '.join(sizes)] if len(sizes) == 2 else [origin])})")
    return "; ".join(found)


def _sizes(values: pd.Series) -> str:
    low, high = int(values.min()), int(values.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def finding_text(finding: Finding) -> str:
    """One finding in one line."""
    text = f"{'✓' if finding.holds else '✗'} {finding.says}: {finding.found} (margin {finding.margin:.4g}×)"
    return f"{text}. Reason: {finding.reason}" if finding.reason else text
