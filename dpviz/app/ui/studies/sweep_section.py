"""A sweep over ε: one recommendation for a target, with the picture it was read off and the evidence under it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import sqrt

import pandas as pd
import streamlit as st

from dpviz.algorithms import Setting, find_card, predict, predict_floor
from dpviz.app.charts.canvas import Diagram
from dpviz.app.charts.studies.curves import Curves, Forecast, draw_curves, draw_smallest
from dpviz.app.ui.bench.catalogue import format_light
from dpviz.app.ui.controls import recall_division
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import draw_caption_with_badge, draw_data_table, format_badge, read_palette, show
from dpviz.app.ui.job_panel import draw_job_panel
from dpviz.app.ui.session import recall
from dpviz.app.ui.studies.judged_rows import find_known_rows
from dpviz.app.ui.studies.study_job import (
    StudyJob,
    StudyQuestion,
    bind_click,
    draw_opener,
    find_job,
    list_contenders,
    open_run,
    send,
)
from dpviz.app.ui.studies.study_panel import (
    Invitation,
    ask_measure,
    ask_repeats,
    draw_marked,
    draw_numbers,
    draw_study_button,
    draw_study_download,
    draw_study_half,
)
from dpviz.app.ui.studies.study_sections import ask_epsilons
from dpviz.app.ui.tradeoff.window_section import ask_advice, draw_questions, draw_window, say_rows_first
from dpviz.core import RequestError
from dpviz.runs import (
    EPSILONS,
    Advice,
    Contender,
    Judgement,
    KnownRows,
    Recommendation,
    Request,
    RowsAdvice,
    SmallestEpsilon,
    StudyGrid,
    Target,
    foresee,
    format_epsilon,
    sharpen_rows,
    windows,
)
from dpviz.words import glossary, round_percent

SWEEP, _SHARPER = "sweep", "sweep:smallest"
_REPEATS_EACH, _REPEATS, _ROUNDS = 5, 20, 5
# The picture ends here, or at twice the target: whoever loses more is out of the question.
_MOST = 3.0
SWEEP_INVITATION = Invitation(
    "Trade-off",
    "Which ε is enough?",
    "Press **Try every ε**: what each of the algorithms loses at each of them, on these rows.",
    icon=":material/show_chart:",
    button="Try every ε",
)
_WHY = "The line is the median of these runs, the band spans their quartiles."
_DASHED = (
    "What Su et al. 2016 predict from n, k, d and ε alone, on top of the loss of k-means++: the noise of a round of "
    "Lloyd (Eq. 7), or the noise of a grid (Eq. 9) plus the most that its cells can be off (Eq. 10). "
    "It holds if clusters are of like size. Drawn only where centres stay apart, and where n is public."
)


def narrow_to_sweep(question: StudyQuestion) -> StudyQuestion:
    """The question over a range of ε, as the form of a sweep was left."""
    epsilons = recall(f"{SWEEP}:epsilons", StudyGrid.list_epsilons(0.1, 10.0))
    return question.narrow(SWEEP, epsilons=epsilons, repeats=recall(f"{SWEEP}:repeats", _REPEATS_EACH))


def draw_sweep_section(question: StudyQuestion) -> None:
    """The form, the target, the recommendation, its picture: a private file's from a stored study until it has runs."""
    with st.container(border=True):
        left, right = st.columns(2, gap="medium")
        with left:
            ask_epsilons(SWEEP)
        with right:
            ask_repeats(SWEEP, "Runs of each at every ε", _REPEATS_EACH, _WHY)
        question = narrow_to_sweep(question)
        draw_study_button(question, invitation=SWEEP_INVITATION)
    accepted = draw_questions(question.table)
    target, answer, window, refused = accepted.target, None, None, None
    if accepted.rows is not None:
        try:
            answer = find_advice(question, target, rows=accepted.rows)
            window = accepted.find_window(answer)
        except RequestError as error:
            refused = error
            st.error(escape_markdown(error), title="No advice for this", icon=":material/block:")
    elif find_job(question) is None:
        say_rows_first()
        return
    advice = None if answer is None or not answer.is_studied else answer.few
    if find_job(question) is not None:
        allowed = accepted.allow(question.table)
        draw = partial(_measure, advice=advice, target=target, allowed=allowed)
        draw_study_half(question, invitation=SWEEP_INVITATION, pictures=draw)
        words = f"The risk that you accept allows ε up to {format_epsilon(allowed)}: {accepted.risk.words}."
        st.caption(escape_markdown(words))
    elif question.table.kind.may_be_shown:  # a verdict about other tables could be wrong of this one, which is open
        st.info(SWEEP_INVITATION.words, icon=SWEEP_INVITATION.icon)
    elif advice is not None and answer is not None and window is not None:
        _draw_stored(question, answer, window)
    elif refused is None:
        if answer is not None:
            st.markdown(escape_markdown(answer.sentence))
        st.info(f"The stored study has no table like this. {SWEEP_INVITATION.words}", icon=SWEEP_INVITATION.icon)
    if advice is not None and not question.table.kind.may_be_shown:
        draw_evidence(advice)


