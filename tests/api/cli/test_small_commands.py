"""The command line as a whole: how it ends, what it refuses, what it declares, and that a module runs as it."""

import json
import os
import re
import stat
import subprocess
import sys
from itertools import chain
from pathlib import Path
from unittest.mock import Mock

import pandas as pd
import pytest
import yaml

import dpviz.api.cli.run_command
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import find_reference, nicv
from dpviz.runs.one_run import run
from dpviz.runs.open_table import declare
from dpviz.tables.csv_intake import open_csv
from dpviz.tables.declarations import NOTHING_DECLARED, read_declaration
from dpviz.tables.named import FOLDER, sample
from dpviz.tables.proposal import propose
from tests.cases import about
from tests.command_line import call, write_points

RUN_ASKED = ("--k", "3", "--epsilon", "1")


@pytest.fixture
def points(tmp_path):
    return write_points(tmp_path / "points.csv", declaration_file={"bounds": {"x": [-1, 1], "y": [-1, 1]}})


def test_a_defect_names_only_its_type(capsys, monkeypatch, points):
    leaky = LookupError("row 17 holds wd40-secret")
    monkeypatch.setattr(dpviz.api.cli.run_command, "run_request", Mock(side_effect=leaky))
    said = call(capsys, "run", points, *RUN_ASKED)
    assert said.code == 1 and said.err.count("\n") == 1
    assert "LookupError" in said.err and "wd40-secret" not in said.err + said.out
    monkeypatch.setenv("DPVIZ_DEBUG", "1")
    assert "Traceback" in call(capsys, "run", points, *RUN_ASKED).err


def test_the_module_runs_as_a_command(points):
    command = [sys.executable, "-m", "dpviz", "run", str(points), *RUN_ASKED]
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii"}
    plain = subprocess.run(command, capture_output=True, text=True, check=True, env=ascii_only)
    assert "Released" in plain.stdout
    wrong = subprocess.run([*command[:3], "dance"], capture_output=True, text=True)
    assert (wrong.returncode, wrong.stdout, wrong.stderr.count("\n")) == (2, "", 1)


# Accounts from the shell: one is made, and shown with what is spent, what is left, and which others look alike.


def new(path, *options):
    return ("account", "new", path, "--name", "people", "--cap-epsilon", "2", *options)


def test_an_account_is_made_and_shown(capsys, tmp_path):
    path = tmp_path / "people.sqlite"
    made = call(capsys, *new(path, "--cap-delta", "1e-5"))
    assert (made.code, made.err) == (0, "") and "ε = 2 and δ = 1e-05" in made.out
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    shown = call(capsys, "account", "show", path)
    assert (shown.code, shown.err) == (0, "")
    assert "ε: 0 of 2 spent, 2 left" in shown.out and "No releases" in shown.out
    assert "is there already" in call(capsys, *new(path)).err


SIZE = ("advise", "--n", "50000", "--d", "4", "--k", "5")


WRONG = (
    *(("account", *rest) for rest in ((), ("close",), ("new",), ("show",), ("new", "a.sqlite", "--name", "a"))),
    *(("reproduce", *words) for words in ((), ("--list",), ("su-epsilon", "--quick"), ("--help",))),  # in a checkout
    *(("open", "--port", port) for port in (0, 65_536, "x")),
    *(("open", *files) for files in (("nowhere.csv",), (FOLDER / "words.npz",), ("a", "b"))),
    *((*SIZE, *one) for one in (("--target", 1), ("--n", 0), ("--k", 0), ("--delta", 0.1), ("--relation", "swap"))),
)


def test_what_is_wrong_is_refused_in_one_line_and_makes_no_file(capsys, tmp_path):
    accounts = (
        *([f"--cap-epsilon={cap}"] for cap in ("0", "-1", "nan", "inf", "much")),
        *([f"--cap-delta={cap}"] for cap in ("1", "-1e-6", "nan")),
        *(["--name", name] for name in ("", " ", "a\nb", "a\x1b[2J", "x" * 300)),
    )
    for argv in (*((*new(tmp_path / "a.sqlite"), *options) for options in accounts), *WRONG):
        said = call(capsys, *argv)
        with about(*argv):
            assert (said.code, said.out, said.err.count("\n")) == (2, "", 1) and not any(tmp_path.iterdir())


# Samples go by their names, as files go by theirs.


SAMPLE_RUN = ("--k", 3, "--epsilon", 1, "--seed", 1, "--algorithm", "dplloyd", "--json")


def test_a_sample_by_its_name_is_the_sample_from_its_file_and_is_read_in_no_other_way(capsys) -> None:
    by_name, by_path = (call(capsys, "run", data, *SAMPLE_RUN).json for data in ("fifteen", FOLDER / "fifteen.csv"))
    assert by_name == by_path
    columns = ("--columns", "pixel_2_2,pixel_5_5")  # of a sample that no file holds
    assert call(capsys, "run", "digits", *columns, *SAMPLE_RUN).json["columns"] == ["pixel_2_2", "pixel_5_5"]
    said = call(capsys, "run", "fifteen", "--decimal", ",", *SAMPLE_RUN)
    assert (said.code, said.err.count("\n")) == (2, 1) and "A sample" in said.err


# dpviz declare: what it proposes is what the page proposes, and reads as it should.


