"""Verdicts as a table: a line a finding, with the interval of its margin, written once and read beside the runs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from dpviz.claims.claim import Finding, Interval, Row, Verdict

FILE = "verdicts.csv"
AS_RAN, TODAY = "as the paper ran it", "today"
# Digits to which the margin of a line must be that of the finding which it is put beside.
_SAME = 1e-3


def list_lines(claim_id: str, verdict: Verdict) -> Iterator[Row]:
    """A line for each finding, and one for what is run today where that differs.

    Parameters
    ----------
    claim_id : str
    verdict : Verdict
        Of that claim.

    Returns
    -------
    iterator of Row
    """
    for number, finding in enumerate(verdict.findings, start=1):
        for run, asked in ((AS_RAN, finding), (TODAY, finding.today)):
            if asked is not None:
                between = asked.interval
                yield {
                    "claim": claim_id,
                    "finding": number,
                    "run": run,
                    "verdict": asked.outcome.value,
                    "margin": asked.margin,
                    "low": None if between is None else between.low,
                    "high": None if between is None else between.high,
                    "runs": 1 if between is None else between.runs,
                    "runs_needed": asked.runs_needed if asked.runs_needed else None,
                    "says": asked.says,
                    "paper": asked.paper,
                    "ours": asked.ours,
                }


def add_intervals(verdict: Verdict, lines: pd.DataFrame) -> Verdict:
    """``verdict`` with the intervals of its own ``lines``; a finding whose line has another margin gets none.

    Parameters
    ----------
    verdict : Verdict
    lines : DataFrame
        As ``list_lines`` has them, of one claim.

    Returns
    -------
    Verdict
    """
    known = {(line["finding"], line["run"]): line for line in lines.to_dict("records")}
    parts = []
    for number, finding in enumerate(verdict.findings, start=1):
        today = finding.today and _add_interval(finding.today, known.get((number, TODAY)))
        parts.append(replace(_add_interval(finding, known.get((number, AS_RAN))), today=today))
    return Verdict(tuple(parts))


def _add_interval(finding: Finding, line: dict[Hashable, Any] | None) -> Finding:
    if line is None or pd.isna(line["low"]):
        return finding
    same = line["margin"] == finding.margin or abs(line["margin"] - finding.margin) <= _SAME * abs(finding.margin)
    return replace(finding, interval=Interval(line["low"], line["high"], line["runs"])) if same else finding
