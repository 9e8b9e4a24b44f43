"""``dpviz audit``: try the contract of private algorithms on one of them, and name what did not hold."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator

from dpviz.algorithms import Card, find_card
from dpviz.api.cli.console import FoundWrong, say
from dpviz.api.cli.parser import Parser, read_whole
from dpviz.core import check
from dpviz.runs import CANNOT_TELL, RUNS, CheckResult, audit

# With fewer even certainty could be chance.
_FEWEST_RUNS = 40
_SIGNS = {True: "held", False: "BROKEN", None: "left out"}


def add(command: Parser) -> None:
    """Its options."""
    command.description = (
        "Try the contract of private algorithms on one of them, ours or a package's, on small tables that are made up "
        "here. Ends with 1 where something did not hold, and names it."
    )
    command.add_argument("id", metavar="ID", help="an algorithm, see dpviz algorithms")
    command.add_argument(
        "--runs", type=read_whole, default=RUNS, metavar="N", help=f"pairs of runs of the attack (default: {RUNS})"
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")


def serve(arguments: argparse.Namespace) -> str:
    """Serve the request; the text to print.

    Raises
    ------
    RequestError
        If there is no such algorithm, or it promises nothing.
    FoundWrong
        If something did not hold.
    """
    check.within(_FEWEST_RUNS, check.MOST_REPEATS, runs=arguments.runs)
    card = find_card(arguments.id)
    findings = list(_announce(audit(card, runs=arguments.runs)))
    text = _format_json(card, findings) if arguments.json else _format_text(card, findings)
    if not all(finding.held is not False for finding in findings):
        raise FoundWrong(text)
    return text


def _announce(findings: Iterator[CheckResult]) -> Iterator[CheckResult]:
    """The same, each told as soon as it is known: some take a while."""
    began = time.monotonic()
    for finding in findings:
        say(f"{finding.check}: {_SIGNS[finding.held]} ({time.monotonic() - began:.0f} s)")
        yield finding
        began = time.monotonic()


def _format_json(card: Card, findings: list[CheckResult]) -> str:
    plain = {
        "algorithm": card.id,
        "brought_by": card.brought_by or None,
        "holds": all(finding.held is not False for finding in findings),
        "findings": [finding._asdict() for finding in findings],
    }
    return json.dumps(plain, indent=1, ensure_ascii=False)


def _format_text(card: Card, findings: list[CheckResult]) -> str:
    """Every check on a line, what did not hold, and what no audit can tell."""
    by = f", brought by {card.brought_by}" if card.brought_by else ""
    width = max(len(finding.check) for finding in findings)
    lines = [f"{_SIGNS[finding.held]:9} {finding.check:{width}}  {finding.says}" for finding in findings]
    broken = [finding.check for finding in findings if finding.held is False]
    verdict = f"Did not hold ({len(broken)}): {', '.join(broken)}." if broken else "All that was tried held."
    unknown = "What no audit can tell:\n" + "\n".join(f"  {line}" for line in CANNOT_TELL)
    return "\n\n".join([f"{card.id}: {card.title}{by}", "\n".join(lines), verdict, unknown])
