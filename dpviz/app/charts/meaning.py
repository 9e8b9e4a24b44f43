"""The pictures of what ε means: a belief, an attack's record, neighbouring tables, asking again, where others are."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from math import ceil, exp, floor, log10, sqrt
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpviz.app.charts.canvas import UNCUT, Diagram, PlotCanvas, add_note, make_hidden_axis, split_xy
from dpviz.app.charts.cells import join_outlines
from dpviz.app.charts.plot import Plot, make_epsilon_axis, make_layout
from dpviz.app.charts.view import View
from dpviz.core import Array, Codes, zcdp_epsilon
from dpviz.runs import AskingAgain, Belief, Request, bound_advantage, foresee, membership, trace_bound, windows
from dpviz.words import Kind, Palette, capitalize_first, format_at_most, format_percent, format_small, round_percent

SOURCE = "Differential Privacy Deployments Registry (opendp/deployments-registry-data, MIT licence), 15 July 2026"
"""Where the facts are from."""
USUAL_DELTA = 1e-6
"""At which ρ is told as an ε, where an entry names no δ."""

# Whom one unit of privacy protects, by words of the registry: the first that fits.
_UNITS = (
    ("one person's day, trip or device", ("day", "month", "quarter", "trip", "device")),
    ("one event or record", ("event", "record", "tuple", "birth")),
    ("one business", ("business",)),
    ("one person", ("user", "person", "individual")),
)
UNITS = ("one person", "one person's day, trip or device", "one event or record", "one business", "not said")
"""Whom one unit of privacy protects, from the strongest promise on."""


class Deployment(NamedTuple):
    """One entry: ``epsilon`` is as published, or follows from ρ at ``delta`` where ``converted``."""

    name: str
    curator: str
    year: int
    unit: str
    model: str
    epsilon: float
    delta: float
    converted: bool


@cache
def load_deployments() -> tuple[Deployment, ...]:
    """All entries with an ε or a ρ, by ε."""
    with Path(__file__).with_name("deployments.csv").open(encoding="utf-8", newline="") as file:
        return tuple(sorted(map(_read_entry, csv.DictReader(file)), key=lambda one: (one.epsilon, one.name)))


def _read_entry(row: dict[str, str]) -> Deployment:
    delta, converted, protects = float(row["delta"] or USUAL_DELTA), not row["epsilon"], row["unit"].lower()
    unit = next((unit for unit, signs in _UNITS if any(sign in protects for sign in signs)), "not said")
    epsilon = zcdp_epsilon(float(row["rho"]), delta) if converted else float(row["epsilon"])
    slack = delta if converted or row["delta"] else 0.0
    model, year = row["model"].lower(), int(row["year"])
    return Deployment(row["name"], row["curator"], year, unit, model, epsilon, slack, converted)


# Where a legend lies.
_LEGEND = {"orientation": "h", "x": 0, "y": -0.16, "yanchor": "top", "xanchor": "left"}
_SIDE, _GAP, _PEOPLE_HEIGHT = 10, 3.0, 400
_TURN = np.linspace(0, 2 * np.pi, 16)
# A head and shoulders in a square of side 1, one closed path each.
_HEAD = np.column_stack([0.5 + 0.17 * np.cos(_TURN), 0.72 + 0.17 * np.sin(_TURN)])
_ARC = np.linspace(0, np.pi, 10)
_SHOULDERS = np.column_stack([0.5 + 0.33 * np.cos(_ARC), 0.1 + 0.4 * np.sin(_ARC)])


def draw_icon_array(prior: float, epsilon: float) -> Diagram:
    """Of a hundred like them, how many it would be true of: before a release, and at most and at least after it.

    >>> array = draw_icon_array(0.5, 1.0)
    >>> array.finding
    'At ε = 1, a belief of 50 % becomes at most 73.2 %'
    >>> array.note
    'Whatever somebody knows about you, the release changes the odds by at most a factor of 2.72.'
    """
    after = Belief.bound(prior, epsilon=epsilon)
    believed, least, most = map(format_percent, (prior, 1 - _round_up(1 - after.least), _round_up(after.most)))
    factor = format_at_most(exp(epsilon)) if epsilon < 10 else f"e^{epsilon:g}"

    def paint(palette: Palette) -> Plot:
        plot, right = Plot(make_layout(palette, height=_PEOPLE_HEIGHT)), _SIDE + _GAP
        before, low, high = (round(100 * share) for share in (prior, *after))
        for left, places, color in (
            (0.0, range(before), palette.public),
            (0.0, range(before, 100), palette.grid),
            (right, range(low), palette.released),
            (right, range(low, high), palette.fade(palette.released, 0.4)),
            (right, range(high, 100), palette.grid),
        ):
            nth = np.asarray(places)
            corner = np.column_stack([left + nth % _SIDE, _SIDE - 1 - nth // _SIDE]).astype(float)
            for shape in (_HEAD, _SHOULDERS) if len(nth) else ():
                path = join_outlines(list(corner[:, None] + shape))
                plot.add_scatter(path[:, 0], path[:, 1], "lines", line={"width": 0}, fill="toself", fillcolor=color)
        for x, heading, number, color in (
            (0.0, "without your data", f"{believed} believe it of you", palette.public),
            (right, "with your data", f"{least} to {most}", palette.released),
        ):
            where = {"x": x, "y": _SIDE, "xanchor": "left", "yanchor": "bottom", "align": "left"}
            add_note(plot, f"{heading}<br><b>{number}</b>", color, where, size=14)
        plot.update_xaxes(range=[-0.2, right + _SIDE + 0.2], constrain="domain", **make_hidden_axis())
        square = {"scaleanchor": "x", "constrain": "domain", "constraintoward": "top"}
        plot.update_yaxes(range=[-0.2, _SIDE + 0.1], **square, **make_hidden_axis())
        # Pixels of the two lines above each array, however small it is.
        return plot.update_layout(margin={"l": 0, "r": 0, "t": 44, "b": 0}, showlegend=False)

    finding = f"At ε = {epsilon:g}, a belief of {believed} becomes at most {most}"
    note = f"Whatever somebody knows about you, the release changes the odds by at most a factor of {factor}."
    marked = f"Without your data {believed} are marked; with it between {least} and {most}."
    return Diagram("odds", finding, note, f"Two arrays of a hundred people. {marked}", paint)


def _round_up(share: float) -> float:
    """A share that is an upper bound stays one: three digits, more only where it would be 1."""
    unit = 10.0 ** min(floor(log10(share)) - 2, floor(log10(1 - share))) if 0 < share < 1 else 1.0
    return ceil(share / unit - 1e-9) * unit


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
    limit = _make_points(bound_advantage(epsilon=epsilon, delta=delta), most=True)
    private = [one.attack for one in attackers if one.kind == "released"]
    finding = f"At ε = {epsilon:g}, {_tell_gain(private, epsilon, delta)}"
    reach = max((one.reach for one in private), default=0.0)
    rates = [(one.name, round_percent(one.attack.hits.rate), one.attack.false_alarms.rate) for one in attackers]
    said = [f"{name}: {hits} hits at {round_percent(alarms)} false alarms" for name, hits, alarms in rates]

    def paint(palette: Palette) -> Plot:
        plot = Plot(make_layout(palette, height=470))
        draw = partial(plot.add_scatter, mode="lines", meta="public")
        across, line = edge = trace_bound(epsilon=epsilon, delta=delta).T
        if private:
            x, y = np.c_[edge, trace_bound(epsilon=epsilon, delta=delta, reach=reach).T[:, ::-1]]
            tint, rim = palette.fade(palette.text, 0.08), {"width": 1, "color": palette.muted, "dash": "dash"}
            draw(x, y, fill="toself", fillcolor=tint, line=rim, listed="by luck, in 19 of 20 records")
        # The region is the same from both ends: an attacker may always say the opposite.
        x, y = np.r_[across, 1 - across], np.r_[line, 1 - line]
        tint = palette.fade(palette.public, 0.13)
        draw(x, y, fill="toself", fillcolor=tint, line={"width": 0}, listed="where attacks can be")
        hover, bold = "at %{x:.1%} false alarms at most %{y:.1%} hits", {"width": 2.5, "color": palette.text}
        draw(across, line, line=bold, hover=hover, listed="the most that any attack can do")
        draw([0, 1], [0, 1], line={"width": 1, "color": palette.muted, "dash": "dot"}, listed="guessing")
        colors = [palette.released, palette.inks[2]]
        for one in attackers:
            color = palette.revealed if one.kind == "revealed" else colors.pop(0)
            steps, alarms, hits = one.attack.staircase, one.attack.false_alarms, one.attack.hits
            box = {"x0": alarms.low, "x1": alarms.high, "y0": hits.low, "y1": hits.high}
            plot.add_shape(type="rect", **box, fillcolor=palette.fade(color, 0.15), line_width=0, layer="below")
            known, stairs = {"legendgroup": one.name, "meta": one.kind}, {"shape": "hv", "width": 2, "color": color}
            plot.add_scatter(steps[:, 0], steps[:, 1], "lines", line=stairs, listed=one.name, **known)
            marker = {"size": 11, "color": color, "line": {"width": 1.5, "color": palette.surface}}
            hover = f"{one.name}<br>hits {_tell(hits)}<br>false alarms {_tell(alarms)}"
            plot.add_scatter([alarms.rate], [hits.rate], "markers", hover=hover, marker=marker, **known)
        axis = {"range": [-0.02, 1.02], "tickformat": ".0%", "dtick": 0.25, "zeroline": False, "constrain": "domain"}
        plot.update_xaxes(title_text="false alarms: said “in”, was not", **axis)
        plot.update_yaxes(title_text="hits: said “in”, was in", scaleanchor="x", **axis)
        return plot.update_layout(margin={"l": 60, "r": 8, "t": 12, "b": 110}, legend=_LEGEND)

    note = "No attacker gets beyond the line but by luck, whatever they know: that is what ε means."
    words = f"Hits against false alarms. The line allows {limit} more hits. {'; '.join(said)}."
    return Diagram("attack", finding, note, words, paint)


def _tell_gain(private: Sequence[membership.Attack], epsilon: float, delta: float) -> str:
    """What the best of these attacks gained, beside the most that any can gain; also where it gained more."""
    limit = bound_advantage(epsilon=epsilon, delta=delta)
    most = _make_points(limit, most=True)
    if not private:
        return f"no attacker gains more than {most}"
    best = max(private, key=lambda one: one.advantage)
    gained = _make_points(max(best.advantage, 0.0))
    if any(one.passes(epsilon=epsilon, delta=delta) for one in private):
        return f"an attack gained {gained} where none should gain more than {most}: do not rely on this algorithm"
    if best.advantage > limit:
        return f"none can gain more than {most}: the best attack gained {gained}, by luck"
    return f"the best attack gains {gained}, and none can gain more than {most}"


def _tell(one: membership.Share) -> str:
    """A rate with its interval."""
    return f"{round_percent(one.rate)} ({round_percent(one.low)} to {round_percent(one.high)})"


def _make_points(share: float, *, most: bool = False) -> str:
    """A difference of shares, in words; the ``most`` that it can be stays that."""
    points = format_at_most(100 * share) if most else f"{100 * share:.2g}"
    return f"{points} point{'' if points == '1' else 's'}"


@dataclass(frozen=True, eq=False)
class TwinClouds:
    """Released centres of two neighbouring tables, one draw each from as many draws.

    ``person`` (m, d), the rows of one person, unit coordinates; ``present``, ``absent`` (r, k, d), released centres
    with the person and without.
    """

    person: Array
    present: Array
    absent: Array

    @classmethod
    def of(cls, trials: Sequence[membership.AttackTrial], person: Array) -> TwinClouds:
        """Of runs on both tables, at least one on each, and the rows (m, d) of ``person``, unit coordinates."""
        present, absent = (np.stack([one.centers for one in trials if one.present is there]) for there in (True, False))
        return cls(person, present, absent)

    @property
    def moved(self) -> float:
        """How far the middle of the nearest centres moves, in the spread of one draw of them."""
        nearest = []
        for releases in (self.present, self.absent):  # of each release the centre nearest to the person
            squared = ((releases[:, :, None] - self.person[None, None]) ** 2).sum(axis=-1).min(axis=-1)
            nearest.append(releases[np.arange(len(releases)), squared.argmin(axis=1)])
        spread = np.sqrt(np.mean([((centers - centers.mean(axis=0)) ** 2).sum(axis=1).mean() for centers in nearest]))
        apart = float(np.linalg.norm(nearest[0].mean(axis=0) - nearest[1].mean(axis=0)))
        return apart / float(spread) if spread > 0 else np.inf if apart > 0 else 0.0


def draw_twin_clouds(
    clouds: TwinClouds, view: View, rows: Array, attackers: Sequence[Attacker], asked: Request, *, both: bool = True
) -> Diagram:
    """The centres of one table over those of the other; the second only where ``both`` may be seen.

    ``rows`` (n, d), of a public table, unit coordinates; ``attackers`` tell what the pictures of centres do not.
    """
    epsilon, moved = asked.epsilon, f"{clouds.moved:.2g}"
    by_chance = 2 * sqrt(1 / len(clouds.present) + 1 / len(clouds.absent))
    chance = ", which chance alone may do" if clouds.moved < by_chance else ""

    def paint(palette: Palette) -> Plot:
        plot = Plot(make_layout(palette, height=480))
        PlotCanvas(plot, palette, view).plane()
        faint: dict[str, Any] = {"size": 4, "color": palette.fade(palette.public, 0.5)}
        filled: dict[str, Any] = {"size": 7, "opacity": 0.6, "symbol": "circle", "color": palette.released}
        hollow = filled | {"symbol": "square-open", "color": palette.inks[2], "line": {"width": 1.5}}
        ring = {"symbol": "circle-open", "size": 18, "color": palette.text, "line": {"width": 2}}
        drawn = [("rows", rows[:: max(1, len(rows) // 2_000)], faint, "public")]
        drawn.append(("centres, with the person", clouds.present, filled, "released"))
        if both:
            drawn.append(("centres, without", clouds.absent, hollow, "released"))
        drawn.append(("the person", clouds.person, ring, "public"))
        for name, points, marker, kind in drawn:
            places = split_xy(view.plane(points.reshape(-1, points.shape[-1])))
            plot.add_scatter(**places, mode="markers", marker=marker, listed=name, meta=kind)
        return plot.update_layout(margin={"l": 60, "r": 8, "t": 12, "b": 110}, legend=_LEGEND)

    finding = f"At ε = {epsilon:g}, one person moves the nearest centre by {moved} × its noise{chance}"
    draws = f"{len(clouds.present)} draws with the person and of {len(clouds.absent)} without, at ε = {epsilon:g}"
    words = f"Centres of {draws}: the nearest centre's middle moves by {moved} times its spread{chance}."
    gain = _tell_gain([one.attack for one in attackers if one.kind == "released"], epsilon, asked.delta)
    note = f"Clouds that look alike prove nothing: more is released than the centres. Over all answers, {gain}."
    return Diagram("neighbouring-tables", finding, note, words, paint)


SENTENCE = "Whoever may ask often enough averages the noise away: so every release is counted."
"""What to repeat."""


def describe_costs(asked: AskingAgain) -> str:
    """What the most releases do to the noise, and what they cost."""
    most = max(asked.noise)
    shrunk = asked.noise[1] / asked.noise[most] if asked.noise[most] > 0 else np.inf
    price = next(one for one in asked.prices if one.times == most)
    return f"{most} releases: {shrunk:.2g} times less noise, and ε = {price.added:g} instead of {asked.epsilon:g}"


def draw_costs(asked: AskingAgain) -> list[Diagram]:
    """Noise, ε and, where it is known, what an attacker gains, against the number of releases that are averaged."""
    left = ", ".join(f"{round_percent(value / asked.noise[1])} after {times}" for times, value in asked.noise.items())
    costs = [(f"{one.added:g} after {one.times}", format_at_most(one.composed)) for one in asked.prices]
    spent = ", ".join(f"{added}, {composed} composed" for added, composed in costs)
    drawn = [
        ("Noise left, % of one release", f"Noise left after so many releases: {left}.", _paint_noise),
        ("ε of all together", f"ε after so many releases: {spent}.", _paint_price),
    ]
    if asked.gains:
        gained = ", ".join(f"{100 * value:.0f} after {times}" for times, value in asked.gains.items())
        words = f"Points that an attacker gains after so many releases: {gained}."
        drawn.append(("What an attacker gains, points", words, _paint_gain))
    return [Diagram("asking-again", heading, "", words, partial(paint, asked)) for heading, words, paint in drawn]


def _paint_noise(asked: AskingAgain, palette: Palette) -> Plot:
    plot, times = _make_plot(asked, palette), np.array(sorted(asked.noise))
    fine = np.geomspace(1, max(one.times for one in asked.prices), 60)
    _add_line(plot, fine, 100 / np.sqrt(fine), palette.muted, "dot")
    left = 100 * np.array([asked.noise[int(one)] for one in times]) / asked.noise[1]
    _add_line(plot, times, left, palette.released)
    # Below its curve, where averages hardly ever lie.
    _say(plot, "1/√t", fine[15], 100 / np.sqrt(fine[15]), palette.muted, up=-18)
    return plot


def _paint_price(asked: AskingAgain, palette: Palette) -> Plot:
    plot, times = _make_plot(asked, palette), np.array([one.times for one in asked.prices])
    added, composed = (np.array([getattr(one, name) for one in asked.prices]) for name in ("added", "composed"))
    _add_line(plot, times, added, palette.released)
    _add_line(plot, times, composed, palette.inks[1], "dash")
    _say(plot, "added up", times[-1], added[-1], palette.released)
    if composed[-1] < 0.97 * added[-1]:
        # Below its line: between the lines there is no room for words.
        slack = format_small(asked.prices[-1].delta)
        _say(plot, f"composed, δ = {slack}", times[-1], composed[-2] / 2, palette.inks[1], up=0)
    return plot


def _paint_gain(asked: AskingAgain, palette: Palette) -> Plot:
    plot, times = _make_plot(asked, palette), np.array([one.times for one in asked.prices])
    bounds = [bound_advantage(epsilon=one.composed, delta=one.delta) for one in asked.prices]
    most, gained = 100 * np.array(bounds), np.array(sorted(asked.gains))
    gains = 100 * np.array([asked.gains[int(one)] for one in gained])
    _add_line(plot, times, most, palette.text)
    _add_line(plot, gained, gains, palette.inks[2])
    _say(plot, "none can gain more", times[-1], most[-1], palette.text)
    _say(plot, "who reads all answers", gained[1], gains[1], palette.inks[2], at="left", up=-14)
    plot.update_yaxes(range=[0, 112])
    return plot


def _make_plot(asked: AskingAgain, palette: Palette) -> Plot:
    plot, ticks = Plot(make_layout(palette, height=340)), [one.times for one in asked.prices]
    plot.update_xaxes(type="log", tickvals=ticks, ticktext=[f"{tick}" for tick in ticks], title_text="releases, t")
    plot.update_xaxes(range=[-0.1, np.log10(max(ticks)) + 0.12])
    plot.update_yaxes(rangemode="tozero")
    return plot.update_layout(margin={"l": 40, "r": 8, "t": 16, "b": 48}, showlegend=False)


def _add_line(plot: Plot, x: Array | Codes, y: Array, color: str, dash: str = "solid") -> None:
    mode, hover = "lines" if dash == "dot" else "lines+markers", "%{x:.0f} releases: %{y:.3g}"
    look = {"line": {"color": color, "width": 2, "dash": dash}, "marker": {"size": 7}, **UNCUT, "showlegend": None}
    plot.add_scatter(x, y, mode, hover=hover, **look)


def _say(plot: Plot, text: str, x: float, y: float, color: str, *, at: str = "right", up: int = 12) -> None:
    add_note(plot, text, color, {"x": float(np.log10(x)), "y": float(y), "xanchor": at, "yshift": up}, size=12)


def draw_deployments(others: Sequence[Deployment], epsilon: float) -> Diagram:
    """A dot for every deployment, a row for each unit of privacy, and a line at one's own ε."""
    above, middle = sum(one.epsilon > epsilon for one in others), median(one.epsilon for one in others)
    finding = f"{above} of {len(others)} public deployments use a larger ε than {epsilon:g}"
    finding += f"; the median of all is {middle:.3g}"
    by_unit = {unit: [one for one in others if one.unit == unit] for unit in UNITS}
    said = ", ".join(f"{len(some)} protect {unit}" for unit, some in by_unit.items() if some and unit != "not said")

    def paint(palette: Palette) -> Plot:
        plot = Plot(make_layout(palette, height=400))
        rows = {unit: some for unit, some in by_unit.items() if some}
        for row, mine in enumerate(rows.values()):
            symbols = ["circle-open" if one.converted else "circle" for one in mine]
            rim = {"width": 1.5, "color": palette.public}
            marker = {"size": 11, "color": palette.public, "line": rim, "symbol": symbols}
            x, lift = [one.epsilon for one in mine], list[int]()
            for place, here in enumerate(x):  # a dot stands on those that lie closer than a dot's width
                under = [lift[i] for i in range(place) if abs(np.log10(here / x[i])) < 0.055]
                lift.append(max(under, default=-1) + 1)
            y = [-row + 0.22 * up for up in lift]
            notes = [[one.name, one.curator, one.year, _format_budget(one)] for one in mine]
            hover = "<b>%{customdata[0]}</b><br>%{customdata[1]}, %{customdata[2]}<br>%{customdata[3]}"
            plot.add_scatter(x, y, "markers", hover=hover, marker=marker, customdata=notes, meta="public")
        ends = [*(one.epsilon for one in others), epsilon]
        # Powers of ten stand side by side on a telephone, too.
        tens = [10.0**power for power in range(floor(log10(min(ends))), ceil(log10(max(ends))) + 1)]
        ticks = {"tickvals": tens, "ticktext": [f"{tick:g}" for tick in tens], "tickangle": 0}
        plot.update_xaxes(**make_epsilon_axis(min(ends), max(ends)) | ticks | {"title": {"text": "ε"}})
        names = [capitalize_first(unit).replace(", ", ",<br>") for unit in rows]
        plot.update_yaxes(range=[-len(rows) + 0.55, 0.9], tickvals=[-row for row in range(len(rows))], ticktext=names)
        plot.update_yaxes(zeroline=False)
        plot.add_vline(x=epsilon, line={"color": palette.released, "width": 2})
        where = {"x": float(np.log10(epsilon)), "y": 0.9, "yanchor": "top", "xanchor": "left", "xshift": 5}
        add_note(plot, f"<b>your ε = {epsilon:g}</b>", palette.released, where, size=13)
        return plot.update_layout(margin={"l": 150, "r": 16, "t": 12, "b": 48})

    note = "A comparison, never advice: what is right depends on the data and on who could be harmed."
    words = f"Public deployments on a log axis of ε, by unit of privacy: {said}. {finding}."
    return Diagram("deployments", finding, note, words, paint)


def _format_budget(one: Deployment) -> str:
    slack = f"{', from ρ at' if one.converted else ','} δ = {format_small(one.delta)}" if one.delta else ""
    return f"ε = {one.epsilon:.3g}{slack}"


def compute_losses(window: windows.Window, n: int) -> pd.DataFrame:
    """Quartiles and the loss of the wanted share over made-up tables of ``n`` rows, at every ε that was studied."""
    columns = ["epsilon", "low", "high", "upper"]
    if not window.algorithm:
        return pd.DataFrame(columns=columns)
    prospects = foresee(replace(window.setting, n=n), share=window.answer.few.share)
    find, shares = partial(prospects.find_reached, window.algorithm), (0.25, 0.75, window.target.share)
    return pd.DataFrame([(one, *find(one, shares)) for one in prospects.list_served(window.algorithm)], columns=columns)
