"""The bench: the sentence at the left; the headline, the picture, the axis of ε and its button at the right."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Literal

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.app.ui import session
from dpviz.app.ui.addresses import DRAWER, is_asked_for
from dpviz.app.ui.bench import in_hand
from dpviz.app.ui.bench.drawer import RELEASING, draw_release_drawer, hold_release_open
from dpviz.app.ui.bench.finding import BEING_DRAWN, HIGHEST, LOWEST, NO_DRAWS, NO_ROWS, NO_STUDY, Sides, judge
from dpviz.app.ui.bench.forms import declare_component, draw_file_button, draw_proposal, draw_public_soon, draw_sentence
from dpviz.app.ui.bench.hand import UNKNOWN, Hand
from dpviz.app.ui.bench.result_panel import Pictured, draw_more, draw_picture_of, find_pictured, run_own
from dpviz.app.ui.bench.sentence import summarize
from dpviz.app.ui.controls import choose_epsilon
from dpviz.app.ui.data.table_link import draw_csv_upload, draw_preparation_panel
from dpviz.app.ui.data_access import make_judged_table
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import SENTENCES, format_badge
from dpviz.app.ui.job_panel import open_job_registry, poll
from dpviz.app.ui.reader import is_narrow
from dpviz.app.ui.release.released_notice import draw_released_notice
from dpviz.app.ui.runner import claim_finished, fetch_reference
from dpviz.core import ACCESS_LOG, N_SHARE, RequestError
from dpviz.runs import CURVE_EPSILONS, CurvePoint, Job, OpenTable, curve_work, find_sample_curve
from dpviz.tables import CsvFile
from dpviz.words import format_number, format_percent, glossary

FORGOTTEN = "A reload of the page forgets this file."
_DRAW, _CENTER = glossary.explain_term("draw"), glossary.explain_words("centre")
_CURVES, _FEWEST, _POLL_SECONDS = "bench:curves", 4, 0.7
_PLACES = 60  # of the curves of the axis


def draw_bench() -> None:
    """Draw it."""
    if session.find_table() is None and session.find_undeclared() is None and session.TABLE_LINK in st.query_params:
        if session.recall(session.COMING, usual=False):  # what is said above is enough
            return
        st.info(session.LOST, icon=":material/history:")
    # Side by side, or on a telephone in this order.
    if is_narrow():
        said, answered, file, settled = (st.container() for _ in range(4))
    else:
        left, answered = st.columns([35, 65], gap="medium")
        file, said, settled = (left.container() for _ in range(3))
    if is_asked_for("release"):
        hold_release_open(True)
        del st.query_params[DRAWER]
    with file:
        draw_csv_upload()
    hand = in_hand.find_hand()
    in_hand.say_in_link(hand, form=in_hand.find_open_word())
    # On a telephone a sentence without gaps folds to a line, so that picture and axis come up.
    folds = is_narrow() and not hand.gaps and not hand.refused
    key = f"bench:folded:{hand.number}"
    with said, st.expander(escape_markdown(summarize(hand)), key=key) if folds else nullcontext():
        draw_sentence(hand)
    with answered:
        if st.session_state.get(RELEASING):
            draw_release_drawer(hand, in_hand.find_opened(hand))
            with settled:
                _draw_settled(hand)
        else:
            st.fragment(_draw_answer, key="bench:answer")(settled)


def _draw_settled(hand: Hand) -> None:
    """What is said, spent and seen, as it is once all else is drawn: drawing an answer may look, and run."""
    _draw_ticks(hand)
    # Folded away unless a link asks for it.
    asked, icon = is_asked_for("ledger"), ":material/receipt_long:"
    drawer = st.expander("Ledger of this visit", asked, icon=icon, key="ledger", on_change="rerun")
    if drawer.open:
        from dpviz.app.ui.ledger_panel import draw_ledger  # what adds up is loaded by whoever looks

        with drawer:
            draw_ledger()


def _draw_ticks(hand: Hand) -> None:
    lines = [
        f":green[✓] {escape_markdown(f'{what}: {settled}')}"
        if settled
        else f":orange[○] {escape_markdown(what)}: still to be said"
        for what, settled in hand.list_ticks()
    ]
    if hand.is_private:
        looks = sum(ACCESS_LOG.count(hand.content.fingerprint).looks.values())
        lines.append(f":material/visibility: {looks:d} look{'' if looks == 1 else 's'} at private rows in this process")
        lines += [FORGOTTEN] if isinstance(hand.content, CsvFile) else []
    about = f"{glossary.explain_words('unit of privacy, bounds')}\n\n{glossary.explain_term('look')}"
    st.markdown("  \n".join(f":small[{line}]" for line in lines), help=about)


def _draw_answer(settled: DeltaGenerator) -> None:
    """All that ε changes: when it is let go only this runs again."""
    claim_finished()
    _draw_told(in_hand.find_hand())
    with settled:
        _draw_settled(in_hand.find_hand())


def _draw_told(hand: Hand) -> None:
    table = in_hand.find_opened(hand)
    source = session.find_undeclared() or session.find_source()
    if table is None:
        if source is None or not draw_preparation_panel(source):
            _draw_waiting(hand)
        else:
            st.caption("Other pages stay usable. The rows go to a file without a name, which is gone with this visit.")
        return
    sides = _find_sides(hand, table)
    if sides is not None and hand.is_private and not in_hand.is_epsilon_said(hand):
        choose_epsilon(sides.proposed)
        hand = in_hand.find_hand()
    pictured = find_pictured(hand, table)
    # Why no ε is advised, where none is.
    if hand.is_private:
        unadvised = NO_ROWS if hand.rows is None else NO_STUDY
    else:
        unadvised = NO_DRAWS if _find_awaited(hand, table) is None else BEING_DRAWN
    finding = judge(hand.request.epsilon, sides, pictured.shown, unadvised=unadvised)
    in_hand.say_in_link(hand, form=in_hand.find_open_word())
    made_up = pictured.is_made_up * (pictured.table.n_public or 0)
    with st.container(gap="xsmall", key="bench_verdict"):
        st.title(escape_markdown(finding.title), anchor=False, help=glossary.explain_words(finding.title))
        if made_up:
            rows = f"{made_up:,} made-up rows between your bounds, in clear groups: yours wait for *Run*."
            st.markdown(f":small[{format_badge('public')} {rows}]")
        # A sign of percent stays with its number.
        lines = finding.why.replace(" %", "\N{NO-BREAK SPACE}%").splitlines()
        why = "  \n".join(f":small[{escape_markdown(line)}]" for line in lines)
        st.markdown(why, help=glossary.explain_words(finding.why))
    draw_released_notice(table)
    draw_picture_of(pictured)
    with st.container(key="bench_axis"):
        _draw_axis(hand.request.epsilon, sides)
        _draw_button(hand, table, pictured)
    draw_more(pictured)
    if (job := _find_awaited(hand, table)) is not None:
        _await_curve(job)


def _await_curve(job: Job[Any]) -> None:
    """Draw the answer again as the curve comes: when it is coarse, and when it is whole."""
    had = len(job.items)

    def look() -> None:
        if job.state.final or len(job.items) >= len(CURVE_EPSILONS) or (had <= _FEWEST < len(job.items)):
            st.rerun()

    poll(look, every=_POLL_SECONDS, key="bench:curve")


def _draw_waiting(hand: Hand) -> None:
    """Before there is a picture: what is next, what was found in the rows, and the way to all else."""
    st.title("Say what is missing", anchor=False)
    if refusal := in_hand.find_refusal():
        st.error(escape_markdown(refusal), title="This table cannot be opened", icon=":material/block:")
    elif hand.refused:
        st.markdown("Mend the red word in the sentence; the picture comes with it.")
    elif hand.is_complete and not hand.buys:
        st.button("Open it again", icon=":material/replay:", key="bench:anew", on_click=in_hand.open_anew)
    elif hand.gaps:
        gap = hand.gaps[0].partition(":")[0]
        many = " 18 to 100; 0 to 9,999; … says several at once." if gap in ("low", "high") else ""
        st.markdown(f"Next: **{SENTENCES.by_key[f'next_{gap}']}**.{many}  \nEnter goes on to the next gap.")
    elif hand.buys:
        st.markdown("ε buys bounds, so that no picture can be made beforehand. What leaves can be prepared at once.")
        if st.button("Release", type="primary", key="bench:release"):
            hold_release_open(True)
            st.rerun()
    if "rows" in hand.gaps and st.button(
        f"Nobody may know: buy a noisy number with {format_percent(N_SHARE)} of the budget",
        icon=":material/visibility_off:",
        key="bench:buy_rows",
        help=SENTENCES.fill("about_rows", unknown=UNKNOWN),
    ):
        in_hand.answer(hand.buy_rows())
    if in_hand.find_open_word() != "table":  # whose form says it
        draw_proposal(hand)
    draw_public_soon(hand)
    draw_file_button()


def _find_sides(hand: Hand, table: OpenTable) -> Sides | None:
    """The window for made-up tables where the rows are private; of others the curve of the very table."""
    if not hand.is_private:
        # Of a sample draws were made long ago; of others a worker makes them once.
        points = find_sample_curve(table, hand.run_request)
        if not points and (job := _find_curve(hand, table)) is not None:
            points = [item for item in job.items if isinstance(item, CurvePoint)]
        return None if len(points) < _FEWEST else Sides.of_curve(points, hand.target, hand.risk, share=hand.share)
    accepted = (hand.target, hand.risk, hand.division)
    request = hand.request
    given = (hand.declaration, hand.rows, request.k, request.delta, request.contender.to_text(), *accepted)

    def find() -> Sides | None:
        window = hand.find_window()
        return None if window is None else Sides.of_window(window)

    return session.make_once("bench:sides", given, find, most=8)


def _name_curve(hand: Hand, table: OpenTable) -> tuple[Any, ...]:
    request = hand.run_request
    return (table.key, request.k, request.contender, tuple(request.params.items()), request.delta)


def _find_curve(hand: Hand, table: OpenTable) -> Job[Any] | None:
    kept: dict[Any, Job[Any]] = st.session_state.setdefault(_CURVES, {})
    name = _name_curve(hand, table)
    if name in kept:
        return kept[name]
    request = hand.run_request
    reference = fetch_reference(table, request.k) if request.card.private else None
    rows = make_judged_table(table, "losses of draws", points_per_row=1)
    if reference is None or rows is None:
        return None
    for job in kept.values():
        job.cancel()
    try:
        kept[name] = open_job_registry().submit(curve_work, request, table.private, rows, reference)
    except RequestError:
        return None
    return kept[name]


def _find_awaited(hand: Hand, table: OpenTable) -> Job[Any] | None:
    """The job that makes draws on the open table, while it does."""
    job: Job[Any] | None = st.session_state.get(_CURVES, {}).get(_name_curve(hand, table))
    return None if hand.is_private or job is None or job.state.final else job


def _draw_axis(epsilon: float, sides: Sides | None) -> None:
    """The axis of the ε of a whole release: both curves, the window as a band, and the handle."""
    key = "bench:axis"

    def moved() -> None:
        value = st.session_state[key].get("epsilon")
        if isinstance(value, int | float) and LOWEST <= value <= HIGHEST:
            in_hand.set_epsilon(float(value))

    data: dict[str, Any] = {"low": LOWEST, "high": HIGHEST, "epsilon": epsilon}
    data |= {"loss": [], "belief": [], "window": None, "target": 1.1, "prior": 0.0, "groups": "groups"}
    if sides is not None:
        fine = np.geomspace(LOWEST, HIGHEST, _PLACES)
        data |= {"target": sides.target.loss, "prior": sides.risk.prior}
        data |= {"window": [sides.least, sides.most]} if sides.is_open else {}
        data |= {"groups": "made-up groups"} if sides.is_made_up else {}
        data["loss"] = [[round(value, 5) for value in line] for line in sides.losses]
        data["belief"] = [[round(float(e), 5), round(sides.belief(float(e)), 5)] for e in fine]
    declare_component("axis")(data=data, key=key, on_epsilon_change=moved)


def _draw_button(hand: Hand, table: OpenTable, pictured: Pictured) -> None:
    """The button that carries ε, where the hand is that moved it."""
    epsilon = f"ε = {hand.request.epsilon:g}"
    with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small"):
        if not hand.is_private:
            asked, seeded = (table, pictured.request), hand.request.seed is not None
            off = seeded or bool(pictured.refusal)
            st.button("Another draw", key="bench:again", disabled=off, on_click=run_own, args=asked, help=_DRAW)
        elif not pictured.is_of_request or pictured.is_made_up:
            spent = session.add_spending(table)
            said = f"; this visit {format_number(spent)} so far" if spent else ""
            part = f"Centres get a part of {epsilon}. " if pictured.request.epsilon < hand.request.epsilon else ""
            about = f"{part}{_CENTER}"
            st.caption(f"Runs on your rows, for your eyes: nothing leaves{said}.", width="content", help=about)
            off, asked = bool(pictured.refusal), (table, pictured.request)
            own = f"Run at ε = {pictured.request.epsilon:g}"
            st.button(own, type="primary", key="bench:run", disabled=off, on_click=run_own, args=asked)
        ran = hand.is_private and pictured.is_of_request and not pictured.is_made_up
        look: Literal["primary", "secondary"] = "primary" if ran else "secondary"
        if st.button(f"Release at {epsilon}", type=look, key="bench:release", help=glossary.explain_term("released")):
            hold_release_open(True)
            st.rerun()
