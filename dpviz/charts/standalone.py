"""Figures as a page of its own, to be opened from a disk: the drawing library lies inside, nothing is fetched."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from dpviz.charts.theme import FONT, Palette, make_config

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font-family: {font}; color: {text}; background: {surface}; }}
body {{ max-width: 960px; margin: 2rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.3rem; }} li {{ margin: .35rem 0; }} .muted {{ color: {muted}; }}
</style></head><body>
<h1>{title}</h1>
{blocks}
{figures}
</body></html>
"""


def make_standalone_page(
    figures: Sequence[go.Figure], *, title: str, paragraphs: Sequence[str], points: Sequence[str], palette: Palette
) -> str:
    """HTML that needs no network and no server.

    Parameters
    ----------
    figures : sequence of Figure
    title : str
    paragraphs : sequence of str
        The first is in the text colour, the others are muted.
    points : sequence of str
        A list after the first paragraph.
    palette : Palette
        Colours, light or dark.

    Returns
    -------
    str
        A whole HTML file.
    """
    listed = "".join(f"<li>{escape(point)}</li>" for point in points)
    said = [
        f"<p{' class=muted' if place else ''}>{escape(text)}</p>" + (f"<ul>{listed}</ul>" if place == 0 else "")
        for place, text in enumerate(paragraphs)
    ]
    drawn = [
        figure.to_html(full_html=False, include_plotlyjs=place == 0, config=make_config(title))
        for place, figure in enumerate(figures)
    ]
    return _PAGE.format(
        title=escape(title),
        font=FONT,
        text=palette.text,
        muted=palette.muted,
        surface=palette.surface,
        blocks="\n".join(said),
        figures="\n".join(drawn),
    )
