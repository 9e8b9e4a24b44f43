"""A press on the page: its steps while it is under way, then what has left, or why nothing did."""

from __future__ import annotations

import io
from contextlib import suppress
from typing import Any

import pandas as pd
import streamlit as st

from dpviz.app.charts.pictures.segment_profiles import draw_plane
from dpviz.app.charts.result_charts import draw_segments
from dpviz.app.ui import figure
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.job_panel import describe_failure, poll
from dpviz.app.ui.release.page import Publication, prepare_another
from dpviz.app.ui.session import make_once
from dpviz.core import RequestError
from dpviz.releases import (
    Played,
    QualityReport,
    QualityVerdict,
    Release,
    SegmentsReport,
    describe_quality,
    draw_map,
    find_cells,
    package,
    promise,
    receive,
    verify,
)
from dpviz.words import format_duration, format_number, format_small, format_things, glossary


def draw_publication_panel(publication: Publication) -> None:
    """Draw it; nothing on it can be changed."""
    if not publication.job.state.final:
        _draw_progress(publication)
    elif publication.job.release is not None:
        _draw_release(publication, publication.job.release)
    else:
        job, asked = publication.job, publication.release_request
        charged = job.number is not None
        why = "" if job.error is None else describe_failure(job.error.kind, job.error.message)
        title = f"Charged ({job.number}), and nothing was released" if charged else "Nothing was charged or released"
        st.error(escape_markdown(why), title=escape_markdown(title), icon=":material/error:")
        if charged:
            spent = f"ε = {format_number(asked.request.epsilon)}, δ = {escape_markdown(format_small(asked.delta))}"
            stays = f"The charge of {spent} stays in the account: noise may have been drawn."
            st.markdown(f"{stays} Another release is another charge.")
    if publication.job.state.final:
        st.button(on_click=prepare_another, **figure.look_of("prepare_another", key="release:prepare_another"))


def _draw_progress(publication: Publication) -> None:
    job, request = publication.job, publication.release_request.request
    title, epsilon = escape_markdown(publication.title), format_number(request.epsilon)
    st.subheader(f"Releasing {request.k:d} centres of {title} at ε = {epsilon}", anchor=False)

    def panel() -> None:
        if job.state.final:
            st.rerun()
        done, note = (0.0, "begins") if job.progress is None else (job.progress.fraction, job.progress.note)
        charge = f"charge {job.number:d} is written" if job.number is not None else "nothing is charged yet"
        st.progress(done, text=f"**{escape_markdown(note)}** · {charge} · {format_duration(job.elapsed)} so far")

    poll(panel, every=0.5, key="release:under_way")
    st.caption("A reload neither stops nor repeats it.")


def _draw_release(publication: Publication, release: Release) -> None:
    request, job = publication.release_request.request, publication.job
    left = ""
    with suppress(RequestError):
        standing = job.prepared.account.standing()
        left = f"; ε = {format_number(standing.left_epsilon)} of {format_number(standing.cap_epsilon)} left"
    title = f"{escape_markdown(publication.title)}: released at ε = {format_number(request.epsilon)}{left}"
    st.subheader(title, anchor=False, help=glossary.explain_term("released"))
    files = format_things(len(release.files), "file")
    copy = f" A copy lies beside the account as {escape_markdown(job.kept)}." if job.kept else ""
    st.success(f"Charge {release.number:d}: {files}.{copy}", icon=":material/check_circle:")
    # Read back and made anew from its answers; only if it is what it says it is offered.
    checked = make_once("release:checked", release.data, lambda: verify(release.data), most=4)
    if not checked.holds:
        said = " ".join(f"{finding.file} {finding.what}" for finding in checked.findings)
        st.error(escape_markdown(said), title="The zip does not hold, and is not offered", icon=":material/error:")
        return
    st.markdown(f":green[:material/verified: **It verifies**]: {checked.passed:d} checks, made from its own answers.")
    with st.container(horizontal=True, gap="small"):
        letters = "".join(letter if letter.isalnum() else "-" for letter in publication.title.lower()).strip("-")
        name, article = f"{letters[:40] or 'table'}-release-{job.number or 0}", ":material/article:"
        figure.draw_download("The release (zip)", release.data, f"{name}.zip", key="release:zip", type="primary")
        page = release.files[package.PAGE]
        figure.draw_download("The card alone (HTML)", page, f"{name}-card.html", key="release:card", icon=article)
    if not job.kept:
        st.warning("No copy could be written beside the account: take the zip now.", icon=":material/warning:")
    _draw_tables(release)


