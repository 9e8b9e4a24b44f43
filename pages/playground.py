"""Playground: paint the town, hide one person."""

from dpviz.app.ui.playground.page import draw_playground_page

draw_playground_page()
