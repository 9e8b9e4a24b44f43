"""What the server says when something goes wrong: of an exception its type and its place, never its text.

A message may quote a row: an array that does not fit, a key that is missing, a number that is none. ``DPVIZ_DEBUG=1``
leaves everything as it is, for whoever looks for a defect and looks before sharing what is printed.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import warnings
from pathlib import Path
from traceback import walk_tb
from types import TracebackType
from typing import Any

_PARTS_SHOWN, _FRAMES_SHOWN = 3, 12
_LOGGER = logging.getLogger("dpviz")


def format_type_and_place(error: BaseException) -> str:
    """The type of ``error`` and of what caused it, and the innermost frames it came through, without a word of it."""
    causes, cause = [type(error).__name__], error.__cause__ or error.__context__
    while cause is not None and len(causes) < _FRAMES_SHOWN:
        causes.append(type(cause).__name__)
        cause = cause.__cause__ or cause.__context__
    frames = [
        f"  {'/'.join(Path(frame.f_code.co_filename).parts[-_PARTS_SHOWN:])}:{line} in {frame.f_code.co_name}"
        for frame, line in walk_tb(error.__traceback__)
    ]
    return "\n".join([" from ".join(causes), *frames[-_FRAMES_SHOWN:]])


def keep_texts_out() -> None:
    """From now on, nothing that this process logs or prints about an exception or a warning holds its text."""
    if os.environ.get("DPVIZ_DEBUG") == "1":
        return
    made = logging.getLogRecordFactory()

    def without_text(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = made(*args, **kwargs)
        if isinstance(record.exc_info, tuple) and record.exc_info[1] is not None:
            record.exc_text = format_type_and_place(record.exc_info[1])
        elif record.exc_text:
            record.exc_text = "(not shown)"
        record.exc_info = None
        if isinstance(record.msg, BaseException):
            record.msg = type(record.msg).__name__
        if isinstance(record.args, tuple):
            record.args = tuple(_replace_by_type(part) for part in record.args)
        elif record.args:
            record.args = {name: _replace_by_type(part) for name, part in record.args.items()}
        return record

    logging.setLogRecordFactory(without_text)
    logging.raiseExceptions = False  # a handler that fails would print what was on its way
    sys.excepthook = _log_uncaught
    threading.excepthook = lambda told: _log_uncaught(told.exc_type, told.exc_value, told.exc_traceback)
    sys.unraisablehook = lambda told: _log_uncaught(told.exc_type, told.exc_value, told.exc_traceback)
    warnings.showwarning = _log_warning


def log_defect(error: Exception) -> None:
    """Log the type and the place of an error that a page goes on without."""
    _LOGGER.log(logging.ERROR, format_type_and_place(error))


def say_defect(error: Exception) -> bool:
    """Tell the visitor, in place of the page, that a defect stopped it; the handler of Streamlit's ``App``."""
    import streamlit as st  # here, so that importing this file stays light

    from dpviz.app.ui.escape import escape_markdown

    st.error(
        f"A defect of dpviz stopped this page ({escape_markdown(type(error).__name__)}). What it says is not shown, "
        "because it could quote the rows; the server's log has the place in the program. Everything else in this "
        "visit is kept: another page, or other settings, may work.",
        title="Something went wrong here",
        icon=":material/error:",
    )
    return True  # Streamlit shows nothing of its own


def _replace_by_type(part: object) -> object:
    return type(part).__name__ if isinstance(part, BaseException) else part


def _log_uncaught(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        return
    _LOGGER.error("Uncaught: %s", format_type_and_place(error) if error is not None else kind.__name__)


def _log_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, *_more: Any, **_named: Any
) -> None:
    _LOGGER.warning("%s at %s:%d", category.__name__, "/".join(Path(filename).parts[-_PARTS_SHOWN:]), lineno)
