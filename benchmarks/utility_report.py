"""The report of the utility bench, as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

# Within this much of the best, an algorithm counts as one of the best.
NEAR, FAR = 1.03, 1.5
# What is wanted of auto from this ε on: near the best in so many cells, and nowhere farther from it.
FROM_EPSILON, WANTED, FARTHEST = 0.3, 0.95, 1.10


def cells(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """A line for each table and ε, a column of median ratios for each algorithm; NaN where it was not run."""
    frame = pd.DataFrame(rows)
    done = frame[frame.outcome == "done"]
    return done.pivot_table(
        index=["judging", "table", "epsilon"], columns="algorithm", values="ratio", aggfunc="median", sort=False
    )


def verdict(medians: pd.DataFrame, algorithm: str = "auto") -> dict[str, float]:
    """How often an algorithm is the best or within 3 % of it, and its worst ratio to the best of a cell."""
    best = medians.min(axis=1)
    against = (medians[algorithm] / best).to_numpy()
    return {
        "cells": float(len(against)),
        "near_best": float(np.mean(against <= NEAR)),
        "worst_to_best": float(against.max(initial=0.0)),
    }


def report(rows: Sequence[dict[str, Any]], header: str) -> str:
    """Medians of all cells, what is best how often, and what was refused or too slow."""
    medians = cells(rows)
    parts = ["# Utility bench", header, "Ratio of the loss to that of non-private k-means++, median of the runs."]
    for judging in (True, False):
        if judging not in medians.index.get_level_values("judging"):
            continue
        part = medians.xs(judging, level="judging")
        title = "Judging families (never used to choose a constant)" if judging else "Tuning families and real tables"
        parts += [f"## {title}", *_list_aims(part), _standing(part), _by_epsilon(part), _table(part)]
    parts += ["## Not run", _not_run(rows)]
    return "\n\n".join(parts) + "\n"


def list_far_cells(rows: Sequence[dict[str, Any]]) -> list[tuple[str, float]]:
    """The cells where auto is not near the best, by the runs so far: table and ε.

    Parameters
    ----------
    rows : sequence of dict
        Of the file.

    Returns
    -------
    list of (str, float)
        The farthest first; none where auto was not run, or nothing else was.
    """
    behind = _compare_with_best(cells(rows).droplevel("judging"))
    return [] if behind is None else behind[behind > NEAR].index.tolist()


def _compare_with_best(medians: pd.DataFrame) -> pd.Series | None:
    """auto over the best at each cell where something is wanted of it, the farthest first."""
    cells = medians[medians.index.get_level_values("epsilon") >= FROM_EPSILON]
    if "auto" not in cells or len(cells.columns) < 2 or not cells["auto"].notna().any():
        return None
    cells = cells[cells["auto"].notna()]
    return (cells["auto"] / cells.min(axis=1)).sort_values(ascending=False)


def _list_aims(medians: pd.DataFrame) -> list[str]:
    """Whether auto does what is wanted of it, and the cells where it does not: at other ε there is no such aim."""
    behind = _compare_with_best(medians)
    if behind is None:
        return []
    found = verdict(medians.loc[behind.index])
    holds = found["near_best"] >= WANTED and found["worst_to_best"] <= FARTHEST
    far = [f"{table} at ε = {epsilon:g}: {ratio:.3f}" for (table, epsilon), ratio in behind.items() if ratio > NEAR]
    return [
        f"auto at ε ≥ {FROM_EPSILON:g} is within 3 % of the best in {found['near_best']:.0%} of {found['cells']:.0f} "
        f"cells, at worst {found['worst_to_best']:.3f} times the best: {'holds' if holds else 'DOES NOT HOLD'} "
        f"(wanted: {WANTED:.0%}, {FARTHEST:.2f}).",
        *(["Farther from the best: " + "; ".join(far) + "."] if far else []),
    ]


def _standing(medians: pd.DataFrame) -> str:
    lines = ["| algorithm | best or within 3 % | median ratio | worst ratio to the best |", "|---|---|---|---|"]
    ranked = sorted(medians.columns, key=lambda name: -verdict(medians[medians[name].notna()], name)["near_best"])
    for name in ranked:
        found = verdict(medians[medians[name].notna()], name)
        median = float(medians[name].median())
        lines.append(
            f"| {name} | {100 * found['near_best']:.0f} % of {found['cells']:.0f} | {median:.3g} × | "
            f"{found['worst_to_best']:.3g} × |"
        )
    return "\n".join(lines)


def _by_epsilon(medians: pd.DataFrame) -> str:
    """Geometric means over the tables at each ε, and the worst of them."""
    names, groups = list(medians.columns), medians.groupby(level="epsilon")
    lines = ["| geometric mean (worst) at ε = | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for epsilon, part in groups:
        shown = [f"{np.exp(np.log(part[name]).mean()):.3f} ({part[name].max():.3g})" for name in names]
        lines.append(f"| {epsilon:g} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def _table(medians: pd.DataFrame) -> str:
    names = list(medians.columns)
    lines = ["| table | ε | " + " | ".join(names) + " |", "|---|---|" + "---|" * len(names)]
    for (table, epsilon), line in medians.iterrows():  # type: ignore[misc]
        best = line.min()
        shown = [_number(line[name], best) for name in names]
        lines.append(f"| {table} | {epsilon:g} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def _number(value: float, best: float) -> str:
    if np.isnan(value):
        return "–"
    text = f"{value:.3f}" if value < 10 else f"{value:.3g}"
    return f"**{text}**" if value <= NEAR * best else text


def _not_run(rows: Sequence[dict[str, Any]]) -> str:
    frame = pd.DataFrame(rows)
    # What cannot be run is there once for each repeat.
    missing = frame[frame.outcome != "done"].drop_duplicates(["table", "epsilon", "algorithm"])
    if missing.empty:
        return "Everything was run."
    counted = missing.groupby(["algorithm", "outcome"], sort=False).size()
    return "\n".join(f"- {name}: {outcome} in {number} cells" for (name, outcome), number in counted.items())
