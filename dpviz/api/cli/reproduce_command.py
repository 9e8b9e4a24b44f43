"""``dpviz reproduce``: says where the papers' experiments are run: beside the package, not in it."""

import argparse

from dpviz.api.console import Parser
from dpviz.core import RequestError

_ELSEWHERE = "The papers' experiments are run by `python -m experiments`, in a checkout of dpviz."


def add(command: Parser) -> None:
    """No option: whatever is given is told the same."""
    command.description = _ELSEWHERE
    command.prefix_chars = ""  # nothing is an option
    command.add_argument("words", nargs="*", help=argparse.SUPPRESS)


def serve(arguments: argparse.Namespace) -> str:
    """Refuse."""
    del arguments
    raise RequestError(_ELSEWHERE)
