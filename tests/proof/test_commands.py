"""What every command prints, with --json and without; an audit takes a minute, and is left to its own tests."""

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from dpviz.releases.account import Account
from dpviz.releases.package import make_zip
from experiments.__main__ import main as experiments
from tests.command_line import told_by, write_points
from tests.proof.kept import Item, compare, without_day
from tests.proof.test_releases import release
from tests.releases.charges import a_charge

BOX = {"bounds": {"x": [-1, 1], "y": [-1, 1]}, "bounds_origin": "by design", "label": "label"}
RUN = ("--k", 3, "--epsilon", 1, "--seed", 3)


def list_commands(folder: Path) -> dict[str, tuple[object, ...]]:
    points = write_points(folder / "points.csv", declaration_file=BOX, label=True)
    (folder / "one").mkdir()
    (folder / "one.zip").write_bytes(make_zip(release(folder / "one")))
    account = Account.new(folder / "people.sqlite", name="people", cap_epsilon=2.0, cap_delta=1e-5)
    account.note_released(account.charge(a_charge(0.5, 1e-6)), card_sha256="ab" * 32)
    account.note_failed(account.charge(a_charge(0.25, who="ada")), why="the disk was full")
    zipped = folder / "one.zip"
    return {
        "algorithms": ("algorithms",),
        "advise": ("advise", "--n", 12000, "--d", 6, "--k", 5),
        "advise, approximate": ("advise", "--n", 900, "--d", 2, "--k", 3, "--delta", 1e-6, "--target", 1.1),
        "run": ("run", points, *RUN, "--evaluate"),
        "run kmeans++": ("run", points, *RUN, "--algorithm", "kmeans++"),
        "run balcan, approximate": ("run", points, *RUN, "--algorithm", "balcan", "--delta", 1e-6),
        "run of a sample": ("run", "people", "--k", 4, "--epsilon", 1, "--seed", 3, "--algorithm", "dplloyd"),
        "account show": ("account", "show", account.path),
        "verify": ("verify", zipped),
        "read": ("read", zipped, "--compare", zipped),
    }


def list_prints(folder: Path) -> Iterator[Item]:
    for name, argv in list_commands(folder).items():
        for options in ((), ("--json",)):
            said = told_by(*argv, *options)
            assert said.code == 0, said.err
            text = re.sub(r"(?<![\w.])([0-9a-f]{64}|[0-9a-f]{12})\b", "HASH", said.out)
            yield " ".join((name, *options)), without_day(text, folder)
    for options in ((), ("--json",)):
        listed = told_by("--list", *options, main=experiments)
        assert listed.code == 0, listed.err
        yield " ".join(("reproduce --list", *options)), listed.out
    yield "declare", told_by("declare", folder / "points.csv").out
    asked = ("--algorithms", "kmeans++,dplloyd", "--epsilons", "0.5,2", "--ks", "2,3", "--repeats", 2, "--seed", 3)
    swept = told_by("sweep", folder / "points.csv", *asked, "--jobs", 1, "--out", folder / "study")
    assert swept.code == 0, swept.err
    yield "sweep", pd.read_csv(folder / "study" / "results.csv").drop(columns="seconds").to_csv()


def test_what_commands_print_is_what_it_was(tmp_path: Path) -> None:
    compare("commands", list_prints(tmp_path))
