"""What ε means: odds, an attack that is run, neighbouring tables, asking again, and where others stand."""

from dpviz.app.ui.meaning import draw_meaning_page

draw_meaning_page()
