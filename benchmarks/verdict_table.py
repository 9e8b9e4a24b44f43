"""The papers' claims in a table for docs/findings.md: published files, synthetic tables and today side by side.

python -m benchmarks.verdict_table
"""

from __future__ import annotations

from collections.abc import Iterator

from experiments.claim import Finding, Outcome, Verdict
from experiments.registry import CLAIMS
from experiments.shipped import STAND_INS, load_shipped

_NONE = "–"


def markdown() -> str:
    """A line a claim; behind a verdict how many findings hold, and how many are undecided."""
    head = ["| claim | verdict | on | synthetic tables | today | what decides | margin, nine in ten |"]
    return "\n".join([*head, "|---|---|---|---|---|---|---|", *_lines()])


def _lines() -> Iterator[str]:
    for claim in CLAIMS.values():
        found = load_shipped(claim)
        if found is None:
            continue
        verdict, made = found.verdict(claim), load_shipped(claim, STAND_INS) if found.on_files else None
        cells = [claim.paper, _cell(verdict), found.about, _cell(made and made.verdict(claim)), _cell(verdict.today)]
        cells += [verdict.closest.says, _margin(verdict.closest)]
        yield f"| {' | '.join(cells)} |"


def _cell(verdict: Verdict | None) -> str:
    if verdict is None:
        return _NONE
    undecided = verdict.count(Outcome.UNDECIDED)
    open_ones = f", {undecided} open" if undecided else ""
    return f"{verdict.outcome.value} ({verdict.count(Outcome.HOLDS)} of {len(verdict.findings)}{open_ones})"


def _margin(finding: Finding) -> str:
    between = finding.interval
    return f"{finding.margin:.3g}×" + ("" if between is None else f", {between.low:.3g} to {between.high:.3g}")


if __name__ == "__main__":
    print(markdown())
