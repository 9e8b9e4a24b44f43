"""Playground: paint the town, hide one person."""

from dpviz.ui.playground.page import draw_playground_page

draw_playground_page()
