"""What commands print of files and options, to the letter: which word goes before which, what is told and what is not.

Centres and losses are stored with four digits; other processors may end in other last ones.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dpviz.releases.account import Account
from dpviz.tables.declarations import FROM_ROWS
from tests.command_line import told_by, write_points
from tests.proof.kept import without_day
from tests.releases.charges import a_charge
from tests.releases.people import account_in, write_people
from tests.stored import compare_texts

STORED = Path(__file__).parent / "stored"
BOX = {"bounds": {"x": [-1, 1], "y": [-1, 1]}}
# What lies beside points.csv, by the name of a copy of it.
DECLARED: dict[str, dict[str, Any]] = {
    "points": BOX,
    "replaced": BOX | {"relation": "replace"},
    "sized": BOX | {"n_public": 400, "scaling": "common", "radius": 0.7},
    "small": BOX | {"radius": 0.01},
    "known": BOX | {"label": "label"},
    "told": BOX
    | {"origins": {"x": "law or physics"}, "bounds_origin": "the codebook", "unit_of_privacy": "a visit", "radius": 0.9}
    | {"scaling": "common"},
    "proposed": BOX | {"proposed": True},
    "public": BOX | {"public": True},
    "looked": BOX | {"origins": {"y": FROM_ROWS}},
    "visits": BOX | {"id_column": "person", "rows_per_person": 3},
    "visits_of_few": BOX | {"id_column": "person", "rows_per_person": 3, "n_public": 300, "radius": 0.001},
}
EVALUATE, SU = "--evaluate", ("--algorithm", "dplloyd", "--set", "preset=su")
# A file, and what is asked of it.
RUNS: dict[str, tuple[str, tuple[object, ...]]] = {
    "n is public": ("points.csv", ("--n-public", 400)),
    "evaluated": ("points.csv", (EVALUATE,)),
    "evaluated against labels": ("known.csv", (EVALUATE,)),
    "without privacy": ("points.csv", ("--algorithm", "kmeans++", EVALUATE)),
    "bounds beside the file": ("points.csv", ()),
    "bounds of a file": ("bare.csv", ("--bounds", "declared.json")),
    "bounds of an option": ("bare.csv", ("--bounds", "-1,1")),
    "an option before the file": ("points.csv", ("--bounds=-1,1",)),
    "a chosen column": ("bare.csv", ("--bounds", "-1,1", "--columns", "y")),
    "a declared n and radius": ("sized.csv", ()),
    "options before both": (
        "sized.csv",
        ("--n-public", 500, "--scaling", "unit", "--radius", 0.1, "--relation", "add_remove"),
    ),
    "a radius belongs to its bounds": ("small.csv", ("--bounds", "-1,1")),
    "replaced": ("points.csv", ("--relation", "replace")),
    "replaced, as declared": ("replaced.csv", ()),
    "added, whatever is declared": ("replaced.csv", ("--relation", "add_remove")),
    "bounds of a file keep the relation": ("replaced.csv", ("--bounds", "declared.json")),
    "persons": ("visits.csv", ()),
    "persons of two rows": ("visits.csv", ("--rows-per-person", 2)),
    "no persons": ("visits.csv", ("--id-column", "")),
    "other persons": ("visits.csv", ("--id-column", "x", "--columns", "y")),
    "a file before the one beside keeps the persons": ("visits_of_few.csv", ("--bounds", "pair.json")),
    "a setting": ("points.csv", (*SU, "rounds=2")),
    "settings one by one": ("points.csv", (*SU, "--set", "rounds=2")),
    "everything declared": ("told.csv", ()),
    "a proposal": ("proposed.csv", ()),
    "a public table": ("public.csv", ()),
    "bounds from the rows": ("looked.csv", ("--out", "centers.csv")),
}
TEXTS: dict[str, tuple[object, ...]] = {
    "for people": (
        *("run", "points.csv", "--k", 3, "--epsilon", 1, "--algorithm", "dplloyd", EVALUATE, "--seed", 1),
        *("--set", "preset=gaussian", "--delta", "1e-6"),
    ),
    "without privacy": ("run", "points.csv", "--k", 3, "--epsilon", 1, "--algorithm", "kmeans++", "--seed", 1),
    "bounds from the rows": ("run", "looked.csv", "--k", 3, "--epsilon", 1, "--seed", 1),
    "out of reach": ("run", "few.csv", "--k", 10, "--epsilon", 0.1, "--seed", 1),
    "advice": ("advise", "--n", 50_000, "--d", 4, "--k", 5, "--delta", "1e-6"),
    "advice for less loss": ("advise", "--n", 50_000, "--d", 4, "--k", 5, "--delta", "1e-6", "--target", 1.02),
    "an account": ("account", "show", "people.sqlite"),
    "an account, as JSON": ("account", "show", "people.sqlite", "--json"),
    "an account of many": ("account", "show", "many.sqlite"),
    "one that looks alike": ("account", "show", "again.sqlite"),
    "help for accounts": ("account", "--help"),
    "help for a new account": ("account", "new", "--help"),
    "help for releases": ("release", "--help"),
}

# Of a release that nobody has confirmed: what is declared otherwise, and what is asked. It is the whole ε that is
# judged: the more of it goes to segments, the more of it takes the same loss.
UNCONFIRMED: dict[str, tuple[dict[str, Any], tuple[object, ...]]] = {
    "usual": ({}, ()),
    "half of it for segments": ({}, ("--segments", 0.5)),
    "hardly any ε": ({}, ("--epsilon", 0.01)),
    "no window": ({}, ("--accept-risk", "0.1,0.11")),
    "rows that nobody has counted": ({"n_public": None}, ()),
    "open bounds": (
        {"bounds": {"age": [0, 100], "income": [None, None]}, "origins": {"age": "law or physics"}},
        ("--epsilon", 2),
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("prints")
    for name, declared in DECLARED.items():
        write_points(made / f"{name}.csv", declaration_file=declared, label=name == "known")
    visits = "".join(f"p{i % 50},{i % 9 / 9},{i % 7 / 7}\n" for i in range(300))
    for name in ("visits", "visits_of_few"):
        (made / f"{name}.csv").write_text(f"person,x,y\n{visits}")
    write_points(made / "bare.csv", label=True)
    write_points(made / "few.csv", n=50, declaration_file=BOX | {"n_public": 50})
    (made / "declared.json").write_text(json.dumps(BOX))
    (made / "pair.json").write_text(json.dumps({"lower": -1, "upper": 1, "n_public": 200}))
    return made


def rounded(value: Any) -> Any:
    match value:
        case float():
            return float(f"{value:.4g}")
        case dict():
            return {name: rounded(one) for name, one in value.items()}
        case list():
            return [rounded(one) for one in value]
    return value


def test_runs_print_what_they_printed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    told = []
    for name, (data, options) in RUNS.items():
        said = told_by("run", data, "--k", 3, "--epsilon", 1, "--seed", 1, "--json", *options)
        assert said.code == 0, said.err
        lines = [f"{key}: {json.dumps(rounded(value), ensure_ascii=False)}" for key, value in said.json.items()]
        told.append((name, without_day("\n".join([*lines, *said.err.splitlines()]))))
    out = (folder / "centers.csv").read_text().splitlines()
    told.append(("centers.csv", "\n".join([out[0], *(line.split(",", 2)[-1] for line in out[1:])])))
    compare_texts(STORED / "runs.txt", told)


def test_texts_are_what_they_were(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")
    account, many, again = (
        Account.new(f"{name}.sqlite", name=name, cap_epsilon=2.0, cap_delta=1e-5)
        for name in ("people", "many", "again")
    )
    account.note_released(account.charge(a_charge(0.5, 1e-6)), card_sha256="ab" * 32)
    account.note_failed(account.charge(a_charge(0.25, who="ada")), why="the disk was full")
    account.charge(a_charge(0.25))
    for _ in range(19):
        many.charge(a_charge(0.1, columns=("height",), lower=(0.0,), upper=(2.0,)))
    again.charge(a_charge(0.5))
    told = []
    for name, argv in TEXTS.items():
        said = told_by(*argv)
        assert said.code == 0, said.err
        text = re.sub(r"(?<![\w.])([0-9a-f]{64}|[0-9a-f]{12})\b", "HASH", f"{said.out}\n{said.err}")
        text = re.sub(r"\d\.\d{5,}", lambda number: f"{float(number[0]):.4g}", text)
        told.append((name, without_day(text, folder)))
    compare_texts(STORED / "texts.txt", told)


def test_what_is_said_before_a_charge_is_what_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    account, told = account_in(tmp_path), []
    asked = ("--k", 3, "--epsilon", 1, "--delta", 1e-6, "--account", "people.sqlite", "--out", "release.zip")
    for name, (declared, options) in UNCONFIRMED.items():
        write_people(tmp_path, **declared)
        said = told_by("release", "people.json", "people.csv", *asked, *options)
        assert (said.code, said.out) == (2, "")
        told.append((name, without_day(said.err, tmp_path)))
    compare_texts(STORED / "releases.txt", told)
    assert not account.standing().entries
