"""The bench: a declaration as a sentence, the picture of its answer, and the axis of ε."""

from dpviz.app.ui.bench.bench_page import draw_bench

draw_bench()
