"""Trade-off: how the loss falls as ε grows, for several algorithms, while it is being computed."""

from dpviz.ui.owner_path import owner_path
from dpviz.ui.release.released_notice import released_notice
from dpviz.ui.session import require_table
from dpviz.ui.tradeoff.settings_section import remember_study_link
from dpviz.ui.tradeoff.tradeoff_panel import tradeoff_setup, tradeoff_study

owner_path(here="tradeoff")
remember_study_link()
table = require_table()
released_notice(table)
tradeoff_study(tradeoff_setup(table))
