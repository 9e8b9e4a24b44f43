"""What the segments are: small multiples in the owner's units, names that the owner gives, and how good they are."""

from __future__ import annotations

import streamlit as st

from dpviz.charts.segment_panels import SegmentPanels
from dpviz.charts.theme import palette
from dpviz.charts.wording import ratio
from dpviz.glossary import words_of
from dpviz.release.release_parts import Parts
from dpviz.release.segments_report import Certificate, SegmentsReport, Verdict
from dpviz.ui.badges import badge_text
from dpviz.ui.escape import plain
from dpviz.ui.figure import show_wide

_LONGEST_NAME, _MOST_NAMED = 24, 20


def segments_panel(parts: Parts, key: str) -> None:
    """Draw it; nothing where a release says nothing of its segments."""
    if parts.told is None:
        return
    report = parts.told.report
    st.subheader("What the segments are", divider="gray", anchor=False, help=words_of("release noise ε"))
    _certificate(report.certificate)
    panels = SegmentPanels(report.to_dict(), _names(report, key))
    show_wide(panels.draw(palette(st.context.theme.type)), alt=panels.words(), key=f"{key}:segments", stem=panels.stem)


def _certificate(certificate: Certificate) -> None:
    """What a reader without the rows can rest on."""
    words = plain(" ".join(certificate.words))
    if certificate.verdict is Verdict.CANNOT_TELL:
        st.markdown(f"{badge_text('released')} :red[**How good they are cannot be told.**] {words}")
        return
    low, high = (ratio(max(end, 0.0)) for end in (certificate.ratio.low, certificate.ratio.high))
    beside = (
        f"Squared, rows lie {ratio(certificate.ratio.value)} as far from their centre as from a single one "
        f"({low} to {high})."
    )
    warned = "" if certificate.verdict is Verdict.GOOD else ":red[**Better centres exist.**] "
    st.markdown(f"{badge_text('released')} {warned}{words} {beside}", help=words_of("loss centre"))


def _names(report: SegmentsReport, key: str) -> tuple[str, ...]:
    """What the owner calls the segments, for the picture on this page; the files of the release are as they are."""
    number = min(len(report.segments), _MOST_NAMED)
    with st.popover("Name the segments", icon=":material/label:", key=f"{key}:naming"):
        st.caption("For this page and its picture. What has left is not changed.")
        return tuple(
            st.text_input(f"Segment {place + 1:d}", max_chars=_LONGEST_NAME, key=f"{key}:name:{place}") or ""
            for place in range(number)
        )
