"""``python -m experiments``: what it lists, refuses and writes; a folder is believed only where it is whole."""

import json
from dataclasses import replace
from functools import partial

import pandas as pd
import pytest

from dpviz import __version__
from dpviz.app.charts.studies.stored_verdicts import Outcome, read_runs, read_verdicts
from dpviz.core.check import RequestError
from experiments import redraw
from experiments.__main__ import main
from experiments.claim_folder import ClaimFolder
from experiments.registry import CLAIMS
from tests import command_line
from tests.cases import about
from tests.experiments.planted import PLANTED

call = partial(command_line.call, main=main)


class _Planted:
    """Runs that nobody ran, instead of those that a claim declares."""

    def __init__(self, claim_id):
        self.table = PLANTED[claim_id]

    def runs(self, datasets, wanted):
        for row in self.table.to_dict("records"):
            if row["repeat"] in wanted(row, 3):
                yield [row]


@pytest.fixture
def planted(monkeypatch):
    monkeypatch.setattr(redraw, "DRAWS", 5)
    monkeypatch.setattr(redraw, "PATH_DRAWS", 5)
    for name in PLANTED:
        instead = replace(CLAIMS[name], blocks=lambda settings, claim_id=name: [_Planted(claim_id)])
        monkeypatch.setitem(CLAIMS, name, instead)
    monkeypatch.delenv("DPVIZ_DATA", raising=False)


def test_a_wrong_request_is_refused_in_a_sentence(capsys):
    for options, names in (
        (("su-epsilon",), "--out"),
        (("su-epsilom", "--list"), "su-epsilom"),
        (("--out", "x", "--hours", "0"), "hours"),
        (("--out", "x", "--hours", "nan"), "hours"),
        (("--out", "x", "--data", "nowhere-at-all"), "--data"),
        (("--out", "x", "--fetch"), "--fetch"),
        (("--out", "x", "--fetch", "--data", "nowhere-at-all"), "--fetch"),
    ):
        said = call(capsys, *options)
        with about(*options):
            assert said.code == 2 and names in said.err and said.err.count("\n") == 1


def test_tables_pages_and_a_manifest_lie_in_the_folder_beside_what_lay_there(capsys, planted, tmp_path):
    text = call(capsys, "cohen-naive", "--quick", "--out", tmp_path)
    assert text.code == 0, text.err
    assert "Verdict: holds in part" in text.out and "✓" in text.out and "✗" in text.out
    assert "Data: made up" in text.out and "Reason:" in text.out
    said = call(capsys, "su-blocks", "--quick", "--out", tmp_path, "--json")
    assert said.code == 0, said.err
    assert [(one["id"], one["verdict"]) for one in said.json] == [("su-blocks", "holds in part")]
    assert said.json[0]["findings"][0]["interval"]["runs"] == 3
    written = pd.read_csv(tmp_path / "verdicts.csv")
    assert set(written["claim"]) == {"su-blocks", "cohen-naive"}
    assert (written["low"] <= written["margin"]).all() and (written["margin"] <= written["high"]).all()
    table = pd.read_csv(tmp_path / "su-blocks.csv")
    assert len(table) == len(PLANTED["su-blocks"])
    assert "Su et al. 2016, Fig. 3" in (tmp_path / "su-blocks.html").read_text("utf-8")
    results = read_verdicts(tmp_path).claims
    assert [(result.id, result.verdict.outcome) for result in results] == [
        (name, Outcome.IN_PART) for name in ("su-blocks", "cohen-naive")
    ]
    assert results[1].how == "a quick run of dpviz 0.1.0: python -m experiments cohen-naive --quick --out DIR"
    assert read_runs("su-blocks", tmp_path).equals(table)
    manifest = json.loads((tmp_path / "manifest.json").read_text("utf-8"))["claims"]
    assert set(manifest) == {"su-blocks", "cohen-naive"}
    assert manifest["su-blocks"]["command"] == "python -m experiments su-blocks --quick --out DIR"
    assert manifest["su-blocks"]["dpviz"] == __version__


def test_a_budget_that_ends_loses_nothing_and_judges_nothing(capsys, planted, tmp_path):
    asked = ("cohen-naive", "--quick", "--out", tmp_path, "--hours")
    said = call(capsys, *asked, "1e-9")
    assert said.code == 0 and "cohen-naive is not judged" in said.err and "go" in said.err
    assert not (tmp_path / "cohen-naive.csv").exists() and not (tmp_path / "verdicts.csv").exists()
    assert len(pd.read_csv(tmp_path / "cohen-naive.part.csv")) == 1
    said = call(capsys, *asked, "1")
    assert "look 1 of 13" in said.err and "Verdict: holds in part" in said.out
    assert not (tmp_path / "cohen-naive.part.csv").exists()
    assert len(pd.read_csv(tmp_path / "cohen-naive.csv")) == len(PLANTED["cohen-naive"])


ID = "cohen-naive"


def test_one_command_at_a_time_writes(tmp_path):
    with ClaimFolder(tmp_path), pytest.raises(RequestError, match="Another command is writing into --out"):
        ClaimFolder(tmp_path)
    with ClaimFolder(tmp_path):
        pass


def _replace(name, old, new):
    def damage(folder):
        text = (folder / name).read_text("utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1), "utf-8")

    return damage


def _cut(name, keep):
    def damage(folder):
        (folder / name).write_bytes(keep((folder / name).read_bytes()))

    return damage


def _change(**said):
    def damage(folder):
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        manifest["claims"][ID] |= said
        (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")

    return damage


TABLE, VERDICTS = f"{ID}.csv", "verdicts.csv"
DAMAGES = {
    "text for a number": _replace(TABLE, ",1000000,", ",wd40,"),
    "a line less": _cut(TABLE, lambda raw: raw[: raw[:-1].rfind(b"\n") + 1]),
    "nothing": _cut(TABLE, lambda raw: b""),
    "no table of findings": _cut(VERDICTS, lambda raw: b"a,b\n1,2\n"),
    "text for a margin": _cut(VERDICTS, lambda raw: raw.replace(b"as the paper ran it,", b"as the paper ran it,x,")),
    "no manifest": _cut("manifest.json", lambda raw: b"{"),
    "text for seconds": _change(seconds="wd40"),
    "more rows than lie there": _change(rows=10**6),
}


def test_what_is_damaged_there_is_said_and_no_defect(capsys, planted, tmp_path):
    asked = (ID, "--quick", "--hours", "1")
    assert call(capsys, *asked, "--out", tmp_path / "whole").code == 0
    kept = {path.name: path.read_bytes() for path in (tmp_path / "whole").iterdir()}
    for name, damage in DAMAGES.items():
        folder = tmp_path / name
        folder.mkdir()
        for file, raw in kept.items():
            (folder / file).write_bytes(raw)
        damage(folder)
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        said = call(capsys, *asked, "--out", folder)
        with about(name, said.err):
            assert said.code == 2 and said.err.count("\n") == 1 and "wd40" not in said.err
            assert "--out" in said.err or '"seconds" of' in said.err
            assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    assert call(capsys, *asked, "--out", tmp_path / "whole").code == 0
