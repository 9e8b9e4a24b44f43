"""Read: a release, for whoever received it; the zip is all that it needs."""

from dpviz.ui.release.read_page import read_page

read_page()
