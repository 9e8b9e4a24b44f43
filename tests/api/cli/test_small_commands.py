"""The command line as a whole: which algorithms it lists, how it ends, and that a module runs as it."""

from __future__ import annotations

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
from dpviz import CARDS
from dpviz.releases.account import Account
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


def test_algorithms_lists_every_card(capsys):
    listed = json.loads(call(capsys, "algorithms", "--json").out)
    assert [entry["id"] for entry in listed] == list(CARDS)
    for entry in listed:
        card = CARDS[entry["id"]]
        assert entry["guarantees"] == [guarantee.value for guarantee in card.guarantees]
        assert all(entry[key] for key in ("guarantee", "title", "paper", "summary", "sample"))
        for known, told in zip(card.params.param_fields(), entry["parameters"], strict=True):
            assert (told["name"], told["default"], told["help"]) == (known.name, known.default, known.help)
            assert told["choices"] or told["range"] or told["type"] == "bool"


class LeakyError(Exception):
    """What a defect deep inside might raise."""


def test_a_defect_names_only_its_type(capsys, monkeypatch, points):
    leaky = LeakyError("row 17 holds wd40-secret")
    monkeypatch.setattr(dpviz.api.cli.run_command, "run_request", Mock(side_effect=leaky))
    said = call(capsys, "run", points, *RUN_ASKED)
    assert said.code == 1
    assert said.err.count("\n") == 1
    assert "LeakyError" in said.err
    assert "wd40-secret" not in said.err + said.out
    monkeypatch.setenv("DPVIZ_DEBUG", "1")
    assert "Traceback" in call(capsys, "run", points, *RUN_ASKED).err


def test_ctrl_c_is_no_defect(capsys, monkeypatch, points):
    monkeypatch.setattr(dpviz.api.cli.run_command, "run_request", Mock(side_effect=KeyboardInterrupt))
    said = call(capsys, "run", points, *RUN_ASKED)
    assert (said.code, said.err) == (130, "dpviz: Stopped.\n")


@pytest.mark.slow
def test_the_module_runs_as_a_command(points):
    command = [sys.executable, "-m", "dpviz", "run", str(points), *RUN_ASKED]
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii"}
    plain = subprocess.run(command, capture_output=True, text=True, check=True, env=ascii_only)
    assert "Released" in plain.stdout
    wrong = subprocess.run([*command[:3], "dance"], capture_output=True, text=True)
    assert (wrong.returncode, wrong.stdout, wrong.stderr.count("\n")) == (2, "", 1)


def test_the_papers_experiments_are_elsewhere_whatever_was_asked_of_them(capsys):
    for options in ((), ("--list",), ("su-epsilon", "--quick", "--out", "x"), ("--help",)):
        said = call(capsys, "reproduce", *options)
        assert (said.code, said.out) == (2, "")
        assert said.err == (
            "dpviz: The papers' experiments are run by `python -m experiments`, in a checkout of dpviz.\n"
        )


# Accounts from the shell: one is made, and shown with what is spent, what is left, and which others look alike.


def new(path, *options):
    return ("account", "new", path, "--name", "people", "--cap-epsilon", "2", *options)


@pytest.fixture
def account(tmp_path):
    return Account.new(tmp_path / "people.sqlite", name="people", cap_epsilon=2.0, cap_delta=1e-5)


def test_an_account_is_made_and_shown(capsys, tmp_path):
    path = tmp_path / "people.sqlite"
    made = call(capsys, *new(path, "--cap-delta", "1e-5"))
    assert (made.code, made.err) == (0, "") and "ε = 2 and δ = 1e-05" in made.out
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    shown = call(capsys, "account", "show", path)
    assert (shown.code, shown.err) == (0, "")
    assert "ε: 0 of 2 spent, 2 left" in shown.out and "No releases" in shown.out
    standing = Account.open(path).standing()
    assert (standing.name, standing.cap_epsilon, standing.cap_delta) == ("people", 2.0, 1e-5)


