"""Which ε to choose: one recommendation for a target, with the picture it was read off and the evidence under it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from dpviz.algorithms.registry import card_of
from dpviz.charts.canvas import without_head
from dpviz.charts.studies.curves import Curves
from dpviz.charts.studies.smallest import Smallest
from dpviz.charts.theme import palette
from dpviz.check import RequestError
from dpviz.meaning.window import Window, told
from dpviz.runs.advice.advice import Advice
from dpviz.runs.advice.judgement import judge
from dpviz.runs.advice.known_rows import RowsAdvice
from dpviz.runs.advice.recommendation import Recommendation, compared, recommend
from dpviz.runs.advice.target import Target
from dpviz.runs.request import Contender, Request
from dpviz.runs.smallest_epsilon import SmallestEpsilon, sharpened_rows, smallest_epsilons
from dpviz.ui.badges import badge_text
from dpviz.ui.escape import plain
from dpviz.ui.explore.foresight import light
from dpviz.ui.figure import show
from dpviz.ui.job_panel import job_panel
from dpviz.ui.owner_path import decide_epsilon
from dpviz.ui.studies.contender_choice import contender_options
from dpviz.ui.studies.one_setting import on_click, open_in_explore, opener, turn_to_explore
from dpviz.ui.studies.study_job import Question, StudyJob, job_of, send
from dpviz.ui.studies.study_panel import Invitation, measure_choice, numbers_behind, study_download, study_half
from dpviz.ui.studies.study_picture import StudyPicture
from dpviz.ui.tradeoff.baselines import baselines_of, predictions_of
from dpviz.ui.tradeoff.stored_study import advice_for, behind_advice, forecast
from dpviz.ui.tradeoff.window_section import draw_window, questions, say_rows_first, window_by

_KEY, _SHARPER = "tradeoff", "tradeoff:smallest"
_REPEATS, _ROUNDS = 20, 5
# The picture ends here, or at twice the target: whoever loses more is out of the question.
_MOST = 3.0
_INVITATION = Invitation("Trade-off", "No runs yet", "Press **Compute**.", icon=":material/show_chart:")
_DASHED = (
    "What Su et al. 2016 predict from n, k, d and ε alone, on top of the loss of k-means++: the noise of a round of "
    "Lloyd (Eq. 7), or the noise of a grid (Eq. 9) plus the most that its cells can be off (Eq. 10). "
    "It holds if clusters are of like size. Drawn only where centres stay apart, and where n is public."
)


def choose_section(question: Question) -> None:
    """The target, the recommendation, its picture: the stored study's until there are runs on the table."""
    turn_to_explore()
    accepted = questions(question.table)
    target, answer, window, refused = accepted.target, None, None, None
    if accepted.rows is not None:
        (k,), (delta,) = question.grid.ks, question.grid.deltas
        try:
            answer = advice_for(question, target, rows=accepted.rows)
            window = window_by(accepted, question.table, k=k, delta=delta)
        except RequestError as error:
            refused = error
            st.error(plain(error), title="No advice for this", icon=":material/block:")
    elif job_of(question) is None:
        say_rows_first()
        return
    advice = None if answer is None or not answer.is_studied else answer.few
    if job_of(question) is not None:
        study_half(question, invitation=_INVITATION, pictures=partial(_measured, advice=advice, target=target))
        if window is not None:
            st.caption(plain(f"The risk that you accept allows ε up to {told(window.most)}: {window.risk.words}."))
    elif advice is not None and answer is not None and window is not None:
        _stored(question, answer, window)
    elif refused is None:
        if answer is not None:
            st.markdown(plain(answer.sentence))
        st.info("The stored study has no table like this: press **Compute**.", icon=":material/show_chart:")
    if advice is not None:
        behind_advice(advice)


def _stored(question: Question, answer: RowsAdvice, window: Window) -> None:
    """What to expect before any run: the window, how its lower end is judged, and the algorithms beside each other."""
    draw_window(window)
    advice, recommendation = answer.few, answer.recommendation
    _judged(question, advice)
    _take(question, recommendation)
    each = st.expander(
        "The algorithms beside each other", icon=":material/show_chart:", key=f"{_KEY}:each", on_change="rerun"
    )
    if not each.open:
        return
    curves = forecast(question, advice, most=_most(advice.target))
    with each:
        about = f"From made-up tables for {advice.setting.n:,} rows; none of yours is read."
        _show(Smallest(curves, curves.answers(advice.target), recommendation), f"{_KEY}:forecast", about, small=True)


def _judged(question: Question, advice: Advice) -> None:
    """The light at the advised ε, by the judgement of every page."""
    if advice.best is None or question.table.private.sparse:
        return
    judged = judge(card_of(advice.best.algorithm), advice.setting, target=advice.target)
    if judged.level is not None:
        said = f"{light(judged)} at ε = {advice.epsilon:g} with {plain(card_of(advice.best.algorithm).title)}"
        st.markdown(said, help=plain(judged.message))


