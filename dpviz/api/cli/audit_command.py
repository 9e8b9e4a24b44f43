"""``dpviz audit``: try the contract of private algorithms on one of them, and name what did not hold."""

from __future__ import annotations

import argparse
import json

from dpviz.algorithms import find_card
from dpviz.api.console import FoundWrong, Parser, read_whole, say
from dpviz.core import check
from dpviz.runs import AuditReport

# With fewer even certainty could be chance.
_FEWEST_RUNS = 40


def add(command: Parser) -> None:
    """Its options."""
    command.description = (
        "Try the contract of private algorithms on one of them, ours or a package's, on small tables that are made up "
        "here. Ends with 1 where something did not hold, and names it."
    )
    command.add_argument("id", metavar="ID", help="an algorithm, see dpviz algorithms")
    command.add_argument(
        "--runs",
        type=read_whole,
        default=AuditReport.RUNS,
        metavar="N",
        help=f"pairs of runs of the attack (default: {AuditReport.RUNS})",
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")


def serve(arguments: argparse.Namespace) -> str:
    """Serve the request; the text to print."""
    check.within(_FEWEST_RUNS, check.MOST_REPEATS, runs=arguments.runs)
    report = AuditReport.of(find_card(arguments.id), runs=arguments.runs, tell=say)
    text = json.dumps(report.to_dict(), indent=1, ensure_ascii=False) if arguments.json else report.text
    if report.broken:
        raise FoundWrong(text)
    return text
