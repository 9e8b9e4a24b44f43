"""The results that lie in the checkout: made by the settings of today, and what a recomputation gives."""

import json
from dataclasses import asdict, replace
from functools import cache

import pandas as pd
import pytest

from benchmarks.verdict_table import markdown
from dpviz import __version__
from dpviz.app.charts.studies.stored_verdicts import FILE, FOLDER, STAND_INS, Outcome, read_verdicts
from dpviz.core.check import RequestError
from dpviz.runs.request import Contender, Request
from dpviz.words.documents import read_document
from experiments.claim_folder import ClaimManifest
from experiments.planner import FORMAT
from experiments.registry import CLAIMS, open_datasets
from experiments.stored_results import format_verdicts, judge_folder, load_runs
from experiments.trials import find_setting
from experiments.verdict_table import list_lines

# Parts of tables that take about a second each; ``python -m experiments`` makes the whole of them.
RECOMPUTED = {
    "cohen-naive": {"sizes": (100_000_000,), "repeats": 1},
    "su-blocks": {"tables": ("TIGER",), "powers": (0.4,), "repeats": 1},
    "su-scaling": {"ds": (2,), "ks": (2,), "repeats": 1},
    "su-genetic": {"tables": ("TIGER",), "iterations": 3, "repeats": 1},
    "balcan-small": {"repeats": 1},
    "su-theory": {"ds": (2,), "epsilons": (0.1,), "sizes": (20_000,), "repeats": 1},
    "balcan-theory": {"tables": ("three clusters",), "epsilons": (0.1,), "repeats": 1},
}


# What tells the runs of a table apart.
WHERE = {"data", "n", "d", "k", "epsilon", "delta", "line", "repeat", "power", "iteration"}
LISTED = json.loads((FOLDER / "manifest.json").read_text("utf-8"))["claims"]


@cache
def find_verdict(claim_id, folder=FOLDER):
    """What lies there of a claim, and its verdict, which many tests ask for."""
    found = load_runs(CLAIMS[claim_id], folder)
    return found, found.judge(CLAIMS[claim_id])


def test_tables_and_manifest_list_the_same_claims():
    for folder in (FOLDER, STAND_INS):
        read_document(ClaimManifest, json.loads((folder / "manifest.json").read_text("utf-8")), RequestError)
    assert set(LISTED) == set(CLAIMS)
    for folder in (FOLDER, STAND_INS):
        assert {file.stem for file in folder.glob("*.csv")} == {*LISTED, "verdicts"}
    assert set(RECOMPUTED) <= set(LISTED)


@pytest.mark.parametrize("folder", [FOLDER, STAND_INS])
def test_a_shipped_claim_was_made_by_the_settings_of_today(folder):
    for claim_id in json.loads((folder / "manifest.json").read_text("utf-8"))["claims"]:
        claim = CLAIMS[claim_id]
        found = load_runs(claim, folder)
        assert found is not None
        settings = json.loads(json.dumps(asdict(claim.settings(quick=found.made["quick"]))))
        assert found.made["settings"] == settings, f"{claim_id} was made by other settings: reproduce it again"
        assert found.made["dpviz"] == __version__ and claim_id in found.made["command"]
        assert (folder / f"{claim_id}.csv").stat().st_size < 2_000_000
        assert found.made["rows"] == len(found.table)


def test_at_most_two_claims_fail_every_failure_has_a_reason_and_each_finding_its_line():
    found = {claim_id: find_verdict(claim_id) for claim_id in LISTED}
    verdicts = [verdict for _, verdict in found.values()]
    assert sum(verdict.outcome is Outcome.FAILS for verdict in verdicts) <= 2
    assert all(finding.holds or finding.reason for verdict in verdicts for finding in verdict.findings)
    for claim_id, (stored, verdict) in found.items():
        again, told = pd.DataFrame(list_lines(claim_id, verdict)), ["finding", "run", "verdict"]
        assert again[told].to_numpy().tolist() == stored.lines[told].to_numpy().tolist()


@pytest.mark.slow
@pytest.mark.parametrize("folder", [FOLDER, STAND_INS])
def test_the_page_s_file_is_what_the_judges_say_of_the_stored_tables(folder):
    assert (folder / FILE).read_text("utf-8") == judge_folder(folder), "run python -m experiments.stored_results"


def test_the_page_s_file_is_read_as_it_was_written():
    for folder in (FOLDER, STAND_INS):
        stored = {result.id: result for result in read_verdicts(folder).claims}
        assert format_verdicts(stored) == (folder / FILE).read_text("utf-8")
        assert list(stored) == [claim_id for claim_id in CLAIMS if claim_id in stored]
        for claim_id, result in stored.items():
            assert len(result.settings) == (len(result.verdict.findings) if CLAIMS[claim_id].has_tables else 0)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("claim_id", RECOMPUTED)
def test_what_is_shipped_is_what_a_run_finds(claim_id, tmp_path):
    claim = CLAIMS[claim_id]
    found = load_runs(claim, STAND_INS)
    assert found is not None
    few = replace(claim.settings(quick=found.made["quick"]), **RECOMPUTED[claim_id])
    pd.DataFrame(claim.rows(open_datasets(None), few)).to_csv(tmp_path / "again.csv", index=False, float_format=FORMAT)
    again = pd.read_csv(tmp_path / "again.csv")
    where = [name for name in again.columns if name in WHERE]
    there = again[where].merge(found.table, on=where, how="left", validate="one_to_one")
    measured = again.columns.difference([*where, "seconds"])
    assert len(again) and len(measured)
    # Libraries of linear algebra differ in their last bits from one processor to another.
    pd.testing.assert_frame_equal(again[measured], there[measured], rtol=1e-4)


def test_the_findings_show_the_verdicts_that_lie_there():
    said = (FOLDER.parent / "findings.md").read_text("utf-8")
    assert markdown() in said, "run python -m benchmarks.verdict_table and put its table into docs/findings.md"


def test_every_finding_on_a_table_opens_a_setting_that_runs():
    """The place that decides, where one does; the line is the one that the finding asks about."""
    for claim_id in LISTED:
        claim, (found, verdict) = CLAIMS[claim_id], find_verdict(claim_id)
        settings = claim.settings(quick=found.made["quick"])
        for finding in verdict.findings:
            if claim.has_tables:
                setting = find_setting(claim, settings, found.table, finding)
                contender = Contender(setting.algorithm, setting.params)
                Request(contender, setting.k, setting.epsilon, setting.delta).check_numbers()
                assert setting.n >= 1000 and 2 <= setting.d <= 784
                assert finding.place.get("k", setting.k) == setting.k
    found, verdict = find_verdict("su-hybrid")
    setting = find_setting(CLAIMS["su-hybrid"], CLAIMS["su-hybrid"].quick, found.table, verdict.findings[3])
    assert (setting.algorithm, setting.epsilon, setting.k) == ("dplloyd", 0.05, 5)
