"""The private test of tuples: what it said, what it asks, and, from revealed rows, what it counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from dpviz.algorithms import Step, TupleTestStep
from dpviz.app.charts.canvas import LEGEND_LINE
from dpviz.app.charts.cells import join_outlines, outline_circles
from dpviz.app.charts.picture import Companion, Drawing, Picture, RenderContext, format_columns
from dpviz.app.charts.pictures.center_marks import add_cells, add_centers, add_halos, add_refused
from dpviz.app.charts.pictures.revealed_tuples import RevealedBalls, RevealedDrawing
from dpviz.app.charts.plot_canvas import PlotCanvas
from dpviz.core import Domain
from dpviz.words import capitalize_first, format_number, format_things, join_clauses

# Tuples whose points are joined by lines.
_TUPLES_DRAWN = 300
# Made-up tuples of the illustration: balls on a circle, five tuples that fit and one that does not.
_FITTING, _SHOWN_BALLS, _RADIUS = 5, 4, 0.2
# How far their points lie from the middles of the balls, and how far the stray one goes to the middle of all.
_LOOSE, _ASTRAY = 0.09, 0.35
# Standard deviations of a Laplace number of scale 1.
_SD = float(np.sqrt(2))


class TupleTestPicture(Picture[TupleTestStep]):
    """Released centres with their typical noise, or "refused" over the placeholders that know no data."""

    called = "test of tuples"

    def finding(self, domain: Domain) -> str:
        step = self.step
        who = "tuples" if self.step.given else "blocks"
        if step.passed:
            return capitalize_first(f"the {who} agree: {format_things(len(step.anchors), 'noisy centre')} released")
        if not step.sampled:
            return "Refused: too few tuples to be asked"
        return f"Refused: the {who} do not agree on far-apart centres"

    def note(self, context: RenderContext) -> str:
        step = self.step
        made = "" if step.given else f" of about {format_number(step.rows_per_tuple)} rows"
        tuples = f"{step.number:,} tuples{made} ({step.needed:,} needed)"
        halo = "halo: typical noise" if step.center_noise_sd is not None else ""
        return join_clauses(tuples, f"Δ = {format_number(step.far)}", halo, context.view.about)

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        step, view = self.step, canvas.view
        canvas.rows(context.reveal)
        everyone = None if context.reveal is None else context.reveal.everyone
        if step.given and everyone is not None and not view.flat:
            tuples = everyone.reshape(-1, *step.anchors.shape)
            some = tuples[np.random.default_rng(0).permutation(len(tuples))[:_TUPLES_DRAWN]]
            joints = join_outlines([view.plane(one) for one in some])
            canvas.lines(joints, format_things(len(some), "tuple"), "revealed", strength=0.25)
        if step.centers is not None:
            add_cells(canvas, step.centers, context.final)
            if step.center_noise_sd is not None:
                add_halos(canvas, step.centers, step.center_noise_sd)
            add_centers(canvas, step.centers, final=context.final)
        else:
            ring = {"symbol": "circle-open", "size": 14, "line": {"width": 2}}
            hover = "placeholder (public)<br>%{x:.4g}, %{y:.4g}"
            canvas.marks(view.plane(step.anchors), "placeholders, packed without data", "public", ring, hover=hover)
            add_refused(canvas)
        canvas.plane()

    def table(self, domain: Domain) -> pd.DataFrame:
        step = self.step
        lines: list[tuple[str, str, float]] = [
            ("tuples", "public", step.number),
            ("tuples needed", "public", step.needed),
            *([] if step.given else [("rows of a block, on average", "public", step.rows_per_tuple)]),
            ("Δ, radii between balls", "public", step.far),
            ("m, tuples tried", "public", step.sampled),
            ("limit of noisy misfits", "public", step.misfit_limit),
            ("noise scale of misfits", "public", step.misfit_scale),
            ("limit of noisy votes", "public", step.vote_limit),
            ("noise scale of votes", "public", step.vote_scale),
            ("passed (1) or not (0)", "released", float(step.passed)),
        ]
        if step.centers is not None:
            for i, center in enumerate(domain.from_unit(step.centers), start=1):
                named = zip(domain.columns, center, strict=True)
                lines += [(f"centre {i}, {name}", "released", value) for name, value in named]
        return pd.DataFrame(lines, columns=["what", "kind", "value"])

    def words(self, domain: Domain) -> str:
        step = self.step
        where = format_columns(domain)
        if step.centers is None:
            return f"Refused (⊥), over {where}. {step.title}."
        misfits = format_number(step.misfit_limit)
        return f"{self.finding(domain)}, over {where}. A tuple passed with up to {misfits} noisy misfits."

    def companions(self, context: RenderContext, steps: Sequence[Step]) -> Iterator[Companion]:
        rows = context.find_rows(context.view.region)
        if rows is not None and len(rows) and len(self.step.anchors) > 1:
            yield Companion("Balls", RevealedBalls(self.step, rows, context.view.region), "revealed")
            if self.step.sampled:
                yield Companion("Votes", Votes(self.step, rows, context.view.region), "revealed")
        yield Companion("What is asked", MadeUpBalls(self.step), "public")


class MadeUpBalls(Drawing[TupleTestStep]):
    """An illustration of what the test asks, with made-up tuples and its public numbers."""

    def finding(self, domain: Domain) -> str:
        limit = format_number(self.step.misfit_limit) if self.step.sampled else "so many"
        return f"One point in every ball? Up to {limit} noisy misfits pass"

    def note(self, context: RenderContext) -> str:
        step = self.step
        return join_clauses(
            "an illustration with made-up tuples, not to scale",
            f"true balls lie Δ = {format_number(step.far)} radii apart",
            f"{step.sampled} of {step.number:,} tuples are tried" if step.sampled else f"{step.needed:,} tuples needed",
        )

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        k = min(max(2, len(self.step.anchors)), _SHOWN_BALLS)
        rng = np.random.default_rng(0)
        angle = 2 * np.pi * np.arange(k) / k + 0.4
        middles = 1.2 * np.column_stack([np.cos(angle), np.sin(angle)])
        around = [*range(k), 0] if k > 2 else [0, 1]
        fitting = middles + rng.uniform(-_LOOSE, _LOOSE, (_FITTING, k, 2))
        stray = middles + rng.uniform(-_LOOSE, _LOOSE, (k, 2))
        stray[0] *= _ASTRAY
        rims = outline_circles(middles, np.full(k, _RADIUS), np.ones(2))
        canvas.lines(rims, "balls around one tuple", "public", width=2)
        fits = join_outlines([one[around] for one in fitting])
        canvas.lines(fits, "tuples that fit", "public", strength=0.5, dash="dot")
        canvas.lines(stray[around], "a misfit", "public", strength=0.9, width=2, dash="dash")
        canvas.marks(np.concatenate([fitting.reshape(-1, 2), stray]), "", "public", {"size": 7})
        for axis in (canvas.plot.update_xaxes, canvas.plot.update_yaxes):
            axis(visible=False, range=[-1.6, 1.6])
        canvas.plot.update_yaxes(scaleanchor="x", scaleratio=1)
        canvas.plot.update_layout(margin={"b": LEGEND_LINE * self.legend_lines})

    def words(self, domain: Domain) -> str:
        return f"Balls around the points of a made-up tuple, and other tuples in them. {self.finding(domain)}."


class Votes(RevealedDrawing):
    """The misfits of each tried tuple with the noise that hides them, and the limit up to which it passes: revealed."""

    legend_lines = 2

    def finding(self, domain: Domain) -> str:
        misfits = self.revealed.misfits
        votes = format_number(self.step.vote_limit)
        passing = int((misfits <= self.step.misfit_limit).sum())
        return f"{passing} of {len(misfits)} tried tuples pass but for noise; {votes} noisy votes needed"

    def note(self, context: RenderContext) -> str:
        noise = format_number(_SD * self.step.vote_scale)
        return join_clauses(self.revealed.about, f"one vote for each tuple below the line; noise on votes ±{noise}")

    def paint(self, canvas: PlotCanvas, context: RenderContext) -> None:
        step, limit = self.step, self.step.misfit_limit
        misfits = np.sort(self.revealed.misfits)
        sd = _SD * step.misfit_scale
        ends = [0.5, len(misfits) + 0.5]
        places = np.column_stack([np.arange(1, len(misfits) + 1), misfits])
        name = "misfits of a tried tuple, ± the noise on them"
        noise = {"error_y": {"type": "constant", "value": sd, "color": canvas.color("revealed", 0.5), "width": 0}}
        canvas.marks(places, name, "revealed", {"size": 8}, hover="%{y:,.0f} misfits", trace=noise)
        words = f"limit: {format_number(limit)} noisy misfits"
        canvas.lines(np.column_stack([ends, [limit, limit]]), words, "public", width=2, dash="dash")
        heights = [min(0.0, -1.1 * sd), 1.08 * max(limit, float(misfits.max()) + sd)]
        canvas.plot.update_xaxes(title_text="tried tuples, fewest misfits first", range=ends)
        canvas.plot.update_yaxes(title_text=f"misfits among {step.number:,} tuples", range=heights)

    def words(self, domain: Domain) -> str:
        return f"Misfits of tried tuples against their limit. {self.finding(domain)}."