def _measured(study: StudyJob, *, advice: Advice | None, target: Target) -> None:
    """Read off runs: those of the study, and a bisection's."""
    bisection = job_of(study.question.narrowed(_SHARPER))
    if bisection is None or bisection.origin is not study.job:
        _answer(study, None, advice, target)
        return
    whose = f"Bisection for {bisection.grid.contenders[0].label}"
    draw = partial(_answer, study, bisection, advice, target)
    job_panel(bisection.job, label=whose, key=_SHARPER, live=draw)


def _answer(study: StudyJob, bisection: StudyJob | None, advice: Advice | None, target: Target) -> None:
    grid, frame = study.grid, study.frame(bisection.rows if bisection is not None else ())
    points = frame.groupby(["contender", "epsilon"], observed=True).ngroups
    # While some point has no run yet, what the others say would be read as the whole.
    whole = not study.running or points >= len(grid.contenders) * len(grid.epsilons)
    answers = smallest_epsilons(frame, target) if whole else []
    tried = sorted(frame["epsilon"].unique())
    recommendation = recommend(target, advice, answers, tried, grid.contenders)
    place = st.container()
    with st.container(horizontal=True, vertical_alignment="center"):
        _take(study.question, recommendation)
        measure, baselines = _look(study)
        _sharpen(study, answers, frame, target)
        opener(grid, _KEY)
    growing = bisection is not None and bisection.running
    with place:
        if measure == "ratio" and not baselines:
            smallest = Smallest(Curves(frame, places=grid.epsilons, most=_most(target)), answers, recommendation)
            about = compared(recommendation, advice) if answers and advice is not None else ""
            if study.source.key != study.question.table.key:
                about = f"A stand-in has {grid.ks[0]} clear groups; your rows may need more. {about}"
            _show(smallest, f"{_KEY}:figure", about, study)
            numbers: StudyPicture = smallest
        else:
            numbers = Curves(
                frame,
                measure,
                places=grid.epsilons,
                baselines=baselines_of(study, measure) if baselines else {},
                predictions=predictions_of(study, measure) if baselines else {},
            )
            _show(numbers, f"{_KEY}:figure", "", study)
    numbers_behind(numbers, study, growing=growing)
    study_download(study, numbers)


def _most(target: Target) -> float:
    return max(_MOST, 2 * target.loss)


def _take(question: Question, recommendation: Recommendation) -> None:
    """A button that hands the recommendation on."""
    contender = _contender(question, recommendation)
    if contender is None:
        return
    (k,), (delta,) = question.grid.ks, question.grid.deltas
    st.button(
        f"Open ε = {recommendation.epsilon:.3g} in Explore",
        icon=":material/arrow_forward:",
        key=f"{_KEY}:take",
        on_click=_hand_on,
        args=(question.table.source_key, Request(contender, k, recommendation.epsilon, delta)),
    )


def _hand_on(source_key: str, request: Request) -> None:
    """The ε is decided, and opens in Explore."""
    decide_epsilon(source_key, request.epsilon)
    open_in_explore(request)


def _contender(question: Question, recommendation: Recommendation) -> Contender | None:
    if not recommendation.reached:
        return None
    everyone = {contender.label: contender for contender in (*contender_options(), *question.grid.contenders)}
    return everyone.get(recommendation.who)


def _look(study: StudyJob) -> tuple[str, bool]:
    """Another measure, and what costs nothing beside it: out of the way until they are asked for."""
    with st.popover("Other pictures", icon=":material/stacked_line_chart:"):
        measure = measure_choice(study.frame(), _KEY, without=("seconds",))
        baselines = st.toggle(
            "Baselines and predictions", value=False, key=f"{_KEY}:dashed", persist_state="session", help=_DASHED
        )
    return measure, baselines


def _show(picture: StudyPicture, key: str, about: str, study: StudyJob | None = None, *, small: bool = False) -> None:
    """A picture under its title, the page's own unless it is ``small``; a click opens a setting in Explore."""
    title, subtitle, plot = without_head(picture.draw(palette(st.context.theme.type)))
    with st.container(gap="xsmall"):
        if small:
            st.markdown(f"**{plain(title)}**")
        else:
            st.title(plain(title), anchor=False)
        if about:
            st.markdown(f"{badge_text('public')} {plain(about)}" if study is None else plain(about))
        st.caption(plain(subtitle))
    clicked = None if study is None else on_click(plot, study.grid, key)
    show(plot, alt=picture.words(), key=key, stem=picture.stem, on_click=clicked)


def _sharpen(study: StudyJob, answers: Sequence[SmallestEpsilon], frame: pd.DataFrame, target: Target) -> None:
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
    question = study.question.narrowed(_SHARPER, contenders=(contender,), repeats=_REPEATS)
    known = [row for row in frame.to_dict("records") if row["contender"] == label]
    look = f"{_REPEATS * _ROUNDS} study runs for the smallest ε, k = {study.grid.ks[0]}"
    options = {"yardstick": study.yardstick, "rounds": _ROUNDS}
    try:
        send(question, sharpened_rows, known, target, look=look, origin=study.job, **options)
    except RequestError as error:
        st.error(plain(error), title="This cannot run", icon=":material/block:")
        return
    st.rerun()
