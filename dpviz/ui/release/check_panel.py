"""Check a release: whoever has a zip drops it, and reads what was checked, what is wrong, and what nobody can tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import streamlit as st

from dpviz.charts.wording import opening, things
from dpviz.check import RequestError
from dpviz.glossary import words_of
from dpviz.release.check_work import check_work
from dpviz.release.checks import CANNOT_TELL
from dpviz.release.read_release import ReadRelease
from dpviz.release.verify import Verdict
from dpviz.runs.jobs import Job
from dpviz.ui.escape import plain
from dpviz.ui.job_panel import job_panel, job_shelf

_KEPT = "release:checked"
_MOST_MEGABYTES = 60
_MOST_FINDINGS = 20


@dataclass(frozen=True, eq=False)
class _Checked:
    """A zip that was dropped, by the name of its upload, and the job that checks it."""

    upload: str
    name: str
    job: Job[Any]


def check_panel() -> None:
    """Draw it."""
    st.subheader("Check a release", divider="gray", anchor=False)
    st.markdown(
        "Drop the zip that somebody has published. Without the data, every file of it is made anew from its released "
        "answers and compared, and the ledgers are added up.",
        help=words_of("ledger, noise scale, centres"),
    )
    file = st.file_uploader("The zip of a release", type=["zip"], key="release:check", max_upload_size=_MOST_MEGABYTES)
    if file is None:
        return
    checked = _kept()
    if checked is None or checked.upload != file.file_id:
        checked = _begin(file.file_id, file.name, file.getvalue())
    if checked is None:
        return
    job_panel(checked.job, label="Checking", key=_KEPT)
    for read in (item for item in checked.job.items if isinstance(item, ReadRelease)):
        _told(checked.name, read.verdict)
        st.page_link("read.py", label="See what it tells: the page Read", icon=":material/visibility:")


def _begin(upload: str, name: str, data: bytes) -> _Checked | None:
    if (before := _kept()) is not None:
        before.job.cancel()
    try:
        kept = _Checked(upload, name, job_shelf().submit(check_work, data))
    except RequestError as error:
        st.error(plain(error), icon=":material/block:")
        return None
    st.session_state[_KEPT] = kept
    return kept


def _told(name: str, verdict: Verdict) -> None:
    """What came out."""
    if verdict.holds:
        st.success(
            f"Nothing is found to be wrong with {plain(name)}, as far as it can be checked.",
            title="Every check holds",
            icon=":material/verified:",
        )
    else:
        number = len(verdict.findings)
        st.error(
            f"{opening(things(number, 'thing'))} in {plain(name)} {'is' if number == 1 else 'are'} not as a release "
            "writes it: do not rely on it.",
            title="This release is not what it says",
            icon=":material/gpp_bad:",
        )
        lines = [f"- **{plain(one.file)}**: {plain(one.what)}" for one in verdict.findings[:_MOST_FINDINGS]]
        if number > _MOST_FINDINGS:
            lines.append(f"- and {number - _MOST_FINDINGS:d} more")
        st.markdown("\n".join(lines))
    signed = f"Signed by the key {plain(verdict.signer)}." if verdict.signer else "Nobody has signed it."
    st.caption(f":material/draw: {signed}")
    was_checked, untold = st.columns(2, gap="medium")
    with was_checked:
        st.markdown("**What was checked**")
        st.markdown("\n".join(f"- {plain(line)}" for line in verdict.checked))
    with untold:
        st.markdown("**What nobody can tell from these files**")
        st.markdown("\n".join(f"- {plain(line)}" for line in CANNOT_TELL))


def _kept() -> _Checked | None:
    return cast("_Checked | None", st.session_state.get(_KEPT))
