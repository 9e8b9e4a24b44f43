"""``dpviz reproduce``: run the papers' experiments again and judge their claims."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from dpviz import check
from dpviz.check import RequestError
from dpviz.claims.claim import Claim, Row, Verdict
from dpviz.claims.material import FOLDER_VARIABLE
from dpviz.claims.redraw import weighed
from dpviz.claims.registry import CLAIMS, claim_of, claim_rows, shelf
from dpviz.cli.claim_folder import ClaimFolder, format_findings, format_tables, list_tables
from dpviz.cli.console import say
from dpviz.cli.parser import Parser, read_whole
from dpviz.runs.jobs import Job
from dpviz.runs.study.workers import make_exception

_MOST_JOBS = 2
_POLL_SECONDS = 0.2


class Reproduced(NamedTuple):
    """A claim that was run and judged."""

    claim: Claim
    table: pd.DataFrame
    verdict: Verdict
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them."""
        return {
            "id": self.claim.id,
            "paper": self.claim.paper,
            "claim": self.claim.claim,
            "verdict": self.verdict.outcome.value,
            "findings": [asdict(finding) | {"verdict": finding.outcome.value} for finding in self.verdict.findings],
            "data": list_tables(self.table),
            "notes": list(self.claim.notes),
            "seconds": round(self.seconds),
        }


def add(command: Parser) -> None:
    """Its options."""
    command.description = (
        "Run the papers' experiments again: tables, figures and a computed verdict for each claim. Published files are "
        "used where --data (or DPVIZ_DATA) names a folder that holds them, else generated stand-ins of the same size; "
        "the output says which."
    )
    command.add_argument("ids", nargs="*", metavar="ID", help="claims, see --list (default: all)")
    command.add_argument("--list", action="store_true", help="list the claims and run nothing")
    command.add_argument("--quick", action="store_true", help="fewer repeats and points: minutes instead of hours")
    command.add_argument("--out", metavar="DIR", help="folder for a table and a page a claim, and manifest.json")
    command.add_argument("--data", metavar="DIR", help="folder of published files, such as s1.csv")
    command.add_argument(
        "--jobs", type=read_whole, default=_MOST_JOBS, metavar="N", help="worker processes, 1 or 2 (default: 2)"
    )
    command.add_argument("--json", action="store_true", help="print verdicts as JSON")


def serve(arguments: argparse.Namespace) -> str:
    """Serve the request; the text to print.

    Raises
    ------
    RequestError
        If the request is wrong.
    """
    chosen = [claim_of(claim_id) for claim_id in arguments.ids] or list(CLAIMS.values())
    if arguments.list:
        return _format_list(chosen, as_json=arguments.json)
    if arguments.out is None:
        raise RequestError("--out is missing: give a folder for the tables and figures, or --list to see the claims.")
    check.within(1, _MOST_JOBS, jobs=arguments.jobs)
    folder = _find_data_folder(arguments.data)
    shelf(folder)  # refuses a folder that is not there before anything is run
    out = ClaimFolder(Path(arguments.out))
    done = []
    for claim, rows, seconds in _finish(chosen, arguments, folder):
        table = out.write_table(claim, rows)
        verdict = weighed(claim.judge, table)
        out.write_verdict(claim, verdict)
        out.write_page(claim, table, verdict)
        command = _format_command(claim, arguments, with_data=folder is not None)
        out.write_manifest(claim, table, command=command, quick=arguments.quick, seconds=seconds)
        say(f"{claim.id} {verdict.sentence} ({seconds:.0f} s)")
        done.append(Reproduced(claim, table, verdict, seconds))
    done.sort(key=lambda one: list(CLAIMS).index(one.claim.id))
    if arguments.json:
        return json.dumps([one.to_dict() for one in done], indent=1, ensure_ascii=False)
    return _format_text(done)


def _format_list(claims: Sequence[Claim], *, as_json: bool) -> str:
    if as_json:
        listed = [{"id": c.id, "paper": c.paper, "claim": c.claim, "data": list(c.data)} for c in claims]
        return json.dumps(listed, indent=1, ensure_ascii=False)
    return "\n\n".join(f"{claim.id}  ({claim.paper})\n  {claim.claim}" for claim in claims)


def _find_data_folder(option: str | None) -> Path | None:
    named = option or os.environ.get(FOLDER_VARIABLE)
    return Path(named) if named else None


def _format_command(claim: Claim, arguments: argparse.Namespace, *, with_data: bool) -> str:
    """The command that makes this claim's files again; the folders are the reader's own."""
    options = [claim.id, "--quick" if arguments.quick else "", "--data DATA" if with_data else "", "--out DIR"]
    return " ".join(["python -m dpviz reproduce", *(option for option in options if option)])


def _finish(
    claims: Sequence[Claim], arguments: argparse.Namespace, folder: Path | None
) -> Iterator[tuple[Claim, list[Row], float]]:
    """The claims as their workers end, each with its rows and seconds; when the reader stops, so do the workers."""
    waiting, running = list(claims), dict[str, tuple[Job[Any], float]]()
    try:
        while waiting or running:
            while waiting and len(running) < arguments.jobs:
                claim = waiting.pop(0)
                job: Job[Any] = Job.start(claim_rows, claim.id, quick=arguments.quick, folder=folder)
                running[claim.id] = (job, time.monotonic())
            for claim_id, (job, began) in list(running.items()):
                if not job.state.final:
                    continue
                del running[claim_id]
                if job.error is not None:
                    raise make_exception(job.error)
                yield CLAIMS[claim_id], job.items, time.monotonic() - began
            time.sleep(_POLL_SECONDS)
    finally:
        for job, _ in running.values():
            job.cancel()


def _format_text(done: Sequence[Reproduced]) -> str:
    blocks = []
    for claim, table, verdict, _ in done:
        lines = [f"{claim.id}  ({claim.paper})", f"  {claim.claim}", f"  Verdict: {verdict.sentence}"]
        if verdict.today is not None:
            lines.append(f"  With what is run today: {verdict.today.sentence}")
        lines += [f"    {text}" for finding in verdict.findings for text in format_findings(finding)]
        lines.append(f"  Data: {format_tables(table)}")
        lines += [f"  Note: {note}" for note in claim.notes]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)
