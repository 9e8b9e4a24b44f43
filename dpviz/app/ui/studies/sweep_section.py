"""A sweep over ε: one recommendation for a target, with the picture it was read off and the evidence under it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import sqrt
from typing import Any

import pandas as pd
import streamlit as st

from dpviz.algorithms import AUTO, predict, predict_floor
from dpviz.app.charts.canvas import Diagram
from dpviz.app.charts.studies.curves import Curves, draw_curves, draw_smallest
from dpviz.app.ui import figure
from dpviz.app.ui.bench.in_hand import find_target
from dpviz.app.ui.controls import SHARES, recall_division
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.job_panel import draw_job_panel
from dpviz.app.ui.page_sentences import SENTENCES
from dpviz.app.ui.session import recall
from dpviz.app.ui.studies import study_job, study_panel
from dpviz.app.ui.studies.judged_rows import find_known_rows
from dpviz.app.ui.studies.study_sections import ask_epsilons
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
    sharpen_rows,
)
from dpviz.words import glossary, round_percent

SWEEP, _SHARPER = "sweep", "sweep:smallest"
_REPEATS_EACH, _REPEATS, _ROUNDS = 5, 20, 5
# The picture ends here, or at twice the target: whoever loses more is out of the question.
_MOST = 3.0
_TRIED = "Press **Try every ε**: what each of the algorithms loses at each of them, on these rows."
SWEEP_INVITATION = study_panel.Invitation(
    "Trade-off", "Which ε is enough?", _TRIED, ":material/show_chart:", "Try every ε"
)
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
            study_panel.ask_repeats(SWEEP, "Runs of each at every ε", _REPEATS_EACH, _WHY)
        with right:
            target = _ask_target(question.table)
        question = narrow_to_sweep(question)
        study_panel.draw_study_button(question, invitation=SWEEP_INVITATION)
    advice = _find_stored(question, target)
    draw = partial(_measure, advice=advice, target=target)
    study_panel.draw_study_half(question, invitation=SWEEP_INVITATION, pictures=draw)
    if advice is not None:
        draw_evidence(advice)


def _ask_target(table: OpenTable) -> Target:
    """Which loss counts as enough, and in how many runs: at first what was accepted of the table."""
    usual = find_target(table)
    above_place, share_place = st.columns(2, gap="small")
    most = f"Here: how far it may at most lie above that.\n\n{glossary.explain_words('k-means++')}"
    box: dict[str, Any] = {"step": 1.0, "format": "%g", "persist_state": "session", "key": f"{SWEEP}:above"}
    box["help"] = glossary.explain_term("loss", most)
    above = above_place.number_input("% over k-means++", 0.1, 1000.0, round(100 * (usual.loss - 1), 6), **box)
    look: dict[str, Any] = {"persist_state": "session", "key": f"{SWEEP}:share"}
    look["help"] = "A release is one run. Half of all runs is what usually happens; 9 of 10 is what one can count on."
    look["format_func"] = lambda share: Target(share=share).describe_often()
    share = share_place.selectbox("In", SHARES, SHARES.index(usual.share), **look)
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
    study_panel.draw_numbers(numbers, study, growing=growing)
    study_panel.draw_study_download(study, numbers)


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
        measure = study_panel.ask_measure(study.make_frame(), SWEEP, without=("seconds",))
        baselines = st.toggle(
            "Baselines and predictions",
            value=False,
            key=f"{SWEEP}:dashed",
            persist_state="session",
            help=SENTENCES.fill("predictions"),
        )
    return measure, baselines


def _show(picture: Diagram, about: str, study: study_job.StudyJob) -> None:
    """A picture under its title; a click opens a run of a setting."""
    key, (title, subtitle, plot) = f"{SWEEP}:figure", study_panel.draw_marked(picture, study, figure.read_palette())
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
