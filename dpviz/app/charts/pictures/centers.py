"""Centres on the plane: how many rows each was measured to hold, how far noise may have moved it, where it belongs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpviz.algorithms import CentersStep, ReferenceStep, Step, size_estimates
from dpviz.app.charts.canvas import NUMBER_SIZE, SCREEN
from dpviz.app.charts.cells import outline_segments
from dpviz.app.charts.picture import (
    Chart,
    Companion,
    RenderContext,
    describe_step,
    format_columns,
    tabulate_points,
)
from dpviz.app.charts.pictures.center_marks import (
    add_cells,
    add_centers,
    add_displacements,
    add_ghosts,
    add_halos,
    add_reference,
    add_refused,
    choose_hues,
    choose_marks,
    find_boxes,
    find_near,
    find_partners,
)
from dpviz.app.charts.plot_canvas import LINKED, PlotCanvas
from dpviz.core import Array, Domain
from dpviz.runs import collect_evidence, evaluation
from dpviz.words import (
    Kind,
    capitalize_first,
    format_count,
    format_number,
    format_percent,
    format_ratio,
    format_things,
    join_clauses,
)

# Ends that are told even where truth is shown, if the loss is so many times that of k-means++ or not known.
_BAD_ENDS, _LOST = ("refused", "dropped", "failed", "edge"), 1.5
_UNTOLD = "whose noise cannot be told"


def draw_centers(step: CentersStep, context: RenderContext, *, counts_clusters: bool = True) -> Chart:
    """Released centres over their cells; with a reference, each tied to the k-means++ centre it is matched to.

    With ``counts_clusters`` title and note may say how many clusters of the reference are found.
    """
    view, counts, last = context.view, step.noisy_counts, context.is_last(step)
    number, partners = len(step.centers), _find_matched(step, context)
    refused = last and context.verdict is not None and context.verdict.kind == "refused"
    found = context.clusters_found(step.centers) if counts_clusters else None
    noise = _describe_noise(step, view.domain)
    note = join_clauses(
        "refused (⊥)" if refused else "",
        # Of matched ones, what stands beside the picture names the one that is farthest off.
        _describe_farthest(step) if partners is None else "",
        view.about,
        evaluation.FOUND_RULE if found is not None else "",
        "" if view.whole else "cells not drawn",
        _describe_outside(step, context),
        "numbers on hover" if choose_marks(number).number is None else "",
    )

    def paint(canvas: PlotCanvas) -> None:
        canvas.rows(context.reveal)
        add_cells(canvas, step.centers, context.final)
        if step.center_noise_sd is not None:
            sizes = size_estimates.estimate_sizes((step,))
            doubtful = sizes is not None and bool(sizes.unclear.any())
            at_least = _is_solved(step, context)
            add_halos(canvas, step.centers, step.center_noise_sd, doubtful=doubtful, at_least=at_least)
        if step.previous is not None:
            # A move shorter than a mark hides under it.
            far = ~find_near(view, step.centers, step.previous, 0.5)
            moves = outline_segments(view.plane(step.previous, "previous")[far], view.plane(step.centers)[far])
            if far.any():
                canvas.lines(moves, "last move", "released", strength=0.55, width=1.5, dash="dot")
        if last:
            add_ghosts(canvas, context.ghosts)
        if context.reference is not None:
            if partners is not None:
                add_displacements(canvas, step.centers, partners)
            add_reference(canvas, context.reference.centers)
        notes = describe_step(step.centers, view.domain, "centre", {"noisy count": counts})
        add_centers(canvas, step.centers, final=context.final, away=partners, notes=notes)
        if refused:
            add_refused(canvas)
        canvas.plane()

    def tabulate() -> pd.DataFrame:
        table = tabulate_points(step.centers, view.domain, "centre")
        if counts is not None:
            table["noisy count"] = counts
        if step.center_noise_sd is not None:
            table["noise sd (unit coordinates)"] = step.center_noise_sd
        return table

    released = capitalize_first(format_things(number, "released centre"))
    words = f"{released} over {format_columns(view.domain)}. {capitalize_first(noise)}."
    if counts is not None:
        low, high = format_number(float(counts.min())), format_number(float(counts.max()))
        words += f" Noisy counts run from {low} to {high}."
    title = capitalize_first(_make_title(step, context, found, noise))
    return Chart(context, title, note, words, paint, table=tabulate)


def list_beside_centers(step: CentersStep, steps: Sequence[Step], context: RenderContext) -> Iterator[Companion]:
    """How far each is from its k-means++ centre, how many rows it holds, and k-means++ itself."""
    reference = context.reference
    if reference is not None and len(step.centers) > 1 and _find_matched(step, context) is not None:
        yield Companion("Distances", draw_seed_distances(step, reference.centers, context))
    if step.noisy_counts is not None:
        yield Companion("Sizes", draw_sizes(step, context))
    if reference is not None or context.reference_coming:
        centers = np.zeros((0, step.centers.shape[1])) if reference is None else reference.centers
        own = ReferenceStep(title="k-means++: the rows themselves, no privacy", centers=centers)
        yield Companion("k-means++", draw_reference(own, context))


def _make_title(step: CentersStep, context: RenderContext, found: evaluation.ClusterRecovery | None, noise: str) -> str:
    """How the run ended, what is true of the centres where that is known, or what noise does to them."""
    last = context.is_last(step)
    at = "So far, " if not last else f"At ε = {context.epsilon:g}, " if context.epsilon is not None else ""
    verdict = context.verdict if last else None
    lost = context.ratio(step.centers) if context.ratio is not None and last else None
    if verdict is not None and verdict.kind in _BAD_ENDS and (lost is None or lost >= _LOST):
        return at + verdict.title
    if context.reference is not None and len(context.reference.centers) == len(step.centers) == 1:
        away = float(np.linalg.norm(step.centers[0] - context.reference.centers[0]))
        return f"{at}the centre lies {format_width(away)} from k-means++"
    if found is not None:
        return at + describe_recovery(found)
    if lost is not None:
        return f"{at}the loss is {format_ratio(lost)} that of k-means++"
    if verdict is not None and not verdict.fine:
        return at + verdict.title
    if verdict is not None and verdict.error is not None and not step.released:
        return f"{at}noise moves a centre {format_width(verdict.error)}"
    if _is_solved(step, context):
        return _describe_least_noise(step, context.view.domain)
    return (at if step.center_noise_sd is not None else "") + noise


def _find_matched(step: CentersStep, context: RenderContext) -> Array | None:
    """The k-means++ centres that the centres belong to, one to one; None where pairs would say nothing.

    They say nothing where nobody knows how many clusters there are: the title then tells the loss instead.
    """
    reference = context.reference
    if reference is None or len(reference.centers) != len(step.centers):
        return None
    if context.ratio is not None and context.clusters_found(step.centers) is None:
        return None
    return context.once(("pairs", id(step)), lambda: find_partners(step.centers, reference.centers))


def _describe_farthest(step: CentersStep) -> str:
    """Which centre is farthest from where it was."""
    if len(step.centers) < 2 or step.previous is None or step.previous.shape != step.centers.shape:
        return ""
    moved = np.linalg.norm(step.centers - step.previous, axis=1)
    if not moved.any():
        return ""
    return f"moved farthest: centre {int(moved.argmax()) + 1}, {format_width(float(moved.max()))}"


def _describe_outside(step: CentersStep, context: RenderContext) -> str:
    """How many centres, and which part of the rows, lie outside the picture."""
    count, reference, reveal = context.view.count_beyond, context.reference, context.reveal
    beyond = count(step.centers) if len(step.centers) else 0
    theirs = count(reference.centers) if reference is not None and len(reference.centers) else 0
    rows = 0.0 if reveal is None else count(reveal.points) / max(1, len(reveal.points))
    others = format_things(theirs, "centre of k-means++", "centres of k-means++")
    return join_clauses(
        f"{format_things(beyond, 'centre')} outside the picture" if beyond else "",
        f"{others} outside the picture" if theirs else "",
        f"{format_percent(rows)} of the rows outside the picture" if rows else "",
    )


def _is_solved(step: CentersStep, context: RenderContext) -> bool:
    """Whether a solver placed the centres on noisy points: what noise did to them is more than it says."""
    place = next((i for i, other in enumerate(context.steps) if other is step), 0)
    return place > 0 and type(context.steps[place - 1]).__name__ == "StartsStep" and step.count_noise_sd is None


def _describe_least_noise(step: CentersStep, domain: Domain) -> str:
    """What noise surely does to centres that were solved: it moved the points of each, and whose they are, too."""
    seen = collect_evidence((step,), domain.region)
    if seen is None or seen.errors is None:
        return f"{format_things(len(step.centers), 'centre')} {_UNTOLD}"
    return f"noise moves a centre at least {format_width(float(np.median(seen.errors)))}"


def _describe_noise(step: CentersStep, domain: Domain) -> str:
    """What noise does to the centres, from released values alone: all of it, over the least size that is likely."""
    seen, number = collect_evidence((step,), domain.region), format_things(len(step.centers), "centre")
    if step.center_noise_sd is None:
        return f"{number} {'placed before any row is read' if step.public else _UNTOLD}"
    if seen is None or seen.errors is None:
        return f"{number} {_UNTOLD}"
    if step.released and len(step.centers) > 1:
        return f"noise moves a centre {format_percent(float(np.median(seen.errors / seen.gaps)))} toward the next"
    lost = int(seen.lost.sum())
    if lost:
        return f"{format_count(lost)} of {number} {'is' if lost == 1 else 'are'} lost in noise"
    return f"noise moves a centre {format_width(float(np.median(seen.errors)))}"


def draw_reference(step: ReferenceStep, context: RenderContext) -> Chart:
    """The non-private reference on its own: open diamonds over their cells, marked as revealed."""
    view, domain = context.view, context.view.domain
    title = capitalize_first(f"{format_things(len(step.centers), 'centre')} of k-means++, without any privacy")
    if len(step.centers) == 0:
        title = "k-means++ is being computed and will appear here"

    def paint(canvas: PlotCanvas) -> None:
        canvas.rows(context.reveal)
        if len(step.centers):
            add_cells(canvas, step.centers, tinted=False)
            add_reference(canvas, step.centers)
        canvas.plane()

    note = join_clauses("computed from the rows themselves: revealed, never a release", view.about)
    words = f"{title} over {format_columns(domain)}: revealed, never a release."
    table = partial(tabulate_points, step.centers, domain, "centre")
    return Chart(context, title, note, words, paint, table=table, kind="revealed")


def describe_recovery(found: evaluation.ClusterRecovery) -> str:
    """How many clusters were found.

    >>> recovered = evaluation.ClusterRecovery
    >>> describe_recovery(recovered(0, 5)), describe_recovery(recovered(2, 15))
    ('none of five clusters is found', 'two of 15 clusters are found')
    >>> describe_recovery(recovered(15, 15))
    'all 15 clusters are found'
    """
    every = format_things(found.clusters, "cluster")
    if found.found == found.clusters:
        return f"all {every} are found"
    return (
        f"{format_count(found.found) if found.found else 'none'} of {every} {'are' if found.found > 1 else 'is'} found"
    )


def format_width(length: float) -> str:
    """A length, unit coordinates, as a part of the width of the domain.

    >>> format_width(0.01)
    '0.5 % of the width'
    """
    return f"{format_percent(length / 2)} of the width"


# Bars that a companion holds with their numbers.
_MOST = 40
# A centre half-way to the next cluster belongs to neither; bars never reach beyond the whole way, twice over.
_HALF_WAY, _WAY = 0.5, 2.0
_TINY = 1e-12


def draw_seed_distances(step: CentersStep, reference: Array, context: RenderContext) -> Chart:
    """How far each centre is from its k-means++ centre, as a part of the way from there to the next one."""
    partners = find_partners(step.centers, reference)
    gaps = np.maximum(size_estimates.measure_neighbour_gaps(partners), _TINY)
    parts = np.linalg.norm(step.centers - partners, axis=1) / gaps
    far = int(parts.argmax())
    title = f"Farthest off: centre {far + 1}, {format_percent(float(parts[far]))} of the way"

    def paint(canvas: PlotCanvas) -> None:
        told = [f"{format_percent(float(part))} of the way to a neighbour" for part in parts]
        boxes, shown = find_boxes(context.view, step.centers, partners), np.minimum(parts, _WAY)
        bars = _CenterBars(parts, 100 * shown, told, boxes, "distance", "revealed")
        _add_bars(canvas, bars, canvas.palette.revealed)
        half, reach = 100 * _HALF_WAY, max(1.2 * _HALF_WAY, 1.05 * float(shown.max()))
        canvas.plot.add_vline(x=half, line={"color": canvas.palette.muted, "width": 1.2, "dash": "dot"})
        beside = {"xanchor": "right", "yanchor": "bottom", "xshift": -4, "yref": "paper"}
        canvas.note("half-way", half, 0, beside)
        canvas.plot.update_xaxes(range=[0, 100 * reach], ticksuffix=" %", nticks=5, zeroline=False)
        canvas.plot.update_xaxes(title_text="part of the way to a neighbour")

    note = join_clauses("the way from k-means++ to its next neighbour", _tell_most(len(parts), "farthest"))
    words = f"{title} from its k-means++ centre to the next one: revealed, never a release."
    return Chart(context, title, note, words, paint, legend_lines=0, kind="revealed")


def draw_sizes(step: CentersStep, context: RenderContext) -> Chart:
    """How many rows each centre was measured to hold in this step, with its noise; a run's sizes join all steps."""
    counts, noise = step.noisy_counts, step.count_noise_sd
    assert counts is not None
    low, high = (format_number(float(round(end))) for end in (counts.min(), counts.max()))
    title = f"Counts from {low} to {high} rows" if low != high else f"All counts: {low} rows"
    title += "" if noise is None else f", each ±{format_number(noise)}"

    def paint(canvas: PlotCanvas) -> None:
        give = "" if noise is None else f" ± {format_number(noise)}"
        told = [f"{format_number(float(count))}{give} rows (noisy)" for count in counts]
        colors = np.array(canvas.palette.inks)[choose_hues(context.view, step.centers, context.final)]
        spread = {"type": "constant", "value": noise, "color": canvas.palette.muted, "thickness": 1.2, "width": 3}
        bars = _CenterBars(counts, counts, told, find_boxes(context.view, step.centers), "size", "released")
        _add_bars(canvas, bars, colors, {} if noise is None else {"error_x": spread})
        canvas.plot.update_xaxes(title_text="rows (noisy count)", rangemode="tozero", nticks=5)

    strokes = "strokes: ±1 sd of the noise" if noise else ""
    note = join_clauses("noisy counts of this step", strokes, _tell_most(len(counts), "largest"))
    return Chart(context, title, note, f"How many rows each centre holds. {title}.", paint, legend_lines=0)


