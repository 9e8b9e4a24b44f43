"""Release: from the chosen ε to a file that can be published and defended; no truth is on this page."""

from dpviz.app.ui.release.page import draw_release_page

draw_release_page()
