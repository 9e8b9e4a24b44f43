"""Lessons: predict, then see, alone or with a class."""

from dpviz.app.ui.lessons.lesson_link import read_place
from dpviz.app.ui.lessons.lesson_panel import draw_lessons_page

draw_lessons_page(read_place())
