"""Verdicts as a table: a line a finding, with the interval of its margin, written once and read beside the runs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from functools import cache
from math import inf, isnan, nan
from typing import Any

import pandas as pd

from dpviz.app.charts.studies.stored_verdicts import ClaimFinding, ClaimVerdict, MarginInterval
from experiments.claim import Row

FILE = "verdicts.csv"
AS_RAN, TODAY = "as the paper ran it", "today"
LOOK = "look"
"""The column of a path's look: of a run the one at which it was judged first, of a finding the one that it rests on."""
# Digits to which the margin of a line must be that of the finding which it is put beside.
_SAME = 1e-3


def list_lines(claim_id: str, verdict: ClaimVerdict) -> Iterator[Row]:
    """A line for each finding, and one for what is run today where that differs.

    Parameters
    ----------
    claim_id : str
    verdict : ClaimVerdict
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
                    LOOK: between.look if between is not None and between.look else None,
                    "says": asked.says,
                    "paper": asked.paper,
                    "ours": asked.ours,
                }


def judge_looks(
    judge: Callable[[pd.DataFrame], ClaimVerdict], table: pd.DataFrame, lines: pd.DataFrame
) -> ClaimVerdict:
    """What ``judge`` finds, each finding of the runs of its own look, with the interval of its line.

    Parameters
    ----------
    judge : function of a table
    table : DataFrame
        A row a run, or several, with the look at which it was judged first where there were several.
    lines : DataFrame
        As ``list_lines`` has them, of one claim; a finding whose line has another margin gets no interval.

    Returns
    -------
    ClaimVerdict
    """
    known = {(line["finding"], line["run"]): line for line in lines.to_dict("records")}
    looks = {key: inf if isnan(line.get(LOOK, nan)) else line[LOOK] for key, line in known.items()}

    @cache
    def judge_at(look: float) -> tuple[ClaimFinding, ...]:
        return judge(select_look(table, look)).findings

    parts = []
    for number, last in enumerate(judge_at(max(looks.values(), default=inf)), start=1):
        as_ran, today = (looks.get((number, run), inf) for run in (AS_RAN, TODAY))
        finding = _add_interval(judge_at(as_ran)[number - 1], known.get((number, AS_RAN)))
        now = last.today and judge_at(today)[number - 1].today
        parts.append(replace(finding, today=now and _add_interval(now, known.get((number, TODAY)))))
    return ClaimVerdict(tuple(parts))


def select_look(table: pd.DataFrame, look: float = inf) -> pd.DataFrame:
    """The runs that were judged at ``look`` or before, as a judge reads them; all where there was one look.

    Parameters
    ----------
    table : DataFrame
    look : float

    Returns
    -------
    DataFrame
    """
    return table[table[LOOK] <= look].drop(columns=LOOK) if LOOK in table else table


def _add_interval(finding: ClaimFinding, line: dict[Hashable, Any] | None) -> ClaimFinding:
    if line is None or pd.isna(line["low"]):
        return finding
    same = line["margin"] == finding.margin or abs(line["margin"] - finding.margin) <= _SAME * abs(finding.margin)
    look = line.get(LOOK, nan)
    between = MarginInterval(line["low"], line["high"], line["runs"], 0 if isnan(look) else int(look))
    return replace(finding, interval=between) if same else finding
