"""Lessons: predict, then see, alone or with a class."""

from dpviz.app.ui.lessons.lesson_panel import draw_lessons_page
from dpviz.app.ui.lessons.visit import read_place

draw_lessons_page(read_place())
