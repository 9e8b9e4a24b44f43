"""What a release asks, top to bottom: what leaves, what it rests on, what it costs, and one button.

All on it is public or released. A row, a true count or a loss on the rows has no way here.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import draw_caption_with_badge, draw_python_section
from dpviz.app.ui.page_sentences import SENTENCES
from dpviz.app.ui.release import words_form
from dpviz.app.ui.release.account_section import draw_account_section, draw_publish_section
from dpviz.app.ui.release.subject import ReleaseSubject, find_refusal
from dpviz.app.ui.same_origin import may_name_paths
from dpviz.core import RequestError, name_library
from dpviz.releases import ReleaseRequest, promise
from dpviz.runs import Script, format_value, windows
from dpviz.tables import declarations
from dpviz.words import capitalize_first, format_number, format_percent, format_things, glossary, render


def _explain_epsilon(epsilon: float, window: windows.Window | None) -> str:
    """The argument for ε by the window of the bench, for the owner's words; "" where there is none."""
    if window is None:
        return ""
    argument = window.argument(epsilon)
    with st.expander("Why this ε, as the card says it", icon=":material/balance:", key="release:why"):
        draw_caption_with_badge("public", escape_markdown(argument))
    return argument


def draw_release_form(asked_of: ReleaseSubject, terms: words_form.Terms, window: windows.Window | None) -> None:
    """What leaves, what it rests on, what it costs, and the button."""
    declared, today = asked_of.declaration, datetime.now(UTC).date().isoformat()
    parts, said = terms.division, declarations.find_words(declared, today=today)
    shares = (parts.segments, parts.bounds, parts.missing)
    draft = ReleaseRequest(terms.request, said, *shares, terms.smallest_group)
    status = _draw_what_leaves(draft, asked_of)
    found: dict[str, list[str]] = {"Bounds": words_form.draw_bounds_section(draft, asked_of)}
    seen, chosen = words_form.draw_accesses_section(asked_of)
    words = words_form.draw_words_form(asked_of.declaration, asked_of.source_key, today=today, chosen=chosen)
    found["Words of the card"] = [words_form.describe_missing(one) for one in words.list_missing()]
    opened = None
    if may_name_paths():
        opened, found["Account"] = draw_account_section(draft, asked_of)
    else:
        found["Account"] = draw_command_line(draft)
    found["Noise"] = _draw_noise_section(draft, asked_of)
    release_request = replace(draft, words=words, seen=seen).with_argument(
        _explain_epsilon(terms.request.epsilon, window)
    )
    in_words = asked_of.with_words(release_request.words)
    draw_publish_section(release_request, in_words, opened, list_hindrances(found))
    asked, account = (release_request.request, release_request.parts), opened and opened.account.path
    script = partial(Script.for_release, in_words.content.name, in_words.declaration, *asked, account)
    draw_python_section(script, key="release", stem="release")
    _draw_standing(status, found)


Hindrances = Mapping[str, Sequence[str]]
"""By part of the page, each sentence that stands against the release."""


def list_hindrances(found: Hindrances) -> list[str]:
    """All of them, in the order of the page."""
    return [words for of_part in found.values() for words in of_part]


def _draw_standing(place: DeltaGenerator, found: Hindrances) -> None:
    """Say in ``place`` which parts are ready, and what to do first about those that are not."""
    against = list_hindrances(found)
    with place.container(gap="xsmall"):
        with st.container(horizontal=True, gap="xsmall"):
            for part, of_part in found.items():
                if of_part:
                    st.badge(f"{escape_markdown(part)}: to do", icon=":material/block:", color="red")
                else:
                    st.badge(escape_markdown(part), icon=":material/check:", color="green")
        if not against:
            st.markdown(":green[:material/check_circle: **Ready.**] Type ε at the foot of this page, and press.")
        else:
            st.markdown(f":red[:material/block: **Next:**] {escape_markdown(against[0])}")


