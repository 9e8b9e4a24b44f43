"""Animations as a page of its own: one HTML file that plays all steps without network or server, light and dark."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from math import isfinite
from string import Template
from typing import NamedTuple, get_args

import pandas as pd
import plotly.graph_objects as go

from dpviz import __version__
from dpviz.algorithms.registry import find_card
from dpviz.charts.animation import Animation, Number, choose_colors
from dpviz.charts.canvas import remove_head
from dpviz.charts.picture import RenderContext
from dpviz.charts.player.assets import pack_library, read_asset, zip_text
from dpviz.charts.plot import Data, pack
from dpviz.charts.theme import FONT, Kind, Palette, Theme, choose_palette
from dpviz.charts.wording import format_number
from dpviz.runs.record import RELEASE_GRADE, SEEDED, SIMULATION, STUDY_NOISE, ReleaseRecord
from dpviz.runs.run import NOT_HARDENED, Run
from dpviz.table.declaration import FileKind

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
        """What ``draw`` makes of a palette: a ``canvas`` with a title.

        Parameters
        ----------
        draw : function
            Of a palette, to a figure.
        words : str
            What it shows, for a reader who does not see it.
        *kinds
            Kinds of values that are shown.

        Returns
        -------
        Figured
            In both looks.
        """
        bare = {theme: remove_head(draw(choose_palette(theme))) for theme in _THEMES}
        drawn: Data = {theme: json.loads(str(made.figure.to_json())) for theme, made in bare.items()}
        return cls(bare["light"].title, bare["light"].subtitle, words, kinds, drawn)

    @classmethod
    def draw_headless(
        cls, draw: Callable[[Palette], go.Figure], title: str, words: str, *kinds: Kind, subtitle: str = ""
    ) -> Figured:
        """What ``draw`` makes of a palette, under a ``title`` that it does not draw itself.

        Parameters
        ----------
        draw : function
            Of a palette, to a figure.
        title : str
            Of the figure.
        words : str
            What it shows, for a reader who does not see it.
        subtitle : str
            Below the title.
        *kinds
            Kinds of values that are shown.

        Returns
        -------
        Figured
            In both looks.
        """
        drawn: Data = {theme: json.loads(str(draw(choose_palette(theme)).to_json())) for theme in _THEMES}
        return cls(title, subtitle, words, kinds, drawn)


@dataclass(frozen=True, eq=False)
class Scene:
    """An animation or figures, with what has to be said about them; or words alone.

    Parameters
    ----------
    heading : str
    paragraphs : sequence of str
        Plain text.
    animation : dict or None
        See ``animate``; its ``kinds`` are those of all values in it.
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
        return {
            *(self.animation["kinds"] if self.animation else ()),
            *(kind for one in self.figures for kind in one.kinds),
        }

    @property
    def title(self) -> str:
        """Its heading, or what its animation finds in the end."""
        found = (
            [self.animation["steps"][_THEMES[0]][-1]["title"]]
            if self.animation
            else [one.title for one in self.figures]
        )
        return self.heading or next(iter(found), "")


def animate(run: Run, context: RenderContext, numbers: Sequence[Number] = (), *, at: int | None = None) -> Data:
    """An animation for a page of its own: its steps in both themes, and once what these share.

    What ``context`` has of the rows is in it: `Look.released` leaves that out. The step ``at`` is seen first, or the
    last.

    Parameters
    ----------
    run : Run
        A finished run.
    context : RenderContext
        What all pictures of a run share.
    numbers : sequence of Number
        Beside the title.
    at : int or None
        The step that is seen first; None: the last.

    Returns
    -------
    Data
        As JSON has it.
    """
    made = {theme: Animation(run, replace(context, palette=choose_palette(theme))).to_data() for theme in _THEMES}
    kinds = {entry["kind"] for animation in made.values() for entry in _format_legends(animation)}
    kinds |= {number.kind for number in numbers} | ({"revealed"} if context.reveals or not run.private else set())
    return {
        "steps": {theme: animation["steps"] for theme, animation in made.items()},
        "colors": {theme: animation["colors"] for theme, animation in made.items()},
        **{
            part: {name: value for animation in made.values() for name, value in animation[part].items()}
            for part in _SHARED
        },
        "around": {"numbers": [number.to_data() for number in numbers], "said": ""},
        "at": at,
        "kinds": [kind for kind in get_args(Kind) if kind in kinds],
    }


_SHARED = ("rows", "shared", "words")


