"""Playground: paint the town, hide one person."""

from dpviz.app.ui.playground.board import draw_playground_page

draw_playground_page()
