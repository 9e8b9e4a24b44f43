"""Films as a page of its own: one HTML file that plays all steps without network or server, light and dark."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from string import Template
from typing import NamedTuple, get_args

import pandas as pd
import plotly.graph_objects as go

from dpviz import __version__
from dpviz.charts.canvas import without_head
from dpviz.charts.film import Film, Number, colors_of
from dpviz.charts.picture import Look
from dpviz.charts.player.assets import asset, packed_library, zipped
from dpviz.charts.player.page_facts import facts_html, from_line, kinds_html, numbers_html
from dpviz.charts.plot import Data, packed
from dpviz.charts.theme import FONT, Kind, Palette, Theme, palette
from dpviz.runs.record import ReleaseRecord
from dpviz.runs.run import Run

_THEMES: tuple[Theme, ...] = get_args(Theme)
# In JSON these mean the same; in a page they could end the block that it stands in.
_UNSAFE = str.maketrans({letter: f"\\u{ord(letter):04x}" for letter in "<>&"})


class Figured(NamedTuple):
    """A figure in both themes, its head as text, what it says of itself, and the kinds of its values."""

    title: str
    subtitle: str
    words: str
    kinds: tuple[Kind, ...]
    drawn: Data

    @classmethod
    def of(cls, draw: Callable[[Palette], go.Figure], words: str, *kinds: Kind) -> Figured:
        """What ``draw`` makes of a palette: a ``canvas`` with a title."""
        bare = {theme: without_head(draw(palette(theme))) for theme in _THEMES}
        drawn: Data = {theme: json.loads(str(made.figure.to_json())) for theme, made in bare.items()}
        return cls(bare["light"].title, bare["light"].subtitle, words, kinds, drawn)

    @classmethod
    def headless(
        cls, draw: Callable[[Palette], go.Figure], title: str, words: str, *kinds: Kind, subtitle: str = ""
    ) -> Figured:
        """What ``draw`` makes of a palette, under a ``title`` that it does not draw itself."""
        drawn: Data = {theme: json.loads(str(draw(palette(theme)).to_json())) for theme in _THEMES}
        return cls(title, subtitle, words, kinds, drawn)


@dataclass(frozen=True, eq=False)
class Scene:
    """A film or figures, with what has to be said about them; or words alone.

    Parameters
    ----------
    heading : str
    paragraphs : sequence of str
        Plain text.
    film : dict or None
        See `filmed`; its ``kinds`` are those of all values in it.
    run : Run, ReleaseRecord or None
        Whose facts and ledger stand below.
    table : str
        The title of the table.
    figures : sequence of Figured
    note : str
        What may not be overlooked.
    numbers : DataFrame or None
        The table behind the figures, to unfold.
    turn, leads : str
        Among several scenes: its name in their menu, if not its place and title, and what the button to the next says.
    """

    heading: str = ""
    paragraphs: Sequence[str] = ()
    film: Data | None = None
    run: Run | ReleaseRecord | None = None
    table: str = ""
    figures: Sequence[Figured] = ()
    note: str = ""
    numbers: pd.DataFrame | None = None
    turn: str = ""
    leads: str = "Next"

    @property
    def kinds(self) -> set[Kind]:
        """Of all values that it shows."""
        return {*(self.film["kinds"] if self.film else ()), *(kind for one in self.figures for kind in one.kinds)}

    @property
    def title(self) -> str:
        """Its heading, or what its film finds in the end."""
        found = [self.film["steps"][_THEMES[0]][-1]["title"]] if self.film else [one.title for one in self.figures]
        return self.heading or next(iter(found), "")


def filmed(run: Run, look: Look, numbers: Sequence[Number] = (), *, at: int | None = None) -> Data:
    """A film for a page of its own: its steps in both themes, and once what these share.

    What ``look`` has of the rows is in it: `Look.released` leaves that out. The step ``at`` is seen first, or the last.
    """
    made = {theme: Film(run, replace(look, palette=palette(theme))).data() for theme in _THEMES}
    kinds = {entry["kind"] for film in made.values() for entry in _legends(film)}
    kinds |= {number.kind for number in numbers} | ({"revealed"} if look.reveals or not run.private else set())
    return {
        "steps": {theme: film["steps"] for theme, film in made.items()},
        "colors": {theme: film["colors"] for theme, film in made.items()},
        **{part: {name: value for film in made.values() for name, value in film[part].items()} for part in _SHARED},
        "around": {"numbers": [number.data() for number in numbers], "said": ""},
        "at": at,
        "kinds": [kind for kind in get_args(Kind) if kind in kinds],
    }


_SHARED = ("rows", "shared", "words")


def player_page(scenes: Sequence[Scene], *, title: str = "") -> str:
    """HTML of one or several scenes, one at a time; a browser opens it from a disk, its network off.

    Parameters
    ----------
    scenes : sequence of Scene
        At least one.
    title : str
        Of the page; by default the last finding of the first scene, and its table.
    """
    first = scenes[0]
    kinds = {kind for scene in scenes for kind in scene.kinds}
    drawn = packed(
        {
            "films": [scene.film for scene in scenes],
            "figures": [[one.drawn for one in scene.figures] for scene in scenes],
        }
    )
    data = {"library": packed_library(), "player": asset("player.js"), "drawn": zipped(drawn)}
    style = Template(asset("alone.css")).substitute(font=FONT)
    return Template(asset("alone.html")).substitute(
        version=escape(__version__),
        title=escape(title or " · ".join(filter(None, (first.title, first.table)))),
        colors="\n".join(_colors()),
        style=f"{style}\n{asset('player.css')}",
        nav=_nav(scenes),
        scenes="\n".join(_scene(scene, place, last=scene is scenes[-1]) for place, scene in enumerate(scenes)),
        kinds=kinds_html(kinds),
        packed=packed(data).translate(_UNSAFE),
        script=asset("alone.js"),
    )


def _colors() -> Iterator[str]:
    light, dark = (
        "".join(f"--{name}:{color};" for name, color in colors_of(palette(theme)).items()) for theme in _THEMES
    )
    yield f":root{{color-scheme:light dark;{light}}}"
    yield f"@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"


def _nav(scenes: Sequence[Scene]) -> str:
    if len(scenes) == 1:
        return ""
    turns = (
        f'<button type="button">{escape(scene.turn or f"{i}. {scene.title}")}</button>'
        for i, scene in enumerate(scenes, start=1)
    )
    return f'<nav aria-label="Scenes">{"".join(turns)}</nav>'


def _scene(scene: Scene, place: int, *, last: bool) -> str:
    said = "".join(f"<p>{escape(text)}</p>" for text in scene.paragraphs)
    heading = f"<h1>{escape(scene.heading)}</h1>" if scene.heading else ""
    leads = "" if last else f'<p><button type="button" class="leads">{escape(scene.leads)}</button></p>'
    parts = [
        from_line(scene.run, scene.table, scene.kinds) if scene.run else "",
        f'<div class="lead">{heading}{said}{leads}</div>' if heading else "",
        asset("player.html") if scene.film else "",
        *(_figure(one, "h2" if heading or i else "h1") for i, one in enumerate(scene.figures)),
        "" if heading else f"{said}{leads}",
        f'<p class="warn">{escape(scene.note)}</p>' if scene.note else "",
        "" if scene.numbers is None else numbers_html(scene.numbers),
        facts_html(scene.run, scene.table, scene.kinds) if scene.run else "",
    ]
    return f'<article class="scene"{" hidden" if place else ""}>{"".join(parts)}</article>'


def _figure(one: Figured, level: str) -> str:
    marks = "".join(f'<b class="{kind}">{kind}</b> ' for kind in one.kinds)
    head = f"<{level}>{escape(one.title)}</{level}><p class=muted>{marks}{escape(one.subtitle)}</p>"
    return f'{head}<div class="figure" role="img" aria-label="{escape(one.words)}"></div>'


def _legends(film: Data) -> Iterator[Data]:
    for step in film["steps"]:
        for picture in (step, *step["sides"]):
            yield from picture["legend"]
