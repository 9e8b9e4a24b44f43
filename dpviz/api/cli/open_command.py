"""``dpviz open``: open the dashboard in a browser on this machine, until Ctrl-C."""

import argparse
import logging
import os
import runpy
import sys

from dpviz.core import RequestError, check
from dpviz.tables import GIVEN, DuckTable, SparkTable, SparseTable, find_sample, open_named
from dpviz.words import RESOURCES

_APP = RESOURCES / "app.py"
# Streamlit's part that takes the port: when it cannot, it says so here and leaves with this code.
_SERVER, _NO_PORT = "streamlit.web.server.starlette.starlette_server", 1


def serve(arguments: argparse.Namespace) -> str:
    """Serve pages until somebody stops it; each visit begins with the table that is named, if one is."""
    check.import_extra("streamlit")
    check.import_extra("plotly")
    port: int | None = arguments.port
    settings: dict[str, object] = {"server.fileWatcherType": "none"}  # nobody edits what is installed
    if port is not None:
        check.within(1, 65535, port=port)
        settings["server.port"] = port
    if arguments.data is not None:
        word, is_sample = arguments.data, find_sample(arguments.data) is not None
        if not is_sample and isinstance(open_named(word)[0], SparseTable | DuckTable | SparkTable):
            raise RequestError("The pages open CSV and Parquet: use `dpviz run` for a sparse file or a database.")
        # As every visit may read it, from whatever folder; a link stays one: the declaration file lies beside it.
        os.environ[GIVEN] = word if is_sample else os.path.abspath(word)  # noqa: PTH100
    logging.getLogger(_SERVER).addFilter(lambda record: "is not available" not in record.getMessage())
    sys.argv = [str(_APP)]  # Streamlit looks for its settings and pages where this script lies
    try:
        runpy.run_path(str(_APP))["app"].run(config=settings)
    except SystemExit as stopped:
        if stopped.code != _NO_PORT:
            raise
        what = "no port from 8501 on can be used" if port is None else f"port is {port}, which cannot be used"
        raise RequestError(f"{what}: another program may have it; give another one with --port.") from None
    return "Stopped."
