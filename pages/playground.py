"""Playground: paint the town, hide one person."""

from dpviz.ui.playground.page import playground_page

playground_page()
