"""What a chart is: how a step is drawn, tabled and told, and what can stand beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from dpviz.algorithms import Step
from dpviz.app.charts.canvas import PlotCanvas, RevealedView, TitledPlot, name_kinds, new_plot, spell_name
from dpviz.app.charts.plot import REVEALED_MARK, Plot, make_layout
from dpviz.app.charts.view import View, describe_projected_axes
from dpviz.core import Array, Domain, Region
from dpviz.runs import Run, RunSoFar, Verdict, evaluation, profiles
from dpviz.words import Kind, Palette, join_clauses

T = TypeVar("T")

# Keeps the room of a note, so that the plot does not move from step to step.
_BLANK = "\u00a0"
_BARE_MARGIN = {"l": 48, "r": 8, "t": 8, "b": 44}
# Columns that words name, and that hovering over a mark tells.
_NAMED, _TOLD = 4, 6


@dataclass(frozen=True, eq=False)
class RenderContext:
    """How the steps of a run are looked at: one value for all of them.

    ``final`` (k, d), the centres of the run: cells keep their colours through all steps; ``ghosts`` (k, d), centres
    of earlier draws; ``profile`` is that of the run, of whose sizes its last step counted a part; ``part`` says behind
    ``epsilon`` of which larger one it is a part; ``mark`` is what a picture of rows says of them.
    """

    view: View
    palette: Palette
    reveal: RevealedView | None = None
    reference: evaluation.Reference | None = None
    found: Callable[[Array], evaluation.ClusterRecovery | None] | None = None
    epsilon: float | None = None
    part: str = ""
    reference_coming: bool = False
    ratio: Callable[[Array], float | None] | None = None
    steps: Sequence[Step] = ()
    final: Array | None = None
    ghosts: tuple[Array, ...] = ()
    known: dict[tuple[Any, ...], Any] | None = None
    verdict: Verdict | None = None
    profile: profiles.Profile | None = None
    mark: str = REVEALED_MARK

    def with_steps_of(self, run: RunSoFar) -> RenderContext:
        """The context of all steps of a run: of one under way none is the last."""
        verdict, profile = (run.verdict, run.profile) if isinstance(run, Run) else (None, None)
        told = replace(self, verdict=verdict, profile=profile, known={})
        return replace(told, steps=tuple(run.steps), final=run.unit_centers)

    def on(self, view: View) -> RenderContext:
        """The context with another view."""
        return replace(self, view=view)

    @property
    def reveals(self) -> bool:
        """Whether it shows anything of the rows without privacy."""
        return any(part is not None for part in (self.reveal, self.reference, self.found, self.ratio))

    def without_rows(self) -> RenderContext:
        """The context that may leave with a release: its plane and colours, and nothing of rows or of other runs."""
        return RenderContext(self.view, self.palette, epsilon=self.epsilon)

    def once(self, what: tuple[Any, ...], make: Callable[[], T]) -> T:
        """What ``make`` gives, made once for the pictures of a run: several steps want to know the same."""
        known = {} if self.known is None else self.known
        if what not in known:
            known[what] = make()
        made: T = known[what]
        return made

    def clusters_found(self, centers: Array) -> evaluation.ClusterRecovery | None:
        """How many clusters of the reference are found, where that is known and says something."""
        found = self.found
        if found is None or self.reference is None:
            return None
        counted = self.once(("found", centers.tobytes()), lambda: found(centers))
        return counted if counted is not None and counted.clusters > 1 else None

    def is_last(self, step: Step) -> bool:
        """Whether ``step`` is the one that the run ends with."""
        return not self.steps or (self.final is not None and self.steps[-1] is step)

    def list_before(self, step: Step, *kinds: str) -> list[Any]:
        """The steps of these kinds that the run took before ``step``."""
        place = next((i for i, other in enumerate(self.steps) if other is step), 0)
        return [other for other in self.steps[:place] if type(other).__name__ in kinds]

    def find_rows(self, space: Region, frame: Array | None = None) -> Array | None:
        """All revealed rows (n, p) as an algorithm saw them, mapped by ``frame`` (p, d); None if not handed over."""
        if self.reveal is None or self.reveal.everyone is None:
            return None
        return replace(self.reveal, points=self.reveal.everyone).find_drawn_rows(space, frame)


@dataclass(frozen=True, eq=False)
class Chart:
    """What is drawn of a step, or beside one, in a context whose view is the one that is drawn, and what is said of it.

    ``title`` is a sentence without its full stop; ``clauses`` say what has to be known to read the chart;
    ``words`` is the alternative text, from public and released values only; ``paint`` puts the marks on an empty canvas
    and dresses its axes; ``legend_lines`` is room for a legend that wraps on a phone, 0 hides it; ``table`` gives the
    numbers behind it, in data units where it has them; no column where those of the step's own picture do.
    """

    context: RenderContext
    title: str
    clauses: Sequence[str]
    words: str
    paint: Callable[[PlotCanvas], None]
    legend_lines: int = 4
    table: Callable[[], pd.DataFrame] = pd.DataFrame
    kind: Kind = "released"

    @property
    def note(self) -> str:
        """All clauses as one line."""
        return join_clauses(*self.clauses)

    def plot(self) -> Plot:
        """The marks and the axes alone: title, note and legend stand elsewhere on the page."""
        context = self.context
        # The page also knows its size.
        bare = {"legend": None, "height": None, "margin": _BARE_MARGIN, "showlegend": False}
        plot = Plot(make_layout(context.palette) | bare)
        plot.mark = context.mark
        self.paint(PlotCanvas(plot, context.palette, context.view, bare=True))
        return plot

    def draw(self) -> TitledPlot:
        """Title and note, and the plot with its legend below."""
        context = self.context
        plot = new_plot(context.palette, legend_lines=self.legend_lines)
        plot.mark = context.mark
        self.paint(PlotCanvas(plot, context.palette, context.view))
        if plot.layout["showlegend"]:
            name_kinds(plot, context.palette)
        return TitledPlot(self.title, self.note or _BLANK, plot)


class Companion(NamedTuple):
    """A chart that can stand beside a picture, and the word on its button."""

    name: str
    chart: Chart


def find_kind(step: Step) -> Kind:
    """What a picture shows apart from revealed marks: public values before any row was read, released after."""
    return "public" if step.public else "released"


def list_alike(step: Step, steps: Sequence[Step]) -> list[Any]:
    """The steps of a run that are of this one's kind: by name, as pictures are found."""
    return [other for other in steps if type(other).__name__ == type(step).__name__]


