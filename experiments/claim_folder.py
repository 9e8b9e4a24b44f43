"""The folder of reproduced claims: a table and a page for each claim, their verdicts, and how they were made."""

from __future__ import annotations

import io
import json
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar

import pandas as pd

from dpviz import __version__
from dpviz.app.charts.player.lesson_page import make_standalone_page
from dpviz.app.charts.studies import stored_verdicts
from dpviz.app.charts.studies.claim_figure import ClaimFigure
from dpviz.app.charts.studies.stored_verdicts import ClaimFinding, ClaimVerdict, Outcome
from dpviz.core.check import RequestError
from dpviz.runs.owner_files import OWNER_ONLY, lock_writer, translate_disk_errors, write_whole
from dpviz.tables.file_format import format_frame
from dpviz.words import foreign
from dpviz.words.documents import Document, key, read_document
from dpviz.words.theme import choose_palette
from experiments.claim import Claim
from experiments.planner import FORMAT, RunPlan
from experiments.stored_results import describe_result, format_verdicts
from experiments.verdict_table import AS_RAN, FILE, LOOK, TODAY, judge_looks, list_lines


class MadeClaim(Document):
    """How the results of one claim were made."""

    shown: ClassVar = '{"dpviz": "0.1.0"}'
    dpviz: str = key(..., "text", "the version of dpviz")
    command: str = key(..., "text", "that makes it again")
    quick: bool = key(..., "true or false", "whether it was a quick run")
    settings: dict[str, Any] = key(..., "an object", "of the experiment")
    look: int = key(1, "a whole number", "how often the runs had been judged by then")
    looks: int = key(1, "a whole number", "how often they may be")
    data: list[dict[str, Any]] = key(..., "a list of objects", "the tables: name, origin, n and d")
    rows: int = key(..., "a whole number", "of its table")
    seconds: int = key(..., "a whole number", "that it took")


class ClaimManifest(Document):
    """What a folder of reproduced claims holds."""

    called: ClassVar = "manifest of claims"
    shown: ClassVar = '{"claims": {}}'
    claims: dict[str, MadeClaim] = key({}, "an object by claim", "how each was made")


_MOST_BYTES = foreign.EXPERIMENTS.most_bytes
_MOST_LOOKS = 64
# Of the columns of runs and of findings: all others are numbers.
_TEXT = frozenset({"data", "origin", "line", "how", "version", "claim", "run", "verdict", "says", "paper", "ours"})