def make_player_page(scenes: Sequence[Scene], *, title: str = "") -> str:
    """HTML of one or several scenes, one at a time; a browser opens it from a disk, its network off.

    Parameters
    ----------
    scenes : sequence of Scene
        At least one.
    title : str
        Of the page; by default the last finding of the first scene, and its table.

    Returns
    -------
    str
        A whole HTML file.
    """
    first = scenes[0]
    kinds = {kind for scene in scenes for kind in scene.kinds}
    drawn = pack(
        {
            "animations": [scene.animation for scene in scenes],
            "figures": [[one.drawn for one in scene.figures] for scene in scenes],
        }
    )
    data = {"library": pack_library(), "player": read_asset("player.js"), "drawn": zip_text(drawn)}
    style = Template(read_asset("alone.css")).substitute(font=FONT)
    return Template(read_asset("alone.html")).substitute(
        version=escape(__version__),
        title=escape(title or " · ".join(filter(None, (first.title, first.table)))),
        colors="\n".join(_choose_colors()),
        style=f"{style}\n{read_asset('player.css')}",
        nav=_format_nav(scenes),
        scenes="\n".join(_format_scene(scene, place, last=scene is scenes[-1]) for place, scene in enumerate(scenes)),
        kinds=format_kinds(kinds),
        packed=pack(data).translate(_UNSAFE),
        script=read_asset("alone.js"),
    )


def _choose_colors() -> Iterator[str]:
    light, dark = (
        "".join(f"--{name}:{color};" for name, color in choose_colors(choose_palette(theme)).items())
        for theme in _THEMES
    )
    yield f":root{{color-scheme:light dark;{light}}}"
    yield f"@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"


def _format_nav(scenes: Sequence[Scene]) -> str:
    if len(scenes) == 1:
        return ""
    turns = (
        f'<button type="button">{escape(scene.turn or f"{i}. {scene.title}")}</button>'
        for i, scene in enumerate(scenes, start=1)
    )
    return f'<nav aria-label="Scenes">{"".join(turns)}</nav>'


def _format_scene(scene: Scene, place: int, *, last: bool) -> str:
    said = "".join(f"<p>{escape(text)}</p>" for text in scene.paragraphs)
    heading = f"<h1>{escape(scene.heading)}</h1>" if scene.heading else ""
    leads = "" if last else f'<p><button type="button" class="leads">{escape(scene.leads)}</button></p>'
    parts = [
        format_origin(scene.run, scene.table, scene.kinds) if scene.run else "",
        f'<div class="lead">{heading}{said}{leads}</div>' if heading else "",
        read_asset("player.html") if scene.animation else "",
        *(_format_figure(one, "h2" if heading or i else "h1") for i, one in enumerate(scene.figures)),
        "" if heading else f"{said}{leads}",
        f'<p class="warn">{escape(scene.note)}</p>' if scene.note else "",
        "" if scene.numbers is None else format_numbers(scene.numbers),
        format_facts(scene.run, scene.table, scene.kinds) if scene.run else "",
    ]
    return f'<article class="scene"{" hidden" if place else ""}>{"".join(parts)}</article>'


def _format_figure(one: Figured, level: str) -> str:
    marks = "".join(f'<b class="{kind}">{kind}</b> ' for kind in one.kinds)
    head = f"<{level}>{escape(one.title)}</{level}><p class=muted>{marks}{escape(one.subtitle)}</p>"
    return f'{head}<div class="figure" role="img" aria-label="{escape(one.words)}"></div>'


def _format_legends(animation: Data) -> Iterator[Data]:
    for step in animation["steps"]:
        for picture in (step, *step["sides"]):
            yield from picture["legend"]


_MEANINGS: dict[Kind, str] = {
    "public": "declared, or made without looking at any row; it costs no privacy.",
    "released": "computed from the rows, covered by noise, and paid for in the ledger.",
    "revealed": "read from the rows as they are, without any privacy; no release.",
}
_NEIGHBOURS = {"add_remove": "added or removed", "replace": "replaced by another"}
_TABLES = {
    FileKind.PUBLIC: "public",
    FileKind.SIMULATED: "simulated: nobody is in it",
    FileKind.PRIVATE: "private: not in this file",
}
RELEASED_ONLY = (
    "Only released and public values are in this file: no row, no true count, and nothing that was computed from the "
    "rows without noise."
)
"""What a page says that holds nothing revealed."""
# Charges beyond these are counted only: a tree has hundreds.
_MOST_CHARGES = 40
_MOST_LINES = 400


def format_kinds(kinds: Collection[Kind]) -> str:
    """What each colour means, of the kinds that there are."""
    return "".join(
        f'<li><b class="{kind}">{kind}</b>: {meaning}</li>' for kind, meaning in _MEANINGS.items() if kind in kinds
    )


