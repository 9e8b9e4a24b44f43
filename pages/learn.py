"""Learn: predict, then see; and whatever else tells what privacy costs."""

from dpviz.app.ui.learn import draw_learn_page

draw_learn_page()
