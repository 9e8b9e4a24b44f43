"""Compare: several algorithms at the same ε, many runs each, one set of axes."""

from dpviz.app.ui.data.ways_in import open_table_or_sample
from dpviz.app.ui.release.released_notice import draw_released_notice
from dpviz.app.ui.studies.compare_panel import draw_compare_setup, draw_compare_study

table = open_table_or_sample()
draw_released_notice(table)
draw_compare_study(draw_compare_setup(table))
