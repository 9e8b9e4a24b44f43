"""Glossary: every word that the pages use in a sense of their own, in two sentences."""

from dpviz.app.ui.glossary_page import draw_glossary_page

draw_glossary_page()