def refused(capsys, *argv):
    said = call(capsys, *argv)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    return said.err


def test_a_wrong_cap_or_name_is_refused_in_one_line_and_makes_no_file(capsys, tmp_path):
    for options in (
        *([f"--cap-epsilon={cap}"] for cap in ("0", "-1", "nan", "inf", "much")),
        *([f"--cap-delta={cap}"] for cap in ("1", "-1e-6", "nan")),
        *(["--name", name] for name in ("", " ", "a\nb", "a\x1b[2J", "x" * 300)),
    ):
        with about(*options):
            refused(capsys, *new(tmp_path / "a.sqlite"), *options)
            assert not any(tmp_path.iterdir())


def test_files_that_will_not_do_are_refused_in_one_line(capsys, account, tmp_path):
    assert "is there already" in refused(capsys, *new(account.path))
    assert "cannot be made" in refused(capsys, *new(tmp_path / "none" / "a.sqlite"))
    (tmp_path / "text.sqlite").write_text("id,age\n1,44\n")
    for path in (tmp_path, tmp_path / "none.sqlite", tmp_path / "text.sqlite"):
        assert "44" not in refused(capsys, "account", "show", path)
    account.path.write_bytes(account.path.read_bytes()[:5000])
    assert "is damaged" in refused(capsys, "account", "show", account.path)


def test_an_action_and_what_it_needs_must_be_named(capsys):
    for argv in ([], ["close"], ["new"], ["show"], ["new", "a.sqlite", "--name", "a"]):
        with about(*argv):
            assert "--help" in refused(capsys, "account", *argv)


# ``dpviz open`` refuses in one sentence what it could not serve; samples go by their names, as files go by theirs.


SAMPLE_RUN = ("--k", 3, "--epsilon", 1, "--seed", 1, "--algorithm", "dplloyd", "--json")


def test_what_cannot_be_served_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    ports, files = (["--port", port] for port in (0, 65_536, "x")), (["nowhere.csv"], [FOLDER / "words.npz"])
    for wrong in (*ports, *files, ["a", "b"]):
        said = call(capsys, "open", *wrong)
        with about(*wrong):
            assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)


def test_a_sample_by_its_name_is_the_sample_from_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    by_name, by_path = (call(capsys, "run", data, *SAMPLE_RUN).json for data in ("fifteen", FOLDER / "fifteen.csv"))
    assert by_name == by_path


def test_a_sample_that_no_file_holds_is_found_too(capsys: pytest.CaptureFixture[str]) -> None:
    columns = ("--columns", "pixel_2_2,pixel_5_5")
    assert call(capsys, "run", "digits", *columns, *SAMPLE_RUN).json["columns"] == ["pixel_2_2", "pixel_5_5"]


