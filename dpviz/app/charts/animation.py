"""Steps as an animation: each with its picture, companions and words, as plain data for the page to play."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple, get_args

from dpviz.algorithms import Step
from dpviz.app.charts.canvas import ROWS
from dpviz.app.charts.picture import Chart, Companion, RenderContext
from dpviz.app.charts.plot import Data, Plot, pack, strip_tags
from dpviz.app.charts.registry import draw_picture, find_picture, list_companions
from dpviz.runs import RunSoFar
from dpviz.words import Kind, Palette, glossary


class TitleNumber(NamedTuple):
    """A number beside the title: its kind, and what it is of, in a few words."""

    kind: Kind
    value: str
    of: str

    def to_data(self) -> Data:
        """With what its words mean."""
        return {**self._asdict(), "about": glossary.explain_label(f"{self.value} {self.of}")}

    @classmethod
    def of_spending(cls, run: RunSoFar) -> TitleNumber:
        """What a private run has spent, in the digits of the bar below it."""
        charges = f"{len(run.entries):d} charge{'' if len(run.entries) == 1 else 's'}"
        return cls("released", f"ε {run.spent_epsilon:.3g}", f"spent in {charges}")


class Shot(NamedTuple):
    """One step of an animation: what the stepper calls it, what it costs beside the others, and what is spent then."""

    step: Step
    name: str
    cost: float
    spent: str


@dataclass
class Animation:
    """What the player of a page is given: pictures of steps, one after the other, in one context."""

    shots: Sequence[Shot]
    context: RenderContext
    beside: Callable[[Step], Iterable[Companion]]
    rows: dict[str, Data] = field(default_factory=dict)
    shared: dict[str, Any] = field(default_factory=dict)
    drawn: dict[Chart, Data] = field(default_factory=dict)

    @classmethod
    def of_run(cls, run: RunSoFar, context: RenderContext) -> Animation:
        """Every step of a run."""
        context, steps, before = context.with_steps_of(run), run.steps, 0.0
        shots = []
        for frame in run.frames:
            cost = round(frame.spent_epsilon - before, 6) if run.private else 0
            spent = f"ε {frame.spent_epsilon:.3g} of {run.epsilon:g} spent"
            said = spent if run.private else "no budget: rows were read"
            shots.append(Shot(frame.step, find_picture(frame.step).called, cost, said))
            before = frame.spent_epsilon
        return cls(shots, context, lambda step: list_companions(step, steps, context))

    def to_data(self) -> Data:
        """All steps, the rows that lie under them, what steps share, and the colours of the page."""
        steps = [
            self._format_shot(shot) | {"sides": [self._format_side(one) for one in self.beside(shot.step)]}
            for shot in self.shots
        ]
        known = {"rows": self.rows, "shared": self.shared}
        shots = [shot for step in steps for shot in (step, *step["sides"])]
        texts = [*get_args(Kind), *(shot["name"] for shot in shots)]
        texts += [entry["word"] for shot in shots for entry in shot["legend"]]
        # What names and lines of a legend mean, where a word of the glossary is in them.
        words = {text: about for text in texts if (about := glossary.explain_label(text))}
        return {"steps": steps, **known, "colors": choose_colors(self.context.palette), "words": words}

    def draw_still(self, place: int) -> Data:
        """The picture of one step, by its place from 0, with everything in it, and nothing drawn of the others."""
        step = self._format_shot(self.shots[place])
        for trace in step["data"]:
            for name, value in trace.items():
                if isinstance(value, dict) and "same" in value:
                    trace[name] = self.shared.get(value["same"], value)
        return step

    def _format_shot(self, shot: Shot) -> Data:
        """The picture of a step, and what is said of it."""
        chart = draw_picture(shot.step, self.context)
        said = {"name": shot.name, "told": shot.step.title, "note": chart.note, "about": _explain(chart)}
        return {**self._draw(chart), **said, "cost": shot.cost, "spent": shot.spent}

    def _format_side(self, companion: Companion) -> Data:
        """What stands beside a picture; what stands beside several is drawn once."""
        name, chart = companion
        if chart not in self.drawn:
            self.drawn[chart] = self._draw(chart)
        said = f"{chart.kind}: {chart.note}" if chart.note else chart.kind
        return {**self.drawn[chart], "name": name, "note": said, "about": _explain(chart), "kind": chart.kind}

    def _draw(self, chart: Chart) -> Data:
        plot = chart.plot()
        legend, rows, made = list(make_legend(plot)), self._lift(plot), plot.to_data()
        made["data"] = [{name: self._once(value) for name, value in trace.items()} for trace in made["data"]]
        return {"title": chart.title, "alt": chart.words, "legend": legend, "rows": rows, **made}

    def _once(self, value: Any) -> Any:
        """Long values are sent once: steps of a tree or of a swap differ in a few marks only."""
        letters = value.get("bdata", "") if isinstance(value, dict) else value
        # Values of so many marks, or letters, are worth a name.
        if not isinstance(value, list | dict) or len(letters) < 200:
            return value
        name = blake2b(pack({"": value}).encode(), digest_size=8).hexdigest()
        self.shared.setdefault(name, value)
        return {"same": name}

    def _lift(self, plot: Plot) -> str:
        """Rows lie under many pictures: they are taken out, sent once, and named by what they are."""
        shown = next((trace for trace in plot.traces if trace.get("uid") == ROWS), None)
        if shown is None:
            return ""
        plot.traces.remove(shown)
        name = blake2b(shown["x"].tobytes() + shown["y"].tobytes(), digest_size=8).hexdigest()
        if name not in self.rows:
            self.rows[name] = strip_tags({"x": shown["x"], "y": shown["y"]})
        return name


def _explain(chart: Chart) -> str:
    return glossary.explain_label(f"{chart.title} {chart.note}")


def make_legend(plot: Plot) -> Iterator[Data]:
    """What each kind of mark means, once, with its sign and its colour."""
    for trace in plot.traces:
        name, kind = trace.get("name"), trace.get("meta")
        if name and trace.get("showlegend") is not False:
            words = name.removeprefix("◉ ").removeprefix("○ ")
            yield {"mark": _make_mark(trace), "color": _choose_color(trace), "word": words, "kind": kind or "released"}


def _make_mark(trace: Data) -> str:
    marker, line = trace.get("marker", {}), trace.get("line", {})
    if trace.get("uid") == ROWS:
        return "dot"
    if trace["type"] in ("bar", "heatmap"):
        return "square"
    if "markers" in trace.get("mode", ""):
        symbol = marker.get("symbol", "circle")
        if not isinstance(symbol, str):
            return "circle"
        return "cross" if symbol.startswith("x") else symbol
    if trace.get("fill"):
        return "square-open"
    return "line" if line.get("dash", "solid") == "solid" else "line-dash"


def _choose_color(trace: Data) -> str:
    if trace["type"] == "heatmap":
        scale = trace["colorscale"]
        return str(scale[-1][1]) if not isinstance(scale, str) else "currentColor"
    marks = trace.get("marker" if "markers" in trace.get("mode", "markers") else "line", {})
    if "colorscale" in marks:
        return str(marks["colorscale"][-1][1])
    color = marks.get("color")
    # Marks of many colours stand for their kind.
    return color if isinstance(color, str) else f"var(--{trace['meta']})" if trace.get("meta") else "currentColor"


def choose_colors(palette: Palette) -> dict[str, str]:
    """What the player calls the colours of a theme."""
    names = ("text", "muted", "surface", "public", "released", "revealed")
    return {**{name: getattr(palette, name) for name in names}, "line": palette.grid}
