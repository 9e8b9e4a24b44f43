"""Animations as a page of its own: one HTML file that plays all steps without network or server, light and dark.

In a notebook the same page stands in a frame of its own.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import NamedTuple, get_args

import pandas as pd
import plotly.graph_objects as go

from dpviz import __version__
from dpviz.algorithms import find_card
from dpviz.app.charts.animation import Animation, TitleNumber, choose_colors
from dpviz.app.charts.canvas import TitledPlot
from dpviz.app.charts.picture import RenderContext
from dpviz.app.charts.plot import WORDS, Data, pack
from dpviz.app.charts.registry import draw_picture
from dpviz.app.charts.view import make_view
from dpviz.core import RequestError
from dpviz.runs import ReleaseRecord, Run, write_whole
from dpviz.words import FONT, Kind, Palette, Theme, choose_palette, format_number, render


@cache
def read_asset(name: str) -> str:
    """A file of this folder."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def read_script() -> str:
    """The player as one module: what it sketches pictures with before there is a library, and itself."""
    return read_asset("sketch.js") + read_asset("player.js")


@cache
def pack_library() -> str:
    """Plotly.js of the installed package: two megabytes in place of five."""
    return zip_text((files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8"))


def zip_text(text: str, *, level: int = 9) -> str:
    """A text as gzip in base64, which a page unpacks by itself."""
    return base64.b64encode(gzip.compress(text.encode("utf-8"), level, mtime=0)).decode()


_THEMES: tuple[Theme, ...] = get_args(Theme)
# In JSON these mean the same; in a page they could end the block that it stands in.
_UNSAFE = str.maketrans({letter: f"\\u{ord(letter):04x}" for letter in "<>&"})


class Figured(NamedTuple):
    """A plot in both themes, the words above it as text, what it says of itself, and the kinds of its values."""

    title: str
    subtitle: str
    words: str
    kinds: tuple[Kind, ...]
    drawn: Data

    @classmethod
    def of(cls, draw: Callable[[Palette], TitledPlot], words: str, *kinds: Kind) -> Figured:
        """What ``draw`` makes of a palette."""
        made = {theme: draw(choose_palette(theme)) for theme in _THEMES}
        # As the drawing library reads them, with the settings that it takes for granted.
        drawn: Data = {theme: json.loads(str(one.plot.figure().to_json())) for theme, one in made.items()}
        title, subtitle, _ = made[_THEMES[0]]
        return cls(title, subtitle, words, kinds, drawn)


@dataclass(frozen=True, eq=False)
class PlayerScene:
    """An animation or figures, with what has to be said about them; or words alone."""

    heading: str = ""
    paragraphs: Sequence[str] = ()
    animation: Data | None = None
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
        played = self.animation["kinds"] if self.animation else ()
        return {*played, *(kind for one in self.figures for kind in one.kinds)}

    @property
    def lines(self) -> Data | None:
        """The numbers behind its figure, cut where nobody would read on, and how many rows were left out."""
        if self.numbers is None:
            return None
        rows = [[*map(_format_cell, row)] for row in self.numbers.head(_MOST_LINES).itertuples(index=False, name=None)]
        numbers = [place for place, name in enumerate(self.numbers) if self.numbers[name].dtype.kind == "f"]
        rest = len(self.numbers) - _MOST_LINES
        return {"heads": [*map(str, self.numbers.columns)], "rows": rows, "numbers": numbers, "rest": rest}

    @property
    def title(self) -> str:
        """Its heading, or what its animation finds in the end."""
        found = [one.title for one in self.figures]
        if self.animation:
            found = [self.animation["steps"][_THEMES[0]][-1]["title"]]
        return self.heading or next(iter(found), "")


def animate(run: Run, context: RenderContext, numbers: Sequence[TitleNumber] = (), *, at: int | None = None) -> Data:
    """An animation for a page of its own: its steps in both themes, and once what these share.

    What ``context`` has of the rows is in it: `Look.released` leaves that out. The step ``at`` is seen first, or the
    last.
    """
    looks = {theme: replace(context, palette=choose_palette(theme)) for theme in _THEMES}
    made = {theme: Animation.of_run(run, look).to_data() for theme, look in looks.items()}
    pictures = [one for drawn in made.values() for step in drawn["steps"] for one in (step, *step["sides"])]
    kinds = {entry["kind"] for picture in pictures for entry in picture["legend"]}
    kinds |= {number.kind for number in numbers} | ({"revealed"} if context.reveals or not run.private else set())
    return {
        **{part: {theme: drawn[part] for theme, drawn in made.items()} for part in ("steps", "colors")},
        **{part: {name: one for drawn in made.values() for name, one in drawn[part].items()} for part in _SHARED},
        "around": {"numbers": [number.to_data() for number in numbers], "said": ""},
        "at": at,
        "kinds": [kind for kind in get_args(Kind) if kind in kinds],
    }


_SHARED = ("rows", "shared", "words")


def make_player_page(scenes: Sequence[PlayerScene], *, title: str = "") -> str:
    """HTML of one or several scenes, one at a time; a browser opens it from a disk, its network off."""
    first = scenes[0]
    kinds = {kind for scene in scenes for kind in scene.kinds}
    figures = [[one.drawn for one in scene.figures] for scene in scenes]
    drawn = pack({"animations": [scene.animation for scene in scenes], "figures": figures})
    data = {"library": pack_library(), "player": read_script(), "drawn": zip_text(drawn)}
    colors = {theme: choose_colors(choose_palette(theme)) for theme in _THEMES}
    looks = {theme: "".join(f"--{name}:{color};" for name, color in one.items()) for theme, one in colors.items()}
    parts = {"style": read_asset("player.css"), "player": read_asset("player.html"), "script": read_asset("alone.js")}
    told: Data = {"title": title or " · ".join(filter(None, (first.title, first.table))), "promise": RELEASED_ONLY}
    told |= {"meanings": [(kind, WORDS.by_key[f"kind_{kind}"]) for kind in get_args(Kind)], "kinds": kinds}
    known = {"version": __version__, "font": FONT, "find_card": find_card, "number": format_number}
    packed = pack(data).translate(_UNSAFE)
    return render("player_page.html.j2", scenes=scenes, packed=packed, **looks, **parts, **told, **known)


RELEASED_ONLY = WORDS.by_key["released_only"]
"""What a page says that holds nothing revealed."""
_MOST_LINES = 400


def _format_cell(value: object) -> str:
    return str(value) if not isinstance(value, float) else format_number(value) if isfinite(value) else ""


MOST_BYTES = 6_000_000
"""A page beyond this is no file to pass on, and nothing to keep inside a notebook."""


@dataclass(frozen=True, eq=False)
class RunDisplay:
    """A run to look at: released and public values only, whatever the table."""

    run: Run
    step: int = -1
    title: str = ""

    @cached_property
    def html(self) -> str:
        """A page that plays all steps without network or server."""
        animation = animate(self.run, self._context, at=self.step % len(self.run.frames))
        return make_player_page([PlayerScene(animation=animation, run=self.run, table=self.title)])

    @property
    def figure(self) -> go.Figure:
        """The step as a figure of Plotly, to be changed or saved as a picture."""
        context = self._context.with_steps_of(self.run)
        figure = draw_picture(self.run.frames[self.step].step, context).draw().headed(context.palette)
        return figure.update_layout(paper_bgcolor=context.palette.surface)  # in a dark notebook, too

    def save(self, path: str | Path) -> Path:
        """Write the page, one HTML file; where it lies."""
        if not self.run.private:
            raise RequestError(f"{self.run.algorithm} has no privacy: its run is for your eyes, no file is made.")
        file = Path(path)
        write_whole(file, self.html.encode())
        return file

    @property
    def _context(self) -> RenderContext:
        epsilon = self.run.epsilon if self.run.private else None
        return RenderContext(make_view(self.run.domain), choose_palette("light"), epsilon=epsilon)

    def _repr_html_(self) -> str:
        return frame_page(self.html)


def show(run: Run, step: int = -1, *, title: str = "") -> RunDisplay:
    """The picture of ``run``, its last step first; a notebook plays it, ``save`` writes it as one HTML file.

    Parameters
    ----------
    run : Run
        A finished run.
    step : int
        The step that is seen first.
    title : str
        Of the table, if the page shall say it.

    Returns
    -------
    RunDisplay
        For a notebook, or to be saved.

    Raises
    ------
    RequestError
        If the run has no such step.
    """
    if not -len(run.frames) <= step < len(run.frames):
        raise RequestError(f"step is {step}: give a number from 0 to {len(run.frames) - 1}, or -1 for the last.")
    return RunDisplay(run, step, title)


show.__module__ = "dpviz"


def frame_page(page: str) -> str:
    """A page inside another one: neither's style reaches the other; a sentence if it is too large for that."""
    if len(page.encode()) > MOST_BYTES:
        return "<p>The picture is too large for a notebook: <code>show(run).save(path)</code> writes it.</p>"
    return render("frame.html.j2", height=760, surface=choose_palette("light").surface, page=page)
