"""What many runs tell beside a comparison: sweeps over ε, k and n, causes, who pays, and draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from typing import Any, Literal

import pandas as pd
import streamlit as st

from dpviz.algorithms import AUTO, predict, predict_floor
from dpviz.app.charts.animation import TitleNumber
from dpviz.app.charts.canvas import Diagram
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.studies.compare import CenterDraws
from dpviz.app.charts.studies.curves import Curves, draw_curves, draw_smallest
from dpviz.app.charts.studies.errors import draw_epsilon_n_map, draw_payers, draw_waterfall
from dpviz.app.ui import figure
from dpviz.app.ui.bench.in_hand import find_target
from dpviz.app.ui.controls import ROUND_EPSILONS, SHARES, recall_division
from dpviz.app.ui.data_access import reveal_view
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import ask_plane, draw_caption_with_badge, read_palette, show_wide
from dpviz.app.ui.job_panel import draw_job_panel
from dpviz.app.ui.page_sentences import SENTENCES
from dpviz.app.ui.player import play, zip_steps
from dpviz.app.ui.runner import find_recovery
from dpviz.app.ui.session import find_known_clusters, make_once, recall, remember
from dpviz.app.ui.studies import study_job
from dpviz.app.ui.studies.judged_rows import ask_larger_rows, find_known_rows
from dpviz.app.ui.studies.study_job import (
    StudyJob,
    StudyQuestion,
    ask_contender,
    ask_one_setting,
    has_contenders,
    send,
)
from dpviz.core import RequestError
from dpviz.runs import (
    Advice,
    Contender,
    KnownRows,
    OpenTable,
    Recommendation,
    Request,
    RowsAdvice,
    SmallestEpsilon,
    StudyGrid,
    Target,
    error_parts,
    sharpen_rows,
)
from dpviz.tables import FileKind
from dpviz.words import format_duration, format_number, format_ratio, glossary, round_percent

# The whole table, and halves of halves; fewer rows than this many, or than twice k, tell nothing.
_PARTS, _FEWEST = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2), 50
_CLUSTERS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100)
_PRIVATE_N = "The number of rows is private: say it on the bench, or take a synthetic table."


@dataclass(frozen=True)
class _Sweep:
    """What is varied: k or n at one ε, or n beside all ε for one algorithm."""

    key: str
    over: Literal["k", "n", "epsilon and n"]


_MAP, _KS, _NS = _Sweep("map", "epsilon and n"), _Sweep("ks", "k"), _Sweep("ns", "n")
VARIED = {sweep.key: sweep for sweep in (_MAP, _KS, _NS)}
"""What ε buys with how many rows, for one algorithm; and how the loss moves with k, or with n, at one ε."""


def draw_varied_section(sweep: _Sweep, question: StudyQuestion) -> None:
    """The form of a sweep, and its picture or an invitation."""
    if not has_contenders(question.grid.contenders):
        return
    (k,), source = question.grid.ks, question.source
    changes: dict[str, Any] = {}
    with st.container(border=True):
        left, right = st.columns(2, gap="medium")
        with left:
            if sweep is _MAP:
                changes = {"contenders": (ask_contender(sweep.key, question.grid.contenders),)}
                changes["epsilons"] = ask_epsilons(sweep.key)
            else:
                st.markdown(f"At ε = {question.grid.epsilons[0]:g}, as above.")
        with right:
            if sweep is _KS:
                changes["ks"] = _draw_clusters(sweep.key, k)
            else:
                source = ask_larger_rows(sweep.key, question.table, source, k=k)
                changes["ns"] = _draw_sizes(source, k)
        narrowed = replace(question.narrow(sweep.key, **changes), source=source)
        private_n = sweep is not _KS and source is not None and source.n_public is None
        study_job.draw_study_button(narrowed, problem=_PRIVATE_N if private_n else None)
    own = k if sweep is _KS else question.table.n_public
    draw = partial(_draw_sweep, sweep, own=own)
    study_job.draw_study_half(narrowed, draw)


def _draw_sweep(sweep: _Sweep, study: StudyJob, own: int | None) -> None:
    frame, grid, whole = study.make_frame(), study.grid, study.source.n_public or 1  # a study over n has a public one
    frame["n"] = frame["n"].astype(float).fillna(float(whole))
    ns = [n or whole for n in grid.ns]
    if sweep.over == "epsilon and n":
        picture = draw_epsilon_n_map(frame, grid.contenders[0].label, grid.epsilons, ns, own)
    else:
        measure = study_job.ask_measure(frame, sweep.key)
        places = list(grid.ks) if sweep.over == "k" else ns
        inside = own is not None and min(places) <= own <= max(places)
        curves = Curves(frame, measure, sweep.over, places, grid.epsilons[0], own if inside else None)
        picture = draw_curves(curves)
    study_job.show_picture(picture, study)
    if sweep is not _MAP:
        st.caption(
            f"Every {escape_markdown(sweep.over)} is measured against k-means++ with the same "
            f"{escape_markdown(sweep.over)}."
        )
    elif own is None:
        st.caption("Your number of rows is private, and is not marked.")
    study_job.draw_study_download(study, picture)


def _draw_sizes(source: OpenTable | None, k: int) -> tuple[int | None, ...]:
    """Numbers of rows of subsamples, two digits each, and None for the whole table."""
    whole = source.n_public if source is not None else None
    if whole is None:
        return (None,)
    rounded = [int(float(f"{part * whole:.2g}")) for part in _PARTS]
    return (*(n for n in rounded if max(_FEWEST, 2 * k) <= n < whole), None)


def _draw_clusters(key: str, k: int) -> tuple[int, ...]:
    """A range of k, and k itself; at first from about a third of it to twice as many."""
    offered = sorted({*_CLUSTERS, k})
    first = max(one for one in offered if one <= max(2, k // 3))
    last = max(one for one in offered if one <= max(2 * k, 4))
    ends = (min(first, k), max(k, last))
    low, high = st.select_slider("Range of k", offered, ends, lambda k: f"{k:d}", key=f"{key}:range:{k}")
    return tuple(sorted({k, *(one for one in _CLUSTERS if low <= one <= high)}))


_DRAWS_KEY = "draws"


def draw_draws_section(question: StudyQuestion) -> None:
    """One algorithm at one ε, drawn many times."""
    button = partial(study_job.draw_study_button, with_centers=True)
    _draw_one_setting(question, _DRAWS_KEY, ("Draws", 5, 100, 30), button, _draw_draws)


def _draw_one_setting(
    question: StudyQuestion,
    key: str,
    runs: tuple[str, int, int, int],
    draw_button: Callable[[StudyQuestion], None],
    pictures: Callable[[StudyJob], None],
) -> None:
    """The form for one algorithm at one ε, with the slider of its ``runs``, and the picture of the last answer."""
    if not has_contenders(question.grid.contenders):
        return
    with st.container(border=True):
        one = ask_one_setting(question, key, *runs)
        draw_button(one)
    study_job.draw_study_half(one, pictures)


def _draw_draws(study: StudyJob) -> None:
    reference = study.yardstick.reference if study.yardstick is not None else None
    view = ask_plane(study.source.domain, _DRAWS_KEY)
    rows = reveal_view(study.source, "rows under repeated draws")
    counted = reference is not None and find_known_clusters(study.source) == study.grid.ks[0]
    found = None if reference is None or not counted else partial(find_recovery, study.source, reference=reference)
    (contender,), (epsilon,) = study.grid.contenders, study.grid.epsilons
    spends = epsilon if contender.card.private else None
    context = RenderContext(view, read_palette(), rows, reference, found=found, epsilon=spends)
    draws = CenterDraws.of(study.rows, context)
    if study.running:
        show_wide(draws.cloud.draw(), alt=draws.words(), key=f"{_DRAWS_KEY}:cloud", stem="cloud-of-centres")
        return
    _play(study, draws)
    if reference is not None:
        study_job.draw_numbers(draws, study)


def _play(study: StudyJob, draws: CenterDraws) -> None:
    """The draws in the player that runs are played in."""
    context = draws.context
    shown = (context.view.name, st.context.theme.type, context.reveal is None, context.reference is None)
    given = (study.job, len(draws.centers), *shown)
    animation = make_once(f"{_DRAWS_KEY}:animation", given, lambda: zip_steps(draws.animate().to_data()))
    low, high = (format_ratio(float(end)) for end in (draws.losses.min(), draws.losses.max()))
    losses = TitleNumber("revealed", low if low == high else f"{low} to {high}", "the loss of k-means++")
    play(animation, [losses], key=f"{_DRAWS_KEY}:player")


_PAYERS_KEY = "payers"


def draw_payers_section(question: StudyQuestion) -> None:
    """What draws cost each cluster and each group; nothing of a private file."""
    if question.grid.contenders and question.source is not None and question.source.kind is FileKind.PRIVATE:
        st.info(SENTENCES.fill("payers_private"), icon=":material/visibility_off:")
        return
    runs = ("Runs", 5, 50, 20)
    _draw_one_setting(question, _PAYERS_KEY, runs, _draw_payers_button, _draw_picture)


def _draw_payers_button(one: StudyQuestion) -> None:
    access = f"{one.grid.repeats} runs by cluster and by group, k = {one.grid.ks[0]}"
    begin = partial(send, work=error_parts.measure_payer_rows, access=access)
    words = f"{one.grid.repeats:,} runs, about {format_duration(0.0 if one.problem else one.seconds)}"
    study_job.draw_ask_button(one, begin, words=words, problem=one.problem)


def _draw_picture(study: StudyJob) -> None:
    if study.source.kind is FileKind.PRIVATE:  # it was public when it was asked
        st.info(SENTENCES.fill("payers_private"), icon=":material/visibility_off:")
        return
    paid = error_parts.summarise_payers(study.rows)
    (contender,), (epsilon,) = study.grid.contenders, study.grid.epsilons
    picture = draw_payers(paid, contender.label, epsilon)
    told = "Not even the largest cluster is found in eight of ten draws."
    if (shown := paid.smallest_shown) is not None:
        rows = format_number(shown)
        told = f"The smallest cluster that eight of ten draws find, as they do all larger ones, has {rows} rows."
    study_job.show_picture(picture, study, beneath=lambda: draw_caption_with_badge("revealed", told))
    if not study.running:
        study_job.draw_page_button(study, picture)


_PARTS_KEY = "causes"
# A private run, the same without noise, and two solutions from many starts.
_RUNS_EACH = 4


def draw_parts_section(question: StudyQuestion) -> None:
    """What quantising, noise and solver each add."""
    runs = ("Runs", 3, 50, 10)
    _draw_one_setting(question, _PARTS_KEY, runs, _draw_parts_button, _draw_bars)


def _draw_parts_button(one: StudyQuestion) -> None:
    access = f"error of {one.grid.repeats} runs taken apart, k = {one.grid.ks[0]}"
    begin = partial(send, work=error_parts.measure_error_rows, access=access)
    problem = error_parts.explain_refusal(one.grid.contenders[0], one.grid.ks[0]) or one.problem
    about = "" if problem else f", about {format_duration(_RUNS_EACH * one.seconds)}{one.provided}"
    words = f"{one.grid.repeats:,} runs with noise and without{about}"
    study_job.draw_ask_button(one, begin, words=words, problem=problem)


def _draw_bars(study: StudyJob) -> None:
    assert study.yardstick is not None  # it comes before any row
    error = error_parts.compute_error_parts(study.yardstick, study.rows)
    if study.source.kind is FileKind.PRIVATE:  # bounds are not to be chosen by it
        error = replace(error, clip=None)
    (contender,), (epsilon,) = study.grid.contenders, study.grid.epsilons
    bars = draw_waterfall(error, contender.label, epsilon)
    study_job.show_picture(bars, study, beneath=_draw_explanation)
    if study.source.kind.may_be_shown and not study.running:
        study_job.draw_page_button(study, bars)


def _draw_explanation() -> None:
    with st.expander("How each part is measured", icon=":material/help:"):
        st.markdown(SENTENCES.fill("causes"))
        draw_caption_with_badge("revealed", "Every bar is read from rows; a run without noise is thrown away at once.")


def ask_epsilons(key: str) -> tuple[float, ...]:
    """Round values of ε between two ends; those of a link or a file as long as its ends stay."""
    kept, loaded = f"{key}:epsilons", recall(f"{key}:loaded", 0)
    # Whenever settings are loaded, a new slider takes the place of the one before.
    widget = f"{key}:range:{loaded}" if loaded else f"{key}:range"
    epsilons = recall(kept, StudyGrid.list_epsilons(0.1, 10.0))
    # A slider with two ends takes them from its first value alone: it must not change while the slider lives.
    if widget not in st.session_state:
        st.session_state[f"first:{widget}"] = (min(epsilons), max(epsilons))
    first: tuple[float, float] = st.session_state[f"first:{widget}"]
    look: dict[str, Any] = {"key": widget, "help": glossary.explain_term("epsilon")}
    offered = sorted({*ROUND_EPSILONS, *first})
    low, high = st.select_slider("Range of ε", offered, first, format_func=lambda one: f"{one:g}", **look)
    if (low, high) != (min(epsilons), max(epsilons)):
        epsilons = remember(kept, StudyGrid.list_epsilons(low, high))
    return epsilons


def load_epsilons(key: str, epsilons: tuple[float, ...]) -> None:
    """Set what ``ask_epsilons`` asks; call it from a callback, or before it is drawn."""
    remember(f"{key}:epsilons", epsilons)
    remember(f"{key}:loaded", recall(f"{key}:loaded", 0) + 1)


SWEEP, _SHARPER = "sweep", "sweep:smallest"
_REPEATS_EACH, _REPEATS, _ROUNDS = 5, 20, 5
# The picture ends here, or at twice the target: whoever loses more is out of the question.
_MOST = 3.0
_WHY = "The line is the median of these runs, the band spans their quartiles."


def narrow_to_sweep(question: study_job.StudyQuestion) -> study_job.StudyQuestion:
    """The question over a range of ε, as the form of a sweep was left."""
    epsilons = recall(f"{SWEEP}:epsilons", StudyGrid.list_epsilons(0.1, 10.0))
    return question.narrow(SWEEP, epsilons=epsilons, repeats=recall(f"{SWEEP}:repeats", _REPEATS_EACH))


def draw_sweep_section(question: study_job.StudyQuestion) -> None:
    """The form and the target, what runs on these rows come to, and what a stored study says of tables like them."""
    with st.container(border=True):
        left, middle, right = st.columns(3, gap="medium")
        with left:
            ask_epsilons(SWEEP)
        with middle:
            study_job.ask_repeats(SWEEP, "Runs of each at every ε", _REPEATS_EACH, _WHY)
        with right:
            target = _ask_target(question.table)
        question = narrow_to_sweep(question)
        study_job.draw_study_button(question)
    advice = _find_stored(question, target)
    draw = partial(_measure, advice=advice, target=target)
    study_job.draw_study_half(question, draw)
    if advice is not None:
        draw_evidence(advice)


def _ask_target(table: OpenTable) -> Target:
    """Which loss counts as enough, and in how many runs: at first what was accepted of the table."""
    usual = find_target(table)
    above_place, share_place = st.columns(2, gap="small")
    more = f"Here: how far it may at most lie above that.\n\n{glossary.explain_words('k-means++')}"
    most = glossary.explain_term("loss", more)
    first = round(100 * (usual.loss - 1), 6)
    above = above_place.number_input(**figure.look_of("accepted_loss", value=first, key=f"{SWEEP}:above", help=most))
    look = figure.look_of("accepted_share", format_func=lambda share: Target(share=share).describe_often())
    share = share_place.selectbox(options=SHARES, index=SHARES.index(usual.share), key=f"{SWEEP}:share", **look)
    # Whole tenths of a percent, so that 110 % is the same target wherever it is written.
    return Target(round(1 + float(above) / 100, 6), float(share))


def _measure(study: study_job.StudyJob, *, advice: Advice | None, target: Target) -> None:
    """Read off runs: those of the study, and a bisection's."""
    bisection = study_job.find_job(study.question.narrow(_SHARPER))
    if bisection is None or bisection.origin is not study.job:
        _draw_answer(study, None, advice, target)
        return
    whose = f"Bisection for {bisection.grid.contenders[0].label}"
    draw = partial(_draw_answer, study, bisection, advice, target)
    draw_job_panel(bisection.job, label=whose, key=_SHARPER, live=draw)


