"""The results that lie in the checkout: made by the settings of today, and what a recomputation gives."""

import json
from dataclasses import asdict

import pandas as pd
import pytest

from dpviz import __version__
from dpviz.claims.claim import Outcome
from dpviz.claims.registry import CLAIMS, claim_rows
from dpviz.claims.shipped import FOLDER, FROM_FILES, shipped
from dpviz.cli.claim_folder import FORMAT

# The cheapest ones of two papers.
RECOMPUTED = ("su-genetic", "su-blocks", "balcan-small")


LISTED = json.loads((FOLDER / "manifest.json").read_text("utf-8"))["claims"]


def test_tables_and_manifest_list_the_same_claims():
    assert set(LISTED) <= set(CLAIMS)
    assert {file.stem for file in FOLDER.glob("*.csv")} == set(LISTED)
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
        assert (folder / f"{claim_id}.csv").stat().st_size < 200_000
        assert found.made["rows"] == len(found.table)


def test_at_most_two_claims_fail_and_every_failure_has_a_reason():
    tables = {claim_id: shipped(CLAIMS[claim_id]) for claim_id in LISTED}
    verdicts = [CLAIMS[claim_id].judge(found.table) for claim_id, found in tables.items() if found is not None]
    assert len(verdicts) == len(LISTED)
    assert sum(verdict.outcome is Outcome.FAILS for verdict in verdicts) <= 2
    assert all(finding.holds or finding.reason for verdict in verdicts for finding in verdict.findings)


def test_nothing_is_shipped_where_nothing_lies(tmp_path):
    assert shipped(CLAIMS["su-blocks"], tmp_path) is None


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("claim_id", RECOMPUTED)
def test_what_is_shipped_is_what_a_run_finds(claim_id, tmp_path):
    found = shipped(CLAIMS[claim_id])
    assert found is not None
    again = pd.DataFrame(claim_rows(claim_id, quick=found.made["quick"], folder=None))
    again.to_csv(tmp_path / "again.csv", index=False, float_format=FORMAT)
    again = pd.read_csv(tmp_path / "again.csv")
    timings = again.columns.intersection(["seconds"])
    # Libraries of linear algebra differ in their last bits from one processor to another.
    pd.testing.assert_frame_equal(again.drop(columns=timings), found.table.drop(columns=timings), rtol=1e-4)
