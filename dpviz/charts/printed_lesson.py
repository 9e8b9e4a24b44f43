"""A lesson on paper: the questions on the first page, the answers on the second."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from dpviz.charts.theme import FONT
from dpviz.lessons.lesson import CurveGuess, Lesson, NumberGuess, Options, Scene, StudyReveal

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
@page {{ size: A4; margin: 14mm 16mm; }}
body {{ font: 10pt/1.35 {font}; color: #111; background: #fff; max-width: 180mm; margin: 0 auto; padding: 1rem; }}
h1 {{ font-size: 15pt; margin: 0 0 2mm; }} h2 {{ font-size: 11pt; margin: 3.5mm 0 1mm; }} p {{ margin: 0 0 1.5mm; }}
section {{ break-inside: avoid; }} .answers {{ break-before: page; border-top: 1px solid #999; padding-top: 4mm; }}
.ask, .truth {{ font-weight: 600; }} ul {{ list-style: none; margin: 0; padding: 0; }} li::before {{ content: "☐ "; }}
.line {{ display: inline-block; width: 30mm; border-bottom: 1px solid #111; }} .muted {{ color: #555; }}
table {{ border-collapse: collapse; }} td, th {{ border: 1px solid #999; padding: 1mm 3mm; font-weight: 400; }}
.remember {{ margin-top: 5mm; padding: 3mm; border: 1px solid #111; font-weight: 600; }}
@media print {{ body {{ padding: 0; }} .answers {{ border: 0; padding: 0; }} }}
</style></head><body>
<main>
<h1>{title}</h1>
<p class="muted">{minutes} minutes. Predict first, then see. Name: <span class="line"></span></p>
{questions}
</main>
<div class="answers">
<h1>{title}: the answers</h1>
{answers}
<p class="remember">{sentence}</p>
</div>
</body></html>
"""


def make_printed_lesson(lesson: Lesson) -> str:
    """HTML that prints on two pages and needs no network: the questions, and after a page break the answers."""
    scenes = list(enumerate(lesson.scenes, start=1))
    return _PAGE.format(
        font=FONT,
        title=escape(lesson.title),
        minutes=lesson.minutes,
        sentence=escape(lesson.sentence),
        questions="\n".join("".join(_format_question(place, scene)) for place, scene in scenes),
        answers="\n".join("".join(_format_answer(place, scene)) for place, scene in scenes),
    )


def _format_question(place: int, scene: Scene) -> Iterator[str]:
    yield f"<section><h2>{place}. {_format_html(scene, scene.title)}</h2><p>{_format_html(scene, scene.text)}</p>"
    if scene.question is not None:
        yield f'<p class="ask">{_format_html(scene, scene.question.ask)}</p>'
    match scene.question:
        case Options(options=options):
            yield f"<ul>{''.join(f'<li>{_format_html(scene, option)}</li>' for option in options)}</ul>"
        case NumberGuess(low=low, high=high, unit=unit):
            yield f'<p><span class="line"></span> {escape(unit)} <span class="muted">({low:g} to {high:g})</span></p>'
        case CurveGuess():
            places = scene.reveal.grid.epsilons if isinstance(scene.reveal, StudyReveal) else ()
            heads = "".join(f"<th>ε = {epsilon:g}</th>" for epsilon in places)
            yield f"<table><tr>{heads}</tr><tr>{'<td>&nbsp;</td>' * len(places)}</tr></table>"
    yield "</section>"


def _format_answer(place: int, scene: Scene) -> Iterator[str]:
    if not scene.answer:
        return
    yield f"<section><h2>{place}. {_format_html(scene, scene.title)}</h2>"
    if scene.truth:
        yield f'<p class="truth">{escape(scene.truth)}</p>'
    yield f"<p>{_format_html(scene, scene.answer)}</p></section>"


def _format_html(scene: Scene, text: str) -> str:
    return escape(scene.fill_text(text))
