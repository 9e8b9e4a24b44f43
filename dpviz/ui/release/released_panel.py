"""A press on the page: its steps while it is under way, then what has left, or why nothing did."""

from __future__ import annotations

import io

import pandas as pd
import streamlit as st

from dpviz.charts.wording import number, things
from dpviz.check import RequestError
from dpviz.glossary import explained, words_of
from dpviz.release.account import Standing
from dpviz.release.package import CENTERS, PAGE, SEGMENTS
from dpviz.release.promise import plain_number, small
from dpviz.release.releasing import Release
from dpviz.release.zips import zip_of
from dpviz.ui.badges import badge
from dpviz.ui.escape import plain
from dpviz.ui.figure import data_table
from dpviz.ui.job_panel import duration
from dpviz.ui.polled import polled
from dpviz.ui.profile_panel import profile_panel
from dpviz.ui.release.press import Pressed, prepare_another
from dpviz.ui.release.segments_panel import segments_panel

_POLL_SECONDS = 0.5
# From so many columns on centres are drawn as profiles.
_PROFILED = 3


def pressed_panel(press: Pressed) -> None:
    """Draw it; nothing on it can be changed."""
    if not press.pressing.state.final:
        _under_way(press)
    elif press.pressing.release is not None:
        _left(press, press.pressing.release)
    else:
        _failed(press)
    if press.pressing.state.final:
        st.button(
            "Prepare another release",
            key="release:prepare_another",
            icon=":material/add:",
            on_click=prepare_another,
            help="It is another charge: the ε of both add up.",
        )


def _under_way(press: Pressed) -> None:
    pressing, request = press.pressing, press.order.request
    st.subheader(
        f"Releasing {request.k:d} centres of {plain(press.title)} at ε = {number(request.epsilon)}", anchor=False
    )

    def panel() -> None:
        if pressing.state.final:
            st.rerun()
        report = pressing.progress
        note = report.note if report is not None else "begins"
        charge = f"charge {pressing.number:d} is written" if pressing.number is not None else "nothing is charged yet"
        st.progress(
            report.fraction if report is not None else 0.0,
            text=f"**{plain(note)}** · {charge} · {duration(pressing.elapsed)} so far",
        )

    polled(panel, every=_POLL_SECONDS, key="release:under_way")
    st.caption(
        "It goes on whatever you do: another page, a reload or a closed window neither stops nor repeats it. A copy of "
        "what leaves is kept beside the account."
    )


def _left(press: Pressed, release: Release) -> None:
    request, pressing = press.order.request, press.pressing
    standing = _standing(press)
    left = "" if standing is None else f"; ε = {number(standing.left_epsilon)} of {number(standing.cap_epsilon)} left"
    st.subheader(
        f"{plain(press.title)}: released at ε = {number(request.epsilon)}{left}",
        anchor=False,
        help=explained("released"),
    )
    st.success(
        f"Charge {release.number:d}. The zip holds {things(len(release.files), 'file')}: centres, card, ledger, the "
        "declaration, and what others need to check it without a row."
        + (f" A copy lies beside the account as {plain(pressing.kept)}." if pressing.kept else ""),
        icon=":material/check_circle:",
    )
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            "The release (zip)",
            zip_of(release.files),
            f"{_stem(press)}.zip",
            "application/zip",
            type="primary",
            icon=":material/download:",
            key="release:zip",
            on_click="ignore",
        )
        st.download_button(
            "The card alone (HTML)",
            release.files[PAGE],
            f"{_stem(press)}-card.html",
            "text/html",
            icon=":material/article:",
            key="release:card",
            on_click="ignore",
        )
    if not pressing.kept:
        st.warning("No copy could be written beside the account: take the zip now.", icon=":material/warning:")
    _tables(release)


def _tables(release: Release) -> None:
    _bought(release)
    _missing(release)
    st.subheader("The centres", divider="gray", anchor=False, help=explained("centre"))
    badge("released")
    if release.played.parts.profile.dim >= _PROFILED:
        profile_panel(release.played.parts.profile, f"release:{release.number}", table=False)
    centers = _read(release.files[CENTERS])
    facts = f"{len(centers)} released centres in data units, rounded to their grid"
    data_table(centers, alt=facts, height="auto")
    st.caption(
        "Centres carry noise and are rounded to a public grid; sizes carry noise. Columns that end in _sd are the "
        "standard deviation of it.",
        help=words_of("centre noise"),
    )
    segments_panel(release.played.parts, f"release:{release.number}")
    if SEGMENTS in release.files:
        with st.expander("Every number about the segments", icon=":material/table_rows:"):
            segments = _read(release.files[SEGMENTS])
            data_table(segments, alt=f"{len(segments)} released numbers about the segments, with their intervals")


def _missing(release: Release) -> None:
    """The shares of missing cells that were bought."""
    told = release.played.parts.missing_told
    if not told:
        return
    st.subheader("Missing values", divider="gray", anchor=False, help=explained("released"))
    badge("released")
    st.markdown("\n".join(f"- {plain(one)}" for one in told))


def _bought(release: Release) -> None:
    """The bounds that were bought, and whether noise hid them."""
    bought = release.played.parts.bounds
    if bought is None:
        return
    st.subheader("The bounds that were bought", divider="gray", anchor=False, help=explained("bounds"))
    lines = [
        f"- **{plain(one.name)}**: {plain(plain_number(one.lower))} to {plain(plain_number(one.upper))}"
        + ("" if one.sure else "; :red[:material/warning: noise hides the range: do not rely on it]")
        for one in bought.columns
    ]
    badge("released")
    st.markdown("\n".join(lines))


def _read(file: bytes) -> pd.DataFrame:
    """A file of the release as it is written, numbers as numbers."""
    return pd.read_csv(io.BytesIO(file), keep_default_na=False, na_values=[""])


def _failed(press: Pressed) -> None:
    pressing = press.pressing
    charged = pressing.number is not None
    why = pressing.error.message if pressing.error is not None and pressing.error.message else ""
    kind = pressing.error.kind if pressing.error is not None else ""
    if not why:
        why = f"It stopped with {kind}. Its message is not shown, because it could quote the rows."
    title = f"Charged ({pressing.number}), and nothing was released" if charged else "Nothing was charged or released"
    st.error(plain(why), title=plain(title), icon=":material/error:")
    if charged:
        st.markdown(
            f"The charge of ε = {number(press.order.request.epsilon)}, δ = {plain(small(press.order.delta))} stays in "
            "the account: noise may have been drawn. Another release is another charge."
        )


def _standing(press: Pressed) -> Standing | None:
    try:
        return press.pressing.prepared.account.standing()
    except RequestError:
        return None


def _stem(press: Pressed) -> str:
    letters = "".join(letter if letter.isalnum() else "-" for letter in press.title.lower()).strip("-")
    return f"{letters[:40] or 'table'}-release-{press.pressing.number or 0}"
