"""From a table of runs to findings: orderings of medians, place by place, and the margin by which they hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil

import numpy as np
import pandas as pd

from dpviz.arrays import Array
from dpviz.claims.claim import Finding, Verdict
from dpviz.claims.material import PUBLISHED, RECIPE

# Where nothing is to blame.
UNEXPLAINED = "not explained: our runs contradict the paper here"
PLACES = ("data", "k", "epsilon")


def medians(table: pd.DataFrame, places: Sequence[str] = PLACES, measure: str = "nicv") -> pd.DataFrame:
    """Medians of ``measure``: one row a place, one column a line."""
    found = table.groupby([*places, "line"], sort=False)[measure].median()
    unstacked: pd.DataFrame = found.dropna().unstack("line", sort=False)
    return unstacked


def advantages(
    table: pd.DataFrame,
    better: Sequence[str],
    worse: Sequence[str],
    *,
    places: Sequence[str] = PLACES,
    measure: str = "nicv",
) -> pd.Series:
    """At each place with all these lines: the least median among ``worse`` over the largest among ``better``."""
    lines = list(dict.fromkeys([*better, *worse]))
    losses = medians(table[table["line"].isin(lines)], places, measure).reindex(columns=lines).dropna()
    return losses[list(worse)].min(axis=1) / losses[list(better)].max(axis=1)


def ordered(
    table: pd.DataFrame,
    better: Sequence[str],
    worse: Sequence[str],
    *,
    says: str,
    places: Sequence[str] = PLACES,
    measure: str = "nicv",
    factor: float = 1.0,
    share: float = 1.0,
) -> Finding:
    """Whether all of ``better`` lie below all of ``worse`` by ``factor`` in a ``share`` of the places.

    The margin is that of the place that decides: the worst one of the best ``share``.
    """
    advantage = advantages(table, better, worse, places=places, measure=measure)
    return _with_reason(table, decided(advantage, says=says, factor=factor, share=share))


def decided(advantage: pd.Series, *, says: str, factor: float = 1.0, share: float = 1.0) -> Finding:
    """Whether ``advantage`` is at least ``factor`` in a ``share`` of its places."""
    if advantage.empty:
        return Finding(says, False, "no place has all these runs", 0.0, "not run")
    down = advantage.sort_values(ascending=False)
    needed = ceil(share * len(down) - 1e-9)
    margin = float(down.iloc[needed - 1]) / factor
    held = int((advantage >= factor).sum())
    places = f"in {held} of {len(down)} places" + (f" ({needed} needed)" if needed < len(down) else "")
    wanted = "" if factor == 1.0 else f", {factor:g}× wanted"
    found = (
        f"{places}; median advantage {_times(float(down.median()))}{wanted}; least {_times(float(down.iloc[-1]))} at "
    )
    by = f" by {factor:g}×" if factor > 1 else ""
    paper, ours = f"{needed} of {len(down)} places{by}", f"{held} of {len(down)}"
    if len(down) == 1:
        paper, ours = f"at least {factor:g}×", _times(float(down.iloc[0]))
    return Finding(says, margin >= 1, found + _place(advantage, down.index[-1]), margin, paper=paper, ours=ours)


def at_least(
    value: float, least: float, *, says: str, found: str, unit: str = "×", paper: str = "", ours: str = ""
) -> Finding:
    """Whether one number reaches another; ``paper`` and ``ours`` where these say more than both with their ``unit``."""
    margin = value / least if least else float("inf")
    asked, got = paper or f"at least {least:.3g}{unit}", ours or f"{value:.3g}{unit}"
    return Finding(says, value >= least, found, margin, paper=asked, ours=got)


def at_most(
    value: float, most: float, *, says: str, found: str, unit: str = "×", paper: str = "", ours: str = ""
) -> Finding:
    """Whether one number stays below another; ``paper`` and ``ours`` where these say more than both with ``unit``."""
    margin = most / value if value else float("inf")
    asked, got = paper or f"at most {most:.3g}{unit}", ours or f"{value:.3g}{unit}"
    return Finding(says, value <= most, found, margin, paper=asked, ours=got)


def within_factor(
    values: Sequence[float], most: float, *, says: str, names: Sequence[str], paper: str = "", ours: str = ""
) -> Finding:
    """Whether the largest of ``values`` is at most ``most`` times the least."""
    spread = max(values) / min(values)
    listed = ", ".join(f"{name} {value:.3g}" for name, value in zip(names, values, strict=True))
    found = f"{listed}: a factor of {spread:.3g}, {most:g} allowed"
    return at_most(spread, most, says=says, found=found, paper=paper, ours=ours)


def because(finding: Finding, reason: str, instead: Finding | None = None) -> Finding:
    """``finding`` with its reason, if it does not hold; ``instead`` is the same question without what is to blame."""
    if finding.holds:
        return finding
    if instead is None:
        return replace(finding, reason=reason)
    borne_out = "borne out by our runs" if instead.holds else "not borne out by our runs"
    return replace(finding, reason=f"{reason} ({borne_out}: {instead.found})")


def asked_again(question: Callable[[str], Finding], line: str, reason: str, innocent: str) -> Finding:
    """What ``question`` finds of ``line``; where it does not hold, what it finds of a line without what is to blame."""
    return because(question(line), reason, question(innocent))


def beside(question: Callable[[str], Finding], ran: str, now: str, reason: str) -> Finding:
    """What ``question`` finds of the line as the paper ran it, beside it what it finds of today's and its reason."""
    as_ran = question(ran)
    return replace(as_ran, today=because(question(now), reason, as_ran))


def judged(table: pd.DataFrame, *findings: Finding) -> Verdict:
    """The verdict; a finding that does not hold and has no reason of its own gets the one that the table knows."""
    return Verdict(tuple(_with_reason(table, finding) for finding in findings))


def _with_reason(table: pd.DataFrame, finding: Finding) -> Finding:
    if finding.today is not None:
        finding = replace(finding, today=_with_reason(table, finding.today))
    if finding.holds or finding.reason:
        return finding
    return replace(finding, reason=_another_table(table) or UNEXPLAINED)


def _another_table(table: pd.DataFrame) -> str:
    """What is not the paper's own table, by name; "" if all are."""
    others = table.loc[~table["origin"].isin([PUBLISHED, RECIPE]), ["data", "origin"]].drop_duplicates()
    kinds = others.groupby("origin", sort=False)["data"].agg(", ".join)
    named = "; ".join(f"{kind}: {names}" for kind, names in kinds.items())
    return f"perhaps the data, which are not the paper's ({named})" if named else ""


def rank_correlation(x: Array, y: Array) -> float:
    """Spearman's, 0 where one of both does not vary."""
    ranks = np.stack([pd.Series(x).rank().to_numpy(), pd.Series(y).rank().to_numpy()])
    if np.ptp(ranks, axis=1).min() == 0:
        return 0.0
    return float(np.corrcoef(ranks)[0, 1])


def _times(value: float) -> str:
    return f"{value:.4g}×"


def _place(advantage: pd.Series, key: object) -> str:
    names = [str(name) for name in advantage.index.names]
    values = key if isinstance(key, tuple) else (key,)
    words = {"data": "{}", "epsilon": "ε = {:g}"}
    return ", ".join(words.get(name, name + " = {}").format(value) for name, value in zip(names, values, strict=True))