def _draw_answer(
    study: study_job.StudyJob, bisection: study_job.StudyJob | None, advice: Advice | None, target: Target
) -> None:
    grid, frame = study.grid, study.make_frame(bisection.rows if bisection is not None else ())
    points = frame.groupby(["contender", "epsilon"], observed=True).ngroups
    # While some point has no run yet, what the others say would be read as the whole.
    whole = not study.running or points >= len(grid.contenders) * len(grid.epsilons)
    answers = SmallestEpsilon.find_all(frame, target) if whole else []
    tried = sorted(frame["epsilon"].unique())
    share = recall_division().find_share()
    recommendation = Recommendation.of(target, advice, answers, tried, grid.contenders, share=share)
    place = st.container()
    with st.container(horizontal=True, vertical_alignment="center"):
        _take(study.question, recommendation)
        measure, baselines = _draw_look(study)
        _draw_sharpen(study, answers, frame, target)
        study_job.draw_opener(grid, SWEEP)
    growing = bisection is not None and bisection.running
    with place:
        if measure == "ratio" and not baselines:
            curves = Curves(frame, places=grid.epsilons, floor=list_floor(study), most=max(_MOST, 2 * target.loss))
            numbers = draw_smallest(curves, answers, recommendation)
            about = recommendation.compare_with(advice) if answers and advice is not None else ""
            if study.source.key != study.question.table.key:
                about = f"A synthetic table has {grid.ks[0]} clear groups; your rows may need more. {about}"
            _show(numbers, " ".join(filter(None, (recommendation.describe_share(), about))), study)
        else:
            known = compute_baselines(study, measure) if baselines else {}
            predicted = list_predictions(study, measure) if baselines else {}
            floor = list_floor(study) if measure == "ratio" else []
            compared = Curves(frame, measure, places=grid.epsilons, baselines=known, predictions=predicted, floor=floor)
            numbers = draw_curves(compared)
            _show(numbers, "", study)
    study_job.draw_numbers(numbers, study, growing=growing)
    study_job.draw_study_download(study, numbers)


