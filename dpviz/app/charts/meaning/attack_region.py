"""What attackers achieved, in the region that no attacker can leave: hits against false alarms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dpviz.app.charts.diagram import Diagram
from dpviz.app.charts.layout import make_layout
from dpviz.app.charts.plot import Plot
from dpviz.core import Array
from dpviz.runs import bound_advantage, membership, trace_bound
from dpviz.words import Kind, Palette, round_percent

_HEIGHT, _MARK = 470, 11


class Attacker(NamedTuple):
    """Who attacks, what was attacked, and the record."""

    name: str
    kind: Kind
    attack: membership.Attack


def list_attackers(
    trials: Sequence[membership.AttackTrial], reference: Sequence[membership.AttackTrial]
) -> list[Attacker]:
    """Of private runs, and of k-means++ as the ``reference``: those who have attacked often enough."""
    attackers: list[Attacker] = []
    sources: tuple[tuple[str, Kind, Sequence[membership.AttackTrial], str], ...] = (
        ("who sees the centres", "released", trials, "nearness"),
        ("who reads all answers", "released", trials, "log_ratio"),
        ("k-means++ without privacy", "revealed", reference, "nearness"),
    )
    for name, kind, runs, of in sources:
        known = membership.collect_scores(runs, of)
        if known is not None:
            attackers.append(Attacker(name, kind, membership.attack(*known)))
    return attackers


def draw_attack_region(attackers: Sequence[Attacker], epsilon: float, delta: float) -> Diagram:
    """Records of several attackers under the line of the strongest test.

    Each is a staircase, and a mark with limits at the threshold that it chose before.
    """
    # The most by which hits can exceed false alarms.
    limit = _make_points(bound_advantage(epsilon=epsilon, delta=delta))
    gains = [one.attack.advantage for one in attackers if one.kind == "released"]
    finding = f"At ε = {epsilon:g}, no attacker gains more than {limit}"
    if gains:
        best = _make_points(max(*gains, 0.0))
        finding = f"At ε = {epsilon:g}, the best attack gains {best}, and none can gain more than {limit}"
    said = [
        f"{one.name}: {round_percent(one.attack.hits.rate)} hits at "
        f"{round_percent(one.attack.false_alarms.rate)} false alarms"
        for one in attackers
    ]

    def paint(palette: Palette) -> Plot:
        plot = Plot(make_layout(palette, height=_HEIGHT))
        _add_region(plot, trace_bound(epsilon=epsilon, delta=delta).T, palette)
        colors = [palette.released, palette.inks[2]]
        for one in attackers:
            _add_record(plot, one, palette.revealed if one.kind == "revealed" else colors.pop(0), palette)
        axis = {"range": [-0.02, 1.02], "tickformat": ".0%", "dtick": 0.25, "zeroline": False, "constrain": "domain"}
        plot.update_xaxes(title_text="false alarms: said “in”, was not", **axis)
        plot.update_yaxes(title_text="hits: said “in”, was in", scaleanchor="x", **axis)
        legend = {"orientation": "h", "x": 0, "y": -0.16, "yanchor": "top", "xanchor": "left"}
        return plot.update_layout(margin={"l": 60, "r": 8, "t": 12, "b": 110}, legend=legend)

    note = "What neither attacker can pass, nobody can: that is what ε means."
    words = f"Hits against false alarms. The line allows {limit} more hits. {'; '.join(said)}."
    return Diagram("attack", finding, note, words, paint)


def _add_region(plot: Plot, bound: Array, palette: Palette) -> None:
    across, line = bound
    # The region is the same from both ends: an attacker may always say the opposite.
    plot.add_trace(
        {
            **{"type": "scatter", "x": np.r_[across, 1 - across], "y": np.r_[line, 1 - line], "mode": "lines"},
            **{"fill": "toself", "fillcolor": palette.fade(palette.public, 0.13), "hoverinfo": "skip"},
            **{"line": {"width": 0}, "name": "where attacks can be", "meta": "public"},
        }
    )
    plot.add_trace(
        {
            **{"type": "scatter", "x": across, "y": line, "mode": "lines", "name": "no attack passes this line"},
            **{"line": {"width": 2.5, "color": palette.text}, "meta": "public"},
            "hovertemplate": "at %{x:.1%} false alarms at most %{y:.1%} hits<extra></extra>",
        }
    )
    plot.add_trace(
        {
            **{"type": "scatter", "x": [0, 1], "y": [0, 1], "mode": "lines", "name": "guessing"},
            **{"line": {"width": 1, "color": palette.muted, "dash": "dot"}, "hoverinfo": "skip", "meta": "public"},
        }
    )


def _add_record(plot: Plot, one: Attacker, color: str, palette: Palette) -> None:
    steps, alarms, hits = one.attack.staircase, one.attack.false_alarms, one.attack.hits
    box = {"x0": alarms.low, "x1": alarms.high, "y0": hits.low, "y1": hits.high}
    plot.add_shape(type="rect", **box, fillcolor=palette.fade(color, 0.15), line_width=0, layer="below")
    plot.add_trace(
        {
            **{"type": "scatter", "x": steps[:, 0], "y": steps[:, 1], "mode": "lines", "name": one.name},
            **{"line": {"shape": "hv", "width": 2, "color": color}, "hoverinfo": "skip", "meta": one.kind},
            "legendgroup": one.name,
        }
    )
    marker = {"size": _MARK, "color": color, "line": {"width": 1.5, "color": palette.surface}}
    hover = f"{one.name}<br>hits {_tell(hits.rate, hits.low, hits.high)}"
    hover += f"<br>false alarms {_tell(alarms.rate, alarms.low, alarms.high)}"
    known = {"legendgroup": one.name, "meta": one.kind}
    plot.add_scatter([alarms.rate], [hits.rate], "markers", hover=hover, marker=marker, **known)


def _tell(rate: float, low: float, high: float) -> str:
    """A rate with its interval."""
    return f"{round_percent(rate)} ({round_percent(low)} to {round_percent(high)})"


def _make_points(share: float) -> str:
    """A difference of shares, in words.

    >>> _make_points(0.4621)
    '46 points'
    """
    points = f"{100 * share:.2g}"
    return f"{points} point{'' if points == '1' else 's'}"
