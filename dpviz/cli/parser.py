"""What can be asked on the command line, and how it is spelled."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import NoReturn

from dpviz import __version__
from dpviz.check import RequestError, shown

_LOOKS_NEGATIVE = re.compile(r"-(\.?\d|inf|nan)", re.IGNORECASE)

_DATA = "a CSV file (.csv.gz is unpacked), a sparse .npz, or the name of a sample"


class Parser(argparse.ArgumentParser):
    """A parser that refuses in one sentence instead of leaving the process."""

    def error(self, message: str) -> NoReturn:
        """Refuse a command line."""
        line = re.sub(r"\S{60,}", lambda word: f"{word[0][:40]}…", " ".join(message.split()))
        raise RequestError(f"{line[:1].upper()}{line[1:]}; see {self.prog} --help.")


def read_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The parsed command line.

    Raises
    ------
    RequestError
        If it cannot be understood.
    """
    return _build().parse_args(_joined(argv))


def _joined(argv: Sequence[str]) -> list[str]:
    """``argv`` with ``--bounds -1,1`` written ``--bounds=-1,1``: argparse takes a leading minus for an option."""
    joined: list[str] = []
    for token in argv:
        if joined and re.fullmatch(r"--[a-z-]+", joined[-1]) and _LOOKS_NEGATIVE.match(token):
            joined[-1] += f"={token}"
        else:
            joined.append(token)
    return joined


def _build() -> Parser:
    parser = Parser(prog="dpviz", description=__doc__, allow_abbrev=False)
    parser.description = "Differentially private clustering that shows what privacy costs."
    parser.add_argument("--version", action="version", version=f"dpviz {__version__}")
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="{algorithms,advise,declare,run,sweep,reproduce,open}"
    )
    _add_algorithms(commands)
    _add_advise(commands)
    _add_declare(commands)
    _add_run(commands)
    _add_sweep(commands)
    _add_reproduce(commands)
    _add_open(commands)
    return parser


def _add_algorithms(commands: argparse._SubParsersAction[Parser]) -> None:
    listing = commands.add_parser("algorithms", help="list the algorithms and their parameters", allow_abbrev=False)
    listing.add_argument("--json", action="store_true", help="print a JSON list")


def _add_advise(commands: argparse._SubParsersAction[Parser]) -> None:
    advise = commands.add_parser(
        "advise",
        help="name an algorithm and the smallest ε for a size and a target; reads no table",
        description="Name the cheapest algorithm and the smallest ε that should keep the loss near that of k-means++, "
        "from a stored study of generated tables. Reads no table.",
        allow_abbrev=False,
    )
    advise.add_argument("--n", type=whole, required=True, metavar="N", help="the number of rows, or about how many")
    advise.add_argument("--d", type=whole, required=True, metavar="D", help="the number of columns")
    advise.add_argument("--k", type=whole, required=True, metavar="K", help="number of clusters")
    advise.add_argument(
        "--target", type=number, default=1.1, metavar="R", help="most loss over that of k-means++ (default: 1.1)"
    )
    advise.add_argument("--delta", type=number, default=0.0, metavar="D", help="0 for pure ε (default: 0)")
    advise.add_argument("--relation", default="add_remove", metavar="add_remove|replace", help="neighbours")
    advise.add_argument("--rows-per-person", type=whole, default=1, metavar="M", help="most rows of one person")
    advise.add_argument("--json", action="store_true", help="print one JSON object")


def _add_declare(commands: argparse._SubParsersAction[Parser]) -> None:
    declare = commands.add_parser(
        "declare",
        help="propose how a file is to be read, as a sidecar to complete",
        description="Look at the first rows of a file and propose its declaration: encoding, delimiter, header, marks "
        "in numbers, columns. Bounds are left open: they never come from rows. Nothing else reads a file by its rows.",
        allow_abbrev=False,
    )
    declare.add_argument("data", metavar="DATA.csv", help="the table; .csv.gz is unpacked")
    declare.add_argument("--out", metavar="DATA.json", help="write the sidecar to this new file")


