"""What the segments are, a card each: size, what tells it apart, medians and shares; and how good they are together."""

from __future__ import annotations

import streamlit as st

from dpviz.glossary import words_of
from dpviz.release.releasing import Drawn
from dpviz.release.segment_words import ColumnTold, SegmentTold, certificate_told, segments_told
from dpviz.release.segments_for_card import certificate_for_card, segments_for_card
from dpviz.ui.badges import badge_text
from dpviz.ui.escape import plain

_MOST_COLUMNS = 4


def segments_panel(drawn: Drawn) -> None:
    """Draw it; nothing where a release says nothing of its segments."""
    if drawn.parts.told is None:
        return
    report = drawn.parts.told.report
    st.subheader("What the segments are", divider="gray", anchor=False, help=words_of("release noise ε"))
    lines = [plain(words) for words in certificate_told(certificate_for_card(report.certificate))]
    st.markdown(f"{badge_text('released')} {' '.join(lines)}")
    with st.grid(min_column_width=300):
        for one in segments_told(segments_for_card(report)):
            with st.container(border=True, height="stretch", gap="xsmall"):
                _segment(one)
    st.caption("In brackets: 90 % intervals. What lies within the noise says nothing.", help=words_of("noise"))


def _segment(told: SegmentTold) -> None:
    size = f": about {plain(told.size.told())} rows" if told.size is not None else ""
    st.markdown(f"**{plain(told.name or f'Segment {told.number}')}**{size}")
    columns = sorted(told.columns, key=lambda column: not column.tells_apart)
    lines = [f"- {_column(column)}" for column in columns[:_MOST_COLUMNS]]
    if len(columns) > _MOST_COLUMNS:
        lines.append(f"- and {len(columns) - _MOST_COLUMNS:d} more columns in the table below")
    st.markdown("\n".join(lines))


def _column(told: ColumnTold) -> str:
    name = f"**{plain(told.name)}** (tells it apart)" if told.tells_apart else plain(told.name)
    if told.median is not None:
        half = f"; the middle half {plain(told.half)}" if told.half else ""
        return f"{name}: median {plain(told.median.told())} {plain(told.unit)}{half}"
    return (
        f"{name}: {', '.join(f'{plain(category)} {plain(share.told(share=True))}' for category, share in told.largest)}"
    )
