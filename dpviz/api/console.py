"""A command line, whole: how it is spelled and refused, what is said on stderr or written to ``--out``, how it ends.

Exit codes: 0 done, 2 the request or the file is wrong, 1 a defect, or what a check found.
"""

from __future__ import annotations

import argparse
import errno
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from dpviz import __version__
from dpviz.core import RequestError, check, format_table
from dpviz.runs import create_whole
from dpviz.words import read_toml

if TYPE_CHECKING:
    from dpviz.runs import Request, profiles

COMMANDS = (
    *("algorithms", "audit", "advise", "declare", "run", "sweep"),
    *("reproduce", "open", "account", "release", "verify", "read", "ask"),
)
"""Each is a module ``dpviz.api.cli.NAME_command`` with ``serve(arguments)``, and with ``add(parser)`` where its options
are not those that ``options.toml`` lists under its name, and no others."""

STOPPED = 130  # what shells expect after Ctrl-C


class NotWritten(RequestError):
    """A release that could not be written to its file: ``printed`` goes to stdout, so that nothing paid for is lost."""

    def __init__(self, sentence: str, printed: str) -> None:
        super().__init__(sentence)
        self.printed = printed


class FoundWrong(Exception):
    """What was checked is not what it says: ``printed`` goes to stdout, and the exit code is 1."""

    def __init__(self, printed: str) -> None:
        super().__init__(printed)
        self.printed = printed


def say(sentence: str) -> None:
    """One line on stderr; where nobody takes it, what is done goes on all the same."""
    with suppress(OSError):
        sys.stderr.write(f"dpviz: {sentence}\n")
        sys.stderr.flush()


def refuse_taken(out: Path) -> None:
    """Refuse ``--out`` where no new file can be, before a row is read or anything is charged."""
    try:
        is_new = not out.exists() and out.absolute().parent.is_dir()
    except (OSError, ValueError):  # a name that is too long, or with a character that no file may have
        is_new = False
    if not is_new:
        raise RequestError("--out is there already, or is in no folder: give a new file, so that nothing is lost.")


def create_out(out: Path, data: bytes) -> None:
    """Write the new file that ``--out`` names."""
    try:
        create_whole(out, data)
    except (OSError, ValueError) as error:
        raise RequestError(f"--out cannot be written ({type(error).__name__}): give a path you may write to.") from None


_LOOKS_NEGATIVE = re.compile(r"-(\.?\d|inf|nan)", re.IGNORECASE)


class Parser(argparse.ArgumentParser):
    """A parser that refuses in one sentence instead of leaving the process."""

    def error(self, message: str) -> NoReturn:
        """Refuse a command line."""
        line = re.sub(r"\S{60,}", lambda word: f"{word[0][:40]}…", " ".join(message.split()))
        raise RequestError(f"{line[:1].upper()}{line[1:]}; see {self.prog} --help.")


def add_request_options(command: Parser, *, seed: str) -> None:
    """What is asked of every algorithm that runs; ``seed`` says what one does here."""
    add_options(command.add_argument_group("the request"), "request", what_a_seed_does=seed)


def read_request(arguments: argparse.Namespace) -> Request:
    """What is asked of an algorithm by these options."""
    from dpviz.runs import Contender, Request, parse_named_values  # not every command asks for a run

    contender = Contender.parse(arguments.algorithm, parse_named_values(arguments.set))
    return Request(contender, arguments.k, arguments.epsilon, arguments.delta, arguments.seed)


def join_words(argv: Sequence[str]) -> list[str]:
    """``argv`` with ``--bounds -1,1`` written ``--bounds=-1,1``: argparse takes a leading minus for an option."""
    tokens: list[str] = []
    for token in argv:
        if tokens and re.fullmatch(r"--[a-z-]+", tokens[-1]) and _LOOKS_NEGATIVE.match(token):
            tokens[-1] += f"={token}"
        else:
            tokens.append(token)
    return tokens


def read_yes_or_no(text: str) -> bool:
    """The word yes or no."""
    if text not in ("yes", "no"):
        raise argparse.ArgumentTypeError(f"{check.format_value(text)} is neither yes nor no")
    return text == "yes"


def read_whole(text: str) -> int:
    """A whole number of an option."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{check.format_value(text)} is not a whole number") from None


def read_number(text: str) -> float:
    """A number of an option; its range is checked where it is used."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{check.format_value(text)} is not a number") from None


def read_names(text: str) -> list[str]:
    """Comma-separated names; a name that contains a comma stands between double quotes."""
    import csv

    try:
        listed = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    except csv.Error:
        listed = []
    if not listed or not all(listed):
        raise argparse.ArgumentTypeError("give names with commas between them, such as a,b")
    return listed


def read_wholes(text: str) -> list[int]:
    """Comma-separated whole numbers."""
    return [read_whole(part) for part in read_names(text)]


_READERS: Mapping[str, Callable[[str], Any]] = {
    "whole": read_whole,
    "number": read_number,
    "names": read_names,
    "numbers": lambda text: [read_number(part) for part in read_names(text)],
    "wholes": read_wholes,
    "wholes_or_all": lambda text: [None if part == "all" else read_whole(part) for part in read_names(text)],
}