def test_a_file_goes_before_a_sample_of_its_name(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fifteen").write_text("height\n" + "1\n2\n3\n" * 20)
    monkeypatch.chdir(tmp_path)
    assert call(capsys, "run", "fifteen", "--bounds", "0,9", *SAMPLE_RUN).json["columns"] == ["height"]


def test_a_sample_is_not_read_in_another_way(capsys: pytest.CaptureFixture[str]) -> None:
    said = call(capsys, "run", "fifteen", "--decimal", ",", *SAMPLE_RUN)
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "A sample" in said.err


# dpviz declare: what it proposes is what the page proposes, and reads as it should.


FILES = Path(__file__).parents[2] / "tables" / "cases"
RIGHT = yaml.safe_load((FILES / "right.yaml").read_text())


def test_each_kind_of_file_is_declared_as_its_notes_say_and_runs(capsys, tmp_path):
    """What a note calls not proposed is not chosen; cells that are no numbers are counted when it runs."""
    for name, right in RIGHT.items():
        data = tmp_path / f"{name}.csv"
        data.write_bytes((FILES / f"{name}.csv").read_bytes())
        out = data.with_suffix(".json")
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
    data.write_text("x,place,joined\n" + "".join(f"{i}.5,{'NS'[i % 2]},2021-01-{1 + i % 28}\n" for i in range(40)))
    said = call(capsys, "declare", data)
    assert said.json["bounds"] == {"x": [None, None]} and "--confirm declares" in said.err
    confirmed = call(capsys, "declare", data, "--confirm", "place").json
    assert confirmed["bounds"]["place"] == {"categories": ["N", "S"]} and confirmed["proposed"]
    for name, why in (("joined", "between which ones"), ("x", "Nothing but bounds")):
        refused = call(capsys, "declare", data, "--confirm", name)
        assert refused.code == 2 and why in refused.err


def test_of_parquet_names_and_types_are_enough(capsys, tmp_path):
    """No row is looked at, and nobody is sent to write a CSV."""
    path = tmp_path / "people.parquet"
    pd.DataFrame({"person_id": [1, 2], "age": [31.0, 44.0], "city": ["a", "b"]}).to_parquet(path)
    said = call(capsys, "declare", path)
    declared = said.json
    assert said.code == 0 and declared["bounds"] == {"age": [None, None]} and "proposed" not in declared
    assert "no row was looked at" in said.err
    (tmp_path / "misnamed.csv").write_bytes(path.read_bytes())
    said = call(capsys, "declare", tmp_path / "misnamed.csv")
    assert said.code == 2 and "ending .parquet" in said.err


# Advice from the shell: an answer for a size, in words or as JSON, without any table.


SIZE = ("advise", "--n", "50000", "--d", "4", "--k", "5")


def test_a_wrong_question_is_refused_in_one_line(capsys):
    for options in (
        *(("--target", "1"), ("--n", "0"), ("--k", "0")),
        *(("--delta", "0.1"), ("--relation", "swap"), ("--d", "x")),
    ):
        said = call(capsys, *SIZE, *options)
        with about(*options):
            assert (said.code, said.err.count("\n")) == (2, 1)


PAGE = (Path(__file__).resolve().parents[3] / "docs" / "howto" / "choose.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_documentation_says_how_often_its_advice_is_kept_and_with_another_k_not(capsys):
    """On the people of the sample: losses of the advised algorithm at the advised ε over that of k-means++."""
    source, declared = sample("people").load()
    table = declare(source, declared)
    (shown, *_) = re.findall(r"python -m dpviz (advise .*)", PAGE)
    words = dict(zip(shown.split()[1::2], shown.split()[2::2], strict=True))
    assert (int(words["--n"]), int(words["--d"])) == (source.n_rows, table.domain.dim)
    said = re.search(
        r"answer of ε = (\S+) \((\S+) of it for the centres\) in\s"
        r"(\d+) of (\d+) runs with k = (\d), and in (\d+) of (\d+) with k = (\d)\.",
        PAGE,
    )
    assert said is not None and (said[3], said[5]) == (said[4], words["--k"])
    whole, for_centers = float(said[1]), float(said[2])
    rows = clip_rows(table.private.reveal(note="test"), table.domain.region)
    for kept, runs, k in (said.groups()[2:5], said.groups()[5:]):
        words["--k"] = k
        found = call(capsys, "advise", *chain(*words.items()), "--json").json
        best = found["best"]
        assert (best["epsilon"], best["epsilon"] * found["share_for_centers"]) == (whole, pytest.approx(for_centers))
        reference = find_reference(rows, int(k)).nicv
        asked = {"k": int(k), "epsilon": for_centers, "delta": 1e-6}
        drawn = (run(best["algorithm"], table.private, **asked, seed=seed).unit_centers for seed in range(int(runs)))
        losses = [nicv(rows.points, centers) / reference for centers in drawn]
        assert sum(loss <= float(words["--target"]) for loss in losses) == int(kept)
