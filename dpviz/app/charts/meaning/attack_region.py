"""What attackers achieved, in the region that no attacker can leave: hits against false alarms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dpviz.app.charts.layout import make_layout
from dpviz.app.charts.plot import Plot
from dpviz.runs import Request, bound_advantage, membership, trace_bound
from dpviz.words import Kind, Palette, round_percent

_HEIGHT, _MARK = 470, 11


class Attacker(NamedTuple):
    """Who attacks, what was attacked, and the record."""

    name: str
    kind: Kind
    attack: membership.Attack


@dataclass(frozen=True)
class AttackRegion:
    """Records of several attackers under the line of the strongest test."""

    sentence: ClassVar[str] = "What neither attacker can pass, nobody can: that is what ε means."
    """What to repeat."""

    attackers: Sequence[Attacker]
    epsilon: float
    delta: float
    runs: int

    @classmethod
    def of(
        cls, trials: Sequence[membership.AttackTrial], reference: Sequence[membership.AttackTrial], asked: Request
    ) -> AttackRegion:
        """Of runs of what was ``asked`` for, and of k-means++ as the ``reference``."""
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
        return cls(attackers, asked.epsilon, asked.delta, len(trials) // 2)

    @property
    def limit(self) -> float:
        """The most by which hits can exceed false alarms."""
        return bound_advantage(epsilon=self.epsilon, delta=self.delta)

    @property
    def title(self) -> str:
        """What the best attacker on the private release gained, and what none can."""
        private = [one for one in self.attackers if one.kind == "released"]
        if not private:
            return f"At ε = {self.epsilon:g}, no attacker gains more than {_make_points(self.limit)}"
        best = max(private, key=lambda one: one.attack.advantage)
        return (
            f"At ε = {self.epsilon:g}, the best attack gains {_make_points(max(best.attack.advantage, 0.0))}, "
            f"and none can gain more than {_make_points(self.limit)}"
        )

    def words(self) -> str:
        """The picture in words."""
        said = [
            f"{one.name}: {round_percent(one.attack.hits.rate)} hits at "
            f"{round_percent(one.attack.false_alarms.rate)} false alarms"
            for one in self.attackers
        ]
        return f"Hits against false alarms. The line allows {_make_points(self.limit)} more hits. {'; '.join(said)}."

    def draw(self, palette: Palette) -> Plot:
        """The region, every attacker's staircase, and a mark with limits at the threshold that it chose before."""
        plot = Plot(make_layout(palette, height=_HEIGHT))
        self._region(plot, palette)
        colors = [palette.released, palette.inks[2]]
        for one in self.attackers:
            color = palette.revealed if one.kind == "revealed" else colors.pop(0)
            self._record(plot, one, color, palette)
        axis = {"range": [-0.02, 1.02], "tickformat": ".0%", "dtick": 0.25, "zeroline": False, "constrain": "domain"}
        plot.update_xaxes(title_text="false alarms: said “in”, was not", **axis)
        plot.update_yaxes(title_text="hits: said “in”, was in", scaleanchor="x", **axis)
        legend = {"orientation": "h", "x": 0, "y": -0.16, "yanchor": "top", "xanchor": "left"}
        return plot.update_layout(margin={"l": 60, "r": 8, "t": 12, "b": 110}, legend=legend)

    def _region(self, plot: Plot, palette: Palette) -> None:
        across, line = trace_bound(epsilon=self.epsilon, delta=self.delta).T
        # The region is the same from both ends: an attacker may always say the opposite.
        around = np.concatenate([across, (1 - across)]), np.concatenate([line, (1 - line)])
        plot.add_trace(
            {
                **{"type": "scatter", "x": around[0], "y": around[1], "mode": "lines", "line": {"width": 0}},
                **{"fill": "toself", "fillcolor": palette.fade(palette.public, 0.13), "hoverinfo": "skip"},
                **{"name": "where attacks can be", "meta": "public"},
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

    @staticmethod
    def _record(plot: Plot, one: Attacker, color: str, palette: Palette) -> None:
        steps, alarms, hits = one.attack.staircase, one.attack.false_alarms, one.attack.hits
        x0, x1, y0, y1 = alarms.low, alarms.high, hits.low, hits.high
        plot.add_shape(
            type="rect", x0=x0, x1=x1, y0=y0, y1=y1, fillcolor=palette.fade(color, 0.15), line_width=0, layer="below"
        )
        plot.add_trace(
            {
                **{"type": "scatter", "x": steps[:, 0], "y": steps[:, 1], "mode": "lines", "name": one.name},
                **{"line": {"shape": "hv", "width": 2, "color": color}, "hoverinfo": "skip", "meta": one.kind},
                "legendgroup": one.name,
            }
        )
        plot.add_trace(
            {
                **{"type": "scatter", "x": [alarms.rate], "y": [hits.rate], "mode": "markers", "showlegend": False},
                "marker": {"size": _MARK, "color": color, "line": {"width": 1.5, "color": palette.surface}},
                **{"legendgroup": one.name, "meta": one.kind},
                "hovertemplate": f"{one.name}<br>hits {_tell(hits.rate, y0, y1)}<br>"
                f"false alarms {_tell(alarms.rate, x0, x1)}<extra></extra>",
            }
        )


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