def format_origin(run: Run | ReleaseRecord, table: str, kinds: Collection[Kind]) -> str:
    """One line above an animation: what ran on what, at which ε, and which kinds of values it shows.

    Parameters
    ----------
    run : Run or ReleaseRecord
        A finished run.
    table : str
        Name of the table.
    kinds : collection of Kind
        Kinds of values that are shown.

    Returns
    -------
    str
        HTML.
    """
    budget = f"ε = {run.epsilon:g}, δ = {run.delta:g}" if run.private else "no privacy"
    words = [f"<b>{escape(table)}</b>"] if table else []
    words += [escape(find_card(run.algorithm).title), budget, f"k = {run.k}", f"protects {escape(run.unit)}"]
    words += [f'<span class="kind {kind}">{kind}</span>' for kind in get_args(Kind) if kind in kinds]
    return f'<p class="from">{"".join(f"<span>{word}</span>" for word in words)}</p>'


def format_facts(run: Run | ReleaseRecord, table: str, kinds: Collection[Kind]) -> str:
    """Below an animation: what may not be overlooked, how it was made, and the ledger.

    Parameters
    ----------
    run : Run or ReleaseRecord
        A finished run.
    table : str
        Name of the table.
    kinds : collection of Kind
        Kinds of values that are shown.

    Returns
    -------
    str
        HTML.
    """
    note = run.note if isinstance(run, ReleaseRecord) else _format_note(run)
    said = [RELEASED_ONLY] if "revealed" not in kinds and kinds else []
    told = "".join(f"<dt>{name}</dt><dd>{escape(words)}</dd>" for name, words in _list_facts(run, table))
    return (
        (f'<p class="warn">{escape(note)}</p>' if note else "")
        + "".join(f"<p>{text}</p>" for text in said)
        + f'<div class="facts"><div><h2>How it was made</h2><dl>{told}</dl></div>{_format_ledger(run)}</div>'
    )


def format_numbers(table: pd.DataFrame) -> str:
    """The numbers behind a figure, to unfold; cut where nobody would read on."""
    head = "".join(f"<th>{escape(str(name))}</th>" for name in table.columns)
    lines = ("".join(map(_format_cell, row)) for row in table.head(_MOST_LINES).itertuples(index=False, name=None))
    body, rest = "".join(f"<tr>{line}</tr>" for line in lines), len(table) - _MOST_LINES
    more = f"<p>and {rest:,} more</p>" if rest > 0 else ""
    inside = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
    return f"<details><summary>The numbers behind it</summary>{inside}</details>"


def _format_cell(value: object) -> str:
    if isinstance(value, float):
        return f'<td class="number">{format_number(value) if isfinite(value) else ""}</td>'
    return f"<td>{escape(str(value))}</td>"


def _format_note(run: Run) -> str:
    if not run.private or (run.hardened and not run.seeded):
        return ""
    return f"{SIMULATION}: {SEEDED if run.seeded else NOT_HARDENED}"


def _list_facts(run: Run | ReleaseRecord, table: str) -> Iterator[tuple[str, str]]:
    record = run if isinstance(run, ReleaseRecord) else None
    if table or record:
        yield "table", f"{table} ({_TABLES[record.declaration.kind]})" if record else table
    yield "algorithm", find_card(run.algorithm).title
    chosen = {name: value for name, value in run.parameters.items() if value is not None}
    if settings := ", ".join(f"{name} = {_format_plainly(value)}" for name, value in chosen.items()):
        yield "its settings", settings
    yield "clusters", f"k = {run.k}"
    if run.private:
        yield "budget", f"ε = {run.epsilon:g}, of which {run.spent_epsilon:.6g} spent; δ = {run.delta:g}"
        yield "accounting", run.accounting.value
        yield "protects", f"{run.unit}, {_NEIGHBOURS[run.relation]}"
        yield "number of rows", f"{run.n:,.0f} ({run.n_origin})" if run.n is not None else run.n_origin
        yield "noise", RELEASE_GRADE if run.hardened else STUDY_NOISE
    for warning in run.warnings:
        yield "note", warning
    if record:
        looks = ", ".join(f"{kind}: {times}" for kind, times in record.looks.items())
        yield "looks at the rows", looks or "none"
        yield "made", f"dpviz {record.version}, {record.date}"


def _format_ledger(run: Run | ReleaseRecord) -> str:
    if not run.private:
        return ""
    cost = f"cost ({run.accounting.unit.symbol})"
    head = "".join(f"<th>{name}</th>" for name in ("for", "mechanism"))
    head += "".join(f'<th class="number">{name}</th>' for name in ("noise scale", cost, "ε alone"))
    lines = [
        "".join(f"<td>{escape(words)}</td>" for words in (entry.note, entry.mechanism))
        + "".join(f'<td class="number">{format_number(x)}</td>' for x in (entry.scale, entry.amount, entry.epsilon))
        for entry in run.entries[:_MOST_CHARGES]
    ]
    rest = len(run.entries) - len(lines)
    more = f"<p>and {rest:,} more</p>" if rest > 0 else ""
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<div><h2>Ledger</h2><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}</div>"


def _format_plainly(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
