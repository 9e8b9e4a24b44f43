"""The page *Read*: whoever has the zip of a release drops it, and sees whether it holds and what it tells.

Nothing on it is of rows: the zip is all there is, and what is shown comes from its released answers.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import pandas as pd
import streamlit as st

from dpviz.app.charts.plot import Plot, make_layout
from dpviz.app.ui import figure
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import SENTENCES
from dpviz.app.ui.job_panel import draw_job_panel, open_job_registry
from dpviz.app.ui.release.released_panel import draw_map_panel
from dpviz.core import RequestError
from dpviz.releases import (
    QUESTION_KINDS,
    QualityReport,
    QualityVerdict,
    ReadRelease,
    Received,
    check_work,
    example_work,
    format_answers,
    package,
)
from dpviz.runs import Job, Script
from dpviz.words import (
    DRAWS_SAY,
    NINE_IN_TEN,
    capitalize_first,
    format_noisy,
    format_ratio,
    format_small,
    format_things,
    glossary,
    read_questions,
    render,
)

_MOST_MEGABYTES, _MOST_FINDINGS = 60, 20
_EXAMPLE = "read:example"
_ANSWERS = {
    "Is it what it says?": "Without the data, every file of the zip is made anew from its answers and compared.",
    "What was released?": "Segments on a lane for each column, every number with its noise.",
    "What may I conclude?": "Sentences that the noise allows, and those that it does not.",
    "Has anything changed?": "Two releases side by side, where their segments pair off.",
}
"""What the page answers, while it has nothing to read."""
_ASKED_FIRST = [*QUESTION_KINDS].index("larger")
# The axis of the quality gauge ends here: what is worse is as bad.
_WORST = 4.0


def draw_read_page() -> None:
    """Draw it."""
    head, below = st.container(), st.container()
    with below:
        release = _ask_zip("The zip of a release", "read:one")
        if st.session_state.get("read:one") is None:
            release = _show_example()
    with head:
        _draw_title(release)
        if release is None:
            for place, (question, answer) in zip(st.columns(len(_ANSWERS)), _ANSWERS.items(), strict=True):
                place.markdown(f"**{escape_markdown(question)}**  \n{escape_markdown(answer)}")
            st.caption("Nothing leaves this machine.", help=glossary.explain_words("segment, centre, noise, ledger"))
    if release is None or release.received is None or release.profile is None:
        _draw_common_questions()
        return
    failed = release.received.shows_noise
    figure.draw_profile_panel(release.profile, "read", failed=failed, mark="" if release.holds else "not what it says")
    if release.holds and release.played is not None:
        draw_map_panel(release.played, "read")
    st.caption(escape_markdown(release.profile.plus_minus))
    if release.holds:  # of a release that is not what it says nothing is concluded
        _draw_continued(release.received)
        _draw_conclusions(release.received)
        if release.report is not None:
            _draw_quality(release.report.quality_report)
    tabs = {"Numbers with their noise": _draw_numbers, "Ask": _draw_questions, "Compare with another": _draw_comparison}
    tabs |= {"Take away": _draw_take_away, "What was checked": _draw_checks}
    figure.draw_tabs({label: partial(draw, release) for label, draw in tabs.items()}, key="read:more")
    _draw_common_questions()


def _draw_common_questions() -> None:
    """What people ask about any release, folded away."""
    with st.expander("Questions about a release", icon=":material/contact_support:"):
        for one in read_questions():
            st.markdown(f"**{escape_markdown(one.asks)}** {escape_markdown(one.says)}")
            st.caption(f"From: {escape_markdown(one.source)}.")


@st.cache_resource(show_spinner=False)
def share_example() -> list[ReadRelease]:
    """The example of this server, once a visit has made it."""
    return []


def _show_example() -> ReadRelease | None:
    """A release of a public sample for whoever has none at hand; None until it is there."""
    shared = share_example()
    job = cast("Job[Any] | None", st.session_state.get(_EXAMPLE))
    if not shared and job is None:
        with figure.say_refusal():
            job = st.session_state[_EXAMPLE] = open_job_registry().submit(example_work)
    if not shared and job is not None:
        draw_job_panel(job, label="An example", key=_EXAMPLE)
        shared.extend(item for item in job.items if isinstance(item, ReadRelease))
    if not shared:
        return None
    st.caption("An example: a public sample, released on this machine. Drop a zip to read yours.")
    return shared[0]


def _ask_zip(label: str, key: str) -> ReadRelease | None:
    """The release in the zip that is dropped here; None while there is none."""
    file = st.file_uploader(label, type=["zip"], key=key, max_upload_size=_MOST_MEGABYTES)
    if file is None:
        return None
    slot = f"{key}:dropped"
    # By the id of its upload the job that reads it.
    upload, job = cast("tuple[str, Job[Any] | None]", st.session_state.get(slot, ("", None)))
    if job is None or upload != file.file_id:
        if job is not None:
            job.cancel()
        try:
            job = open_job_registry().submit(check_work, file.getvalue())
        except RequestError as error:
            st.error(escape_markdown(error), icon=":material/block:")
            return None
        st.session_state[slot] = (file.file_id, job)
    draw_job_panel(job, label="Reading", key=slot)
    return next((item for item in job.items if isinstance(item, ReadRelease)), None)


def _draw_title(release: ReadRelease | None) -> None:
    if release is None:
        st.title("Read a release", anchor=False)
        return
    received = release.received
    if not release.holds or received is None:
        title = "This release cannot be read" if received is None else "This release is not what it says"
        st.title(title, anchor=False)
        _draw_findings(release)
        return
    st.title(escape_markdown(received.finding.title), anchor=False)
    checks = release.verdict.passed
    signed = f" Signed by the key {release.verdict.signer}." if release.verdict.signer else ""
    delta = format_small(received.delta)
    st.markdown(
        f":green[:material/verified:] **{escape_markdown(release.name)} is what it says**: {checks:d} checks hold, "
        f"from the zip alone; {escape_markdown(release.verdict.noise)}. ε = {received.epsilon:g}, δ = "
        f"{escape_markdown(delta)}; protected: {escape_markdown(release.unit)}.{escape_markdown(signed)}",
        help="Nobody can tell from the files: " + "; ".join(package.CANNOT_TELL) + ".",
    )
    if received.finding.reason:
        st.markdown(f"**{escape_markdown(received.finding.reason)}**")
    for words in release.verdict.advisories:
        st.warning(escape_markdown(words), title="It promises less than it says", icon=":material/gpp_maybe:")


def _draw_findings(release: ReadRelease, title: str = "Do not rely on it") -> None:
    """What was found, before anything else."""
    findings = release.verdict.findings
    lines = [f"- **{escape_markdown(one.file)}**: {escape_markdown(one.what)}" for one in findings[:_MOST_FINDINGS]]
    if len(findings) > _MOST_FINDINGS:
        lines.append(f"- and {len(findings) - _MOST_FINDINGS:d} more")
    number = f"{capitalize_first(format_things(len(findings), 'thing'))} {'is' if len(findings) == 1 else 'are'}"
    st.error(f"{number} not as a release writes it.\n" + "\n".join(lines), title=title, icon=":material/gpp_bad:")


def _draw_continued(received: Received) -> None:
    """The segments of the release that this one continues, as they were and as they were counted again."""
    continued = received.continued
    if continued is None:
        return
    st.subheader("What has changed?", anchor=False, help=glossary.explain_words("segment noise"))
    st.markdown(escape_markdown(continued.words))
    earlier, now = continued.earlier, continued.now
    table = pd.DataFrame(
        {
            "earlier segment": [f"{place + 1}" for place in range(len(earlier.sizes))],
            "now less then": _write_rows(continued.differences, continued.sd),
            "beyond the noise": ["yes" if one else "" for one in continued.changed],
            "rows then": _write_rows(earlier.sizes, earlier.size_sds),
            "rows now": _write_rows(now.sizes, [now.sd] * len(now.sizes)),
            "segment here": [f"{place + 1}" if place >= 0 else "none near it" for place in continued.places],
        }
    )
    figure.draw_data_table(table, alt=f"{len(table)} segments of the earlier release, then and now", height="auto")


def _write_rows(sizes: Iterable[float], sds: Iterable[float]) -> list[str]:
    return [format_noisy(size, NINE_IN_TEN * sd) for size, sd in zip(sizes, sds, strict=True)]


def _draw_conclusions(received: Received) -> None:
    """Two lists: what may be concluded, and what not."""
    may, may_not = st.columns(2, gap="large")
    with may:
        st.subheader("What may I conclude?", anchor=False)
        told = None if received.continued is None else received.continued.words  # above
        for one in (one for one in received.may if one.sentence != told):
            mark = ":green[:material/check:]" if one.good else ":red[:material/warning:]"
            st.markdown(f"{mark} {escape_markdown(one.sentence)}")
    with may_not:
        st.subheader("What not?", anchor=False)
        for sentence in received.may_not:
            st.markdown(f":gray[:material/block:] {escape_markdown(sentence)}")
        if len(pairs := received.tabulate_pairs()):
            with st.expander("The noise of each pair of segments", icon=":material/difference:"):
                st.caption("A smaller difference than this between the two is within the noise, nine times in ten.")
                figure.draw_data_table(pairs, alt="Noise of the difference of each pair of segments", height="auto")


def _draw_quality(quality_report: QualityReport) -> None:
    """The quality report: how much of the loss of one centre is left."""
    st.subheader("How good are the segments?", anchor=False, help=glossary.explain_words("loss centre"))
    if quality_report.verdict is QualityVerdict.CANNOT_TELL:
        st.markdown(f":red[:material/help:] {escape_markdown(' '.join(quality_report.words))}")
        return
    st.caption(SENTENCES.fill("quality"))
    value, blind = format_ratio(quality_report.ratio.value), format_ratio(quality_report.ratio_blind.value)
    alt = f"Capped loss over that of one centre: {value} of the released centres, {blind} of centres without data"
    figure.show(_make_gauge(quality_report), alt=alt, key="read:gauge", stem="quality", bare=True)


def _make_gauge(quality_report: QualityReport) -> Plot:
    ink = figure.read_palette()
    plot = Plot(make_layout(ink, height=130))
    plot.update_layout(margin={"l": 8, "r": 12, "t": 8, "b": 26}, showlegend=False, dragmode=False)
    plot.add_vrect(0.9, _WORST, line={"width": 0}, fillcolor=ink.fade(ink.muted, 0.12), layer="below")
    plot.add_vline(1.0, line={"color": ink.text, "width": 1.5})
    told = ((quality_report.ratio, ink.released), (quality_report.ratio_blind, ink.muted))
    for y, (one, hue) in enumerate(told):
        ends = [min(max(end, 0.0), _WORST) for end in (one.low, one.high)]
        quiet: dict[str, Any] = {"meta": "released", "showlegend": None}
        plot.add_scatter(ends, [y, y], "lines", line={"color": ink.fade(hue, 0.45), "width": 9}, **quiet)
        look = {"marker": {"size": 13, "color": hue, "line": {"width": 1.5, "color": ink.surface}}, **quiet}
        look |= {"textposition": "top center", "textfont": {"size": 12, "color": ink.text}, "cliponaxis": False}
        text = [f"<b>{format_ratio(one.value)}</b>"]
        plot.add_scatter([min(one.value, _WORST)], [y], "markers+text", text=text, **look)
    plot.update_xaxes(range=[0, _WORST], tickvals=[0, 1, 2, 3, 4], ticktext=["0", "one centre", "2×", "3×", "4×"])
    plot.update_xaxes(showgrid=False, zeroline=False, fixedrange=True, tickangle=0)
    plot.update_yaxes(range=[1.5, -0.9], tickvals=[0, 1], ticktext=["these centres", "without data"])
    plot.update_yaxes(showgrid=False, zeroline=False, fixedrange=True)
    return plot


def _draw_numbers(release: ReadRelease) -> None:
    st.caption("A row a number: its interval is what a ± says, error_sd how far off it is, as a standard deviation.")
    figure.draw_data_table(release.to_pandas(), alt=f"{len(release.numbers)} released numbers with their noise")


def _draw_questions(release: ReadRelease) -> None:
    """A question over several numbers, by its kind and what that needs; the answer is a sentence."""
    draws = None if release.played is None or not release.holds else release.played.draws
    if draws is None:
        st.caption("Questions are answered of a release that holds and says something of its segments.")
        return
    kinds = {capitalize_first(kind.words): name for name, kind in QUESTION_KINDS.items()}
    asked = kinds[st.selectbox("What do you ask?", [*kinds], index=_ASKED_FIRST, key="read:ask")]
    kind = QUESTION_KINDS[asked]
    which, about, more = st.columns(3)
    segments: list[int] = []
    if kind.most:
        most = None if kind.most > draws.k else int(kind.most)
        numbers = list(range(1, draws.k + 1))
        look: dict[str, Any] = {"default": numbers[: kind.least], "key": f"read:ask:{asked}:segments"}
        segments = which.multiselect("Segments", numbers, max_selections=most, **look)
    column, label, value = "", "", None
    if "column" in kind.needs:
        column = str(about.selectbox("Column", kind.list_columns(draws), key=f"read:ask:{asked}:column") or "")
    if "label" in kind.needs and column:
        labels = draws.find_tally(column)[1].labels
        label = str(more.selectbox("Value", labels, key=f"read:ask:{asked}:label:{column}") or "")
    if "value" in kind.needs and column:
        value = more.number_input("At least", key=f"read:ask:{asked}:value:{column}")
    if len(segments) < kind.least or (kind.needs and not column):
        st.caption("Choose what is asked about." if not kind.needs or column else "No column can be asked so.")
        return
    with figure.say_refusal():
        answer = release.ask(asked, *segments, column=column, label=label, value=value)
        st.markdown(f"**{escape_markdown(answer.sentence)}**")
        st.caption(DRAWS_SAY)
        content = format_answers([answer]).encode("utf-8")
        figure.draw_download("The answer (CSV)", content, "answer.csv", key="read:answer")


def _draw_checks(release: ReadRelease) -> None:
    figure.draw_bullets(release.verdict.checked)
    st.markdown("**What nobody can tell from these files**")
    figure.draw_bullets(package.CANNOT_TELL)


def _draw_comparison(release: ReadRelease) -> None:
    """A second release beside the first; no difference is shown unless their segments pair off."""
    second = _ask_zip("A second zip, of the same columns, bounds and k", "read:two")
    if second is None:
        return
    if not second.holds:
        _draw_findings(second, "The second release is not what it says")
    if against := release.find_contradiction(second):
        st.error(escape_markdown(against), icon=":material/content_copy:")
    with figure.say_refusal():
        found = release.compare_with(second)
        st.subheader(escape_markdown(found.title), anchor=False)
        st.markdown(escape_markdown(found.words))
        beside = "the second release, matched one to one"
        mark = "" if release.holds and second.holds else "not what it says"
        both = replace(found.one, reference=found.other.centers)
        figure.draw_profile_panel(both, "read:both", beside=beside, mark=mark, arrange="Arrange both")
        if found.passes:
            counts = f"a difference counts beyond {found.limit:.1f}"
            st.caption(f"Second less first, in standard deviations of both noises; {counts}.")
            alt = "Differences in standard deviations of both noises"
            figure.draw_data_table(found.table(), alt=alt, height="auto")


SNIPPET = render("script_tidy.txt.j2")
"""What somebody does with the tidy table first."""


def _draw_take_away(release: ReadRelease) -> None:
    content = release.to_csv().encode("utf-8")
    figure.draw_download("Every number (tidy CSV)", content, "release_tidy.csv", key="read:tidy")
    st.code(SNIPPET, language="python")
    st.caption("The same without this page: `dpviz read release.zip`.")
    script = partial(Script.fill, "script_read.txt.j2", release=repr("release.zip"))
    figure.draw_python_section(script, key="read", stem="read-release")
