"""The picture of an answer as it would leave: its steps in a plane, or profiles of three columns and more."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import streamlit as st

from dpviz.app.charts.pictures.segment_profiles import MOST_COLUMNS, ProfilePicture
from dpviz.app.charts.view import make_view
from dpviz.app.ui.bench.hand import Hand
from dpviz.app.ui.bench.result_panel import (
    Pictured,
    ask_run_plane,
    compute_scores,
    draw_below,
    draw_walk,
    draw_walk_so_far,
)
from dpviz.app.ui.data.table_summary import (
    draw_declaration_download,
    draw_preview,
    draw_table_in_python,
    draw_table_summary,
)
from dpviz.app.ui.data_access import draw_reveal_switch, is_reveal_allowed, reveal
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import LEAST_PROFILED, ask_one_of, read_palette, show
from dpviz.app.ui.reader import is_narrow
from dpviz.app.ui.runner import (
    draw_pending_panel,
    draw_reference_notice,
    fetch_reference,
    find_failure,
    find_result,
    is_asked,
    is_pending,
    is_under_way,
    start,
)
from dpviz.app.ui.session import make_once
from dpviz.core import MOST_SAMPLED, AccessKind, RequestError
from dpviz.runs import OpenTable, Request, make_synthetic_table

_MOST_MADE_UP = 20_000
_PROFILES, _STEPS = "Profiles", "Steps in a plane"


def find_pictured(hand: Hand, table: OpenTable) -> Pictured:
    """What the picture is of, with its run made where nobody's privacy is spent by that."""
    request = hand.run_request
    if hand.is_private and (refusal := _find_refusal(table, request)):
        return _judge(Pictured(table, request))._replace(refusal=refusal)
    waits = find_result(table) is None and not is_pending(table) and not find_failure(table, request)
    if hand.is_private and waits:
        return _run_by_itself(make_stand_in(hand, table), request, is_made_up=True)
    if not hand.is_private:
        return _run_by_itself(table, request)
    return _judge(Pictured(table, request))


def _find_refusal(table: OpenTable, request: Request) -> str:
    """Why rows of one's own cannot be asked that; "" if they can."""
    try:
        request.check(table.private)
    except RequestError as error:
        return str(error)
    if not request.card.private and not is_reveal_allowed(table):
        return "Show truth is off: k-means++ reads the rows as they are."
    return ""


def make_stand_in(hand: Hand, table: OpenTable) -> OpenTable:
    """Made-up rows between the declared bounds: of so many clear groups as are asked for."""
    n = _MOST_MADE_UP if hand.rows is None else max(hand.request.k, min(hand.rows.low, _MOST_MADE_UP))
    k = hand.request.k
    return make_once("bench:made_up", (table.key, n, k), lambda: make_synthetic_table(table, n=n, k=k), most=4)


def _run_by_itself(table: OpenTable, request: Request, *, is_made_up: bool = False) -> Pictured:
    pictured = Pictured(table, request, is_made_up=is_made_up)
    if refusal := _find_refusal(table, request):
        return _judge(pictured)._replace(refusal=refusal)
    if not is_asked(table, request):
        if not request.card.private:
            reveal(table, f"k-means++ run with k = {request.k}", AccessKind.REFERENCE)
        start(table, request, live=True, booked=not is_made_up)
    return _judge(pictured)


def run_own(table: OpenTable, request: Request) -> None:
    """Run on the rows themselves, because its owner pressed; call it from a callback. What is refused is no button."""
    with suppress(RequestError):
        start(table, request)


def _judge(pictured: Pictured) -> Pictured:
    table, result = pictured.table, find_result(pictured.table)
    if result is None:
        return pictured
    reference = None
    if is_reveal_allowed(table):
        reference = fetch_reference(table, result.run.k, points_per_row=result.run.points_per_row)
    return pictured._replace(result=result, reference=reference, judged=compute_scores(table, result, reference))


def draw_picture_of(pictured: Pictured) -> None:
    """Draw it under its bar; the steps of a run that is under way as they come."""
    table, result = pictured.table, pictured.result
    if pictured.refusal and result is None:
        return
    so_far = draw_pending_panel(table)
    if so_far is not None and (is_under_way(table) or result is None):
        reference = (
            fetch_reference(table, so_far.k, points_per_row=so_far.points_per_row) if is_reveal_allowed(table) else None
        )
        draw_walk_so_far(table, so_far, reference, make_view(so_far.domain))
        return
    if result is None:
        return
    run = result.run
    draw_reference_notice(table, run.k, points_per_row=run.points_per_row)
    bar = st.container(horizontal=True, gap="small", vertical_alignment="center", key="bench_bar")
    with bar:
        form = _PROFILES if run.domain.dim >= LEAST_PROFILED and run.private else _STEPS
        if form == _PROFILES:
            form = ask_one_of("Picture", [_PROFILES, _STEPS], key="bench:form", label_visibility="collapsed")
        if form == _PROFILES:
            picture = _ask_page(pictured)
        else:
            view = ask_run_plane(run, "bench") if run.domain.dim > 2 else make_view(run.domain)
        if not pictured.is_made_up and draw_reveal_switch(table) and not table.private.in_memory:
            st.caption(f"Rows, losses and k-means++ are those of {MOST_SAMPLED:,} rows that stand for all of them.")
    if form == _PROFILES:
        show(picture.draw(read_palette()), alt=picture.words(), key="bench:profile", stem=picture.stem, bare=True)
    else:
        draw_walk(pictured, view)


def _ask_page(pictured: Pictured) -> ProfilePicture:
    picture = ProfilePicture(pictured.make_profile(), narrow=is_narrow(), mark=pictured.mark)
    labels = [f"columns {begin:d}–{end:d}" for begin, end in picture.pages]
    if len(labels) > 1:
        page = ask_one_of("Columns", labels, key=f"bench:page:{len(labels)}", label_visibility="collapsed")
        picture = replace(picture, start=MOST_COLUMNS[picture.narrow] * labels.index(page))
    st.caption("How to read it", help=escape_markdown(picture.note), width="content")
    return picture


def draw_more(pictured: Pictured) -> None:
    """What was found, the charges, numbers and files of the run that is shown; and what is said of its table."""
    _draw_table_facts(pictured.table, made_up=pictured.is_made_up)
    if pictured.result is None or pictured.is_made_up:
        return
    more = st.expander(
        "What was found · ledger · numbers · files",
        icon=":material/expand_circle_down:",
        key="bench:more",
        on_change="rerun",
    )
    if not more.open:
        return
    with more:
        draw_below(pictured)


def _draw_table_facts(table: OpenTable, *, made_up: bool) -> None:
    """What is promised of the table, its declaration as a file and a program, its rows where they may be seen."""
    if made_up:
        return
    drawer = st.expander(
        "The table: promises · rows · declaration", icon=":material/handshake:", key="bench:table", on_change="rerun"
    )
    if drawer.open:
        with drawer:
            draw_table_summary(table)
            draw_declaration_download(table)
            draw_table_in_python(table)
            draw_preview(table)
