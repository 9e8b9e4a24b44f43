"""From a table of runs to findings: orderings of medians, place by place, and the margin by which they hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np
import pandas as pd

from dpviz.app.charts.studies.stored_verdicts import ClaimFinding, ClaimVerdict
from dpviz.core.arrays import Array
from experiments.material import PUBLISHED, RECIPE

# Where nothing is to blame.
UNEXPLAINED = "not explained: our runs contradict the paper here"
PLACES = ("data", "k", "epsilon")


def compute_medians(table: pd.DataFrame, places: Sequence[str] = PLACES, measure: str = "nicv") -> pd.DataFrame:
    """Medians of ``measure``: one row a place, one column a line.

    Parameters
    ----------
    table : DataFrame
        One row a run, as ``python -m experiments`` writes it.
    places : sequence of str
        Columns that tell places apart.
    measure : str
        The column of which medians are taken.

    Returns
    -------
    DataFrame
    """
    found = table.groupby([*places, "line"], sort=False)[measure].median()
    unstacked: pd.DataFrame = found.dropna().unstack("line", sort=False)
    return unstacked


def compute_advantages(
    table: pd.DataFrame,
    better: Sequence[str],
    worse: Sequence[str],
    *,
    places: Sequence[str] = PLACES,
    measure: str = "nicv",
) -> pd.Series:
    """At each place with all these lines: the least median among ``worse`` over the largest among ``better``.

    Parameters
    ----------
    table : DataFrame
        One row a run, as ``python -m experiments`` writes it.
    better, worse : sequence of str
        Names of lines.
    places : sequence of str
        Columns that tell places apart.
    measure : str
        The column that is compared; less is better.

    Returns
    -------
    Series
        By place; above 1 where all of ``better`` are better.
    """
    lines = list(dict.fromkeys([*better, *worse]))
    losses = compute_medians(table[table["line"].isin(lines)], places, measure).reindex(columns=lines).dropna()
    return losses[list(worse)].min(axis=1) / losses[list(better)].max(axis=1)


def compare_lines(
    table: pd.DataFrame,
    better: Sequence[str],
    worse: Sequence[str],
    *,
    says: str,
    places: Sequence[str] = PLACES,
    measure: str = "nicv",
    factor: float = 1.0,
    share: float = 1.0,
) -> ClaimFinding:
    """Whether all of ``better`` lie below all of ``worse`` by ``factor`` in a ``share`` of the places.

    The margin is that of the place that decides: the worst one of the best ``share``.

    Parameters
    ----------
    table : DataFrame
        One row a run, as ``python -m experiments`` writes it.
    better, worse : sequence of str
        Names of lines.
    says : str
        What the paper says, as a clause.
    places : sequence of str
        Columns that tell places apart.
    measure : str
        The column that is compared; less is better.
    factor : float
        By how much they must be better.
    share : float
        In which part of the places.

    Returns
    -------
    ClaimFinding
        With its margin, which is at least 1 where it holds.
    """
    advantage = compute_advantages(table, better, worse, places=places, measure=measure)
    found = compare_places(advantage, says=says, factor=factor, share=share)
    return _add_reason(table, replace(found, place={**found.place, "line": better[0]}))


def compare_places(advantage: pd.Series, *, says: str, factor: float = 1.0, share: float = 1.0) -> ClaimFinding:
    """Whether ``advantage`` is at least ``factor`` in a ``share`` of its places.

    Parameters
    ----------
    advantage : Series
        By place.
    says : str
        What the paper says, as a clause.
    factor : float
        How large it must be.
    share : float
        In which part of the places.

    Returns
    -------
    ClaimFinding
        With its margin, which is at least 1 where it holds.
        Its place is the one that decides.
    """
    if advantage.empty:
        return ClaimFinding(says, False, "no place has all these runs", 0.0, "not run")
    down = advantage.sort_values(ascending=False)
    needed = ceil(share * len(down) - 1e-9)
    margin = float(down.iloc[needed - 1]) / factor
    held = int((advantage >= factor).sum())
    places = f"in {held} of {len(down)} places" + (f" ({needed} needed)" if needed < len(down) else "")
    wanted = "" if factor == 1.0 else f", {factor:g}× wanted"
    middle, least = _format_times(float(down.median())), _format_times(float(down.iloc[-1]))
    found = f"{places}; median advantage {middle}{wanted}; least {least} at "
    by = f" by {factor:g}×" if factor > 1 else ""
    paper, ours = f"{needed} of {len(down)} places{by}", f"{held} of {len(down)}"
    if len(down) == 1:
        paper, ours = f"at least {factor:g}×", _format_times(float(down.iloc[0]))
    found += _name_place(advantage, down.index[-1])
    key = down.index[needed - 1]
    values = (value.item() if isinstance(value, np.generic) else value for value in _list_parts(key))
    place = dict(zip(map(str, advantage.index.names), values, strict=True))
    return ClaimFinding(says, margin >= 1, found, margin, paper=paper, ours=ours, place=place)


def compare_least(
    value: float,
    least: float,
    *,
    says: str,
    found: str,
    unit: str = "×",
    paper: str = "",
    ours: str = "",
    counted: bool = False,
) -> ClaimFinding:
    """Whether one number reaches another; ``paper`` and ``ours`` where these say more than both with their ``unit``.

    Parameters
    ----------
    value, least : float
        What was found, and what it must reach.
    says : str
        What the paper says, as a clause.
    found : str
        The numbers behind it.
    unit : str
        Of both.
    paper, ours : str
        What the paper asks for and what our runs gave, where that says more than both numbers with their unit.
    counted : bool
        Whether both are counts, or shares of a count.

    Returns
    -------
    ClaimFinding
        With its margin, which is at least 1 where it holds.
    """
    margin = value / least if least else float("inf")
    asked, got = paper or f"at least {least:.3g}{unit}", ours or f"{value:.3g}{unit}"
    return ClaimFinding(says, value >= least, found, margin, paper=asked, ours=got, counted=counted)


def compare_most(
    value: float,
    most: float,
    *,
    says: str,
    found: str,
    unit: str = "×",
    paper: str = "",
    ours: str = "",
    counted: bool = False,
) -> ClaimFinding:
    """Whether one number stays below another; ``paper`` and ``ours`` where these say more than both with ``unit``.

    Parameters
    ----------
    value, most : float
        What was found, and what it may not exceed.
    says : str
        What the paper says, as a clause.
    found : str
        The numbers behind it.
    unit : str
        Of both.
    paper, ours : str
        What the paper asks for and what our runs gave, where that says more than both numbers with their unit.
    counted : bool
        Whether both are counts, or shares of a count.

    Returns
    -------
    ClaimFinding
        With its margin, which is at least 1 where it holds.
    """
    margin = most / value if value else float("inf")
    asked, got = paper or f"at most {most:.3g}{unit}", ours or f"{value:.3g}{unit}"
    return ClaimFinding(says, value <= most, found, margin, paper=asked, ours=got, counted=counted)


def compare_within_factor(
    values: Sequence[float], most: float, *, says: str, names: Sequence[str], paper: str = "", ours: str = ""
) -> ClaimFinding:
    """Whether the largest of ``values`` is at most ``most`` times the least.

    Parameters
    ----------
    values : sequence of float
        Above 0.
    most : float
        The factor that is allowed.
    says : str
        What the paper says, as a clause.
    names : sequence of str
        Of the values.
    paper, ours : str
        What the paper asks for and what our runs gave, where that says more than both numbers with their unit.

    Returns
    -------
    ClaimFinding
        With its margin, which is at least 1 where it holds.
    """
    spread = max(values) / min(values)
    listed = ", ".join(f"{name} {value:.3g}" for name, value in zip(names, values, strict=True))
    found = f"{listed}: a factor of {spread:.3g}, {most:g} allowed"
    return compare_most(spread, most, says=says, found=found, paper=paper, ours=ours)


def add_reason(finding: ClaimFinding, reason: str, instead: ClaimFinding | None = None) -> ClaimFinding:
    """``finding`` with its reason, if it does not hold; ``instead`` is the same question without what is to blame.

    Parameters
    ----------
    finding : ClaimFinding
    reason : str
        What is to blame, by name.
    instead : ClaimFinding or None
        The same question without it: whether our runs bear the reason out.

    Returns
    -------
    ClaimFinding
    """
    if finding.holds:
        return finding
    if instead is None:
        return replace(finding, reason=reason)
    borne_out = "borne out by our runs" if instead.holds else "not borne out by our runs"
    return replace(finding, reason=f"{reason} ({borne_out}: {instead.found})")


def ask_again(question: Callable[[str], ClaimFinding], line: str, reason: str, innocent: str) -> ClaimFinding:
    """What ``question`` finds of ``line``; where it does not hold, what it finds of a line without what is to blame.

    Parameters
    ----------
    question : function of a line to ClaimFinding
    line : str
        What the paper ran.
    reason : str
        What is to blame where it does not hold.
    innocent : str
        A line without that.

    Returns
    -------
    ClaimFinding
    """
    return add_reason(question(line), reason, question(innocent))


def compare_with_today(question: Callable[[str], ClaimFinding], ran: str, now: str, reason: str) -> ClaimFinding:
    """What ``question`` finds of the line as the paper ran it, beside it what it finds of today's and its reason.

    Parameters
    ----------
    question : function of a line to ClaimFinding
    ran, now : str
        The lines as the paper ran it and of today.
    reason : str
        Why today's does not hold, where it does not.

    Returns
    -------
    ClaimFinding
        As the paper ran it; ``today`` is the other.
    """
    as_ran = question(ran)
    return replace(as_ran, today=add_reason(question(now), reason, as_ran))


def conclude(table: pd.DataFrame, *findings: ClaimFinding) -> ClaimVerdict:
    """The verdict; a finding that does not hold and has no reason of its own gets the one that the table knows.

    Parameters
    ----------
    table : DataFrame
        One row a run, as ``python -m experiments`` writes it.
    *findings : ClaimFinding
        As its judge found them.

    Returns
    -------
    ClaimVerdict
    """
    return ClaimVerdict(tuple(_add_reason(table, finding) for finding in findings))


def _add_reason(table: pd.DataFrame, finding: ClaimFinding) -> ClaimFinding:
    if finding.today is not None:
        finding = replace(finding, today=_add_reason(table, finding.today))
    if finding.holds or finding.reason:
        return finding
    return replace(finding, reason=_name_other_tables(table) or UNEXPLAINED)


def _name_other_tables(table: pd.DataFrame) -> str:
    """What is not the paper's own table, by name; "" if all are."""
    others = table.loc[~table["origin"].isin([PUBLISHED, RECIPE]), ["data", "origin"]].drop_duplicates()
    kinds = others.groupby("origin", sort=False)["data"].agg(", ".join)
    named = "; ".join(f"{kind}: {names}" for kind, names in kinds.items())
    return f"perhaps the data, which are not the paper's ({named})" if named else ""


def compute_rank_correlation(x: Array, y: Array) -> float:
    """Spearman's, 0 where one of both does not vary.

    Parameters
    ----------
    x, y : arrays of shape (n,)

    Returns
    -------
    float
        Between -1 and 1.
    """
    ranks = np.stack([pd.Series(x).rank().to_numpy(), pd.Series(y).rank().to_numpy()])
    if np.ptp(ranks, axis=1).min() == 0:
        return 0.0
    return float(np.corrcoef(ranks)[0, 1])


def _format_times(value: float) -> str:
    return f"{value:.4g}×"


def _name_place(advantage: pd.Series, key: object) -> str:
    names = [str(name) for name in advantage.index.names]
    values = _list_parts(key)
    words = {"data": "{}", "epsilon": "ε = {:g}"}
    return ", ".join(words.get(name, name + " = {}").format(value) for name, value in zip(names, values, strict=True))


def _list_parts(key: object) -> tuple[Any, ...]:
    """The values of a place, of which a single one is no tuple."""
    return key if isinstance(key, tuple) else (key,)