def format_columns(domain: Domain) -> str:
    """The first columns of a domain, for words."""
    return ", ".join(domain.columns[:_NAMED]) + (" …" if domain.dim > _NAMED else "")


def tabulate_points(points: Array, domain: Domain, counted: str = "", *, projected: bool = False) -> pd.DataFrame:
    """Points (m, d), unit coordinates, in data units, or as they are where they are ``projected``.

    A first column counts them from 1, if ``counted`` says what they are.
    """
    names = describe_projected_axes(points.shape[1]) if projected else domain.columns
    table = pd.DataFrame(points if projected else domain.from_unit(points), columns=list(names))
    if counted:
        table.insert(0, counted, np.arange(1, len(table) + 1))
    return table


def describe_step(
    points: Array,
    domain: Domain,
    counted: str,
    values: Mapping[str, Sequence[str]],
    known: profiles.Profile | None = None,
) -> list[str]:
    """What hovering over released points (m, d), unit coordinates, tells: which it is, where it lies, and its values.

    ``values`` are (m,) each, by what they are; ``known``: their profile, where it knows more of them than that.
    """
    made = known or profiles.make_bare_profile(domain, domain.from_unit(points))
    told = []
    for i in range(made.k):
        lines = [f"{spell_name(name)}: {spell_name(said)}" for name, said in made.describe_center(i, _TOLD).items()]
        lines += [f"{name}: {value[i]}" for name, value in values.items()]
        told.append("<br>".join([f"<b>{counted} {i + 1}</b> (released)", *lines]))
    return told
