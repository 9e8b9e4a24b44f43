"""Run the papers' experiments again and judge their claims: ``python -m experiments``, in a checkout.

Exit codes are those of ``dpviz``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from dpviz.api.console import Parser, join_words, say, serve_line
from dpviz.app.charts.studies.stored_verdicts import ClaimVerdict
from dpviz.core import check
from dpviz.core.check import RequestError
from dpviz.words.wording import format_duration
from experiments.claim import Claim
from experiments.claim_folder import ClaimFolder, format_findings, format_tables, list_tables
from experiments.fetching import fetch_missing
from experiments.material import FOLDER_VARIABLE, DatasetCache
from experiments.planner import RunPlan, choose
from experiments.redraw import LOOKS
from experiments.registry import CLAIMS, find_claim, open_datasets

_SAY_SECONDS = 30.0


class ClaimReport(NamedTuple):
    """A claim that was run and judged."""

    claim: Claim
    table: pd.DataFrame
    verdict: ClaimVerdict
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


def main(argv: Sequence[str] | None = None) -> int:
    """Serve one command line and return its exit code."""
    return serve_line(lambda words: make_parser().parse_args(join_words(words)), argv)


def make_parser() -> Parser:
    """The options; what is parsed has ``serve``, which does what is asked."""
    command = Parser(prog="python -m experiments", allow_abbrev=False)
    command.description = (
        "Run the papers' experiments again: tables, figures and a computed verdict for each claim. Published files are "
        "used where --data (or DPVIZ_DATA) names a folder that holds them, else synthetic tables of the same size; "
        "the output says which. With --hours, cells are run again, up to 4,096 times as often, where the interval of a "
        "finding still holds its line. What lies in --out is used: the same command goes on where it stopped."
    )
    command.add_argument("ids", nargs="*", metavar="ID", help="claims, see --list (default: all)")
    command.add_argument("--list", action="store_true", help="list the claims and run nothing")
    command.add_argument("--quick", action="store_true", help="fewer repeats and points: minutes instead of hours")
    command.add_argument("--out", metavar="DIR", help="folder for a table and a page a claim, and manifest.json")
    command.add_argument("--data", metavar="DIR", help="folder of published files, such as s1.csv")
    command.add_argument(
        "--fetch",
        action="store_true",
        help="bring Letter, MNIST and Adult from OpenML into --data where they are missing: nothing else that dpviz "
        "does asks another machine",
    )
    command.add_argument(
        "--hours", type=float, metavar="H", help="processor hours to spend on findings that are open (default: none)"
    )
    command.add_argument("--json", action="store_true", help="print verdicts as JSON")
    command.set_defaults(serve=serve)
    return command


def serve(arguments: argparse.Namespace) -> str:
    """Serve the request; the text to print.

    Raises
    ------
    RequestError
        If the request is wrong.
    """
    chosen = [find_claim(claim_id) for claim_id in arguments.ids] or list(CLAIMS.values())
    if arguments.list:
        return _format_list(chosen, as_json=arguments.json)
    if arguments.out is None:
        raise RequestError("--out is missing: give a folder for the tables and figures, or --list to see the claims.")
    if arguments.hours is not None:
        check.positive(hours=arguments.hours)
    folder = _find_data_folder(arguments.data)
    if arguments.fetch:
        _fetch(folder)
    tables = open_datasets(folder)  # refuses a folder that is not there before anything is run
    with ClaimFolder(Path(arguments.out)) as out:
        queue = ClaimQueue(arguments, out, tables, with_data=folder is not None)
        for claim in chosen:
            queue.begin(claim)
        while queue.go_on():
            pass
        done = queue.list_done()
    if arguments.json:
        return json.dumps([one.to_dict() for one in done], indent=1, ensure_ascii=False)
    return _format_text(done)


class ClaimQueue:
    """The claims of one command, each with its plan, and the processor time that is left for them."""

    def __init__(
        self, arguments: argparse.Namespace, out: ClaimFolder, tables: DatasetCache, *, with_data: bool
    ) -> None:
        self._arguments, self._out, self._tables, self._with_data = arguments, out, tables, with_data
        self._limit = inf if arguments.hours is None else 3600 * arguments.hours
        self._plans = dict[str, RunPlan]()
        self._seconds, self._per_run = dict[str, float](), dict[str, float]()
        self._began, self._said, self._late = time.process_time(), time.monotonic(), False

    def begin(self, claim: Claim) -> None:
        """Read what lies there, and run what a first look needs."""
        settings = claim.settings(quick=self._arguments.quick)
        stored, waiting, made = self._out.read(claim, settings)
        looks = 1 if self._arguments.hours is None else LOOKS
        look = made.get("look", 0) if (made.get("looks", 1) > 1) == (looks > 1) else 0  # intervals of one kind
        # What a rule of fewer looks decided is not carried over.
        before = self._out.read_verdict(claim, stored) if look and made.get("looks") == looks else None
        with self._out.refuse_damaged(claim) if look else nullcontext():
            plan = RunPlan(
                claim, settings, self._tables, looks=looks, stored=stored, look=look, waiting=waiting, before=before
            )
        self._plans[claim.id] = plan
        self._seconds[claim.id] = float(made.get("seconds", 0.0))
        self._per_run[claim.id] = self._seconds[claim.id] / max(len(stored), 1)
        if look:
            self._write(plan)  # by today's rule, whichever the one was by which it was judged
        elif not self._late:
            self._advance(plan)

    def go_on(self) -> bool:
        """Take the next look at the claim that answers most for its time; False if there is none, or no time."""
        plan = choose(self._plans.values(), self._per_run)
        return plan is not None and not self._late and self._advance(plan)

    def list_done(self) -> list[ClaimReport]:
        """The claims that were judged, in the order of the papers; of the others a sentence says how far they are."""
        for plan in self._plans.values():
            if plan.verdict is None:
                say(
                    f"{plan.claim.id} is not judged: {plan.missing} runs of its first look are missing. The same "
                    "command with more --hours goes on from what was found."
                )
        order = [self._plans[claim_id] for claim_id in CLAIMS if claim_id in self._plans]
        return [
            ClaimReport(plan.claim, plan.table(), plan.verdict, self._seconds[plan.claim.id])
            for plan in order
            if plan.verdict is not None
        ]

    def _advance(self, plan: RunPlan) -> bool:
        """Run until the next look and take it; False if the time ends before."""
        claim, missing, began = plan.claim, plan.missing, time.process_time()
        found = 0
        try:
            for found, _ in enumerate(plan.runs(), start=1):
                self._show(plan, found, missing)
                if self._left < 0:
                    self._late = True
                    return False
            if found:  # where all runs lay there nothing is known of what one takes
                self._per_run[claim.id] = (time.process_time() - began) / found
            plan.take_look()
        finally:
            self._seconds[claim.id] += time.process_time() - began
            self._out.keep(plan)
        self._write(plan)
        return True

    def _write(self, plan: RunPlan) -> None:
        claim, verdict = plan.claim, plan.verdict
        self._out.write(
            plan, command=self._format_command(claim), quick=self._arguments.quick, seconds=self._seconds[claim.id]
        )
        say(f"{claim.id}, look {plan.look} of {plan.looks}: {verdict and verdict.sentence}")

    @property
    def _left(self) -> float:
        """Processor seconds until the end of the time that was given."""
        return self._limit - (time.process_time() - self._began)

    def _show(self, plan: RunPlan, found: int, missing: int) -> None:
        """Say now and then how far it is, and keep what was found."""
        if time.monotonic() - self._said < _SAY_SECONDS:
            return
        self._said = time.monotonic()
        self._out.keep(plan)
        time_left = "" if self._left == inf else f"; {format_duration(max(self._left, 0.0))} of processor time left"
        say(f"{plan.claim.id}, look {plan.look + 1} of {plan.looks}: {found} of {missing} runs{time_left}")

    def _format_command(self, claim: Claim) -> str:
        """The command that makes this claim's files again; the folders are the reader's own."""
        asked = self._arguments
        options = [claim.id, "--quick" if asked.quick else "", "--data DATA" if self._with_data else ""]
        options += ["" if asked.hours is None else f"--hours {asked.hours:g}", "--out DIR"]
        return " ".join(["python -m experiments", *(option for option in options if option)])


def _format_list(claims: Sequence[Claim], *, as_json: bool) -> str:
    if as_json:
        listed = [{"id": c.id, "paper": c.paper, "claim": c.claim, "data": list(c.data)} for c in claims]
        return json.dumps(listed, indent=1, ensure_ascii=False)
    return "\n\n".join(f"{claim.id}  ({claim.paper})\n  {claim.claim}" for claim in claims)


def _find_data_folder(option: str | None) -> Path | None:
    named = option or os.environ.get(FOLDER_VARIABLE)
    return Path(named) if named else None


def _fetch(folder: Path | None) -> None:
    if folder is None or not folder.is_dir():
        raise RequestError("--fetch has no folder to fill: name one that is there with --data.")
    brought = fetch_missing(folder)
    say(f"From OpenML: {', '.join(brought) or 'nothing, all tables are there'}.")


def _format_text(done: Sequence[ClaimReport]) -> str:
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


if __name__ == "__main__":
    sys.exit(main())
