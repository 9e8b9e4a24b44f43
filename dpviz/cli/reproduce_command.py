"""``dpviz reproduce``: says where the papers' experiments are run: beside the package, not in it."""

from __future__ import annotations

from typing import NoReturn

from dpviz.check import RequestError
from dpviz.cli.parser import Parser


def add(command: Parser) -> NoReturn:
    """Refuse, whatever the options are.

    Raises
    ------
    RequestError
        Always.
    """
    del command
    raise RequestError("The papers' experiments are run by `python -m experiments`, in a checkout of dpviz.")
