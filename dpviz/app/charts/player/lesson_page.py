"""A lesson as a file: its pictures, the page that plays it anywhere, and the sheet to print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from dpviz.app.charts import meaning
from dpviz.app.charts.animation import TitleNumber
from dpviz.app.charts.canvas import Diagram, PlotCanvas, RevealedView, TitledPlot, name_kinds, new_plot
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.player.player_page import Figured, PlayerScene, animate, make_player_page
from dpviz.app.charts.plot import Plot, make_axis_title, make_config, make_epsilon_axis, make_layout, make_log_axis
from dpviz.app.charts.studies.compare import CenterDraws
from dpviz.app.charts.studies.curves import add_quartiles, choose_styles, compute_quartiles
from dpviz.app.charts.view import make_view
from dpviz.app.lessons import lesson as told
from dpviz.app.lessons.facts import Computed, find_step
from dpviz.core import Array
from dpviz.runs import AskingAgain, Progress, Request, Row, Run, StudyGrid, membership, tidy
from dpviz.tables import FileKind
from dpviz.words import FONT, Kind, Palette, capitalize_first, choose_palette, format_ratio, format_things, render


def make_standalone_page(
    figures: Sequence[TitledPlot], *, title: str, paragraphs: Sequence[str], points: Sequence[str], palette: Palette
) -> str:
    """HTML that needs no network and no server."""
    # Pixels that titles are broken for: such a page is read on a screen.
    headed, look = [figure.headed(palette, width=900) for figure in figures], {"config": make_config(title)}
    drawn = [one.to_html(full_html=False, include_plotlyjs=not place, **look) for place, one in enumerate(headed)]
    return render(
        "figures.html.j2", title=title, paragraphs=paragraphs, points=points, figures=drawn, palette=palette, font=FONT
    )


def make_printed_lesson(lesson: told.Lesson) -> str:
    """HTML that prints on two pages and needs no network: the questions, and after a page break the answers."""
    return render("lesson_sheet.html.j2", lesson=lesson, font=FONT)


def make_context(computed: Computed, palette: Palette) -> RenderContext:
    """The rows of a public sample, for all to see."""
    rows = RevealedView.of(computed.rows.points, "a lesson on a public sample")
    return RenderContext(make_view(computed.table.domain), palette, reveal=rows)


def make_walk(
    computed: Computed, request: Request, palette: Palette, *, whole: bool
) -> tuple[Run, RenderContext, list[TitleNumber]]:
    """A run, how it is looked at, and the numbers beside its title.

    If not ``whole``, they do not say how good it is, which would give an answer away.
    """
    run = computed.run(request)
    context = replace(make_context(computed, palette), epsilon=run.epsilon if run.private else None)
    if not run.private:
        return run, context, []
    numbers = [TitleNumber.of_spending(run)]
    if not whole:
        return run, context, numbers
    loss = computed.compute_loss_ratio(run.unit_centers)

    def of_run(centers: Array) -> float | None:
        return loss if np.array_equal(centers, run.unit_centers) else None

    reference = computed.compute_reference(run.k)
    context = replace(context, reference=reference, found=computed.measure_recovery, ratio=of_run)
    return run, context, [*numbers, TitleNumber("revealed", format_ratio(loss), "the loss of k-means++")]


def describe_sample(computed: Computed, request: Request) -> str:
    """Whose rows an animation shows, and why it is the same for everybody."""
    same = "the same noise for everybody, so that a lesson can be repeated. A release has no seed."
    return f"{_of(computed)}. Seed {request.seed:d}: {same}"


def describe_seeds(computed: Computed, number: int, grid: StudyGrid) -> str:
    """The same of many runs."""
    return f"{_of(computed)}; {number:d} runs, whose seeds follow from {grid.seed:d}: the same for everybody."


def _of(computed: Computed) -> str:
    simulated = computed.table.kind == FileKind.SIMULATED
    return f"{computed.table.title}, {'simulated points' if simulated else 'a public sample'}"


def draw_sample(context: RenderContext, title: str) -> TitledPlot:
    """The rows of a public sample, and nothing else."""
    palette, view = context.palette, context.view
    canvas = PlotCanvas(new_plot(palette, legend_lines=1), palette, view)
    canvas.rows(context.reveal)
    canvas.plane()
    return TitledPlot(title, view.about, name_kinds(canvas.plot, palette))


def draw_guessed_curve(epsilons: Sequence[float], guess: Sequence[float] | None, runs: pd.DataFrame | None) -> Diagram:
    """The ``guess`` of the loss at each ε, if there is one, and once there are ``runs``, their medians and band.

    >>> draw_guessed_curve([0.1, 1.0], None, None).finding
    'The curve that you expect'
    """
    middle = None if runs is None else compute_quartiles(runs, "ratio", ["epsilon"])
    finding = "The curve that you expect"
    words = f"Loss against ε, from {min(epsilons):g} to {max(epsilons):g}; the true curve is not shown yet."
    if middle is not None:
        first, last = (format_ratio(float(middle["median"].iloc[place])) for place in (0, -1))
        low, high = middle["epsilon"].iloc[0], middle["epsilon"].iloc[-1]
        finding = f"{first} the loss of k-means++ at ε = {low:g}, {last} at ε = {high:g}"
        words = f"The median loss goes from {first} to {last} that of k-means++."
    if guess is not None:
        words = f"Your guess goes from {format_ratio(guess[0])} to {format_ratio(guess[-1])}. {words}"

    def paint(palette: Palette) -> Plot:
        plot = Plot(make_layout(palette, height=460))
        if runs is not None and middle is not None:
            name = str(runs["contender"].iloc[0])
            style = choose_styles([name])[name]
            parts = middle[["epsilon", "low", "median", "high"]].to_numpy(dtype=np.float64).T
            told = {"hovertemplate": "ε = %{x}: %{text}", "hoverinfo": None, "showlegend": True}
            losses, fill = [format_ratio(value) for value in parts[2]], palette.fade(style.color, 0.18)
            add_quartiles(plot, name, parts, style, fill, text=losses, **told)
        if guess is not None:
            line = {"color": palette.text, "width": 2.2, "dash": "dash"}
            marker = {"symbol": "circle-open", "size": 10, "color": palette.text, "line": {"width": 2}}
            told = {"hovertemplate": "your guess at ε = %{x}: %{y}×", "hoverinfo": None, "listed": "your guess"}
            plot.add_scatter(list(epsilons), list(guess), "lines+markers", line=line, marker=marker, **told)
        plot.update_xaxes(**make_epsilon_axis(min(epsilons), max(epsilons)))
        # A jot beyond what can be guessed.
        up = make_log_axis(0, 1.4) | {"range": [np.log10(0.9), np.log10(24.0)]}
        plot.update_yaxes(**up, title_text=make_axis_title("loss", "× that of k-means++"))
        return plot.update_layout(legend={"y": -0.22}, margin={"t": 16})

    return Diagram("curve", finding, "", words, paint)


def make_cloud(computed: Computed, rows: Sequence[Row], palette: Palette) -> CenterDraws:
    """The centres of many runs over the rows of a lesson, beside k-means++."""
    reference = computed.compute_reference(len(rows[0]["centers"]))
    return CenterDraws.of(rows, replace(make_context(computed, palette), reference=reference))


def draw_strip(scene: told.Scene, rows: Sequence[Row], computed: Computed, guess: float | None = None) -> Diagram:
    """A dot for each draw over what a scene asks of it, piled up where values are alike; ``guess`` is a line."""
    values, what = [float(row["ratio"]) for row in rows], "loss, × that of k-means++"
    if any("found" in say.what for say in scene.says.values()):
        values, what = [float(computed.measure_recovery(row["centers"]).found) for row in rows], "clusters found"
    finding = f"{capitalize_first(format_things(len(values), 'draw'))}: {min(values):.3g} to {max(values):.3g} {what}"

    def paint(palette: Palette) -> Plot:
        piles, heights = Counter[float](), list[int]()
        for value in values:
            piles[value] += 1
            heights.append(piles[value])
        plot, algorithm = Plot(make_layout(palette, height=230)), str(rows[0]["contender"])
        marker = {"size": 11, "color": choose_styles([algorithm])[algorithm].color}
        plot.add_scatter(values, heights, "markers", marker=marker, hover="%{x}", showlegend=None)
        if guess is not None:
            plot.add_vline(guess, line={"color": palette.text, "dash": "dash", "width": 2})
            above = {"x": guess, "y": 1, "yref": "paper", "yanchor": "bottom"}
            plot.add_annotation({"text": "your guess", "showarrow": False, **above})
        plot.update_xaxes(title_text=what)
        plot.update_yaxes(visible=False, range=[0, max(4, *heights) + 1])
        return plot.update_layout(margin={"t": 24, "l": 16}, showlegend=False)

    return Diagram("strip", finding, "", finding, paint)


def make_lesson_page(lesson: told.Lesson) -> Iterator[Progress | str]:
    """HTML that plays a lesson without network or server, at the end; on the way there its runs are computed."""
    subjects = {lesson.find_subject(scene) for scene in lesson.scenes}
    known = {subject: Computed.open_subject(subject) for subject in subjects}
    scenes = list[PlayerScene]()
    for place, scene in enumerate(lesson.scenes, start=1):
        yield Progress(place - 1, len(lesson.scenes), f"scene {place} of {len(lesson.scenes)}")
        scenes += _make_pages(lesson, place, scene, known[lesson.find_subject(scene)])
    remembered = PlayerScene("To remember", [lesson.sentence], turn="To remember")
    yield Progress(len(lesson.scenes), len(lesson.scenes), "put together")
    yield make_player_page([*scenes, remembered], title=lesson.title)


def _make_pages(lesson: told.Lesson, place: int, scene: told.Scene, computed: Computed) -> Iterator[PlayerScene]:
    """The question and the answer, or a scene without a question."""
    heading, texts = scene.fill_text(scene.title), _format_paragraphs(scene, scene.text)
    turn, answer = f"{place}. {heading}", _format_paragraphs(scene, scene.answer) if scene.answer else []
    if scene.question is None:
        shown = _fill_answer(scene, computed) if scene.reveal is not None else _draw_before(scene, computed)
        yield replace(shown, heading=heading, paragraphs=[*texts, *answer, *shown.paragraphs], turn=turn)
        return
    first = _draw_before(scene, computed)
    ask = scene.fill_text(scene.question.ask)
    match scene.question:
        case told.Options(options=options):
            asked = [ask, "\n".join(f"□ {scene.fill_text(option)}" for option in options)]
        case told.NumberGuess(low=low, high=high, unit=unit):
            asked = [f"{ask} A number from {low:g} to {high:g} {unit}".rstrip() + "."]
        case told.CurveGuess():
            asked = [ask]
    yield replace(first, heading=heading, paragraphs=[*texts, *asked, *first.paragraphs], turn=turn, leads="Reveal")
    then = _fill_answer(scene, computed)
    paragraphs = [ask, *([f"It is: {scene.truth}"] if scene.truth else []), *answer, *then.paragraphs]
    yield replace(then, heading=f"{heading}: the answer", paragraphs=paragraphs, turn="answer")


def _format_paragraphs(scene: told.Scene, text: str) -> list[str]:
    """Without the line breaks of its file, which would be seen here."""
    return [" ".join(paragraph.split()) for paragraph in scene.fill_text(text).split("\n\n")]


def _draw_before(scene: told.Scene, computed: Computed) -> PlayerScene:
    """What may be seen while the question is open."""
    if scene.shows is not None:
        return _draw_animation(scene.shows, computed, whole=False)
    if isinstance(scene.question, told.CurveGuess) and isinstance(scene.reveal, told.StudyReveal):
        return PlayerScene()
    title = f"{computed.table.title}: its rows"

    def draw(colors: Palette) -> TitledPlot:
        return draw_sample(make_context(computed, colors), title)

    return PlayerScene(figures=[Figured.of(draw, f"The rows of {title}", "revealed")])


def _fill_answer(scene: told.Scene, computed: Computed) -> PlayerScene:
    """What answers the question."""
    match scene.reveal:
        case told.RunReveal() as shown:
            return _draw_animation(shown, computed, whole=True)
        case told.DrawsReveal(grid=grid):
            rows = computed.run_study(grid)
            strip, cloud = draw_strip(scene, rows, computed), partial(make_cloud, computed, rows)
            words = cloud(choose_palette("light")).words()
            figures = [Figured.of(strip.draw, strip.words, "revealed")]
            figures.append(Figured.of(lambda colors: cloud(colors).cloud.draw(), words, "released", "revealed"))
            return PlayerScene(figures=figures, paragraphs=[describe_seeds(computed, len(rows), grid)])
        case told.StudyReveal(grid=grid):
            rows = computed.run_study(grid)
            curve = draw_guessed_curve(grid.epsilons, None, tidy(rows))
            figures = [Figured.of(curve.draw, curve.words, "revealed")]
            return PlayerScene(figures=figures, paragraphs=[describe_seeds(computed, len(rows), grid)])
        case told.PartReveal(part=part, request=request):
            return PlayerScene(figures=make_part_figures(part, computed, request))
        case None if scene.board is not None:
            return _draw_animation(told.RunReveal(scene.board.request, scene.board.step), computed, whole=True)
        case None:
            return PlayerScene()


def _draw_animation(shown: told.RunReveal, computed: Computed, *, whole: bool) -> PlayerScene:
    run, context, numbers = make_walk(computed, shown.request, choose_palette("light"), whole=whole)
    at = find_step(run, shown.step)
    animation = animate(run, context, numbers, at=at)
    if not whole:  # what comes after would give the answer away
        animation["steps"] = {theme: steps[: at + 1] for theme, steps in animation["steps"].items()}
    return PlayerScene(animation=animation, paragraphs=[describe_sample(computed, shown.request)])


_KINDS: dict[str, tuple[Kind, ...]] = {"worlds": ("released", "revealed"), "again": ("released",)}
_KINDS["attack"] = ("public", "released", "revealed")


def make_part_figures(part: str, computed: Computed, asked: Request) -> list[Figured]:
    """Figures of the part with that name, about the person of a public table who is hardest to hide."""
    drawn, kinds = _draw_part(part, computed, asked), _KINDS.get(part, ("public",))
    return [Figured.of(one.draw, one.words, *kinds) for one in drawn]


def _draw_part(part: str, computed: Computed, asked: Request) -> list[Diagram]:
    if part == "odds":
        return [meaning.draw_icon_array(0.5, asked.epsilon)]
    if part == "others":
        strip = meaning.draw_deployments(meaning.load_deployments(), asked.epsilon)
        return [replace(strip, note=f"{strip.note} Source: {meaning.SOURCE}.")]
    table = computed.table
    both = membership.make_neighbors(table, membership.find_farthest_row(table))
    items = list(membership.attack_work(both, asked))
    trials = [item for item in items if isinstance(item, membership.AttackTrial)]
    if part == "attack":
        reference = [item.trial for item in items if isinstance(item, membership.ReferenceTrial)]
        return [meaning.draw_attack_region(meaning.list_attackers(trials, reference), asked.epsilon, asked.delta)]
    if part == "worlds":
        clouds, attackers = meaning.TwinClouds.of(trials, both.person), meaning.list_attackers(trials, ())
        return [meaning.draw_twin_clouds(clouds, make_view(table.domain), computed.rows.points, attackers, asked)]
    again = AskingAgain.of(trials, computed.run(asked).entries, asked)
    first, *others = meaning.draw_costs(again)
    return [replace(first, finding=f"{meaning.describe_costs(again)}. {first.finding}", note=meaning.SENTENCE), *others]
