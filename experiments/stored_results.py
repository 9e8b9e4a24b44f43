"""Results that come with dpviz: tables of claims, how they were made, and their verdicts for the page Papers.

``python -m experiments.stored_results`` judges the stored tables anew: for whoever changes a judge and runs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from dpviz.app.charts.studies.stored_verdicts import (
    FILE,
    FOLDER,
    STAND_INS,
    ClaimFinding,
    ClaimResult,
    ClaimVerdict,
    StoredVerdicts,
    read_runs,
)
from experiments import verdict_table
from experiments.claim import Claim
from experiments.factors import WORDS
from experiments.material import PUBLISHED, SUBSTITUTE, SYNTHETIC
from experiments.planner import FORMAT
from experiments.redraw import DRAWS, PATH_DRAWS, SEED
from experiments.registry import CLAIMS
from experiments.trials import find_setting

RULES = (
    "Advantage: how many times larger the loss of the one that the paper calls worse is. Margin: how far a finding is "
    "from tipping; above 1× it holds. Behind it, where it lies in nine of ten tables whose runs were drawn again with "
    f"replacement ({DRAWS} draws, numpy's PCG64 with seed {SEED}); where that interval crosses 1, the finding is open. "
    "Where there are several looks, nine in ten is for all of them together, each by "
    f"{PATH_DRAWS} draws, and the first look that decides stands. A count that equals what is asked for holds; a loss "
    "that does is open.",
    f"What words come to, chosen by us: {'; '.join(f'{word}: {meaning}' for word, meaning in WORDS.items())}.",
)

_MARGIN = "%.15g"


@dataclass(frozen=True, eq=False)
class StoredRuns:
    """The table of a claim as it was written, its entry in the manifest, its lines of the verdicts."""

    table: pd.DataFrame
    made: dict[str, Any]
    lines: pd.DataFrame

    def judge(self, claim: Claim) -> ClaimVerdict:
        """The verdict on the table; the intervals, which take a while, are those that were written."""
        return verdict_table.judge_looks(claim.judge, self.table, self.lines)


def load_runs(claim: Claim, folder: Path = FOLDER) -> StoredRuns | None:
    """What lies in ``folder`` of ``claim``, as ``python -m experiments --out`` left it; None if nothing does."""
    file, manifest = folder / f"{claim.id}.csv", folder / "manifest.json"
    if not file.is_file() or not manifest.is_file():
        return None
    made = json.loads(manifest.read_text("utf-8"))["claims"].get(claim.id)
    if made is None:
        return None
    verdicts = folder / verdict_table.FILE
    lines = pd.read_csv(verdicts).query("claim == @claim.id") if verdicts.is_file() else pd.DataFrame()
    return StoredRuns(read_runs(claim.id, folder), made, lines)


def describe_result(claim: Claim, table: pd.DataFrame, made: dict[str, Any], verdict: ClaimVerdict) -> ClaimResult:
    """What a page shows of a claim.

    Parameters
    ----------
    claim : Claim
    table : DataFrame
        The runs that were judged.
    made : dict
        Its entry in the manifest.
    verdict : ClaimVerdict
        On that table.

    Returns
    -------
    ClaimResult
    """
    settings, shown = claim.settings(quick=made["quick"]), verdict.findings if claim.has_tables else ()
    origins = table[["data", "origin"]].drop_duplicates()
    return ClaimResult(
        id=claim.id,
        paper=claim.paper,
        claim=claim.claim,
        about=_describe_origins(origins["origin"]),
        tables=tuple(f"{data} ({origin})" for data, origin in origins.itertuples(index=False)),
        how=_describe_making(made),
        notes=claim.notes,
        figures=claim.figures,
        settings=tuple(find_setting(claim, settings, table, finding) for finding in shown),
        verdict=ClaimVerdict(tuple(map(_shorten, verdict.findings))),
    )


def _describe_origins(origins: pd.Series) -> str:
    """What kind of tables: published files, or the nearest that there are, count if only partly."""
    if origins.isin([PUBLISHED, SUBSTITUTE]).any():
        return "published files"
    return "stand-ins" if (origins == SYNTHETIC).any() else "the paper's recipe"


def _describe_making(made: dict[str, Any]) -> str:
    """Which command made it, with which version, and how much that was."""
    amount = "a quick run" if made["quick"] else "a full run"
    looks = f", {made['look']} of {made['looks']} looks" if made.get("looks", 1) > 1 else ""
    return f"{amount} of dpviz {made['dpviz']}{looks}: {made['command']}"


def _shorten(finding: ClaimFinding) -> ClaimFinding:
    """Its margin without the last digits, in which processors differ; those of an interval are as it was written."""
    between = finding.interval
    if between is not None:
        between = replace(between, low=float(FORMAT % between.low), high=float(FORMAT % between.high))
    today = finding.today and _shorten(finding.today)
    return replace(finding, margin=float(_MARGIN % finding.margin), interval=between, today=today)


def format_verdicts(results: Mapping[str, ClaimResult]) -> str:
    """The file of a folder, from what came of claims by their ids."""
    stored = StoredVerdicts(RULES, tuple(results[claim_id] for claim_id in CLAIMS if claim_id in results))
    return json.dumps(asdict(stored), indent=1, ensure_ascii=False) + "\n"


def judge_folder(folder: Path) -> str:
    """The file of verdicts that its tables give."""
    found = ((claim, load_runs(claim, folder)) for claim in CLAIMS.values())
    return format_verdicts({of.id: describe_result(of, it.table, it.made, it.judge(of)) for of, it in found if it})


def main() -> None:
    """Write the verdicts of what lies in the checkout."""
    for folder in (FOLDER, STAND_INS):
        (folder / FILE).write_text(judge_folder(folder), "utf-8")


if __name__ == "__main__":
    main()