def _take(question: study_job.StudyQuestion, recommendation: Recommendation) -> None:
    """A button that hands the recommendation on."""
    everyone = {contender.label: contender for contender in (*study_job.list_contenders(), *question.grid.contenders)}
    contender = everyone.get(recommendation.who)
    if contender is None or not recommendation.reached:
        return
    (k,), (delta,), epsilon = question.grid.ks, question.grid.deltas, recommendation.epsilon
    study_job.draw_run_button(f"Take ε = {epsilon:g}", Request(contender, k, epsilon, delta), key=f"{SWEEP}:take")


def _draw_look(study: study_job.StudyJob) -> tuple[str, bool]:
    """Another measure, and what costs nothing beside it: out of the way until they are asked for."""
    with st.popover("Other pictures", icon=":material/stacked_line_chart:"):
        measure = study_job.ask_measure(study.make_frame(), SWEEP, without=("seconds",))
        baselines = st.toggle(**figure.look_of("baselines", key=f"{SWEEP}:dashed"))
    return measure, baselines


def _show(picture: Diagram, about: str, study: study_job.StudyJob) -> None:
    """A picture under its title; a click opens a run of a setting."""
    key, (title, subtitle, plot) = f"{SWEEP}:figure", study_job.draw_marked(picture, study, figure.read_palette())
    with st.container(gap="xsmall"):
        st.markdown(f"**{escape_markdown(title)}**")
        if about:
            st.markdown(escape_markdown(about), help=glossary.explain_words(about))
        st.caption(escape_markdown(subtitle))
    click = study_job.bind_click(plot, study.grid, key)
    figure.show(plot, alt=picture.words, key=key, stem=picture.stem, on_click=click)


