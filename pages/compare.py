"""Compare: several algorithms at the same ε, many runs each, one set of axes."""

from dpviz.ui.release.released_notice import released_notice
from dpviz.ui.session import require_table
from dpviz.ui.studies.compare_panel import compare_setup, compare_study

table = require_table()
released_notice(table)
compare_study(compare_setup(table))
