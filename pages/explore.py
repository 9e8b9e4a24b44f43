"""Explore: one page for every algorithm. Turn ε, and see what each step did and what it cost."""

import streamlit as st

from dpviz.app.ui.data.ways_in import open_table_or_sample
from dpviz.app.ui.data_access import is_reveal_allowed
from dpviz.app.ui.explore.result_panel import (
    ask_run_plane,
    compute_scores,
    draw_below,
    draw_empty_panel,
    draw_walk,
    draw_walk_so_far,
    make_dial,
)
from dpviz.app.ui.explore.setup_panel import draw_setup_panel
from dpviz.app.ui.release.released_notice import draw_released_notice
from dpviz.app.ui.runner import draw_pending_panel, draw_reference_notice, fetch_reference, find_result, is_under_way

table = open_table_or_sample()
draw_released_notice(table)
request = draw_setup_panel(table)
so_far = draw_pending_panel(table)
result = find_result(table)
if so_far is not None:
    reference = fetch_reference(table, so_far.k, points_per_row=so_far.points_per_row)
    with st.sidebar:
        view = ask_run_plane(so_far, "explore")
    draw_walk_so_far(table, so_far, reference, view=view, dial=make_dial(request))
elif result is not None:
    run = result.run
    reference = None
    if is_reveal_allowed(table):
        reference = fetch_reference(table, run.k, points_per_row=run.points_per_row)
    scores = compute_scores(table, result, reference)
    with st.sidebar:
        view = ask_run_plane(run, "explore")
    context = draw_walk(table, result, request, reference, scores, view=view, dial=make_dial(request))
    draw_reference_notice(table, run.k, points_per_row=run.points_per_row)
    draw_below(table, result, context, scores)
elif not is_under_way(table):
    draw_empty_panel(table)