def _draw_tables(release: Release) -> None:
    if release.played.parts.bounds is not None:
        # The bounds that were bought, and whether noise hid them.
        st.subheader("The bounds that were bought", divider="gray", anchor=False, help=glossary.explain_term("bounds"))
        lines = [
            f"- **{escape_markdown(one.name)}**: {escape_markdown(promise.format_plain_number(one.lower))} to "
            f"{escape_markdown(promise.format_plain_number(one.upper))}"
            + ("" if one.sure else "; :red[:material/warning: noise hides the range: do not rely on it]")
            for one in release.played.parts.bounds.columns
        ]
        figure.draw_badge("released")
        st.markdown("\n".join(lines))
    if told := release.played.parts.missing_told:
        st.subheader("Missing values", divider="gray", anchor=False, help=glossary.explain_term("released"))
        figure.draw_badge("released")
        figure.draw_bullets(told)
    st.subheader("The centres", divider="gray", anchor=False, help=glossary.explain_term("centre"))
    figure.draw_badge("released")
    received, made = receive(release.played), release.played.parts.profile
    finding = received.finding
    said = f"**{escape_markdown(finding.title)}.** {escape_markdown(finding.reason)}".strip()
    st.markdown(f":red[:material/warning:] {said}" if finding.failed else said)
    if made.dim >= figure.LEAST_PROFILED:
        figure.draw_profile_panel(made, f"release:{release.number}", failed=received.shows_noise)
    draw_map_panel(release.played, f"release:{release.number}")
    figure.draw_centers_table(made)
    rounded = f"Rounded to a public grid; centers.csv has every digit. {escape_markdown(made.plus_minus)}"
    st.caption(rounded, help=glossary.explain_words("centre noise"))
    if (report := release.played.report) is not None:
        _draw_segments_panel(report, f"release:{release.number}")
    if package.SEGMENTS_FILE in release.files:
        with st.expander("Every number about the segments", icon=":material/table_rows:"):
            # As it is written, numbers as numbers.
            file = io.BytesIO(release.files[package.SEGMENTS_FILE])
            segments = pd.read_csv(file, keep_default_na=False, na_values=[""])
            about = f"{len(segments)} lines about the segments: released numbers, most with intervals, and the verdict"
            figure.draw_data_table(segments, alt=about)


def draw_map_panel(played: Played, key: str) -> None:
    """Which places are nearest to each centre, and its noise; nothing unless two columns were clustered."""
    if drawn := draw_map(played):
        centers, half = played.parts.clustered.unit_centers, played.run.domain.region.half
        plane = draw_plane(played.profile, centers, half, find_cells(played), figure.read_palette())
        figure.show(plane, alt=drawn.alt, key=f"{key}:map", stem="map")


_LONGEST_NAME, _MOST_NAMED = 24, 20


def _draw_segments_panel(report: SegmentsReport, key: str) -> None:
    st.subheader("What the segments are", divider="gray", anchor=False, help=glossary.explain_words("release noise ε"))
    _draw_quality_report(report.quality_report)
    figure.show_diagram(draw_segments(report.to_dict(), _ask_names(report, key)), key=f"{key}:segments")


def _draw_quality_report(quality_report: QualityReport) -> None:
    """What a reader without the rows can rest on."""
    words = escape_markdown(" ".join(quality_report.words))
    if quality_report.verdict is QualityVerdict.CANNOT_TELL:
        st.markdown(f"{figure.format_badge('released')} :red[**How good they are cannot be told.**] {words}")
        return
    warned = "" if quality_report.verdict is QualityVerdict.GOOD else ":red[**Better centres exist.**] "
    said = f"{figure.format_badge('released')} {warned}{escape_markdown(' '.join(describe_quality(quality_report)))}"
    st.markdown(said, help=glossary.explain_words("loss centre"))


def _ask_names(report: SegmentsReport, key: str) -> tuple[str, ...]:
    """What the owner calls the segments, for the picture on this page; the files of the release are as they are."""
    places = range(min(len(report.segments), _MOST_NAMED))
    with st.popover("Name the segments", icon=":material/label:", key=f"{key}:naming"):
        st.caption("For this page and its picture. What has left is not changed.")
        look: list[dict[str, Any]] = [{"max_chars": _LONGEST_NAME, "key": f"{key}:name:{place}"} for place in places]
        return tuple(st.text_input(f"Segment {place + 1:d}", **look[place]) or "" for place in places)
