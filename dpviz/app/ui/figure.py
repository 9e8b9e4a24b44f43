"""Figures, tables, badges and files on a page, the plane that they show, profiles, and what is asked as a program.

All in the app's own colours, and nothing that would send them anywhere.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
import yaml

from dpviz.app.charts.canvas import Diagram, TitledPlot
from dpviz.app.charts.pictures.segment_profiles import MOST_COLUMNS, Lane, ProfilePicture, draw_overview
from dpviz.app.charts.plot import MADE_UP_MARK, MARK_ROOM, REVEALED_MARK, Plot, make_config
from dpviz.app.charts.view import ALL_PAIRS_UP_TO, View, list_choices, make_view, make_view_along_centers
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.reader import is_narrow
from dpviz.core import Array, Domain, RequestError
from dpviz.runs import OpenTable, Script, profiles
from dpviz.tables import FileKind
from dpviz.words import Kind, Palette, Sentences, choose_palette, glossary, read_toml

_MOST_TABLE_ROWS, _TABLE_HEIGHT = 5_000, 480
_MEDIA_TYPES = {
    **{"csv": "text/csv", "html": "text/html", "py": "text/x-python", "ipynb": "application/x-ipynb+json"},
    **{"json": "application/json", "yaml": "application/yaml", "zip": "application/zip"},
}


def read_palette() -> Palette:
    """The colours of the theme that the browser named."""
    return choose_palette(st.context.theme.type)


def show(
    plot: Plot, *, alt: str, key: str, stem: str, bare: bool = False, on_click: Callable[[], None] | None = None
) -> None:
    """A plot, which the reader may download."""
    look: dict[str, Any] = {"theme": None, "key": key, "alt": alt, "config": make_config(stem)}
    if bare:
        look["config"] |= {"displayModeBar": False}
    if on_click is not None:
        look |= {"on_select": on_click, "selection_mode": "points"}
    st.plotly_chart(plot.figure(), **look)


def show_wide(shown: TitledPlot, *, alt: str, key: str, stem: str, first: bool = False) -> None:
    """A plot as wide as the page under its title and subtitle, as text, which wraps by itself."""
    title, subtitle, plot = shown
    with st.container(gap="xsmall"):
        if first:
            st.title(escape_markdown(title), anchor=False)
        else:
            st.markdown(f"**{escape_markdown(title)}**")
        if subtitle:
            st.caption(escape_markdown(subtitle), help=glossary.explain_words(subtitle))
    show(plot, alt=alt, key=key, stem=stem)


@contextmanager
def say_refusal(title: str | None = None, icon: str = ":material/block:") -> Iterator[None]:
    """What is refused within is said in the place of what would have come of it."""
    try:
        yield
    except RequestError as error:
        st.error(escape_markdown(error), title=title and escape_markdown(title), icon=icon)


def show_diagram(drawn: Diagram, *, key: str, stem: str = "", first: bool = False) -> None:
    """A diagram as wide as the page, under its title."""
    show_wide(drawn.draw(read_palette()), alt=drawn.words, key=key, stem=stem or drawn.stem, first=first)


def show_plot(drawn: Diagram, *, key: str, stem: str = "", **look: Any) -> None:
    """A diagram without its title, which stands elsewhere on the page."""
    show(drawn.paint(read_palette()), alt=drawn.words, key=key, stem=stem or drawn.stem, **look)


def draw_download(
    label: str, content: Any, name: str, *, key: str, icon: str = ":material/download:", **look: Any
) -> None:
    """A button that hands a file on and leaves the page as it is; what the file is follows from the end of its name."""
    kind = _MEDIA_TYPES[name.rpartition(".")[2]]
    st.download_button(label, content, name, kind, key=key, icon=icon, on_click="ignore", **look)


def ask_one_of(label: str, options: Sequence[str], *, key: str, **look: Any) -> str:
    """One of a few answers, all of them in sight; at first the first."""
    chosen = st.segmented_control(escape_markdown(label), options, default=options[0], required=True, key=key, **look)
    return str(chosen or options[0])


def draw_tabs(tabs: Mapping[str, Callable[[], None]], *, key: str) -> None:
    """Tabs, of which the open one is drawn and no other."""
    drawn = st.tabs([escape_markdown(label) for label in tabs], key=key, on_change="rerun")
    for tab, draw in zip(drawn, tabs.values(), strict=True):
        if tab.open:
            with tab:
                draw()


def draw_bullets(lines: Iterable[str], **look: Any) -> None:
    """A list of sentences."""
    st.markdown("\n".join(f"- {escape_markdown(line)}" for line in lines), **look)


def draw_data_table(table: pd.DataFrame, *, alt: str, height: int | Literal["auto"] = _TABLE_HEIGHT) -> None:
    """A table of numbers with four digits, cut where a browser would choke on it."""
    if len(table) > _MOST_TABLE_ROWS:
        st.caption(f"The first {_MOST_TABLE_ROWS:,} of {len(table):,} rows.")
    st.dataframe(_round_columns(table.head(_MOST_TABLE_ROWS)), hide_index=True, height=height, alt=alt)


SENTENCES = Sentences(__file__)
"""What the pages explain at length, beside a control or below a picture: once, by its key."""


def look_of(name: str, **more: Any) -> dict[str, Any]:
    """How a control or a notice is called, looks and is explained, as ``widgets.toml`` has it; and what is so here."""
    return _explain(read_toml(__file__, "widgets.toml")[name]) | more


def _explain(look: Mapping[str, Any]) -> dict[str, Any]:
    """With ``help`` that says what a word of the glossary means."""
    plain = {name: value for name, value in look.items() if name not in ("term", "here", "help")}
    means = glossary.explain_term(look["term"], look.get("here", "")) if "term" in look else ""
    words = f"{look.get('help', '')} {means}".strip()
    return plain | ({"help": words} if words else {})


@cache
def read_tables() -> Any:
    """What ``columns.yaml`` says of each column of each table."""
    return yaml.safe_load(Path(__file__).with_name("columns.yaml").read_text(encoding="utf-8"))


@cache
def read_columns(table: str) -> dict[str, Any]:
    """The columns of a table of a page in their order, each with how wide it is and what its heading means."""
    kinds: dict[str, Callable[..., Any]] = {"number": partial(st.column_config.NumberColumn, format="%.4g")}
    kinds |= {"text": st.column_config.TextColumn, "count": st.column_config.NumberColumn}
    looks = {name: dict(look) for name, look in read_tables()[table].items()}
    return {name: kinds[look.pop("kind", "text")](**_explain(look)) for name, look in looks.items()}


def draw_centers_table(made: profiles.Profile) -> None:
    """A line a cluster: its number, its size, and what its centre says of each column, each with its noise."""
    table = pd.DataFrame([made.describe_center(place) for place in range(made.k)])
    if made.sizes is not None:
        table.insert(0, "rows", made.sizes.words, allow_duplicates=True)
    table.insert(0, "cluster", np.arange(1, made.k + 1), allow_duplicates=True)
    draw_data_table(table, alt=f"{made.k} centres, each with its size and its noise", height="auto")


def _round_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Numbers with four significant digits: what a reader takes in; files carry all of them."""
    rounded = table.copy()
    for name in [name for name, kind in table.dtypes.items() if kind == np.float64]:
        values = table[name].to_numpy(dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            unit = 10.0 ** (np.floor(np.log10(np.abs(values))) - 3)
            rounded[name] = np.where(np.isfinite(unit) & (unit > 0), np.round(values / unit) * unit, values)
    return rounded


class BadgeLook(NamedTuple):
    """How a word is set apart by its colour (what these look like: .streamlit/config.toml) and a sign."""

    color: Literal["gray", "blue", "orange", "green", "violet", "red", "yellow"]
    icon: str

    def format(self, words: str) -> str:
        """Words as a badge, in Markdown."""
        return f":{self.color}-badge[{self.icon} {words}]"


_LOOKS: dict[Kind, BadgeLook] = {
    "public": BadgeLook("gray", ":material/campaign:"),
    "released": BadgeLook("blue", ":material/blur_on:"),
    "revealed": BadgeLook("orange", ":material/visibility:"),
}


def draw_badge(kind: Kind) -> None:
    """Mark what stands beside it as public, released or revealed."""
    look = _LOOKS[kind]
    st.badge(kind, icon=look.icon, color=look.color, help=glossary.explain_term(kind))


def format_badge(kind: Kind) -> str:
    """The badge as Markdown, for labels, captions and titles."""
    return _LOOKS[kind].format(kind)


def draw_caption_with_badge(kind: Kind, text: str, *, help: str | None = None) -> None:
    """Fine print after a badge; no caption, which would fade the badge until it can hardly be read."""
    st.markdown(f":small[{format_badge(kind)} {text}]", help=help or glossary.explain_words(f"{kind}. {text}"))


_ALONG = "along the released centres"
_MOST_PILLS = 9


def choose_mark(table: OpenTable) -> str:
    """What pictures say of the rows of a table."""
    return MADE_UP_MARK if table.kind is FileKind.SIMULATED else REVEALED_MARK


def ask_plane(domain: Domain, key: str, *, centers: Array | None = None) -> View:
    """Ask for a plane; with one or two columns there is nothing to choose, and no widget.

    The plane along released ``centers`` (k, d) is offered, too, and first of all where two columns of many show little.
    """
    offered: dict[str, Callable[[], View]] = {}
    for label, axes, seed in list_choices(domain):
        offered[label] = partial(make_view, domain, axes=axes, projection_seed=seed)
    if len(offered) == 1:
        return make_view(domain)
    along = make_view_along_centers(domain, centers) if centers is not None else None
    if along is not None:
        first = domain.dim > ALL_PAIRS_UP_TO
        offered = {_ALONG: lambda: along} | offered if first else offered | {_ALONG: lambda: along}
    kept = f"{key}:plane:{','.join(domain.columns[:8])}:{domain.dim}{':along' if along is not None else ''}"
    look = look_of("plane", key=kept)
    # One click where there are few; else a list.
    if len(offered) <= _MOST_PILLS:
        look |= {"default": next(iter(offered)), "required": True, "wrap": True}
        return offered[str(st.pills(options=list(offered), format_func=escape_markdown, **look))]()
    return offered[str(st.selectbox(options=list(offered), **look))]()


_MOST_PAGES = 9
_ROWS: dict[str, profiles.RowOrder] = {"size": "size", "number": "number", "alike ones together": "alike"}
_COLUMNS: dict[str, profiles.ColumnOrder] = {"most telling first": "most telling", "as in the file": "file"}
_LANES: dict[str, Lane] = {"declared bounds": "bounds", "where centres lie": "centres"}


LEAST_PROFILED = 3
"""From so many columns on a plane shows little: centres are drawn as profiles, too."""


def draw_profile_panel(
    profile: profiles.Profile,
    key: str,
    *,
    failed: bool = False,
    beside: str = "k-means++, revealed",
    mark: str = "",
    arrange: str = "Arrange",
) -> None:
    """Draw it: the picture, and how to read it."""
    colors = read_palette()
    # The icons of the page stand above the names of columns.
    picture = ProfilePicture(profile, narrow=is_narrow(), failed=failed, beside=beside, mark=mark, room=MARK_ROOM)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        # In which order, and between which ends.
        with st.popover(escape_markdown(arrange), icon=":material/tune:", key=f"{key}:arrange"):
            rows = ask_one_of("Segments by", list(_ROWS), key=f"{key}:rows")
            columns = ask_one_of("Columns", list(_COLUMNS), key=f"{key}:columns")
            lane = ask_one_of("A lane goes over", list(_LANES), key=f"{key}:lane")
        picture = replace(picture, rows=_ROWS[rows], columns=_COLUMNS[columns], lane=_LANES[lane])
        st.caption(escape_markdown(picture.note), help=glossary.explain_words("centre noise"))
    several = len(picture.pages) > 1
    if several and not picture.narrow:
        words = f"All {profile.dim} columns as tints, those drawn below framed."
        overview = st.container()
        picture = _draw_pages(picture, key)
        with overview:
            show(draw_overview(picture, colors), alt=words, key=f"{key}:overview", stem="profile-overview", bare=True)
    elif several:
        picture = _draw_pages(picture, key)
    show(picture.draw(colors), alt=picture.words(), key=f"{key}:profile", stem=picture.stem)


def _draw_pages(picture: ProfilePicture, key: str) -> ProfilePicture:
    """Which columns are drawn."""
    labels = [f"{first}–{last}" for first, last in picture.pages]
    order = "the most telling first" if picture.columns == "most telling" else "as in the file"
    label, kept = f"Columns, {order}", f"{key}:page:{picture.narrow}"
    few = len(labels) <= _MOST_PAGES
    chosen = ask_one_of(label, labels, key=kept) if few else st.selectbox(escape_markdown(label), labels, key=kept)
    return replace(picture, start=MOST_COLUMNS[picture.narrow] * labels.index(chosen))


def draw_python_section(write: Callable[[], Script], *, key: str, stem: str) -> None:
    """Draw it folded away."""
    section = st.expander("The same in Python", icon=":material/code:", key=f"{key}:python", on_change="rerun")
    if not section.open:
        return
    script = write()
    with section:
        st.caption("What is asked here, and nothing of a row. It needs `dpviz` and the file that its first cell names.")
        st.code(script.text, language="python")
        with st.container(horizontal=True):
            draw_download("As a script (.py)", script.text, f"{stem}.py", key=f"{key}:python:script")
            book, name = ":material/book:", f"{stem}.ipynb"
            draw_download("As a notebook (.ipynb)", script.notebook, name, key=f"{key}:python:notebook", icon=book)
