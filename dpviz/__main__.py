"""The command line. Exit codes: 0 done, 2 the request or the file is wrong, 1 a defect of dpviz."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Sequence

from dpviz.check import RequestError
from dpviz.cli.console import NotWritten, say
from dpviz.cli.parser import read_arguments

STOPPED = 130  # what shells expect after Ctrl-C


def main(argv: Sequence[str] | None = None) -> int:
    """Serve one command line and return its exit code; nothing that goes wrong shows a value of the data."""
    if argv is None:
        _prepare_process()
    try:
        print(_serve(sys.argv[1:] if argv is None else argv), flush=True)
    except NotWritten as error:
        print(error.printed, flush=True)
        say(str(error))
        return 2
    except RequestError as error:
        say(str(error))
        return 2
    except SystemExit as done:  # --help and --version have printed
        return int(done.code or 0)
    except KeyboardInterrupt:
        say("Stopped.")
        return STOPPED
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        return _defect(error)
    return 0


def _serve(argv: Sequence[str]) -> str:
    """The text to print. Each command imports what it needs: listing the algorithms should not wait for pandas."""
    arguments = read_arguments(argv)
    match arguments.command:
        case "algorithms":
            from dpviz.cli.algorithms_command import algorithms_command

            return algorithms_command(arguments)
        case "advise":
            from dpviz.cli.advise_command import advise_command

            return advise_command(arguments)
        case "declare":
            from dpviz.cli.declare_command import declare_command

            return declare_command(arguments)
        case "run":
            from dpviz.cli.run_command import run_command

            return run_command(arguments)
        case "sweep":
            from dpviz.cli.sweep_command import sweep_command

            return sweep_command(arguments)
        case "reproduce":
            from dpviz.cli.reproduce_command import reproduce_command

            return reproduce_command(arguments)
        case "open":
            from dpviz.cli.open_command import open_command

            return open_command(arguments)
        case unknown:
            raise RequestError(f"There is no command {unknown!r}: see dpviz --help.")


def _defect(error: Exception) -> int:
    """Only the type is named: a message or a traceback may quote a row."""
    kind = getattr(error, "kind", type(error).__name__)  # of the error in a worker, where it was one
    say(
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