class ClaimFolder:
    """Writes what was reproduced, as the only process that does; claims that lie there are kept unless computed again.

    Raises
    ------
    RequestError
        If the folder cannot be used, is in use, or is damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        unusable = RequestError(
            "--out cannot be used as the folder of reproduced claims: give another one, that you may write to."
        )
        with ExitStack() as held, foreign.refuse_as(unusable, foreign.EXPERIMENTS, called="--out"):
            path.mkdir(parents=True, exist_ok=True)
            held.enter_context(lock_writer(path / ".lock", called="--out"))
            self._manifest = path / "manifest.json"
            earlier = json.loads(foreign.read_bytes(self._manifest, _MOST_BYTES)) if self._manifest.exists() else {}
            for made in read_document(ClaimManifest, earlier, RequestError).claims.values():
                if not 0 <= made.look <= made.looks <= _MOST_LOOKS:
                    raise unusable
            self._claims: dict[str, Any] = earlier.get("claims", {})
            self._results = {result.id: result for result in stored_verdicts.read_verdicts(path).claims}
            self._held = held.pop_all()

    def __enter__(self) -> ClaimFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.close()

    def read(self, claim: Claim, settings: Any) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, Any]]:
        """The runs of ``claim`` by these settings that lie there, apart from those of a look that was interrupted.

        Parameters
        ----------
        claim : Claim
            Whose runs.
        settings : object
            By which they were made.

        Returns
        -------
        DataFrame
            Those that were judged; empty where nothing lies there, or what was made by other settings.
        DataFrame
            Those of a look that was not taken.
        dict
            Its entry in the manifest; empty where there is none.

        Raises
        ------
        RequestError
            If a table cannot be read.
        """
        made = self._claims.get(claim.id, {})
        same = not made or made.get("settings") == json.loads(json.dumps(asdict(settings)))
        files = self._file(claim), self._file(claim, ".part")
        with self.refuse_damaged(claim):
            judged, every = (_read_runs(file) if same and file.is_file() else pd.DataFrame() for file in files)
            if same and len(judged) < made.get("rows", 0):
                raise ValueError("the manifest knows of more")
        if len(every):
            both = pd.concat([judged, every]).drop(columns=LOOK, errors="ignore")
            every = both.drop_duplicates().iloc[len(judged) :]
        return judged, every, made if same else {}

    def refuse_damaged(self, claim: Claim) -> AbstractContextManager[None]:
        """What cannot be read, or judged, of the runs of a claim that lie there: half a table, or text for a number."""
        return foreign.refuse_as(
            RequestError(
                f"The runs of {claim.id} in --out cannot be read as a whole table of numbers: remove {claim.id}.csv, "
                f"{claim.id}.part.csv and its lines in {FILE} there, or give another folder."
            ),
            foreign.EXPERIMENTS,
            called=f"A table of {claim.id} in --out",
        )

    def read_verdict(self, claim: Claim, table: pd.DataFrame) -> ClaimVerdict | None:
        """What was found in ``table`` by the looks that were taken at it; None where no line says so.

        Parameters
        ----------
        claim : Claim
        table : DataFrame
            The runs that lie there.

        Returns
        -------
        ClaimVerdict or None
        """
        file = self._path / FILE
        with self.refuse_damaged(claim):
            lines = _read_table(file) if file.is_file() else pd.DataFrame({"claim": []})
            lines = lines[lines["claim"] == claim.id]
            return judge_looks(claim.judge, table, lines) if len(lines) else None

    def _file(self, claim: Claim, which: str = "") -> Path:
        return self._path / f"{claim.id}{which}.csv"

    def keep(self, plan: RunPlan) -> None:
        """All runs, if there are more than those of complete looks: nothing is judged by the others yet."""
        table = plan.table(every=True)
        if len(table) > len(plan.table() if plan.look else ()):
            self._write(self._file(plan.claim, ".part"), table)

    def _write(self, file: Path, table: pd.DataFrame) -> None:
        self._put(file, format_frame(table, float_format=FORMAT, end="\n"))

    def _put(self, file: Path, text: str) -> None:
        with translate_disk_errors():
            write_whole(file, text.encode(), mode=OWNER_ONLY)

    def write(self, plan: RunPlan, *, command: str, quick: bool, seconds: float) -> pd.DataFrame:
        """Runs, verdict, page and manifest after a look: what lies there is all that was judged.

        Parameters
        ----------
        plan : RunPlan
            What was judged so far.
        command : str
            That made it.
        quick : bool
            Whether it was a quick look.
        seconds : float
            How long it took.

        Returns
        -------
        DataFrame
            All runs that lie there now.
        """
        claim, verdict, table = plan.claim, plan.verdict, plan.table()
        assert verdict is not None
        self._write(self._file(claim), table)
        self._file(claim, ".part").unlink(missing_ok=True)
        self.keep(plan)
        self._write_verdict(claim, verdict)
        self._write_page(claim, table, verdict)
        self._claims[claim.id] = {
            "dpviz": __version__,
            "command": command,
            "quick": quick,
            "settings": asdict(plan.settings),
            "look": plan.look,
            "looks": plan.looks,
            "data": list_tables(table),
            "rows": len(table),
            "seconds": round(seconds),
        }
        text = json.dumps({"claims": self._claims}, indent=1, ensure_ascii=False, sort_keys=True)
        self._put(self._manifest, text + "\n")
        self._results[claim.id] = describe_result(claim, table, self._claims[claim.id], verdict)
        self._put(self._path / stored_verdicts.FILE, format_verdicts(self._results))
        return table

    def _write_verdict(self, claim: Claim, verdict: ClaimVerdict) -> None:
        """Its findings with their intervals, in the one table of all claims of the folder."""
        file = self._path / FILE
        with self.refuse_damaged(claim):
            others = _read_table(file) if file.is_file() else pd.DataFrame({"claim": []})
            others = others[others["claim"] != claim.id]
            both = [part for part in (others, pd.DataFrame(list(list_lines(claim.id, verdict)))) if len(part)]
            lines = pd.concat(both, ignore_index=True).sort_values(["claim", "finding", "run"])
        self._write(file, lines)

    def _write_page(self, claim: Claim, table: pd.DataFrame, verdict: ClaimVerdict) -> None:
        """Claim, verdict, findings and figures, to be opened from the disk."""
        colors = choose_palette("light")
        figures = [ClaimFigure(table, figure, verdict.sentence).draw(colors) for figure in claim.figures]
        page = make_standalone_page(
            figures,
            title=f"{claim.paper}: {verdict.outcome.value}",
            paragraphs=[claim.claim, f"Data: {format_tables(table)}.", *claim.notes],
            points=[text for finding in verdict.findings for text in format_findings(finding)],
            palette=colors,
        )
        self._put(self._path / f"{claim.id}.html", page)


def _read_table(file: Path) -> pd.DataFrame:
    """A table as it was written whole: its last line ends, and no text stands where numbers do."""
    raw = foreign.read_bytes(file, _MOST_BYTES)
    if len(raw) > _MOST_BYTES or not raw.endswith(b"\n"):
        raise ValueError("half a table")
    table = pd.read_csv(io.BytesIO(raw))
    if any(not pd.api.types.is_numeric_dtype(table[name]) for name in table.columns if name not in _TEXT):
        raise ValueError("text where a number was")
    return table


def _read_runs(file: Path) -> pd.DataFrame:
    table = _read_table(file)
    repeats = table["repeat"]
    if "line" not in table or not (repeats.ge(0) & repeats.eq(repeats.round())).all():
        raise ValueError("no table of runs")
    return table


def list_tables(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The tables behind a result: name, origin, and how large."""
    columns = [column for column in ("data", "origin", "n", "d") if column in table.columns]
    tables: list[dict[str, Any]] = [
        {str(name): value for name, value in row.items()} for row in table[columns].drop_duplicates().to_dict("records")
    ]
    return tables if len(tables) <= _MOST_LISTED else [{**tables[0], "number": len(tables)}]