def _draw_what_leaves(release_request: ReleaseRequest, asked_of: ReleaseSubject) -> DeltaGenerator:
    """Draw the sentence; the place below it that tells what stands against the release."""
    declared, epsilon, delta = asked_of.declaration, release_request.request.epsilon, release_request.delta
    leaves = escape_markdown(_describe_what_leaves(release_request, asked_of))
    st.subheader(leaves, anchor=False, help=glossary.explain_words("ε, centre, segment, cluster"))
    slack = f"The exception is δ = {promise.format_small(delta)}, {promise.format_one_in(delta)}." if delta else ""
    odds = promise.describe_odds(declared.relation, epsilon, has_id=declared.id_column is not None)
    said = escape_markdown(f"{capitalize_first(odds)} {slack}".rstrip())
    st.markdown(said, help=glossary.explain_words("ε, odds, unit of privacy"))
    return st.container()


def _describe_what_leaves(release_request: ReleaseRequest, asked_of: ReleaseSubject) -> str:
    """What is published, and at which ε."""
    request, declared = release_request.request, asked_of.declaration
    columns = format_things(len(declared.columns), "column")
    segments = ", and what their segments are" if release_request.segments else ""
    missing = ", and how many values are missing" if release_request.missing else ""
    centers = capitalize_first(format_things(request.k, "centre"))
    return f"{centers} of {columns}{segments}{missing}, at ε = {format_number(request.epsilon)}"


def draw_command_line(release_request: ReleaseRequest) -> list[str]:
    """Draw the commands for what is asked; why the page cannot do it."""
    st.subheader("The account", divider="gray", anchor=False, help=glossary.explain_term("account"))
    st.info(
        SENTENCES.fill("by_command_line"),
        title="Released by the command line",
        icon=":material/terminal:",
    )
    ways = {"number": format_number, "value_of": format_value, "quote": shlex.quote}
    usual = ReleaseRequest.bounds
    commands = render("release_commands.txt.j2", asked=release_request, usual_bounds=usual, **ways).rstrip()
    st.code(commands, language="bash")
    return ["This server is not this machine's alone: release by the command line, with the commands below."]


def _draw_noise_section(release_request: ReleaseRequest, asked_of: ReleaseSubject) -> list[str]:
    """Draw it; what in it stands against the release."""
    try:
        library = name_library()
    except RequestError as error:
        st.error(escape_markdown(error), icon=":material/block:")
        return [str(error)]
    against = _list_hindrances(release_request, asked_of)
    for words in against:
        st.error(escape_markdown(words), icon=":material/block:")
    if against:
        return against
    with st.expander("The noise, and how ε is divided", icon=":material/grain:", key="release:noise"):
        st.markdown(
            f"Drawn by **{escape_markdown(library)}** on whole numbers, discrete, from the randomness of the operating "
            "system: no seed gives it again, and its last digits tell nothing.",
            help=glossary.explain_term("noise"),
        )
        shares = release_request.shares(asked_of.declaration)
        epsilon = release_request.request.epsilon
        parts = [
            f"{escape_markdown(name)} ε = {format_number(part.epsilon)} ({format_percent(part.epsilon / epsilon)})"
            for name, part in shares.items()
        ]
        st.caption(f"ε is divided: {'; '.join(parts)}. The parts add up.", help=glossary.explain_term("accounting"))
    return against


def _list_hindrances(release_request: ReleaseRequest, asked_of: ReleaseSubject) -> list[str]:
    declared, asked = asked_of.declaration, release_request.request

    def check() -> None:
        asked.check_numbers()
        if not asked.card.private:
            raise RequestError(f"{asked.card.title} reads the rows as they are: it is never released.")
        release_request.find_share(declared)
        if asked_of.table is not None:
            request = release_request.make_algorithm_request(declared)
            request.check(asked_of.table.private)
            request.check_releasable(asked_of.table.private)

    return find_refusal(check)
