"""What the fuzz has found, each as the smallest input that showed it; the family says how it must end."""

import json
import os
from collections.abc import Callable
from pathlib import Path

from scipy import sparse

from benchmarks.fuzzing.case import Broken, Case, command
from benchmarks.fuzzing.secrets import Secrets
from dpviz.runs.open_table import declare
from dpviz.tables.csv_intake import load_csv, open_csv
from dpviz.tables.declarations import apply_declaration
from dpviz.tables.file_format import FileFormat, NumberStyle
from dpviz.tables.proposal import propose

_ASK = ("--k", "2", "--epsilon", "1", "--bounds", "-1,1")
_TABLE = "x,y,name\n731944027,0.5,qwrtzpsdfg\n0.1,0.2,b\n-0.3,0.4,c\n"
_MANY_NAMES = json.dumps([f"c{number}" for number in range(50_000)])
_SECRETS = Secrets((731_944_027, 773_211_451), ("qwrtzpsdfg",))


def _command(*argv: str) -> Callable[[Path], str]:
    def do(folder: Path) -> str:
        (folder / "data.csv").write_text(_TABLE)
        return command(list(argv))

    return do


def _notes(raw: str, **declared: object) -> Callable[[Path], str]:
    def do(folder: Path) -> str:
        table = load_csv(raw.encode(), declared=FileFormat(**declared))  # type: ignore[arg-type]
        return "\n".join((*table.frame.columns, *table.notes))

    return do


def _sparse_run(folder: Path) -> str:
    sparse.save_npz(folder / "words.npz", sparse.random_array((6, 4), density=0.3, format="csr", rng=0))
    return command(["run", "words.npz", "--algorithm", "balcan-sparse", *_ASK])


def _proposal(raw: str) -> Callable[[Path], str]:
    return lambda folder: str(propose(open_csv(raw.encode())))


def _folder_of_an_empty_study(folder: Path) -> str:
    (folder / "data.csv").write_text(_TABLE)
    (folder / "study").mkdir()
    (folder / "study" / "results.csv").mkdir()
    asked = ("--algorithms", "dplloyd", "--epsilons", "1", "--ks", "2", "--repeats", "1", "--bounds", "-1,1")
    return command(["sweep", "data.csv", *asked, "--jobs", "1", "--out", "study", "--resume"])


def _from_json(text: str) -> Callable[[Path], str]:
    return lambda folder: repr(declare(open_csv(_TABLE.encode()), apply_declaration(text)).domain)


def _study_with_a_seed_below_nought(folder: Path) -> str:
    (folder / "data.csv").write_text(_TABLE)
    asked = ("--algorithms", "dplloyd", "--epsilons", "1", "--ks", "2", "--columns", "x,y", "--bounds", "-1,1")
    argv = ["sweep", "data.csv", *asked, "--repeats", "1", "--jobs", "1", "--out", "study"]
    command(argv)
    manifest = folder / "study" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"seed": 0', '"seed": -5'))
    return command([*argv, "--resume"])


def _bell_in_a_name(*argv: str) -> Callable[[Path], str]:
    def do(folder: Path) -> str:
        (folder / "data.csv").write_text("x,y\n0.1,0.2\n0.3,0.4\n")
        said = command(list(argv))
        if "\x07" in said:
            raise Broken("a name steers the terminal")
        return said

    return do


def _pipe(*argv: str) -> Callable[[Path], str]:
    def do(folder: Path) -> str:
        os.mkfifo(folder / "pipe")
        return command(list(argv))

    return do


_BLANKS = " " * 3_000


_RESULTS: dict[str, Callable[[Path], str]] = {
    "a name that rings": _bell_in_a_name("declare", "data.csv", "--out", "\x07.json"),
    "a name of many blanks": _notes(f"({_BLANKS}€{_BLANKS}x,y\n1,2\n"),
    "one pair of bounds for columns that are named": _command("run", "data.csv", "--columns", "x,y", *_ASK),
    "a small sparse file": _sparse_run,
}
_REFUSALS: dict[str, Callable[[Path], str]] = {
    "no path": _command("run", "", *_ASK),
    "a path too long for the system": _command("run", "x" * 5_000, *_ASK),
    "a line end as the delimiter": _notes(_TABLE, delimiter="\n"),
    "rows under another delimiter": _notes("731944027 €|773211451 €\n1 €|2 €\n", delimiter=";"),
    "rows in another encoding than is declared": _notes("731944027 €\n1 €\n", encoding="cp1253"),
    "a pipe in place of a release": _pipe("verify", "pipe"),
    "half a character as a column": _from_json('{"bounds": {"\\ud800": [0, 1]}}'),
    "a first line of a million commas": _proposal("," * 999_000),
    "a seed below nought in the folder of a study": _study_with_a_seed_below_nought,
    "a sign that holds a grouping mark": _notes(_TABLE, style=NumberStyle(".", "'", "\u2212\u2019")),
    "more number columns than are allowed": _from_json(f'{{"lower": 0, "upper": 1, "numbers": {_MANY_NAMES}}}'),
    "a folder in place of the results of a study": _folder_of_an_empty_study,
}

FOUND = {
    name: Case(outcome, name, do, _SECRETS)
    for outcome, found in (("result", _RESULTS), ("refused", _REFUSALS))
    for name, do in found.items()
}
