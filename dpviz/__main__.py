"""The command line. Exit codes: 0 done, 2 the request or the file is wrong, 1 a defect, or what a check found."""

from __future__ import annotations

import argparse
import errno
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from importlib.resources import files

from dpviz import __version__
from dpviz.api import console
from dpviz.core import RequestError, check

COMMANDS = (
    *("algorithms", "audit", "advise", "declare", "run", "sweep"),
    *("reproduce", "open", "account", "release", "verify", "read", "ask"),
)
"""Each is a module ``dpviz.api.cli.NAME_command`` with ``add(parser)`` and ``serve(arguments)``."""

STOPPED = 130  # what shells expect after Ctrl-C


def main(argv: Sequence[str] | None = None) -> int:
    """Serve one command line of ``dpviz``."""
    return serve_line(read_arguments, argv)


def serve_line(read: Callable[[Sequence[str]], argparse.Namespace], argv: Sequence[str] | None) -> int:
    """Serve one command line and return its exit code; nothing that goes wrong shows a value of the data."""
    if argv is None:
        _prepare_process()
    arguments = argparse.Namespace()
    try:
        arguments = read(sys.argv[1:] if argv is None else argv)
        return _print(f"{arguments.serve(arguments)}\n", 0, arguments)
    except console.FoundWrong as error:
        return _print(f"{error.printed}\n", 1, arguments)
    except console.NotWritten as error:
        code = _print(f"{error.printed}\n", 2, arguments)
        console.say(str(error))
        return code
    except RequestError as error:
        console.say(str(error))
        return 2
    except SystemExit as done:  # --help and --version have printed
        return _print("", int(done.code or 0), arguments)
    except KeyboardInterrupt:
        console.say("Stopped.")
        return STOPPED
    except Exception as error:
        if not _ran_out_of_memory(error):
            return _report_defect(error)
        console.say("Memory ran out: keep fewer rows or only the columns that you need, or use a machine with more.")
        return 2


def _print(text: str, code: int, arguments: argparse.Namespace) -> int:
    """Print all that a command says, and return its exit code; where nobody takes it, what was paid for is told.

    A command that has paid leaves in ``arguments.paid`` what that was, and where it lies.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the end of the process fails once more
        if isinstance(error, BrokenPipeError):  # whoever read our output has seen enough
            return code
        why = "the disk is full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else error.strerror or "the disk fails"
        paid = getattr(arguments, "paid", "")
        console.say(f"The output could not be written ({why}): {paid or 'make room, or send it elsewhere'}.")
        return code or 2
    return code


def _ran_out_of_memory(error: BaseException | None) -> bool:
    """Whether a lack of memory is behind an error: one at an import, or of a thread, has another type."""
    while error is not None:
        if isinstance(error, MemoryError) or "failed to map segment" in str(error) or "start new thread" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def read_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The parsed command line; its ``serve`` does what is asked.

    Only the command that is named is imported, because listing the algorithms should not wait for pandas; of the
    others a line of help is read in their files.
    """
    about = "Differentially private clustering that shows what privacy costs."
    parser = console.Parser(prog="dpviz", description=about, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"dpviz {__version__}")
    listed = parser.add_subparsers(dest="command", required=True, metavar=f"{{{','.join(COMMANDS)}}}")
    named = next((word for word in argv if word in COMMANDS), None)
    for name in COMMANDS:
        command = listed.add_parser(name, help=_format_help(name), allow_abbrev=False)
        if name == named:
            module = check.import_extra(f"dpviz.api.cli.{name}_command")
            module.add(command)
            command.set_defaults(serve=module.serve)
    return parser.parse_args(console.join_words(argv))


def _format_help(name: str) -> str:
    """What the first line of a command's file says of it."""
    line = (files("dpviz.api.cli") / f"{name}_command.py").read_text("utf-8").partition("\n")[0]
    return line.partition("``: ")[2].rstrip('."')


def _report_defect(error: Exception) -> int:
    """Only the type is named: a message or a traceback may quote a row."""
    kind = getattr(error, "kind", type(error).__name__)  # of the error in a worker, where it was one
    console.say(
        f"A defect of dpviz stopped this run ({kind}): set DPVIZ_DEBUG=1 to see where, and look "
        "before you share that, because it may quote values of the data."
    )
    if os.environ.get("DPVIZ_DEBUG") == "1":
        traceback.print_exception(error)
    return 1


def _prepare_process() -> None:
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # a library's warning may quote a value
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without ε should not end a run


if __name__ == "__main__":
    sys.exit(main())
