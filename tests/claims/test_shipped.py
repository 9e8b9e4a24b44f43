"""The results that lie in the checkout: made by the settings of today, and what a recomputation gives."""

import json
from dataclasses import asdict, replace

import pandas as pd
import pytest

from benchmarks.verdict_table import markdown
from dpviz import __version__
from dpviz.claims.claim import Outcome
from dpviz.claims.google_coreset import BASELINE_FILE, DIFFPRIVLIB, TABLES
from dpviz.claims.material import PUBLISHED, STAND_IN
from dpviz.claims.planner import FORMAT
from dpviz.claims.redraw import list_place_columns, weigh_table
from dpviz.claims.registry import CLAIMS, open_shelf
from dpviz.claims.shipped import FOLDER, FROM_FILES, shipped
from dpviz.claims.verdict_table import lines_of

# Parts of tables that take about a second each; ``dpviz reproduce`` makes the whole of them.
RECOMPUTED = {
    "cohen-naive": {"sizes": (10_000,), "repeats": 1},
    "su-blocks": {"tables": ("TIGER",), "powers": (0.4,), "repeats": 1},
    "su-scaling": {"ds": (2,), "ks": (2,), "repeats": 1},
    "su-genetic": {"tables": ("TIGER",), "iterations": 3, "repeats": 1},
    "balcan-small": {"repeats": 1},
}


# What tells the runs of a table apart.
WHERE = {"data", "n", "d", "k", "epsilon", "delta", "line", "repeat", "power", "iteration"}
LISTED = json.loads((FOLDER / "manifest.json").read_text("utf-8"))["claims"]


def test_tables_and_manifest_list_the_same_claims():
    assert set(LISTED) <= set(CLAIMS)
    assert {file.stem for file in FOLDER.glob("*.csv")} == {*LISTED, "verdicts"}
    assert set(RECOMPUTED) <= set(LISTED)


@pytest.mark.parametrize("folder", [FOLDER, FROM_FILES])
def test_a_shipped_claim_was_made_by_the_settings_of_today(folder):
    for claim_id in json.loads((folder / "manifest.json").read_text("utf-8"))["claims"]:
        claim = CLAIMS[claim_id]
        found = shipped(claim, folder)
        assert found is not None
        settings = json.loads(json.dumps(asdict(claim.settings(quick=found.made["quick"]))))
        assert found.made["settings"] == settings, f"{claim_id} was made by other settings: reproduce it again"
        assert found.made["dpviz"] == __version__ and claim_id in found.made["command"]
        assert (folder / f"{claim_id}.csv").stat().st_size < 400_000
        assert found.made["rows"] == len(found.table)


def test_at_most_two_claims_fail_and_every_failure_has_a_reason():
    tables = {claim_id: shipped(CLAIMS[claim_id]) for claim_id in LISTED}
    verdicts = [found.verdict(CLAIMS[claim_id]) for claim_id, found in tables.items() if found is not None]
    assert len(verdicts) == len(LISTED)
    assert sum(verdict.outcome is Outcome.FAILS for verdict in verdicts) <= 2
    assert all(finding.holds or finding.reason for verdict in verdicts for finding in verdict.findings)


def test_nothing_is_shipped_where_nothing_lies(tmp_path):
    assert shipped(CLAIMS["su-blocks"], tmp_path) is None


@pytest.mark.parametrize("folder", [FOLDER, FROM_FILES])
def test_each_finding_lies_there_with_its_interval(folder):
    for claim_id in json.loads((folder / "manifest.json").read_text("utf-8"))["claims"]:
        claim = CLAIMS[claim_id]
        found = shipped(claim, folder)
        assert found is not None
        verdict, lines = found.verdict(claim), found.lines
        again = pd.DataFrame(lines_of(claim_id, verdict))
        assert again[["finding", "run", "verdict"]].to_numpy().tolist() == (
            lines[["finding", "run", "verdict"]].to_numpy().tolist()
        )
        runs = found.table.groupby(list_place_columns(found.table), dropna=False)["repeat"].nunique().min()
        assert all((finding.interval is None) == (runs < 2) for finding in verdict.findings)
        assert lines["runs"].min() >= runs


@pytest.mark.slow
def test_the_intervals_are_those_of_the_generator_that_is_named():
    claim_id = "cohen-naive"
    claim = CLAIMS[claim_id]
    found = shipped(claim)
    assert found is not None
    again = pd.DataFrame(
        lines_of(claim_id, weigh_table(claim.judge, found.table, looks=found.made.get("looks", 1)).verdict)
    )
    for column in ("margin", "low", "high"):
        assert again[column].to_numpy() == pytest.approx(found.lines[column].to_numpy(), rel=1e-4)


def test_what_was_measured_of_diffprivlib():
    """Spends more than it is asked for, by the formula of its swapped shares; the post's tables, and Letter itself."""
    table = pd.read_csv(BASELINE_FILE)
    d = table["d"].to_numpy()
    swapped = (4 * d * 0.225**2) ** (1 / 3)
    assert table["spent_epsilon"].to_numpy() == pytest.approx((1 + d * swapped) / (d + swapped), rel=1e-4)
    assert set(table["data"]) == set(TABLES) and set(table["line"]) == {DIFFPRIVLIB}
    assert set(table.loc[table["data"] == "Letter", "origin"]) == {PUBLISHED, STAND_IN}
    assert (table.groupby(["data", "origin", "k"])["repeat"].nunique() == 5).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("claim_id", RECOMPUTED)
def test_what_is_shipped_is_what_a_run_finds(claim_id, tmp_path):
    claim = CLAIMS[claim_id]
    found = shipped(claim)
    assert found is not None
    few = replace(claim.settings(quick=found.made["quick"]), **RECOMPUTED[claim_id])
    pd.DataFrame(claim.rows(open_shelf(None), few)).to_csv(tmp_path / "again.csv", index=False, float_format=FORMAT)
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
