"""``dpviz open``: the dashboard, served from here to this machine alone until Ctrl-C."""

from __future__ import annotations

import argparse
import os
import runpy
import socket
import sys

from dpviz import check
from dpviz.beside import BESIDE
from dpviz.check import RequestError
from dpviz.table.named import GIVEN, named, sample_named
from dpviz.table.sparse_intake import SparseTable

_APP = BESIDE / "app.py"


def open_command(arguments: argparse.Namespace) -> str:
    """Serve pages until somebody stops it; each visit begins with the table that is named, if one is.

    Raises
    ------
    RequestError
        If there is no such table, or the port is taken.
    """
    settings: dict[str, object] = {"server.fileWatcherType": "none"}  # nobody edits what is installed
    if arguments.port is not None:
        _check_port(arguments.port)
        settings["server.port"] = arguments.port
    if arguments.data is not None:
        os.environ[GIVEN] = _checked(arguments.data)
    sys.argv = [str(_APP)]  # Streamlit looks for its settings and pages where this script lies
    try:
        runpy.run_path(str(_APP))["app"].run(config=settings)
    except SystemExit as stopped:
        raise RequestError("The dashboard could not be started: is a port free? Name one with --port.") from stopped
    return "Stopped."


def _check_port(port: int) -> None:
    check.within(1, 65535, port=port)
    try:
        socket.create_server(("localhost", port)).close()
    except OSError as error:
        why = os.strerror(error.errno or 0)
        raise RequestError(f"port is {port}, which cannot be used ({why}): give another one.") from None


def _checked(word: str) -> str:
    """``word`` as every visit may read it, from whatever folder; refuses what the pages could not open."""
    if sample_named(word) is not None:
        return word
    if isinstance(named(word).content, SparseTable):
        raise RequestError("The pages do not show sparse files: use `dpviz run`, or open a CSV file or a sample.")
    return os.path.abspath(word)  # noqa: PTH100 (a link stays one: the sidecar lies beside it)