def _tell_most(bars: int, what: str) -> str:
    return f"the {_MOST} {what} of {bars}" if bars > _MOST else ""


class _CenterBars(NamedTuple):
    """A bar for each centre, ordered ``by`` a value, the largest first; what is told of it, and its box on the map."""

    by: Array
    values: Array
    told: list[str]
    boxes: Array
    name: str
    kind: Kind


def _add_bars(
    canvas: PlotCanvas, bars: _CenterBars, color: str | npt.NDArray[np.str_], more: dict[str, Any] | None = None
) -> None:
    """Lying bars from the top, named by the numbers of centres."""
    order = np.argsort(-bars.by, kind="stable")[:_MOST]
    ranks = np.arange(len(order))
    linked = LINKED if canvas.bare else {"uid": LINKED["uid"]}
    told = [f"centre {i + 1}: {bars.told[i]}" for i in order]
    canvas.bars(
        bars.values[order].astype(SCREEN),
        ranks,
        0.62,
        bars.name,
        bars.kind,
        {"color": color if isinstance(color, str) else color[order].tolist()},
        hover="%{text}",
        notes=bars.boxes[order].astype(SCREEN),
        trace={"orientation": "h", "text": told, "textposition": "none", **linked, **(more or {})},
    )
    size = NUMBER_SIZE if len(order) <= 24 else 8
    numbers = [str(i + 1) for i in order]
    axis = {"tickvals": ranks, "ticktext": numbers, "tickfont": {"size": size}, "showgrid": False, "zeroline": False}
    canvas.plot.update_yaxes(title_text="centre", range=[len(order) - 0.4, -0.6], **axis)