FILES = Path(__file__).parents[2] / "tables" / "cases"
RIGHT = yaml.safe_load((FILES / "right.yaml").read_text())


def test_each_kind_of_file_is_declared_as_its_notes_say_and_runs(capsys, tmp_path):
    """What a note calls not proposed is not chosen; cells that are no numbers are counted when it runs."""
    for name, right in RIGHT.items():
        data, out = (tmp_path / f"{name}.{kind}" for kind in ("csv", "json"))
        data.write_bytes((FILES / f"{name}.csv").read_bytes())
        said = call(capsys, "declare", data, "--out", out)
        with about(name, said.err):
            if "refused" in right:
                assert said.code == 2 and right["refused"] in said.err and not out.exists()
                continue
            assert said.code == 0 and all(note in said.err for note in right.get("said", []))
            chosen = right["chosen"] or {}
            declared = read_declaration(out)
            assert declared == propose(open_csv(data)).join_to(NOTHING_DECLARED) and declared.columns == tuple(chosen)
            if not chosen:
                continue
            bounded = json.loads(out.read_text()) | {"bounds": {column: [-1e8, 1e8] for column in chosen}}
            out.write_text(json.dumps(bounded))
            ran = call(capsys, "run", data, "--k", "1", "--epsilon", "1", "--algorithm", "dplloyd", "--json")
            lost = any(cell is None for cells in chosen.values() for cell in cells)
            assert ran.code == 0 and lost == ("dropped" in ran.err), ran.err
            assert ran.json["columns"] == list(chosen)


def test_what_the_owner_confirms_is_declared_as_found(capsys, tmp_path):
    data = tmp_path / "d.csv"
    lines = [f"{-999 if i % 8 == 7 else i}.5,{'NS'[i % 2]},2021-01-{1 + i % 28}\n" for i in range(40)]
    data.write_text("x,place,joined\n" + "".join(lines).replace("-999.5", "-999"))
    said = call(capsys, "declare", data)
    assert said.json["bounds"] == {"x": [None, None]} and "--confirm declares" in said.err
    asked = ("may mean missing", "once declared by name", "--missing x declares so")
    assert all(words in said.err for words in asked)
    done = call(capsys, "declare", data, "--confirm", "place", "--missing", "x", "--out", tmp_path / "d.json")
    assert not any(words in done.err for words in asked) and 'Put bounds in for "x" in place of null' in done.err
    written = json.loads((tmp_path / "d.json").read_text())
    assert written["bounds"]["place"] == {"categories": ["N", "S"]} and written["proposed"]
    # A cell that is declared to mean missing is not empty.
    (tmp_path / "d.json").write_text(json.dumps(written | {"bounds": {"x": [0, 40]}}))
    ran = call(capsys, "run", data, "--k", "1", "--epsilon", "1", "--algorithm", "dplloyd")
    assert '"x": 5 cells are missing.' in ran.err
    for name, why in (("joined", "between which ones"), ("x", "Nothing but bounds")):
        refused = call(capsys, "declare", data, "--confirm", name)
        assert refused.code == 2 and why in refused.err


def test_of_parquet_names_and_types_are_enough(capsys, tmp_path):
    """No row is looked at, and nobody is sent to write a CSV."""
    path = tmp_path / "people.parquet"
    pd.DataFrame({"person_id": [1, 2], "age": [31.0, 44.0], "city": ["a", "b"]}).to_parquet(path)
    said = call(capsys, "declare", path)
    assert said.code == 0 and said.json["bounds"] == {"age": [None, None]} and "proposed" not in said.json
    assert "no row was looked at" in said.err


def test_the_documentation_says_how_often_its_advice_is_kept_and_with_another_k_not(capsys):
    """On the people of the sample: losses of the advised algorithm at the advised ε over that of k-means++."""
    page = (Path(__file__).parents[3] / "docs" / "howto" / "choose.md").read_text("utf-8")
    table = declare(*sample("people").load())
    rows = clip_rows(table.private.reveal(note="test"), table.domain.region)
    shown = re.search(r"python -m dpviz advise (.*)", page)[1].split()
    words = dict(zip(shown[::2], shown[1::2], strict=True))
    assert (words["--n"], words["--d"]) == (str(len(rows.points)), str(table.domain.dim))
    of_both = r"ε = (\S+) \((\S+) of it .*\sin (\d+) of (\d+) runs with k = (\d), and in (\d+) of (\d+) with k = (\d)\."
    whole, for_centers, *told = re.search(of_both.replace(" ", r"\s"), page).groups()
    assert told[0] == told[1] and told[2] == words["--k"]
    for kept, runs, k in (told[:3], told[3:]):
        found = call(capsys, "advise", *chain(*(words | {"--k": k}).items()), "--json").json
        best, reference = found["best"], find_reference(rows, int(k)).nicv
        assert best["epsilon"] == float(whole)
        assert best["epsilon"] * found["share_for_centers"] == pytest.approx(float(for_centers))
        asked = {"k": int(k), "epsilon": float(for_centers), "delta": float(words["--delta"])}
        drawn = (run(best["algorithm"], table.private, **asked, seed=seed).unit_centers for seed in range(int(runs)))
        assert sum(nicv(rows.points, one) <= float(words["--target"]) * reference for one in drawn) == int(kept)
