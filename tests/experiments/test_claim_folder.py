"""The folder of reproduced claims: one writer at a time, and what lies there is believed only where it is whole."""

import json
from functools import partial

import pytest

from dpviz.core.check import RequestError
from experiments.__main__ import main
from experiments.claim_folder import ClaimFolder
from tests import command_line
from tests.cases import about
from tests.experiments.test_command import planted  # noqa: F401 (a fixture)

call = partial(command_line.call, main=main)
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
    "text for a repeat": _replace(TABLE, ",0,", ",wd40,"),
    "half a repeat": _replace(TABLE, ",1,0.5", ",1.5,0.5"),
    "a line less": _cut(TABLE, lambda raw: raw[: raw[:-1].rfind(b"\n") + 1]),
    "half a line": _cut(TABLE, lambda raw: raw[:-3]),
    "half a table": _cut(TABLE, lambda raw: raw[: len(raw) // 2]),
    "nothing": _cut(TABLE, lambda raw: b""),
    "the header alone": _cut(TABLE, lambda raw: raw[: raw.find(b"\n") + 1]),
    "no text": _cut(TABLE, lambda raw: b"\xff\xfe\0\n"),
    "a column less": _replace(TABLE, "error", "other"),
    "no table of findings": _cut(VERDICTS, lambda raw: b"a,b\n1,2\n"),
    "text for a margin": _cut(VERDICTS, lambda raw: raw.replace(b"as the paper ran it,", b"as the paper ran it,x,")),
    "half a table of findings": _cut(VERDICTS, lambda raw: raw[:-3]),
    "no manifest": _cut("manifest.json", lambda raw: b"{"),
    "half a manifest": _cut("manifest.json", lambda raw: raw[:-40]),
    "a look beyond all": _change(look=10**9, looks=10**9),
    "a look below all": _change(look=-1),
    "text for seconds": _change(seconds="wd40"),
    "more rows than lie there": _change(rows=10**6),
}


def test_what_is_damaged_there_is_said_and_no_defect(capsys, planted, tmp_path):  # noqa: F811
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
