"""The results that lie in the checkout: complete, made by the settings of today, and what a recomputation gives."""

import json
from dataclasses import asdict

import pandas as pd
import pytest

from dpviz import __version__
from dpviz.claims.claim import Outcome
from dpviz.claims.registry import CLAIMS, claim_rows
from dpviz.claims.shipped import FOLDER, shipped
from dpviz.cli.claim_folder import FORMAT

# The cheapest ones, from all but one of the papers.
RECOMPUTED = ("su-genetic", "su-blocks", "balcan-small")


@pytest.mark.parametrize("claim_id", list(CLAIMS))
def test_every_claim_is_shipped_as_its_settings_say(claim_id):
    claim = CLAIMS[claim_id]
    found = shipped(claim)
    assert found is not None, "run python -m dpviz reproduce --quick --out docs/reproduced"
    settings = json.loads(json.dumps(asdict(claim.settings(quick=found.made["quick"]))))
    assert found.made["settings"] == settings, "made by other settings: reproduce it again"
    assert found.made["dpviz"] == __version__ and claim_id in found.made["command"]
    assert (FOLDER / f"{claim_id}.csv").stat().st_size < 200_000
    assert found.made["rows"] == len(found.table)


def test_most_claims_hold_at_least_in_part_and_every_failure_has_a_reason():
    verdicts = {
        claim.id: claim.judge(found.table) for claim in CLAIMS.values() if (found := shipped(claim)) is not None
    }
    assert sum(verdict.outcome is not Outcome.FAILS for verdict in verdicts.values()) >= 10
    for verdict in verdicts.values():
        assert all(finding.holds or finding.reason for finding in verdict.findings)


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
    timings = [column for column in ("seconds",) if column in again.columns]
    # Libraries of linear algebra differ in their last bits from one processor to another.
    pd.testing.assert_frame_equal(again.drop(columns=timings), found.table.drop(columns=timings), rtol=1e-4)
