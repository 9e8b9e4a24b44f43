"""Compare: several algorithms at the same ε, many runs each, one set of axes."""

from dpviz.ui.release.released_notice import draw_released_notice
from dpviz.ui.session import require_table
from dpviz.ui.studies.compare_panel import draw_compare_setup, draw_compare_study

table = require_table()
draw_released_notice(table)
draw_compare_study(draw_compare_setup(table))
