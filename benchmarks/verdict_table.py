"""The papers' claims in a table for docs/findings.md: published files, synthetic tables and today side by side.

python -m benchmarks.verdict_table
"""

from __future__ import annotations

from collections.abc import Iterator

from dpviz.app.charts.studies.stored_verdicts import STAND_INS, ClaimFinding, ClaimVerdict, Outcome, read_verdicts

_NONE = "–"


def markdown() -> str:
    """A line a claim; behind a verdict how many findings hold, and how many are undecided."""
    head = ["| claim | verdict | on | synthetic tables | today | what decides | margin, nine in ten |"]
    return "\n".join([*head, "|---|---|---|---|---|---|---|", *_lines()])


def _lines() -> Iterator[str]:
    made = {claim.id: claim.verdict for claim in read_verdicts(STAND_INS).claims}
    for claim in read_verdicts().claims:
        verdict, on_synthetic = claim.verdict, made.get(claim.id) if claim.is_on_files else None
        cells = [claim.paper, _cell(verdict), claim.about, _cell(on_synthetic), _cell(verdict.today)]
        cells += [verdict.closest.says, _margin(verdict.closest)]
        yield f"| {' | '.join(cells)} |"


def _cell(verdict: ClaimVerdict | None) -> str:
    if verdict is None:
        return _NONE
    undecided = verdict.count(Outcome.UNDECIDED)
    open_ones = f", {undecided} open" if undecided else ""
    return f"{verdict.outcome.value} ({verdict.count(Outcome.HOLDS)} of {len(verdict.findings)}{open_ones})"


def _margin(finding: ClaimFinding) -> str:
    between = finding.interval
    return f"{finding.margin:.3g}×" + ("" if between is None else f", {between.low:.3g} to {between.high:.3g}")


if __name__ == "__main__":
    print(markdown())