def _add_run(commands: argparse._SubParsersAction[Parser]) -> None:
    run = commands.add_parser(
        "run",
        help="run one algorithm on a CSV file",
        description="Run one algorithm on a CSV file and print what it releases.",
        allow_abbrev=False,
    )
    run.add_argument("data", metavar="DATA", help=_DATA)
    run.add_argument("--algorithm", default="auto", metavar="ID", help="see `dpviz algorithms` (default: auto)")
    run.add_argument("--k", type=whole, required=True, metavar="K", help="number of clusters")
    run.add_argument("--epsilon", type=number, required=True, metavar="E", help="the whole ε of this run")
    _add_table_options(run, seed="repeatable noise, for a study; never for a release")
    run.add_argument("--evaluate", action="store_true", help="also measure the loss on the rows: revealed, not private")
    run.add_argument("--json", action="store_true", help="print one JSON object")
    run.add_argument("--out", metavar="CENTERS.csv", help="write the released centres to this file")


def _add_sweep(commands: argparse._SubParsersAction[Parser]) -> None:
    sweep = commands.add_parser(
        "sweep",
        help="run algorithms many times over a grid of ε, δ, k and n",
        description="Run algorithms many times over a grid of ε, δ, k and n, and measure what each run loses. "
        "Losses are read from the rows: the results are for the owner of the data, not a release.",
        allow_abbrev=False,
    )
    sweep.add_argument("data", metavar="DATA", help=_DATA)
    sweep.add_argument(
        "--algorithms", type=names, required=True, metavar="A,B", help="ids; a variant is written ID:name=value"
    )
    sweep.add_argument("--epsilons", type=numbers, required=True, metavar="E,E", help="the ε of the runs")
    sweep.add_argument("--ks", type=wholes, required=True, metavar="K,K", help="the numbers of clusters")
    sweep.add_argument(
        "--ns", type=wholes_or_all, metavar="N,N", help="rows of subsamples; all means the table (default: all)"
    )
    sweep.add_argument("--deltas", type=numbers, metavar="D,D", help="several δ, instead of --delta")
    sweep.add_argument("--repeats", type=whole, default=20, metavar="N", help="runs of each point (default: 20)")
    sweep.add_argument("--out", required=True, metavar="DIR", help="folder for results.csv and manifest.json")
    sweep.add_argument("--resume", action="store_true", help="go on with the study in --out; finished runs are kept")
    sweep.add_argument("--jobs", type=whole, metavar="N", help="worker processes (default: one a core)")
    _add_table_options(sweep, seed="another draw of the whole study (default: 0; the same study has the same results)")


def _add_reproduce(commands: argparse._SubParsersAction[Parser]) -> None:
    reproduce = commands.add_parser(
        "reproduce",
        help="run the papers' experiments again and judge their claims",
        description="Run the papers' experiments again: tables, figures and a computed verdict for each claim. "
        "Published files are used where --data (or DPVIZ_DATA) names a folder that holds them, else generated "
        "stand-ins of the same size; the output says which.",
        allow_abbrev=False,
    )
    reproduce.add_argument("ids", nargs="*", metavar="ID", help="claims, see --list (default: all)")
    reproduce.add_argument("--list", action="store_true", help="list the claims and run nothing")
    reproduce.add_argument("--quick", action="store_true", help="fewer repeats and points: minutes instead of hours")
    reproduce.add_argument("--out", metavar="DIR", help="folder for a table and a page a claim, and manifest.json")
    reproduce.add_argument("--data", metavar="DIR", help="folder of published files, such as s1.csv")
    reproduce.add_argument("--jobs", type=whole, default=2, metavar="N", help="worker processes, 1 or 2 (default: 2)")
    reproduce.add_argument("--json", action="store_true", help="print verdicts as JSON")


