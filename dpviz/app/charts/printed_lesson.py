"""A lesson on paper: the questions on the first page, the answers on the second."""

from __future__ import annotations

from dpviz.app.lessons.lesson import Lesson
from dpviz.words import FONT, render


def make_printed_lesson(lesson: Lesson) -> str:
    """HTML that prints on two pages and needs no network: the questions, and after a page break the answers."""
    return render("lesson_sheet.html.j2", lesson=lesson, font=FONT)
