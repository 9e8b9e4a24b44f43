"""A setting as a program: it says all that was asked, nothing of a row, and it runs."""

import ast
import json
from dataclasses import replace
from pathlib import Path

import nbformat
import numpy as np
import pytest

from dpviz.releases.account import Account
from dpviz.runs.one_run import run_request
from dpviz.runs.open_table import OpenTable, declare
from dpviz.runs.python_script import Script
from dpviz.runs.request import Contender, Request
from dpviz.runs.study.grid import StudyGrid
from dpviz.tables.declarations import FileKind, to_json
from dpviz.tables.named import open_file, sample
from tests.cases import about
from tests.releases.people import declare_people

REQUEST = Request(Contender("dplloyd", {"preset": "su"}), 3, 1.0, 0.0, 7)


def fifteen() -> OpenTable:
    return declare(*sample("fifteen").load())


def execute(script: Script) -> dict[str, object]:
    names: dict[str, object] = {}
    exec(compile(script.text, "script", "exec"), names)
    return names


def test_a_run_of_a_sample_is_the_same_whatever_is_declared_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    table = fifteen()
    for declared in (table.declaration, replace(table.declaration, relation="replace", n_public=None)):
        with about(declared.relation):
            script = Script.for_run(table.loaded.name, declared, REQUEST)
            assert ("DECLARATION" in script.text) == (declared != table.declaration)
            expected = run_request(REQUEST, declare(table.loaded, declared).private)
            np.testing.assert_array_equal(execute(script)["run"].centers, expected.centers)
    assert "DPLloyd" in capsys.readouterr().out


def test_a_seed_goes_along_only_where_rows_may_be_shown() -> None:
    table = fifteen()
    for kind in FileKind:
        declared = replace(table.declaration, kind=kind)
        text = Script.for_run("people.csv", declared, REQUEST).text
        assert ("seed" in text) == kind.may_be_shown
    release = Script.for_release("people.csv", table.declaration, REQUEST, {"segments": 0.0})
    assert "seed" not in release.text


def test_names_of_a_file_are_text_and_no_program() -> None:
    table = fifteen()
    name = "a'b\"\\\n\u2028.csv"
    declared = replace(table.declaration, title='"""\nimport os', units={"x": "'''"})
    grid = StudyGrid((Contender("dplloyd"), Contender("eugkm", {"theta": 3.0})), (3,), (0.5,))
    for script in (
        Script.for_run(name, declared, REQUEST),
        Script.for_sweep(name, declared, grid),
        Script.for_release(name, declared, REQUEST, {"segments": 0.2}),
    ):
        said = {
            node.targets[0].id: ast.literal_eval(node.value)
            for node in ast.parse(script.text).body
            if isinstance(node, ast.Assign) and node.targets[0].id.isupper()
        }
        assert said["DATA"] == name and said["DECLARATION"] == json.loads(to_json(declared))
        book = nbformat.reads(script.notebook, as_version=4)
        nbformat.validate(book)
        assert [cell.source for cell in book.cells[1:]] == list(script.cells)


def test_a_release_is_charged_saved_and_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, declared = declare_people(tmp_path)
    monkeypatch.chdir(tmp_path)
    script = Script.for_release(open_file(data).name, declared, replace(REQUEST, seed=None), {"segments": 0.0})
    names = execute(script)
    assert names["verdict"].holds
    made = Account.open(tmp_path / "account.sqlite").standing()
    assert made.spent_epsilon == made.cap_epsilon == names["CAP_EPSILON"] == 1  # until its owner sets another cap
    assert names["saved"] == Path("release.zip")
    # An account that is open is charged, and none is made.
    account = Account.new(tmp_path / "town's.sqlite", name="town", cap_epsilon=5)
    names["saved"].unlink()
    script = Script.for_release(open_file(data).name, declared, replace(REQUEST, seed=None), {}, account.path)
    assert "CAP" not in script.text and "Account.new" not in script.text
    assert execute(script)["verdict"].holds and account.standing().spent_epsilon == 1
