"""The page of the leaderboard: one HTML file, worst cells first, light and dark, down to the width of a telephone."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import inf, log
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from markupsafe import Markup

from benchmarks.leaderboard_cells import Cell, Score, cells_in
from benchmarks.utility_report import NEAR
from dpviz.algorithms.registry import CARDS
from dpviz.words.theme import FONT, Palette, choose_palette
from dpviz.words.wording import render

Line = dict[str, Any]
_TEMPLATE = Path(__file__).with_suffix(".html")
# Marks the one whose cells come first.
_MINE = ' class="mine"'
# The strip shows losses from that of k-means++ to so many times it; what is beyond stands at its end.
_MOST_SHOWN = 30.0
# Its width and height, its margin, and the radius of a dot, in its own units.
_WIDE, _HIGH, _RIM, _DOT = 190, 18, 6, 4


def page(rows: Sequence[dict[str, Any]], *, header: str, of: str) -> str:
    """The page of all runs; the cells in which ``of`` is farthest behind the best come first.

    Parameters
    ----------
    rows : sequence of dict
        Tidy rows as ``benchmarks.utility.measured`` makes them.
    """
    cells = sorted(cells_in(rows), key=lambda cell: -(cell.behind(of) or inf))
    names = list(dict.fromkeys(score.name for cell in cells for score in cell.scores))
    overspent = [name for name in names if not _fair(cells, name)]
    return Template(_TEMPLATE.read_text("utf-8")).substitute(
        light=_variables(choose_palette("light")),
        dark=_variables(choose_palette("dark")),
        font=FONT,
        finding=escape(finding(cells, of)),
        header=escape(header),
        fair=escape(_fairness(overspent)),
        of=escape(of),
        most=f"{_MOST_SHOWN:g}",
        standing=_standing(cells, _ranked(cells, names), of),
        cells="\n".join(_cell(cell, of) for cell in cells),
    )


def finding(cells: Sequence[Cell], of: str) -> str:
    """How often one is near the best, and where it is farthest from it."""
    behind = _behind(cells, of)
    if not behind:
        return f"{of} ran in no cell"
    near = sum(ratio <= NEAR for ratio in behind)
    said = f"{of} is the best or within 3 % of it in {near} of {len(behind)} cells"
    farthest = max(cells, key=lambda cell: cell.behind(of) or 0.0)
    return f"{said}; at worst {_ratio(max(behind))} the best: {_named(farthest)} at ε = {farthest.epsilon:g}"


def _behind(cells: Sequence[Cell], name: str) -> list[float]:
    return [ratio for cell in cells if (ratio := cell.behind(name)) is not None]


def _fair(cells: Sequence[Cell], name: str) -> bool:
    """Whether one spends no more than was asked for, wherever it ran."""
    scores = [(score, cell.epsilon) for cell in cells for score in cell.scores if score.name == name]
    return all(score.fair(epsilon) for score, epsilon in scores if score.loss is not None)


def _fairness(overspent: Sequence[str]) -> str:
    said = "Best is whoever loses least of those that spend no more than ε."
    return said if not overspent else f"{said} Spends more, and is shown beside them only: {', '.join(overspent)}."


def _ranked(cells: Sequence[Cell], names: Sequence[str]) -> list[str]:
    """By the number of cells in which each is near the best, then by how far behind it is on average."""

    def standing(name: str) -> tuple[int, float]:
        behind = _behind(cells, name)
        return -sum(ratio <= NEAR for ratio in behind), float(np.mean(np.log(behind))) if behind else inf

    return sorted(names, key=standing)


def _standing(cells: Sequence[Cell], names: Sequence[str], of: str) -> str:
    """Everybody's place over all cells as a table."""
    heads = ("algorithm", "best or within 3 %", "median loss", "worst to the best", "spent / asked ε")
    lines = [_line(name, _rank(cells, name), mine=name == of) for name in names]
    return _table("Standing", (*heads, "seconds (median)", "cells"), lines)


def _rank(cells: Sequence[Cell], name: str) -> list[str]:
    ran = [(score, cell.epsilon) for cell in cells if (score := cell.of(name)) is not None and score.loss is not None]
    numbers = ["–"] * 5
    if ran:
        behind, fair = _behind(cells, name), _fair(cells, name)
        rival = fair and len(behind) > 0
        numbers = [
            f"{100 * sum(ratio <= NEAR for ratio in behind) / len(behind):.0f} %" if rival else "–",
            _loss(float(np.median([score.loss or 0.0 for score, _ in ran]))),
            _ratio(max(behind)) if rival else "–",
            _spent(max((score.spent or 0.0) / epsilon for score, epsilon in ran), fair=fair),
            f"{np.median([score.seconds or 0.0 for score, _ in ran]):.2g}",
        ]
    return [*numbers, f"{len(ran)}/{len(cells)}"]


