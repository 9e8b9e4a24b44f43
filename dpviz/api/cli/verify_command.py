"""``dpviz verify``: check a release without the data: every file is made again from what was released."""

import argparse
import json
from pathlib import Path

from dpviz.api.console import FoundWrong
from dpviz.releases import Verification, package, verify
from dpviz.words import render


def serve(arguments: argparse.Namespace) -> str:
    """Serve the request; the text to print."""
    verdict = verify(Path(arguments.zip))
    text = json.dumps(verdict.to_dict(), ensure_ascii=False) if arguments.json else format_verdict(verdict)
    if not verdict.holds or verdict.advisories:
        raise FoundWrong(text)
    return text


def format_verdict(verdict: Verification) -> str:
    """What was checked, what is wrong, and what nobody can tell."""
    return render("verdict.txt.j2", verdict=verdict, untold=package.CANNOT_TELL).rstrip("\n")
