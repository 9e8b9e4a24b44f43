"""``dpviz ask``: a question over several numbers of a release, answered in a sentence; checked first, without data."""

import argparse
import json
from pathlib import Path

from dpviz.api.console import Parser, add_options
from dpviz.releases import QUESTION_KINDS, read_release


def add(command: Parser) -> None:
    """Its options."""
    asked = " ".join(f"{name}: {kind.words}." for name, kind in QUESTION_KINDS.items())
    add_options(command, "ask", questions=asked, kind=[*QUESTION_KINDS], kinds=", ".join(QUESTION_KINDS))


def serve(arguments: argparse.Namespace) -> str:
    """Serve the request; the text to print."""
    asked = {name: getattr(arguments, name) for name in ("column", "label", "value")}
    answer = read_release(Path(arguments.zip)).ask(arguments.kind, *arguments.segments, **asked)
    return json.dumps(answer.to_dict(), ensure_ascii=False) if arguments.json else answer.sentence