_MOST_LISTED = 12


def format_tables(table: pd.DataFrame) -> str:
    """The same in words, tables of one name together."""
    words = []
    for place, part in table.groupby(["data", "origin"], sort=False):
        name, origin = map(str, place)
        sizes = [
            _format_sizes(part[column])
            for column in ("n", "d")
            if column in part.columns and part[column].notna().all()
        ]
        words.append(f"{name} ({', '.join([origin, ' × '.join(sizes)] if len(sizes) == 2 else [origin])})")
    return "; ".join(words)


def _format_sizes(values: pd.Series) -> str:
    low, high = int(values.min()), int(values.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


_SIGNS = {Outcome.HOLDS: "✓", Outcome.FAILS: "✗", Outcome.UNDECIDED: "?"}


def format_findings(finding: ClaimFinding) -> list[str]:
    """One finding in one line, and a second one for what is run today where that differs."""
    if finding.today is None:
        return [_format_finding(finding)]
    return [f"{AS_RAN}: {_format_finding(finding)}", f"{TODAY}: {_format_finding(finding.today)}"]


def _format_finding(finding: ClaimFinding) -> str:
    between = "one run, no interval" if finding.interval is None else f"{finding.interval} in 9 of 10 redraws"
    margin = f"margin {finding.margin:.4g}×, {between}"
    text = f"{_SIGNS[finding.outcome]} {finding.says}: {finding.found} ({margin})"
    return f"{text}. Reason: {finding.reason}" if finding.outcome is Outcome.FAILS else text