def _add_open(commands: argparse._SubParsersAction[Parser]) -> None:
    opening = commands.add_parser(
        "open",
        help="open the dashboard in a browser on this machine",
        description="Serve the dashboard to this machine alone, until Ctrl-C. Whoever can log in to it can see DATA: "
        "name a private file on a machine of your own only, or bring it on the Data page.",
        allow_abbrev=False,
    )
    opening.add_argument("data", nargs="?", metavar="DATA", help="what every visit begins with: a CSV file or a sample")
    opening.add_argument("--port", type=whole, metavar="P", help="default: the first free one from 8501 on")


def _add_table_options(command: Parser, *, seed: str) -> None:
    declared = command.add_argument_group("what is declared about the table (DATA.json beside it may say it too)")
    declared.add_argument("--columns", type=names, metavar="A,B", help="the columns to cluster")
    declared.add_argument(
        "--bounds", metavar="LO,HI | FILE.json", help="declared bounds, data units; never taken from the rows"
    )
    declared.add_argument("--radius", type=number, metavar="R", help="largest distance from the middle of the bounds")
    declared.add_argument("--scaling", metavar="unit|common", help="each column by its bounds, or one scale for all")
    declared.add_argument(
        "--relation", metavar="add_remove|replace", help="neighbours (default: as DATA.json says, or add_remove)"
    )
    declared.add_argument("--n-public", type=whole, metavar="N", help="the number of rows, if it is public")
    declared.add_argument("--label", metavar="NAME", help='the column with a known grouping; "" for none')
    declared.add_argument("--id-column", metavar="NAME", help='the column that says whose a row is; "" for none')
    declared.add_argument("--rows-per-person", type=whole, metavar="M", help="most rows of one id that are used")
    _add_file_options(command)
    asked = command.add_argument_group("the request")
    asked.add_argument("--delta", type=number, default=0.0, metavar="D", help="for approximate algorithms (default: 0)")
    asked.add_argument(
        "--set", nargs="+", action="extend", default=[], metavar="name=value", help="parameters of the algorithm"
    )
    asked.add_argument("--seed", type=whole, metavar="S", help=seed)


def _add_file_options(command: Parser) -> None:
    file = command.add_argument_group("how the file is read (never worked out from its rows; see dpviz declare)")
    file.add_argument("--encoding", metavar="NAME", help="default: utf-8")
    file.add_argument(
        "--delimiter", metavar="C", help=r"one character, \t or whitespace (default: as the header has it)"
    )
    file.add_argument("--header", type=yes_or_no, metavar="yes|no", help="whether the first line holds names")
    file.add_argument("--names", type=names, metavar="A,B", help="names of all columns, in place of the header's")
    file.add_argument("--decimal", metavar=". or ,", help="decimal mark (default: .)")
    file.add_argument("--grouping", metavar="C", help="mark between groups of three digits (default: none)")
    file.add_argument("--sign", metavar="TEXT", help="stripped beside numbers: %%, $, €")


def yes_or_no(text: str) -> bool:
    """The word yes or no."""
    if text not in ("yes", "no"):
        raise argparse.ArgumentTypeError(f"{shown(text)} is neither yes nor no")
    return text == "yes"


def whole(text: str) -> int:
    """A whole number of an option."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a whole number") from None


def number(text: str) -> float:
    """A number of an option; its range is checked where it is used."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a number") from None


def names(text: str) -> list[str]:
    """Comma-separated names; a name that contains a comma stands between double quotes."""
    import csv

    found = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    if not found or not all(found):
        raise argparse.ArgumentTypeError("give names with commas between them, such as a,b")
    return found


def numbers(text: str) -> list[float]:
    """Comma-separated numbers."""
    return [number(part) for part in names(text)]


def wholes(text: str) -> list[int]:
    """Comma-separated whole numbers."""
    return [whole(part) for part in names(text)]


def wholes_or_all(text: str) -> list[int | None]:
    """Comma-separated whole numbers, or the word all, which is None."""
    return [None if part == "all" else whole(part) for part in names(text)]