def _draw_sharpen(
    study: study_job.StudyJob, answers: Sequence[SmallestEpsilon], frame: pd.DataFrame, target: Target
) -> None:
    """A bisection for one algorithm, from the runs that are there."""
    able = [one for one in answers if one.reached and not one.sharp and one.epsilon > one.lowest]
    if study.running or not able or study.yardstick is None:
        return
    with st.popover("Try ε in between", icon=":material/target:"):
        label = st.selectbox("For", [answer.contender for answer in able], key=f"{_SHARPER}:whom")
        pressed = st.button("Bisect", icon=":material/target:", key=f"{_SHARPER}:compute")
    if not pressed:
        return
    contender = next(contender for contender in study.grid.contenders if contender.label == label)
    question = study.question.narrow(_SHARPER, contenders=(contender,), repeats=_REPEATS)
    known = [row for row in frame.to_dict("records") if row["contender"] == label]
    access = f"{_REPEATS * _ROUNDS} study runs for the smallest ε, k = {study.grid.ks[0]}"
    options = {"yardstick": study.yardstick, "rounds": _ROUNDS}
    with figure.say_refusal("This cannot run"):
        study_job.send(question, sharpen_rows, known, target, access=access, origin=study.job, **options)
        st.rerun()


def compute_baselines(study: study_job.StudyJob, measure: str) -> dict[str, float]:
    """What can be had for nothing, and k-means++."""
    yardstick = study.yardstick
    if yardstick is None or measure not in ("nicv", "ratio"):
        return {}
    unit = yardstick.reference.nicv if measure == "ratio" else 1.0
    if unit == 0:
        return {}
    return {
        "one centre": yardstick.one_center / unit,
        "centres that saw no row": yardstick.data_independent / unit,
        "k-means++": yardstick.reference.nicv / unit,
    }


