"""The profile of released centres on a page: wide or turned, in pages of columns, with an overview of many."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dpviz.app.charts.pictures.segment_profiles import MOST_COLUMNS, Lane, ProfilePicture
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import draw_data_table, show
from dpviz.app.ui.reader import is_narrow
from dpviz.runs import profiles
from dpviz.words import choose_palette, glossary

_MOST_PILLS = 9
_ROWS: dict[str, profiles.RowOrder] = {"size": "size", "number": "number", "alike ones together": "alike"}
_COLUMNS: dict[str, profiles.ColumnOrder] = {"most telling first": "most telling", "as in the file": "file"}
_LANES: dict[str, Lane] = {"declared bounds": "bounds", "where centres lie": "centres"}


def draw_profile_panel(
    profile: profiles.Profile,
    key: str,
    *,
    failed: bool = False,
    beside: str = "k-means++, revealed",
    mark: str = "",
    arrange: str = "Arrange",
    table: bool = True,
) -> None:
    """Draw it: the picture, how to read it, and the numbers behind it."""
    colors = choose_palette(st.context.theme.type)
    picture = ProfilePicture(profile, narrow=is_narrow(), failed=failed, beside=beside, mark=mark)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        picture = _ask_columns(picture, key, arrange)
        st.caption(escape_markdown(picture.note), help=glossary.explain_words("centre noise"))
    several = len(picture.pages) > 1
    if several and not picture.narrow:
        words = f"All {profile.dim} columns as tints, those drawn below framed."
        overview = st.container()
        picture = _draw_pages(picture, key)
        with overview:
            show(picture.overview(colors), alt=words, key=f"{key}:overview", stem="profile-overview", bare=True)
    elif several:
        picture = _draw_pages(picture, key)
    show(picture.draw(colors), alt=picture.words(), key=f"{key}:profile", stem=picture.stem)
    if table:
        with st.expander("The numbers, each with the sd of its noise", icon=":material/table_rows:"):
            draw_data_table(picture.table(), alt="Released centres and sizes with the noise of each", height="auto")


def _ask_columns(picture: ProfilePicture, key: str, label: str) -> ProfilePicture:
    """In which order, and between which ends."""
    with st.popover(escape_markdown(label), icon=":material/tune:", key=f"{key}:arrange"):
        rows = _format_pill("Segments by", list(_ROWS), f"{key}:rows")
        columns = _format_pill("Columns", list(_COLUMNS), f"{key}:columns")
        lane = _format_pill("A lane goes over", list(_LANES), f"{key}:lane")
    return replace(picture, rows=_ROWS[rows], columns=_COLUMNS[columns], lane=_LANES[lane])


def _format_pill(label: str, options: list[str], key: str) -> str:
    return (
        st.segmented_control(escape_markdown(label), options, default=options[0], required=True, key=key) or options[0]
    )


def _draw_pages(picture: ProfilePicture, key: str) -> ProfilePicture:
    """Which columns are drawn."""
    labels = [f"{first}–{last}" for first, last in picture.pages]
    order = "the most telling first" if picture.columns == "most telling" else "as in the file"
    label, kept = f"Columns, {order}", f"{key}:page:{picture.narrow}"
    chosen = (
        _format_pill(label, labels, kept)
        if len(labels) <= _MOST_PILLS
        else st.selectbox(escape_markdown(label), labels, key=kept)
    )
    return replace(picture, start=MOST_COLUMNS[picture.narrow] * labels.index(chosen))
