"""Explore: one page for every algorithm. Turn ε, and see what each step did and what it cost."""

from dpviz.ui.data.ways_in import table_or_sample
from dpviz.ui.explore.result_panel import below, empty_panel
from dpviz.ui.explore.scores import scores_of
from dpviz.ui.explore.setup_panel import setup_panel
from dpviz.ui.explore.walk import walk, walk_so_far
from dpviz.ui.looks import reveal_allowed
from dpviz.ui.reference import reference_notice, reference_or_none
from dpviz.ui.release.released_notice import released_notice
from dpviz.ui.runner import is_under_way, pending_panel, result_for

table = table_or_sample()
released_notice(table)
request = setup_panel(table)
so_far = pending_panel(table)
result = result_for(table)
if so_far is not None:
    reference = reference_or_none(table, so_far.k, points_per_row=so_far.points_per_row)
    walk_so_far(table, so_far, reference, now=request)
elif result is not None:
    run = result.run
    reference = None
    if reveal_allowed(table):
        reference = reference_or_none(table, run.k, points_per_row=run.points_per_row)
    scores = scores_of(table, result, reference)
    look = walk(table, result, request, reference, scores)
    reference_notice(table, run.k, points_per_row=run.points_per_row)
    below(table, result, look, scores)
elif not is_under_way(table):
    empty_panel(table)