def list_predictions(study: study_job.StudyJob, measure: str) -> dict[str, list[tuple[float, float]]]:
    """The closed-form curve of each algorithm that has one."""
    reference = study.yardstick.reference if study.yardstick is not None else None
    if reference is None or reference.nicv == 0 or measure not in ("nicv", "ratio", "matched_error"):
        return {}
    table, curves = study.source.private, dict[str, list[tuple[float, float]]]()
    for trial in (trial for trial in study.grid.list_trials() if trial.repeat == 0):
        setting = study.grid.make_request(trial).make_setting(table)
        prediction = predict(trial.contender.card, trial.contender.settings, setting, table.domain.region)
        if prediction is not None and prediction.holds:
            loss = reference.nicv + prediction.excess
            value = {"nicv": loss, "ratio": loss / reference.nicv, "matched_error": sqrt(prediction.excess)}
            curves.setdefault(trial.contender.label, []).append((trial.epsilon, value[measure]))
    return {name: curve for name, curve in curves.items() if len(curve) > 1}


def list_floor(study: study_job.StudyJob) -> list[tuple[float, float]]:
    """What one perfect step would lose at each ε, over the loss of k-means++; empty where n is not public."""
    first = {trial.epsilon: trial for trial in study.grid.list_trials() if trial.repeat == 0}
    table = study.source.private
    floors = [(at, predict_floor(study.grid.make_request(first[at]).make_setting(table))) for at in sorted(first)]
    known = [(epsilon, floor) for epsilon, floor in floors if floor is not None]
    return known if len(known) > 1 else []