_OPTIONS: Mapping[str, Any] = read_toml(__file__, "options.toml")


def add_options(command: Any, of: str, **said: Any) -> None:
    """The options that ``options.toml`` lists under a name; what is ``said`` fills places, or is a usual value."""
    for flag, own in _OPTIONS[of].items():
        if flag == "description":
            command.description = own.format(**said)
            continue
        told, name = _OPTIONS["shared"].get(flag, {}) | own, flag.strip("-").replace("-", "_")
        told |= {"type": _READERS[told["type"]]} if "type" in told else {}
        told |= {"choices" if "choices" in told else "default": said[name]} if name in said else {}
        command.add_argument(flag, **told | {"help": told["help"].format(**said)})


_MOST_COLUMNS = 8


def list_center_tables(made: profiles.Profile) -> Iterator[str]:
    """Sizes and centres with their noise, so many columns side by side, and what stands behind a ±."""
    sizes = ["?"] * made.k if made.sizes is None else made.sizes.words
    said = [made.describe_center(segment) for segment in range(made.k)]
    units = {column.whole: "" if column.worded or column.shared else column.unit for column in made.columns}
    names = [*said[0]]
    for start in range(0, len(names), _MOST_COLUMNS):
        columns = names[start : start + _MOST_COLUMNS]
        heads = [f"{name} ({units[name]})" if units[name] else name for name in columns]
        rows = [[str(i + 1), sizes[i], *(said[i][name] for name in columns)] for i in range(made.k)]
        yield f"Released centres\n{format_table(['segment', 'rows', *heads], rows)}"
    yield made.plus_minus


def main(argv: Sequence[str] | None = None) -> int:
    """Serve one command line of ``dpviz``."""
    return serve_line(read_arguments, argv)


def serve_line(read: Callable[[Sequence[str]], argparse.Namespace], argv: Sequence[str] | None) -> int:
    """Serve one command line and return its exit code; nothing that goes wrong shows a value of the data."""
    if argv is None and not sys.warnoptions:
        warnings.simplefilter("ignore")  # a library's warning may quote a value
    for stream in (sys.stdout, sys.stderr) if argv is None else ():
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without ε should not end a run
    arguments = argparse.Namespace()
    try:
        arguments = read(sys.argv[1:] if argv is None else argv)
        return _print(f"{arguments.serve(arguments)}\n", 0, arguments)
    except FoundWrong as error:
        return _print(f"{error.printed}\n", 1, arguments)
    except NotWritten as error:
        code = _print(f"{error.printed}\n", 2, arguments)
        say(str(error))
        return code
    except RequestError as error:
        say(str(error))
        return 2
    except SystemExit as done:  # --help and --version have printed
        return _print("", int(done.code or 0), arguments)
    except KeyboardInterrupt:
        say("Stopped.")
        return STOPPED
    except Exception as error:
        if not _ran_out_of_memory(error):
            return _report_defect(error)
        say("Memory ran out: keep fewer rows or only the columns that you need, or use a machine with more.")
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
        say(f"The output could not be written ({why}): {paid or 'make room, or send it elsewhere'}.")
        return code or 2
    return code


def _ran_out_of_memory(error: BaseException | None) -> bool:
    """Whether a lack of memory is behind an error: one at an import, or of a thread, has another type."""
    while error is not None:
        if isinstance(error, MemoryError) or "failed to map segment" in str(error) or "start new thread" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def add_command(parser: Parser, name: str) -> None:
    """Give a parser the options of a command, and what serves it."""
    module = check.import_extra(f"dpviz.api.cli.{name}_command")
    getattr(module, "add", partial(add_options, of=name))(parser)
    parser.set_defaults(serve=module.serve)


def read_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The parsed command line; its ``serve`` does what is asked.

    Only the command that is named is imported, because listing the algorithms should not wait for pandas; what is said
    of each is the first line of its file.
    """
    about = "Differentially private clustering that shows what privacy costs."
    parser = Parser(prog="dpviz", description=about, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"dpviz {__version__}")
    listed = parser.add_subparsers(dest="command", required=True, metavar=f"{{{','.join(COMMANDS)}}}")
    named = next((word for word in argv if word in COMMANDS), None)
    for name in COMMANDS:
        line = (files("dpviz.api.cli") / f"{name}_command.py").read_text("utf-8").partition("\n")[0]
        command = listed.add_parser(name, help=line.partition("``: ")[2].rstrip('."'), allow_abbrev=False)
        if name == named:
            add_command(command, name)
    return parser.parse_args(join_words(argv))


def _report_defect(error: Exception) -> int:
    """Only the type is named: a message or a traceback may quote a row."""
    kind = getattr(error, "kind", type(error).__name__)  # of the error in a worker, where it was one
    say(
        f"A defect of dpviz stopped this run ({kind}): set DPVIZ_DEBUG=1 to see where, and look "
        "before you share that, because it may quote values of the data."
    )
    if os.environ.get("DPVIZ_DEBUG") == "1":
        traceback.print_exception(error)
    return 1
