"""Trade-off: how the loss falls as ε grows, for several algorithms, while it is being computed."""

from dpviz.app.ui.owner_path import draw_owner_path
from dpviz.app.ui.release.released_notice import draw_released_notice
from dpviz.app.ui.session import require_table
from dpviz.app.ui.tradeoff.tradeoff_panel import draw_tradeoff_setup, draw_tradeoff_study, remember_study_link

draw_owner_path(here="tradeoff")
remember_study_link()
table = require_table()
draw_released_notice(table)
draw_tradeoff_study(draw_tradeoff_setup(table))