def _draw_stored(question: StudyQuestion, answer: RowsAdvice, window: windows.Window) -> None:
    """What to expect before any run: the window, how its lower end is judged, and the algorithms beside each other."""
    draw_window(window)
    advice, recommendation = answer.few, answer.recommendation
    _ask_rows(question, advice)
    _take(question, recommendation)
    each = st.expander(
        "The algorithms beside each other", icon=":material/show_chart:", key=f"{SWEEP}:each", on_change="rerun"
    )
    if not each.open:
        return
    curves, prospects = make_forecast(question, advice), foresee(advice.setting, share=advice.share)
    with each:
        about = f"From made-up tables for {advice.setting.n:,} rows; none of yours is read."
        drawn = draw_smallest(curves, curves.list_answers(prospects, advice.target), recommendation)
        _show(drawn, f"{SWEEP}:forecast", about)


def _ask_rows(question: StudyQuestion, advice: Advice) -> None:
    """The light at the advised ε, by the judgement of every page."""
    if advice.best is None or question.table.private.sparse:
        return
    judged = Judgement.of(find_card(advice.best.algorithm), advice.setting, target=advice.target, share=advice.share)
    if judged.level is not None:
        said = f"{format_light(judged)} at ε = {advice.epsilon:g} with {escape_markdown(advice.best.title)}"
        st.markdown(said, help=escape_markdown(judged.message))


def _measure(study: StudyJob, *, advice: Advice | None, target: Target, allowed: float) -> None:
    """Read off runs: those of the study, and a bisection's."""
    bisection = find_job(study.question.narrow(_SHARPER))
    if bisection is None or bisection.origin is not study.job:
        _draw_answer(study, None, advice, target, allowed)
        return
    whose = f"Bisection for {bisection.grid.contenders[0].label}"
    draw = partial(_draw_answer, study, bisection, advice, target, allowed)
    draw_job_panel(bisection.job, label=whose, key=_SHARPER, live=draw)


def _draw_answer(
    study: StudyJob, bisection: StudyJob | None, advice: Advice | None, target: Target, allowed: float
) -> None:
    grid, frame = study.grid, study.make_frame(bisection.rows if bisection is not None else ())
    points = frame.groupby(["contender", "epsilon"], observed=True).ngroups
    # While some point has no run yet, what the others say would be read as the whole.
    whole = not study.running or points >= len(grid.contenders) * len(grid.epsilons)
    answers = SmallestEpsilon.find_all(frame, target) if whole else []
    tried = sorted(frame["epsilon"].unique())
    share = recall_division().find_share()
    found = Recommendation.of(target, advice, answers, tried, grid.contenders, share=share)
    recommendation = replace(found, allowed=allowed)
    place = st.container()
    with st.container(horizontal=True, vertical_alignment="center"):
        _take(study.question, recommendation)
        measure, baselines = _draw_look(study)
        _draw_sharpen(study, answers, frame, target)
        draw_opener(grid, SWEEP)
    growing = bisection is not None and bisection.running
    with place:
        if measure == "ratio" and not baselines:
            curves = Curves(frame, places=grid.epsilons, floor=list_floor(study), most=_ask_most(target))
            numbers = draw_smallest(curves, answers, recommendation)
            about = recommendation.compare_with(advice) if answers and advice is not None else ""
            if study.source.key != study.question.table.key:
                about = f"A synthetic table has {grid.ks[0]} clear groups; your rows may need more. {about}"
            about = " ".join(filter(None, (recommendation.reason, recommendation.describe_share(), about)))
            _show(numbers, f"{SWEEP}:figure", about, study)
        else:
            compared = Curves(
                frame,
                measure,
                places=grid.epsilons,
                baselines=compute_baselines(study, measure) if baselines else {},
                predictions=list_predictions(study, measure) if baselines else {},
                floor=list_floor(study) if measure == "ratio" else (),
            )
            numbers = draw_curves(compared)
            _show(numbers, f"{SWEEP}:figure", "", study)
    draw_numbers(numbers, study, growing=growing)
    draw_study_download(study, numbers)


def _ask_most(target: Target) -> float:
    return max(_MOST, 2 * target.loss)


def _take(question: StudyQuestion, recommendation: Recommendation) -> None:
    """A button that hands the recommendation on."""
    contender = _make_contender(question, recommendation)
    if contender is None:
        return
    (k,), (delta,) = question.grid.ks, question.grid.deltas
    st.button(
        f"Take ε = {recommendation.epsilon:.3g}",
        icon=":material/arrow_forward:",
        key=f"{SWEEP}:take",
        on_click=open_run,
        args=(Request(contender, k, recommendation.epsilon, delta),),
    )


def _make_contender(question: StudyQuestion, recommendation: Recommendation) -> Contender | None:
    if not recommendation.reached:
        return None
    everyone = {contender.label: contender for contender in (*list_contenders(), *question.grid.contenders)}
    return everyone.get(recommendation.who)


