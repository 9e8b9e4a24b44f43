"""``dpviz ask``: a question over several numbers of a release, answered in a sentence; checked first, without data."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from dpviz.api.console import Parser, read_number, read_whole
from dpviz.releases import QUESTION_KINDS, read_release


def add(command: Parser) -> None:
    """Its options."""
    command.description = (
        "Check the zip of a release and answer one question over several of its numbers. "
        + " ".join(f"{name}: {kind.words}." for name, kind in QUESTION_KINDS.items())
        + " Of many differences ask which way they go: the size of one that was picked because it is large is not what "
        "its interval says."
    )
    command.add_argument("zip", metavar="ZIP", help="the zip of a release")
    command.add_argument("kind", metavar="KIND", choices=[*QUESTION_KINDS], help=f"one of {', '.join(QUESTION_KINDS)}")
    command.add_argument("segments", metavar="SEGMENT", nargs="*", type=read_whole, help="which segments, from 1 on")
    command.add_argument("--column", default="", metavar="NAME", help="the column that is asked about")
    command.add_argument("--label", default="", metavar="VALUE", help="a category of it")
    command.add_argument("--value", type=read_number, metavar="X", help="a value of it")
    command.add_argument("--json", action="store_true", help="print one JSON object")


def serve(arguments: argparse.Namespace) -> str:
    """Serve the request; the text to print."""
    asked = {name: getattr(arguments, name) for name in ("column", "label", "value")}
    answer = read_release(Path(arguments.zip)).ask(arguments.kind, *arguments.segments, **asked)
    return json.dumps(answer.to_dict(), ensure_ascii=False) if arguments.json else answer.sentence
