"""Compare: several algorithms at the same ε, many runs each; folded away, what else many runs tell."""

from dpviz.app.ui.bench.in_hand import open_table_or_sample
from dpviz.app.ui.release.released_notice import draw_released_notice
from dpviz.app.ui.studies.compare_page import draw_compare_page, remember_study_link

remember_study_link()
table = open_table_or_sample()
draw_released_notice(table)
draw_compare_page(table)