def read_stored_rows(question: study_job.StudyQuestion) -> KnownRows | None:
    """How many rows are spoken of: as declared or bought, or else those of the synthetic table that was asked for."""
    table, source = question.table, question.source
    if (known := find_known_rows(table)) is not None:
        return known
    stands_in = source is not None and source.key != table.key
    n = source.n_public if source is not None and stands_in else None
    return None if n is None else KnownRows(n, n)


def find_advice(question: study_job.StudyQuestion, target: Target) -> RowsAdvice | None:
    """What the stored study advises for a release; None of a sparse table, of which it has none."""
    (k,), (delta,), table = question.grid.ks, question.grid.deltas, question.table.private
    if table.sparse:
        return None
    setting = Request(Contender(AUTO), k, 1.0, delta).make_setting(table)
    return RowsAdvice.of(read_stored_rows(question), setting, target=target, share=recall_division().find_share())


def _find_stored(question: study_job.StudyQuestion, target: Target) -> Advice | None:
    """The same at the fewest rows; None where it has no such tables, or nobody said how many rows there are."""
    try:
        answer = find_advice(question, target)
    except RequestError:
        return None
    return answer.few if answer is not None and answer.is_studied else None


def draw_evidence(advice: Advice) -> None:
    """How sure the stored study is, what would change its answer, and every algorithm at its ε; to unfold."""
    with st.expander("What a stored study says of made-up tables like this", icon=":material/lightbulb:"):
        certainty = " ".join(filter(None, (advice.describe_share(), advice.describe_certainty())))
        st.markdown(escape_markdown(certainty), help=glossary.explain_words(certainty))
        figure.draw_bullets([*advice.list_alternatives(), *advice.list_changes()])
        if advice.outlooks:
            alt = f"What the stored study says of each algorithm at ε = {advice.setting.epsilon:g}"
            st.caption(f"{escape_markdown(alt)}:")
            figure.draw_data_table(tabulate_advice(advice), alt=alt, height="auto")
        figure.draw_caption_with_badge("public", Advice.WHERE_FROM)


def tabulate_advice(advice: Advice) -> pd.DataFrame:
    """One line an algorithm."""
    rows = [
        (one.title, one.median, one.low, one.high, round_percent(one.share), one.seconds) for one in advice.outlooks
    ]
    names = ["algorithm", "loss / k-means++, median", "25 %", "75 %", "target met on", "seconds of a run"]
    return pd.DataFrame(rows, columns=names)
