"""Pages that are taken away: figures with the drawing library inside, and a lesson on paper; nothing is fetched."""

from __future__ import annotations

from collections.abc import Sequence

from dpviz.app.charts.canvas import TitledPlot
from dpviz.app.charts.layout import make_config
from dpviz.app.lessons.lesson import Lesson
from dpviz.words import FONT, Palette, render

# Pixels that titles are broken for: such a page is read on a screen.
_WIDTH = 900


def make_standalone_page(
    figures: Sequence[TitledPlot], *, title: str, paragraphs: Sequence[str], points: Sequence[str], palette: Palette
) -> str:
    """HTML that needs no network and no server."""
    drawn = [
        figure.headed(palette, width=_WIDTH).to_html(
            full_html=False, include_plotlyjs=place == 0, config=make_config(title)
        )
        for place, figure in enumerate(figures)
    ]
    return render(
        "figures.html.j2", title=title, paragraphs=paragraphs, points=points, figures=drawn, palette=palette, font=FONT
    )


def make_printed_lesson(lesson: Lesson) -> str:
    """HTML that prints on two pages and needs no network: the questions, and after a page break the answers."""
    return render("lesson_sheet.html.j2", lesson=lesson, font=FONT)