def _table(name: str, heads: Sequence[str], lines: Sequence[Line]) -> str:
    """A table whose columns hold numbers, but the first."""
    table = {"name": name, "heads": heads, "rows": lines, "numbers": range(1, len(heads))}
    return render("table.html.j2", table=table)


def _line(name: str, values: Sequence[str], *, mine: bool) -> Line:
    return {"cells": [_called(name), *values], "kind": "mine" if mine else ""}


def _spent(value: float, *, fair: bool) -> str:
    """Bold where it is more than was asked for; ∞ where a choice by the true loss is covered by no ε."""
    text = "∞" if value == inf else f"{value:.3g}"
    return text if fair else Markup(f"<b>{text}</b>")


def _cell(cell: Cell, of: str) -> str:
    mine, best, behind = cell.of(of), cell.best, cell.behind(of)
    own = "–" if mine is None else mine.outcome if mine.loss is None else _loss(mine.loss)
    first = "nobody ran" if best is None or best.loss is None else f"{_called(best.name)} {_loss(best.loss)}"
    parts = [
        f'<span class="name">{escape(_named(cell))}</span>',
        f'<span class="of number" data-head="ε">{cell.epsilon:g}</span>',
        f'<span class="of number" data-head="{escape(of)}">{escape(own)}</span>',
        f'<span class="of" data-head="best">{escape(first)}</span>',
        f'<span class="of number behind" data-head="behind">{"–" if behind is None else _ratio(behind)}</span>',
        f'<span class="strip">{_strip(cell, of)}</span>',
    ]
    return f"<details><summary>{''.join(parts)}</summary>{_everybody(cell, of)}</details>"


def _strip(cell: Cell, of: str) -> str:
    """Everybody's loss as dots on a logarithmic line; ``of`` lies on top."""
    middle, ran = _HIGH / 2, [score for score in cell.scores if score.loss is not None]
    ran.sort(key=lambda score: score.name == of)
    dots = []
    for score in ran:
        mine = score.name == of
        place = f'cx="{_place(score.loss or 1.0):.1f}" cy="{middle:g}" r="{_DOT + mine}"'
        dots.append(f"<circle {place}{_MINE * mine}/>")
    line = f'<line x1="{_RIM}" y1="{middle:g}" x2="{_WIDE - _RIM}" y2="{middle:g}"/>'
    words = f'role="img" aria-label="losses of {len(ran)} algorithms"'
    return f'<svg viewBox="0 0 {_WIDE} {_HIGH}" preserveAspectRatio="xMinYMid" {words}>{line}{"".join(dots)}</svg>'


def _place(loss: float) -> float:
    part = log(max(loss, 1.0)) / log(_MOST_SHOWN)
    return _RIM + (_WIDE - 2 * _RIM) * min(1.0, part)


def _everybody(cell: Cell, of: str) -> str:
    """All scores of a cell as a table."""
    lines = [_line(score.name, _values(score, cell.epsilon), mine=score.name == of) for score in cell.scores]
    return _table(f"Everybody on {_named(cell)}", ("algorithm", "loss", "ε really spent", "seconds"), lines)


def _values(score: Score, epsilon: float) -> list[str]:
    if score.loss is None:
        return [score.outcome, "", ""]
    spent = _spent(score.spent or 0.0, fair=score.fair(epsilon))
    return [_loss(score.loss), spent, f"{score.seconds or 0.0:.2g}"]


def _called(name: str) -> str:
    """The id of an algorithm, marked where it is not ours; public implementations by their names."""
    return f"{name} (not ours)" if name in CARDS and CARDS[name].brought_by else name


def _named(cell: Cell) -> str:
    return cell.table.replace(" x ", " × ")


def _loss(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def _ratio(value: float) -> str:
    return f"{value:.2f}×" if value < 10 else f"{value:,.0f}×"


def _variables(colors: Palette) -> str:
    named = {"text": colors.text, "muted": colors.muted, "line": colors.grid}
    named |= {"surface": colors.surface, "accent": colors.released}
    return " ".join(f"--{name}: {value};" for name, value in named.items())
