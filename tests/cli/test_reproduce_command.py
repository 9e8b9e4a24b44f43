"""``dpviz reproduce``: what it lists, refuses and writes; the runs themselves are planted here."""

import json
import re
from functools import partial

import pandas as pd
import pytest

import dpviz.cli.reproduce_command as reproduce_command
from dpviz import __version__
from dpviz.claims.claim import Outcome
from dpviz.claims.redraw import weighed
from dpviz.claims.registry import CLAIMS
from tests.cases import about
from tests.claims.planted import PLANTED
from tests.command_line import call


@pytest.fixture
def planted(monkeypatch):
    monkeypatch.setattr(reproduce_command, "weighed", partial(weighed, draws=5))

    def finished(claims, arguments, folder):
        for claim in claims:
            yield claim, PLANTED[claim.id](Outcome.IN_PART).to_dict("records"), 1.5

    monkeypatch.setattr(reproduce_command, "_finish", finished)
    monkeypatch.delenv("DPVIZ_DATA", raising=False)


def test_the_list_names_every_group_with_its_paper(capsys):
    said = call(capsys, "reproduce", "--list")
    assert said.code == 0
    assert all(f"{claim.id}  ({claim.paper})" in said.out for claim in CLAIMS.values())
    listed = call(capsys, "reproduce", "--list", "--json", "su-epsilon").json
    assert [(one["id"], one["paper"]) for one in listed] == [("su-epsilon", "Su et al. 2016, Fig. 1")]


def test_a_wrong_request_is_refused_in_a_sentence(capsys):
    for options, names in (
        (("su-epsilon",), "--out"),
        (("su-epsilom", "--list"), "su-epsilom"),
        (("--out", "x", "--jobs", "3"), "jobs"),
        (("--out", "x", "--data", "nowhere-at-all"), "--data"),
    ):
        said = call(capsys, "reproduce", *options)
        with about(*options):
            assert said.code == 2 and names in said.err and said.err.count("\n") == 1


def test_tables_pages_and_a_manifest_lie_in_the_folder_beside_what_lay_there(capsys, planted, tmp_path):
    text = call(capsys, "reproduce", "cohen-naive", "--quick", "--out", tmp_path)
    assert text.code == 0, text.err
    assert "Verdict: holds in part" in text.out and "✓" in text.out and "✗" in text.out
    assert "Data: made up" in text.out and "Reason:" in text.out
    said = call(capsys, "reproduce", "su-blocks", "--quick", "--out", tmp_path, "--json")
    assert said.code == 0, said.err
    assert [(one["id"], one["verdict"]) for one in said.json] == [("su-blocks", "holds in part")]
    finding = said.json[0]["findings"][0]
    assert set(finding) == {
        "says",
        "holds",
        "found",
        "margin",
        "reason",
        "paper",
        "ours",
        "interval",
        "today",
        "verdict",
    }
    assert finding["interval"]["runs"] == 3 and finding["verdict"] in ("holds", "does not hold", "undecided")
    written = pd.read_csv(tmp_path / "verdicts.csv")
    assert set(written["claim"]) == {"su-blocks", "cohen-naive"}
    assert (written["low"] <= written["margin"]).all() and (written["margin"] <= written["high"]).all()
    table = pd.read_csv(tmp_path / "su-blocks.csv")
    assert len(table) == len(PLANTED["su-blocks"](Outcome.IN_PART))
    assert "Su et al. 2016, Fig. 3" in (tmp_path / "su-blocks.html").read_text("utf-8")
    manifest = json.loads((tmp_path / "manifest.json").read_text("utf-8"))["claims"]
    assert set(manifest) == {"su-blocks", "cohen-naive"}
    assert manifest["su-blocks"]["command"] == "python -m dpviz reproduce su-blocks --quick --out DIR"
    assert manifest["su-blocks"]["dpviz"] == __version__ and manifest["su-blocks"]["settings"]["repeats"] > 0


@pytest.mark.slow
def test_both_baselines_are_printed_with_their_intervals(capsys, planted, tmp_path):
    said = call(capsys, "reproduce", "google-coreset", "--quick", "--out", tmp_path)
    first, second = (line for line in said.out.splitlines() if "lowest loss of" in line)
    assert "as the paper ran it" in first and "against diffprivlib" in first
    assert "today" in second and "against DPLloyd (journal)" in second
    assert all(re.search(r"margin [\d.]+×, [\d.]+ to [\d.]+ in 9 of 10 redraws", line) for line in (first, second))
    assert "With what is run today:" in said.out
