"""The same in Python, on the pages: the program that a page shows gives the numbers of the page."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.releases.package import CENTERS
from dpviz.runs import OpenTable, declare
from dpviz.tables import open_file, sample
from dpviz.tables.declarations import apply_declaration_file
from tests.pages.tables import app_on, sound
from tests.releases.people import write_people


def shown(app: AppTest, key: str) -> str:
    """The program of a page, once its section is open."""
    app.session_state[f"{key}:python"] = True
    sound(app.run())
    (program,) = (code.value for code in app.code if "import dpviz" in code.value)
    labels = [button.proto.label for button in app.get("download_button")]
    assert labels.count("As a script (.py)") == labels.count("As a notebook (.ipynb)") == 1
    return program


def execute(program: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(program, "page", "exec"), names)
    return names


def fifteen() -> OpenTable:
    return declare(*sample("fifteen").load())


def test_programs_of_the_bench_give_its_centres_and_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    app = app_on("home.py", fifteen(), algorithm="dplloyd", k="3")
    app.session_state["visit:settings"]["bench:seed"] = 0
    app.session_state["bench:more"], app.session_state["explore:below"] = True, "Take away"
    sound(app.run())
    run = execute(shown(app, "explore"))["run"]
    np.testing.assert_array_equal(run.centers, app.session_state["run:result"].run.centers)
    app = app_on("home.py", fifteen())
    app.session_state["bench:table"] = True
    opened = execute(shown(sound(app.run()), "data"))["table"]
    assert (opened.unit, opened.n_public, opened.domain.columns) == ("1 row", 5000, ("x", "y"))
    assert "1 row, add_remove, x, y" in capsys.readouterr().out


def test_the_program_of_a_release_asks_for_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A release has no seed: its program asks for the same, and what leaves has the form of the page's."""
    data, sidecar = write_people(tmp_path)
    app = app_on("release.py", declare(open_file(data), apply_declaration_file(sidecar).validate()), k="3")
    app.slider(key="release:share").set_value(20)
    program = shown(sound(app.run()), "release")
    monkeypatch.chdir(tmp_path)
    assert execute(program)["verdict"].holds
    with zipfile.ZipFile("release.zip") as files:
        centers = files.read(CENTERS).decode().splitlines()
        asked = json.loads(files.read("declaration.json"))
    assert len(centers) == 4 and asked["bounds"] == json.loads(sidecar.read_text())["bounds"]
    assert f"epsilon={app.session_state['epsilon']}" in program and "segments=0.2" in program
    assert "CAP_EPSILON" in program
    opened = str(tmp_path / "account.sqlite")
    app.text_input(key="release:account_path").set_value(opened)
    program = shown(sound(app.run()), "release")
    assert f"Account.open({opened!r})" in program and "CAP_EPSILON" not in program
