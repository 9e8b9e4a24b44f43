"""Lessons: predict, then see, alone or with a class."""

from dpviz.ui.lessons.lesson_link import place_in_link
from dpviz.ui.lessons.lesson_panel import lessons_page

lessons_page(place_in_link())
