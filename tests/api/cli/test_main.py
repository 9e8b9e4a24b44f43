"""The command line as a whole: which algorithms it lists, how it ends, and that a module runs as it."""

import json
import os
import subprocess
import sys

import pytest

import dpviz.api.cli.run_command
from dpviz import CARDS
from tests.command_line import call, write_points

ASK = ("--k", "3", "--epsilon", "1")


@pytest.fixture
def points(tmp_path):
    return write_points(tmp_path / "points.csv", declaration_file={"bounds": {"x": [-1, 1], "y": [-1, 1]}})


def test_algorithms_lists_every_card(capsys):
    listed = json.loads(call(capsys, "algorithms", "--json").out)
    assert [entry["id"] for entry in listed] == list(CARDS)
    assert "auto" in CARDS
    for entry in listed:
        card = CARDS[entry["id"]]
        assert entry["guarantee"] in ("pure", "approx", "none")
        assert entry["guarantees"] == [guarantee.value for guarantee in card.guarantees]
        assert all(entry[key] for key in ("title", "paper", "summary", "sample"))
        for param_field, parameter in zip(card.params.param_fields(), entry["parameters"], strict=True):
            assert (parameter["name"], parameter["default"], parameter["help"]) == (
                param_field.name,
                param_field.default,
                param_field.help,
            )
            assert parameter["choices"] or parameter["range"] or parameter["type"] == "bool"


def test_algorithms_as_text_names_every_parameter(capsys):
    text = call(capsys, "algorithms").out
    for card in CARDS.values():
        assert f"{card.id}  (" in text
        assert all(f"--set {param_field.name}=" in text for param_field in card.params.param_fields())


def test_help_and_version_end_well(capsys):
    for option in ("--help", "--version"):
        said = call(capsys, option)
        assert said.code == 0
        assert "dpviz" in said.out
    assert "--bounds" in call(capsys, "run", "--help").out


class LeakyError(Exception):
    """What a defect deep inside might raise."""


def test_a_defect_names_only_its_type(capsys, monkeypatch, points):
    def fail(*args, **kwargs):
        raise LeakyError("row 17 holds wd40-secret")

    monkeypatch.setattr(dpviz.api.cli.run_command, "run_request", fail)
    said = call(capsys, "run", points, *ASK)
    assert said.code == 1
    assert said.err.count("\n") == 1
    assert "LeakyError" in said.err
    assert "wd40-secret" not in said.err + said.out
    monkeypatch.setenv("DPVIZ_DEBUG", "1")
    assert "Traceback" in call(capsys, "run", points, *ASK).err


def test_ctrl_c_is_no_defect(capsys, monkeypatch, points):
    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(dpviz.api.cli.run_command, "run_request", stop)
    said = call(capsys, "run", points, *ASK)
    assert (said.code, said.err) == (130, "dpviz: Stopped.\n")


@pytest.mark.slow
def test_the_module_runs_as_a_command(points):
    command = [sys.executable, "-m", "dpviz", "run", str(points), *ASK]
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
