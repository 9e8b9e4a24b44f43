"""``dpviz audit``: try the contract of private algorithms on one of them, and name what did not hold."""

import argparse
import json

from dpviz.algorithms import find_card
from dpviz.api.console import FoundWrong, Parser, add_options, say
from dpviz.core import check
from dpviz.runs import AuditReport

# With fewer even certainty could be chance.
_FEWEST_RUNS = 40


def add(command: Parser) -> None:
    """Its options."""
    add_options(command, "audit", runs=AuditReport.RUNS)


def serve(arguments: argparse.Namespace) -> str:
    """Serve the request; the text to print."""
    check.within(_FEWEST_RUNS, check.MOST_REPEATS, runs=arguments.runs)
    report = AuditReport.of(find_card(arguments.id), runs=arguments.runs, tell=say)
    text = json.dumps(report.to_dict(), indent=1, ensure_ascii=False) if arguments.json else report.text
    if report.broken:
        raise FoundWrong(text)
    return text
