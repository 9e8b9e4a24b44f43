"""Lessons: predict, then see, alone or with a class."""

from dpviz.ui.lessons.lesson_link import read_place
from dpviz.ui.lessons.lesson_panel import draw_lessons_page

draw_lessons_page(read_place())
