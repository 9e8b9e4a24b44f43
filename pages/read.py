"""Read: a release, for whoever received it; the zip is all that it needs."""

from dpviz.app.ui.release.read_page import draw_read_page

draw_read_page()