def _draw_look(study: StudyJob) -> tuple[str, bool]:
    """Another measure, and what costs nothing beside it: out of the way until they are asked for."""
    with st.popover("Other pictures", icon=":material/stacked_line_chart:"):
        measure = ask_measure(study.make_frame(), SWEEP, without=("seconds",))
        baselines = st.toggle(
            "Baselines and predictions", value=False, key=f"{SWEEP}:dashed", persist_state="session", help=_DASHED
        )
    return measure, baselines


def _show(picture: Diagram, key: str, about: str, study: StudyJob | None = None) -> None:
    """A picture under its title; a click opens a run of a setting."""
    palette = read_palette()
    title, subtitle, plot = picture.draw(palette) if study is None else draw_marked(picture, study, palette)
    with st.container(gap="xsmall"):
        st.markdown(f"**{escape_markdown(title)}**")
        if about:
            marked = f"{format_badge('public')} {escape_markdown(about)}" if study is None else escape_markdown(about)
            st.markdown(marked, help=glossary.explain_words(about))
        st.caption(escape_markdown(subtitle))
    clicked = None if study is None else bind_click(plot, study.grid, key)
    show(plot, alt=picture.words, key=key, stem=picture.stem, on_click=clicked)


def _draw_sharpen(study: StudyJob, answers: Sequence[SmallestEpsilon], frame: pd.DataFrame, target: Target) -> None:
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
    try:
        send(question, sharpen_rows, known, target, access=access, origin=study.job, **options)
    except RequestError as error:
        st.error(escape_markdown(error), title="This cannot run", icon=":material/block:")
        return
    st.rerun()


def compute_baselines(study: StudyJob, measure: str) -> dict[str, float]:
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


def list_predictions(study: StudyJob, measure: str) -> dict[str, list[tuple[float, float]]]:
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


def list_floor(study: StudyJob) -> list[tuple[float, float]]:
    """What one perfect step would lose at each ε, over the loss of k-means++; empty where n is not public."""
    first = {trial.epsilon: trial for trial in study.grid.list_trials() if trial.repeat == 0}
    table = study.source.private
    return _list_floor([(at, study.grid.make_request(first[at]).make_setting(table)) for at in sorted(first)])


def _list_floor(settings: Sequence[tuple[float, Setting]]) -> list[tuple[float, float]]:
    """By ε, of what is asked there."""
    floors = [(epsilon, predict_floor(setting)) for epsilon, setting in settings]
    known = [(epsilon, floor) for epsilon, floor in floors if floor is not None]
    return known if len(known) > 1 else []


def read_stored_rows(question: StudyQuestion) -> KnownRows | None:
    """How many rows are spoken of: as declared or bought, or else those of the synthetic table that was asked for."""
    table, source = question.table, question.source
    if (known := find_known_rows(table)) is not None:
        return known
    stands_in = source is not None and source.key != table.key
    n = source.n_public if source is not None and stands_in else None
    return None if n is None else KnownRows(n, n)


def find_advice(question: StudyQuestion, target: Target, *, rows: KnownRows | None = None) -> RowsAdvice | None:
    """What the stored study advises."""
    (k,), (delta,) = question.grid.ks, question.grid.deltas
    return ask_advice(question.table, rows or read_stored_rows(question), target, k=k, delta=delta)


def make_forecast(question: StudyQuestion, advice: Advice) -> Forecast:
    """The stored study's curves of whoever is compared."""
    leading = advice.leading
    asked = [contender.algorithm for contender in question.grid.contenders if not contender.params]
    names = list(dict.fromkeys([*asked, *([] if leading is None else [leading.algorithm])]))
    ends = (*question.grid.epsilons, advice.setting.epsilon)
    places = [epsilon for epsilon in EPSILONS if min(ends) <= epsilon <= max(ends)]
    prospects = foresee(advice.setting, share=advice.share)
    floor = _list_floor([(epsilon, prospects.at(epsilon)) for epsilon in places])
    runs = prospects.tabulate(names, places)
    return Forecast(runs, places=places, floor=floor, most=_ask_most(advice.target))


def draw_evidence(advice: Advice) -> None:
    """How sure the stored study is, what would change its answer, and every algorithm at its ε; to unfold."""
    with st.expander("What this rests on, and what would change it", icon=":material/lightbulb:"):
        certainty = " ".join(filter(None, (advice.describe_share(), advice.describe_certainty())))
        st.markdown(escape_markdown(certainty), help=glossary.explain_words(certainty))
        lines = [*advice.list_alternatives(), *advice.list_changes()]
        st.markdown("\n".join(f"- {escape_markdown(words)}" for words in lines))
        if advice.outlooks:
            alt = f"What the stored study says of each algorithm at ε = {advice.setting.epsilon:g}"
            st.caption(f"{escape_markdown(alt)}:")
            draw_data_table(tabulate_advice(advice), alt=alt, height="auto")
        draw_caption_with_badge("public", Advice.WHERE_FROM)


def tabulate_advice(advice: Advice) -> pd.DataFrame:
    """One line an algorithm."""
    rows = [
        (one.title, one.median, one.low, one.high, round_percent(one.share), one.seconds) for one in advice.outlooks
    ]
    names = ["algorithm", "loss / k-means++, median", "25 %", "75 %", "target met on", "seconds of a run"]
    return pd.DataFrame(rows, columns=names)
