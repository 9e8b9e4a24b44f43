"""Centres on the plane: their marks, cells and noise, how good they are, and the rounds that polish or split them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import linear_sum_assignment

from dpviz.algorithms import CentersStep, PolishStep, ReferenceStep, SplitStep, Step, size_estimates
from dpviz.app.charts.canvas import NUMBER_SIZE, SCREEN, UNCUT, PlotCanvas
from dpviz.app.charts.cells import LabelBoxes, compute_voronoi_polygons, join_outlines, outline_segments
from dpviz.app.charts.cells import choose_hues as choose_apart
from dpviz.app.charts.picture import (
    Chart,
    Companion,
    RenderContext,
    describe_step,
    find_kind,
    format_columns,
    list_alike,
    tabulate_points,
)
from dpviz.app.charts.plot import make_center_marker, make_log_axis, make_reference_marker
from dpviz.app.charts.view import View
from dpviz.core import Array, Codes, Domain
from dpviz.runs import collect_evidence, evaluation
from dpviz.words import (
    NINE_IN_TEN,
    Kind,
    capitalize_first,
    format_count,
    format_number,
    format_percent,
    format_ratio,
    format_things,
)


class Marks(NamedTuple):
    """How large centres are drawn, in pixels."""

    size: float
    number: int | None


# By the most centres that a picture of a phone's width holds with these marks.
_MARKS = {40: Marks(11, NUMBER_SIZE), 100: Marks(9, 10)}
_MARKS_OF_A_CROWD = Marks(6, None)


def choose_marks(k: int) -> Marks:
    """The marks of ``k`` centres: smaller where there are many, and without numbers in a crowd."""
    return next((marks for most, marks in _MARKS.items() if k <= most), _MARKS_OF_A_CROWD)


def choose_hues(view: View, centers: Array, final: Array | None) -> Codes:
    """The colour (k,), 0 to 3, of each of ``centers`` (k, d): that of the map of the ``final`` ones if as many."""
    known = final is not None and final.shape == centers.shape
    return choose_apart(view.plane(final if known and final is not None else centers) / view.scale)


def add_cells(canvas: PlotCanvas, centers: Array, final: Array | None = None, *, tinted: bool = True) -> None:
    """Voronoi cells, where the plane shows every axis; elsewhere they would not be what is seen.

    ``tinted`` cells have one of four colours, so that neighbours differ: those of ``final`` (k, d), where the run ends.
    """
    view = canvas.view
    if not view.whole:
        return
    if view.flat:
        walls = np.sort(centers[:, 0])
        border = view.plane(((walls[1:] + walls[:-1]) / 2)[:, None])[:, 0]
        low, high = (np.column_stack([border, np.full(len(border), height)]) for height in view.extent[1])
        canvas.lines(outline_segments(low, high), "", None, strength=0.4)
        return
    polygons = [view.plane(polygon) for polygon in compute_voronoi_polygons(centers, view.region.half)]
    if not tinted:
        canvas.lines(join_outlines(polygons), "", None, strength=0.4)
        return
    palette, hue = canvas.palette, choose_hues(view, centers, final)
    for color, tint in enumerate(palette.tints):
        mine = [polygon for polygon, of in zip(polygons, hue, strict=True) if of == color]
        if mine:
            fill = palette.fade(tint, palette.tint_strength)
            canvas.lines(join_outlines(mine), "", None, color=palette.surface, width=2.0, fill=fill)


def add_centers(
    canvas: PlotCanvas,
    centers: Array,
    *,
    final: Array | None = None,
    away: Array | None = None,
    sizes: Array | None = None,
    notes: list[str] | None = None,
    kind: Kind = "released",
) -> None:
    """Filled circles in the colours of their cells, those of ``final`` (k, d), numbered on the side that is free.

    ``away`` (k, d) are the places that numbers keep away from; ``sizes`` (k,) are diameters, pixels; ``notes`` is what
    hovering tells.
    """
    view, palette, k = canvas.view, canvas.palette, len(centers)
    marks, places = choose_marks(k), view.plane(centers)
    inks = [palette.inks[hue] for hue in choose_hues(view, centers, final)]
    listed = [str(i + 1) for i in range(k)]
    numbers = dict[str, Any]()
    if marks.number is not None:
        crowd = LabelBoxes(*np.array(view.range).T)
        crowd.takes(places, marks.size)
        free = np.zeros_like(places)
        if away is not None:
            crowd.takes(view.plane(away, "reference"), marks.size)
            free = places - view.plane(away, "reference")
        sides = crowd.places(listed, places, free, size=marks.size, font=marks.number)
        texts = [number if side else "" for number, side in zip(listed, sides, strict=True)]
        numbers = {"text": texts, "textposition": [side or "top right" for side in sides]}
        numbers["textfont"] = {"size": marks.number, "color": inks, "weight": 700, "shadow": palette.halo}
    marker = make_center_marker(palette, inks, marks.size) | ({} if sizes is None else {"size": sizes})
    hover, notes = "%{customdata}" if notes else f"centre %{{customdata}} ({kind})", notes or listed
    trace = {"mode": "markers+text" if numbers else "markers", **UNCUT, **numbers, "uid": "centres"}
    canvas.marks(places, "centres", kind, marker, hover=hover, notes=notes, trace=trace)


def add_halos(canvas: PlotCanvas, centers: Array, sd: Array, *, doubtful: bool = False, at_least: bool = False) -> None:
    """The noise ``sd`` (k,) on a coordinate around each centre, nine in ten; never more than the whole domain."""
    palette, flat = canvas.palette, canvas.view.flat
    reach = NINE_IN_TEN * sd
    radii = np.minimum(reach, canvas.view.region.diameter)
    color, fill = palette.fade(palette.text, 0.45), palette.fade(palette.text, 0.08)
    places, width = canvas.view.plane(centers), 6.0 if flat else 1.0
    low, high = np.array(canvas.view.range).T
    widest = LabelBoxes(low, high).pixels(low + reach.max() * canvas.view.scale)
    # Whether the noise of every centre is smaller than its mark.
    hidden = widest[0 if flat else slice(None)].max() < choose_marks(len(centers)).size / 2
    about = ", were sizes exact" if doubtful else " at least" if at_least else ", tiny" if hidden else ""
    canvas.halos(places, radii, f"noise ±{about}", "released", width=width, color=color, fill=fill)


def add_reference(canvas: PlotCanvas, centers: Array) -> None:
    """k-means++ ``centers`` (k, d), unit coordinates: open diamonds."""
    mark = make_reference_marker(canvas.palette, choose_marks(len(centers)).size)
    hover = "k-means++ (revealed)<br>%{x:.4g}, %{y:.4g}"
    canvas.marks(canvas.view.plane(centers, "reference"), "k-means++", "revealed", mark, hover=hover)


def add_refused(canvas: PlotCanvas) -> None:
    """The answer of a private test that did not pass, over centres that know no data."""
    # Of the words over a refused answer, in pixels.
    font = {"size": 34, "color": canvas.color("released", 0.55)}
    canvas.note("refused (⊥)", 0.5, 0.5, {"xref": "paper", "yref": "paper", "font": font})


def find_near(view: View, centers: Array, partners: Array, times: float = 1.0) -> npt.NDArray[np.bool_]:
    """Which of ``centers`` (k, d) lie so near their ``partners``, or ``times`` as far, that an arrow would hide."""
    gaps = (view.plane(centers) - view.plane(partners)) / np.ptp(np.array(view.extent), axis=1)
    # A displacement shorter than this part of the picture hides under the marks.
    close: npt.NDArray[np.bool_] = np.linalg.norm(gaps, axis=1) <= times * 0.04
    return close


def find_partners(centers: Array, reference: Array) -> Array:
    """The centre of ``reference`` (k, d), of k-means++, that each of ``centers`` (k, d) belongs to, one to one."""
    # What is far costs hardly more than what is half-way: of two that changed places with a missed one in between, one
    # goes far and the other stays, rather than each moving a little.
    away = np.linalg.norm(centers[:, None, :] - reference[None, :, :], axis=2)
    gaps = size_estimates.measure_neighbour_gaps(reference) if len(reference) > 1 else np.ones(1)
    # A partner this part of the way to its neighbour costs half of one that is nowhere.
    return reference[linear_sum_assignment(away / np.maximum(away + 0.5 * gaps, 1e-300))[1]]


def find_boxes(view: View, *places: Array) -> Array:
    """Boxes (m, 4) on the map around points of ``places`` (m, d) each: left, bottom, right, top in drawn units."""
    # Boxes around a centre that light up on the map reach this far, as a part of the picture.
    air = 0.03 * np.ptp(np.array(view.extent), axis=1)
    drawn = np.stack([view.plane(some) for some in places])
    return np.column_stack([drawn.min(axis=0) - air, drawn.max(axis=0) + air])


_UNTOLD = "whose noise cannot be told"


def draw_centers(step: CentersStep, context: RenderContext, *, counts_clusters: bool = True) -> Chart:
    """Released centres over their cells; with a reference, each tied to the k-means++ centre it is matched to.

    With ``counts_clusters`` title and note may say how many clusters of the reference are found.
    """
    view, sizes, last = context.view, _find_sizes(step, context), context.is_last(step)
    number, partners = len(step.centers), _find_matched(step, context)
    refused = last and context.verdict is not None and context.verdict.kind == "refused"
    kind = find_kind(step)
    found = context.clusters_found(step.centers) if counts_clusters else None
    noise = _describe_noise(step, view.domain)
    note = ["refused (⊥)" if refused else "", view.about, evaluation.FOUND_RULE if found is not None else ""]
    note += ["" if view.whole else "cells not drawn", *_describe_outside(step, context)]
    note.append("numbers on hover" if choose_marks(number).number is None else "")

    def paint(canvas: PlotCanvas) -> None:
        canvas.rows(context.reveal)
        add_cells(canvas, step.centers, context.final)
        if step.center_noise_sd is not None:
            doubtful = sizes is not None and bool(sizes.unclear.any())
            add_halos(canvas, step.centers, step.center_noise_sd, doubtful=doubtful, at_least=_is_solved(step, context))
        if step.previous is not None:
            # A move shorter than a mark hides under it.
            before = _find_previous(step, context)
            long = ~find_near(view, step.centers, before, 0.5)
            moves = outline_segments(view.plane(before, "previous")[long], view.plane(step.centers)[long])
            if long.any():
                canvas.lines(moves, "last move", "released", strength=0.55, width=1.5, dash="dot")
        if last and context.ghosts:
            places = view.plane(np.concatenate(context.ghosts))
            # How strong centres of earlier draws are.
            canvas.marks(places, "earlier draws", "released", {"size": 5}, strength=0.35)
        if partners is not None and (far := ~find_near(view, step.centers, partners)).any():
            start, end = view.plane(partners, "reference")[far], view.plane(step.centers)[far]
            standoff = np.full(len(end), choose_marks(number).size / 2)
            canvas.arrows(start, end, "displacement", width=1.5, head=9, standoff=standoff)
        if context.reference is not None:
            add_reference(canvas, context.reference.centers)
        rows = {} if sizes is None else {"rows": sizes.words}
        notes = describe_step(step.centers, view.domain, "centre", rows, context.profile if last else None)
        add_centers(canvas, step.centers, final=context.final, away=partners, notes=notes, kind=kind)
        if refused:
            add_refused(canvas)
        canvas.plane()

    def tabulate() -> pd.DataFrame:
        table = tabulate_points(step.centers, view.domain, "centre")
        if sizes is not None:
            table["rows"], table["rows, ±"] = sizes.rows, sizes.reach
        if step.center_noise_sd is not None:
            table["± (unit coordinates)"] = NINE_IN_TEN * step.center_noise_sd
        return table

    released = capitalize_first(format_things(number, f"{kind} centre"))
    title = capitalize_first(_make_title(step, context, found, noise))
    words = f"{released} over {format_columns(view.domain)}. {title}."
    if sizes is not None:
        words += f" {_describe_sizes(sizes)}."
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
    own = "" if context.epsilon is None else f"At ε = {context.epsilon:g}{context.part}, "
    at = own if last else "So far, "
    lost = context.ratio(step.centers) if context.ratio is not None and last else None
    verdict = context.verdict.beside(lost) if context.verdict is not None and last else None
    if verdict is not None and not verdict.fine:
        return at + verdict.title
    if context.reference is not None and len(context.reference.centers) == len(step.centers) == 1:
        away = float(np.linalg.norm(step.centers[0] - context.reference.centers[0]))
        return f"{at}the centre lies {format_width(away)} from k-means++"
    if found is not None:
        return at + describe_recovery(found)
    if lost is not None:
        return f"{at}the loss is {format_ratio(lost)} that of k-means++"
    if verdict is not None and verdict.error is not None and not step.released:
        return f"{at}noise may move a centre {format_width(verdict.error)}"
    if _is_solved(step, context):
        # Noise moved the points of each centre, and whose they are, too.
        seen = collect_evidence((step,), context.view.domain.region)
        if seen is None or seen.errors is None:
            return f"{format_things(len(step.centers), 'centre')} {_UNTOLD}"
        return f"noise may move a centre {format_width(float(np.median(seen.errors)))} or more"
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


def _describe_outside(step: CentersStep, context: RenderContext) -> list[str]:
    """How many centres, and which part of the rows, lie outside the picture."""
    count, reference, reveal = context.view.count_beyond, context.reference, context.reveal
    beyond = count(step.centers) if len(step.centers) else 0
    theirs = count(reference.centers) if reference is not None and len(reference.centers) else 0
    rows = 0.0 if reveal is None else count(reveal.points) / max(1, len(reveal.points))
    others = format_things(theirs, "centre of k-means++", "centres of k-means++")
    told = {format_things(beyond, "centre"): beyond, others: theirs, f"{format_percent(rows)} of the rows": rows}
    return [f"{what} outside the picture" for what, number in told.items() if number]


def _is_solved(step: CentersStep, context: RenderContext) -> bool:
    """Whether a solver placed the centres on noisy points: what noise did to them is more than it says."""
    place = next((i for i, other in enumerate(context.steps) if other is step), 0)
    return place > 0 and type(context.steps[place - 1]).__name__ == "StartsStep" and step.count_noise_sd is None


def _describe_noise(step: CentersStep, domain: Domain) -> str:
    """What noise does to the centres, from released values alone: all of it, over the least size that is likely."""
    seen, number = collect_evidence((step,), domain.region), format_things(len(step.centers), "centre")
    if step.center_noise_sd is None:
        return f"{number} {'placed before any row is read' if step.public else _UNTOLD}"
    if seen is None or seen.errors is None:
        return f"{number} {_UNTOLD}"
    if step.released and len(step.centers) > 1:
        return f"noise may move a centre {format_percent(float(np.median(seen.errors / seen.gaps)))} toward the next"
    lost = int(seen.lost.sum())
    if lost:
        return f"{format_count(lost)} of {number} may be lost in noise"
    return f"noise may move a centre {format_width(float(np.median(seen.errors)))}"


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

    note = ("computed from the rows themselves: revealed, never a release", view.about)
    words = f"{title} over {format_columns(domain)}: revealed, never a release."
    table = partial(tabulate_points, step.centers, domain, "centre")
    return Chart(context, title, note, words, paint, table=table, kind="revealed")


def describe_recovery(found: evaluation.ClusterRecovery) -> str:
    """How many clusters were found; of more than can be said in a word, in digits as they are."""
    every = format_things(found.clusters, "cluster")
    if found.found == found.clusters:
        return f"all {every} are found"
    many = format_count(found.found) if format_count(found.clusters).isalpha() else f"{found.found:,}"
    return f"{many if found.found else 'none'} of {every} {'are' if found.found > 1 else 'is'} found"


def format_width(length: float) -> str:
    """A length, unit coordinates, as a part of the width of the domain."""
    return f"{format_percent(length / 2)} of the width"


# Bars that a companion holds with their numbers.
_MOST = 40
# A centre half-way to the next cluster belongs to neither; bars never reach beyond the whole way, twice over.
_HALF_WAY, _WAY = 0.5, 2.0
_LEAST_GAP = 1e-12


def draw_seed_distances(step: CentersStep, reference: Array, context: RenderContext) -> Chart:
    """How far each centre is from its k-means++ centre, as a part of the way from there to the next one."""
    partners = find_partners(step.centers, reference)
    gaps = np.maximum(size_estimates.measure_neighbour_gaps(partners), _LEAST_GAP)
    parts = np.linalg.norm(step.centers - partners, axis=1) / gaps
    far = int(parts.argmax())
    title = f"Farthest off: centre {far + 1}, {format_percent(float(parts[far]))} of the way"

    def paint(canvas: PlotCanvas) -> None:
        told = [f"{format_percent(float(part))} of the way to a neighbour" for part in parts]
        boxes, shown = find_boxes(context.view, step.centers, partners), np.minimum(parts, _WAY)
        _add_bars(canvas, parts, 100 * shown, told, boxes, name="distance", kind="revealed")
        half, reach = 100 * _HALF_WAY, max(1.2 * _HALF_WAY, 1.05 * float(shown.max()))
        canvas.plot.add_vline(x=half, line={"color": canvas.palette.muted, "width": 1.2, "dash": "dot"})
        canvas.note("half-way", half, 0, {"xanchor": "right", "yanchor": "bottom", "xshift": -4, "yref": "paper"})
        canvas.plot.update_xaxes(range=[0, 100 * reach], ticksuffix=" %", nticks=5, zeroline=False)
        canvas.plot.update_xaxes(title_text="part of the way to a neighbour")

    note = ("the way from k-means++ to its next neighbour", _tell_most(len(parts), "farthest"))
    words = f"{title} from its k-means++ centre to the next one: revealed, never a release."
    return Chart(context, title, note, words, paint, legend_lines=0, kind="revealed")


def draw_sizes(step: CentersStep, context: RenderContext) -> Chart:
    """How many rows each centre holds, with its noise: as this step counted them, and at last as all of them did."""
    sizes = _find_sizes(step, context)
    assert sizes is not None
    title = _describe_sizes(sizes)

    def paint(canvas: PlotCanvas) -> None:
        colors = np.array(canvas.palette.inks)[choose_hues(context.view, step.centers, context.final)]
        noise = sizes.reach[np.argsort(-sizes.rows, kind="stable")[:_MOST]].astype(SCREEN)
        spread = {"type": "data", "array": noise, "color": canvas.palette.muted, "thickness": 1.2, "width": 3}
        told, boxes = [f"{one} rows" for one in sizes.words], find_boxes(context.view, step.centers)
        look = {"colors": colors, "error_x": spread if sizes.known else None}
        _add_bars(canvas, sizes.rows, sizes.rows, told, boxes, name="size", kind="released", **look)
        canvas.plot.update_xaxes(title_text="rows (noisy count)", rangemode="tozero", nticks=5)

    final = context.profile is not None and sizes is context.profile.sizes
    source = "sizes by all that was released" if final else "noisy counts of this step"
    note = (source, "strokes: ±" if sizes.known else "", _tell_most(len(sizes.rows), "largest"))
    return Chart(context, title, note, f"How many rows each centre holds. {title}.", paint, legend_lines=0)


def _find_sizes(step: CentersStep, context: RenderContext) -> size_estimates.Sizes | None:
    """Those of the run at its last step, and what a step counted before; None where it counted nothing."""
    counts, whole = step.noisy_counts, None if context.profile is None else context.profile.sizes
    if counts is None or (whole is not None and context.is_last(step)):
        return None if counts is None else whole
    sd = np.nan if step.count_noise_sd is None else step.count_noise_sd
    return size_estimates.Sizes.publish(counts, np.full(len(counts), sd))


def _describe_sizes(sizes: size_estimates.Sizes) -> str:
    """The smallest and the largest."""
    least, most = (sizes.words[int(place)] for place in (sizes.rows.argmin(), sizes.rows.argmax()))
    return f"From {least} to {most} rows" if least != most else f"Each {least} rows"


def _tell_most(bars: int, what: str) -> str:
    return f"the {_MOST} {what} of {bars}" if bars > _MOST else ""


def _add_bars(
    canvas: PlotCanvas, by: Array, values: Array, told: list[str], boxes: Array, *, name: str, kind: Kind, **look: Any
) -> None:
    """A lying bar for each centre, the largest ``by`` some value on top; what is told of it, and its box on the map."""
    order, colors = np.argsort(-by, kind="stable")[:_MOST], look.pop("colors", None)
    ranks, words = np.arange(len(order)), [f"centre {i + 1}: {told[i]}" for i in order]
    trace = {"orientation": "h", "text": words, "textposition": "none", **canvas.linked, **look}
    marker = {"color": canvas.color(kind) if colors is None else colors[order].tolist()}
    x, places = values[order].astype(SCREEN), boxes[order].astype(SCREEN)
    canvas.bars(x, ranks, 0.62, name, kind, marker, hover="%{text}", notes=places, trace=trace)
    size = NUMBER_SIZE if len(order) <= 24 else 8
    numbers = [str(i + 1) for i in order]
    axis = {"tickvals": ranks, "ticktext": numbers, "tickfont": {"size": size}, "showgrid": False, "zeroline": False}
    canvas.plot.update_yaxes(title_text="centre", range=[len(order) - 0.4, -0.6], **axis)


# No cost is divided by less.
_LEAST_COST = 1e-300


def draw_polish(step: PolishStep, context: RenderContext) -> Chart:
    """The centres after a round; around where they were, the clipping radius, beyond which a row pulls no harder.

    In a crowd, or among many columns, circles would be one grey sheet: only the largest cluster has one. The picture
    that a run ends with is of what it found, and has none.
    """
    centers = draw_centers(step, context)
    bounds, every = step.clipping_radii, np.full(len(step.centers), step.clipping_radius)
    bounds = every if bounds is None else bounds
    moved, typical, _ = _measure_round(step, context)

    def paint(canvas: PlotCanvas) -> None:
        assert step.previous is not None and step.noisy_counts is not None
        if not context.is_last(step):
            # More circles than this are one grey sheet.
            crowd = len(step.centers) > 40 or not canvas.view.whole
            shown = [int(step.noisy_counts.argmax())] if crowd else list(range(len(step.centers)))
            name = "clipping radius of the largest" if crowd else "clipping radius"
            middles, width = canvas.view.plane(step.previous[shown], "previous"), 5.0 if canvas.view.flat else 1.0
            canvas.halos(middles, bounds[shown], name, "released", width=width, strength=0.5, dash="dash")
        centers.paint(canvas)

    def tabulate() -> pd.DataFrame:
        table = centers.table()
        table["moved (unit coordinates)"] = moved
        table["clipping radius (unit coordinates)"] = bounds
        return table

    pulled = f"Rows pulled from at most {format_number(step.clipping_radius)} (unit coordinates)"
    words = f"{centers.words} {pulled}; a typical centre moved {format_number(typical)}."
    return replace(centers, words=words, paint=paint, table=tabulate)


def list_beside_polish(step: PolishStep, steps: Sequence[Step], context: RenderContext) -> Iterator[Companion]:
    """What stands beside centres, of which k-means++ tells more, and all rounds so far."""
    yield from list_beside_centers(step, steps, context)
    rounds = list_alike(step, steps)
    yield Companion("Rounds", draw_rounds(rounds[: rounds.index(step) + 1], len(rounds), context))


def draw_rounds(so_far: Sequence[PolishStep], rounds: int, context: RenderContext) -> Chart:
    """Round by round up to now, of ``rounds``: the clipping radius, how far a typical centre moved, and the noise of a
    mean."""
    lines = np.array([(step.clipping_radius, *_measure_round(step, context)[1:]) for step in so_far]).T
    (radius, moved, noise), last = lines[:, -1].tolist(), len(so_far)
    far = f"{format_number(moved / max(noise, _LEAST_COST))} times" if moved > noise else "no farther than"
    title = f"Round {last} moved a typical centre {far} its noise"

    def paint(canvas: PlotCanvas) -> None:
        floor = _find_floor(np.append(lines, 1.0), lower=bool((lines == 0).any()))
        for what, values, dash, symbol, strength in (
            ("clipping radius", lines[0], "dash", "line-ew-open", 0.5),
            ("move", lines[1], "solid", "circle", 0.95),
            ("noise of its mean", lines[2], "dot", "triangle-down", 0.95),
        ):
            look = {"mode": "lines+markers", "marker": {"symbol": symbol, "size": 9, "color": canvas.palette.released}}
            hover = f"round %{{x}}: {what} %{{customdata:.3g}} (released)"
            _add_ranks(canvas, values, floor, what, hover, look, strength=strength, dash=dash, width=2)
        canvas.plot.update_xaxes(range=[0.5, rounds + 0.5], title_text="round", tick0=1, dtick=1)
        _set_log_axis(canvas, "length (unit coordinates)", floor, float(lines.max()), below=0.1, above=0.15)

    idle = "on the floor: not moved at all" if (lines[1] == 0).any() else ""
    note = ("a typical centre: the median", "noise: the length of a vector of 1 sd", idle)
    words = f"After {format_things(last, 'round')}: the clipping radius is {format_number(radius)}"
    words += f", a typical centre moved {format_number(moved)}"
    words += f", the noise of its mean has a length of {format_number(noise)}."
    return Chart(context, title, note, words, paint)


def draw_split(step: SplitStep, context: RenderContext) -> Chart:
    """The centres after the exchange: a ring where a cluster was split, a cross where a centre gave way."""
    centers, split, dropped = draw_centers(step, context, counts_clusters=False), step.split, step.dropped
    title = capitalize_first(f"{format_things(len(split), 'cluster')} are split, and as many centres give way")
    if len(split) == 0:
        title = capitalize_first(f"all {format_things(len(step.centers), 'cluster')} stay whole")
    elif len(split) == 1:
        title = f"Cluster {split[0] + 1} is split; centre {dropped[0] + 1} takes a half of it"

    def paint(canvas: PlotCanvas) -> None:
        centers.paint(canvas)
        assert step.previous is not None
        for what, which, symbol, size in (("split", split, "circle-open", 30), ("gave way", dropped, "x", 12)):
            if len(which):
                places, hover = canvas.view.plane(step.previous[which]), f"centre %{{customdata}} {what} (released)"
                marker = {"symbol": symbol, "size": size, "color": canvas.palette.text, "line": {"width": 2}}
                canvas.marks(places, what, "released", marker, hover=hover, notes=which + 1)

    def tabulate() -> pd.DataFrame:
        table = centers.table()
        table["saved by splitting it"], table["lost by dropping it"] = step.gain_of_each, step.cost_of_each
        became = np.full(len(table), "", dtype=object)
        became[split], became[dropped] = "split", "gave way, took the other half"
        table["change"] = became
        return table

    return replace(centers, title=title, words=_tell_exchange(step, context), paint=paint, table=tabulate)


def list_beside_split(step: SplitStep, steps: Sequence[Step], context: RenderContext) -> Iterator[Companion]:
    """What was weighed, and what stands beside centres."""
    yield Companion("Gains and costs", draw_gains(step, context))
    yield from list_beside_centers(step, steps, context)


def _describe_exchange(step: SplitStep) -> str:
    if len(step.split) == 1:
        times = format_ratio(float(step.gains[0] / max(step.costs[0], _LEAST_COST)))
        return f"Cluster {step.split[0] + 1} is split: it saves {times} what centre {step.dropped[0] + 1} costs"
    if len(step.split):
        least = format_ratio(float((step.gains / np.maximum(step.costs, _LEAST_COST)).min()))
        clusters = format_things(len(step.split), "cluster")
        return capitalize_first(f"{clusters} are split, each saving at least {least} its cost")
    best, least_cost = float(step.gain_of_each.max()), float(step.cost_of_each.min())
    if best == 0:
        return "No cluster is wider than noise would make it: nothing is split"
    return f"No split pays: the best saves {format_percent(best / least_cost)} of what dropping costs"


def _tell_exchange(step: SplitStep, context: RenderContext) -> str:
    changes = []
    for j, i, gain, cost in zip(step.split, step.dropped, step.gains.tolist(), step.costs.tolist(), strict=True):
        at = f"saving {format_number(gain)} at a cost of {format_number(cost)}"
        changes.append(f"centre {i + 1} gave way to a half of cluster {j + 1}, {at}")
    centers = capitalize_first(format_things(len(step.centers), "released centre"))
    text = f"{centers} over {format_columns(context.view.domain)}. {_describe_exchange(step)}."
    return f"{text} {capitalize_first('; '.join(changes))}." if changes else text


def draw_gains(step: SplitStep, context: RenderContext) -> Chart:
    """The largest gains of splitting over the smallest costs of dropping: exchanges pay while the first lie above."""
    # Places of a ranking that a phone shows.
    gainers, losers = (np.argsort(one, kind="stable")[:12] for one in (-step.gain_of_each, step.cost_of_each))
    gains, costs = step.gain_of_each[gainers], step.cost_of_each[losers]

    def paint(canvas: PlotCanvas) -> None:
        muted, together = canvas.palette.muted, np.r_[gains, costs]
        floor = _find_floor(together, lower=True)
        for what, values, centers, color, symbol, place in (
            ("saved by splitting it", gains, gainers, canvas.palette.released, "circle", "bottom center"),
            ("lost by dropping it", costs, losers, muted, "square-open", "top center"),
        ):
            marker = {"symbol": symbol, "size": 10, "color": color, "line": {"width": 1.5, "color": color}}
            numbers = {"text": [str(c + 1) for c in centers], "textfont": {"size": NUMBER_SIZE, "color": muted}}
            look = {"mode": "lines+markers+text", "marker": marker, "textposition": place, **numbers}
            hover = f"centre %{{text}}: {what}: %{{customdata:.3g}} (released)"
            _add_ranks(canvas, values, floor, what, hover, look, color=color, width=1.2)
        ranks = {"range": [0.5, len(gains) + 0.5], "tick0": 1, "dtick": 1}
        canvas.plot.update_xaxes(title_text="centres: best to split, cheapest to drop, first", **ranks)
        top = max(float(together.max()), floor)
        _set_log_axis(canvas, "loss (unit coordinates², all rows)", floor, top, below=0.35, above=0.35)

    floored = "on the floor: just noise" if (gains == 0).any() else ""
    note = ("an exchange pays where a gain is over a cost", floored)
    return Chart(context, _describe_exchange(step), note, _tell_exchange(step, context), paint)


def _find_floor(values: Array, *, lower: bool) -> float:
    """Where 0 stands on a logarithmic axis: at the least positive one of ``values``, or below it."""
    positive = values[values > 0]
    # A value of 0 stands this far below the least other one on a logarithmic axis.
    return float(positive.min()) / (3.0 if lower else 1.0) if len(positive) else 1.0


def _add_ranks(canvas: PlotCanvas, values: Array, floor: float, what: str, hover: str, trace: Any, **look: Any) -> None:
    """A line through ``values`` (m,), one at each place from 1 on; 0 stands on the ``floor``."""
    path = np.column_stack([np.arange(1, len(values) + 1), np.maximum(values, floor)])
    canvas.lines(path, what, "released", hover=hover, notes=values, trace=trace, **look)


def _set_log_axis(canvas: PlotCanvas, title: str, floor: float, top: float, *, below: float, above: float) -> None:
    """The axis of a ranking, with some air in powers of ten."""
    low, high = np.log10(floor), np.log10(top)
    canvas.plot.update_yaxes(title_text=title, **make_log_axis(low, high))
    canvas.plot.update_yaxes(range=[low - below, high + above])


def _find_previous(step: CentersStep, context: RenderContext) -> Array:
    """Where the centres were, moved to where means of rows can be, as the centres of every step are."""
    assert step.previous is not None
    return context.view.domain.region.settle_points(step.previous)


def _measure_round(step: PolishStep, context: RenderContext) -> tuple[Array, float, float]:
    """How far each centre moved and how far a typical one did, and the noise of its mean."""
    assert step.center_noise_sd is not None
    moves = np.linalg.norm(step.centers - _find_previous(step, context), axis=1)
    return moves, float(np.median(moves)), float(np.median(step.center_noise_sd)) * sqrt(step.centers.shape[1])
