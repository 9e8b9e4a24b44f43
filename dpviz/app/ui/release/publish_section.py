"""The one button: ε is typed to confirm, and one press is one charge, however often the page runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.release.account_section import Opened
from dpviz.app.ui.release.released_notice import list_publications
from dpviz.app.ui.release.subject import ReleaseSubject
from dpviz.app.ui.server_log import log_defect
from dpviz.core import RequestError
from dpviz.releases import PublishJob, ReleaseRequest, preflight
from dpviz.words import capitalize_first, explain_term, format_things

_ANOTHER = "release:another"


@dataclass(frozen=True, eq=False)
class Publication:
    """One press of this visit: what was released, and how that goes."""

    title: str
    source_key: str
    release_request: ReleaseRequest
    job: PublishJob


def find_last_publication() -> Publication | None:
    """The last press, unless its owner has asked for another one since."""
    presses = list_publications()
    if not presses or (presses[-1].job.state.final and st.session_state.get(_ANOTHER) == len(presses)):
        return None
    return presses[-1]


def prepare_another() -> None:
    """Bring the form back for one more release; call it from a callback."""
    st.session_state[_ANOTHER] = len(list_publications())


def draw_publish_section(
    release_request: ReleaseRequest, asked_of: ReleaseSubject, opened: Opened | None, against: Sequence[str]
) -> None:
    """Draw the confirmation and the button, and publish if it was pressed.

    Parameters
    ----------
    release_request : ReleaseRequest
        What is to be released.
    asked_of : ReleaseSubject
        The table, and what is declared of it.
    opened : Opened or None
        The account; None: none is open.
    against : sequence of str
        What stands against the release, a sentence each.
    """
    st.subheader("Release", divider="gray", anchor=False, help=explain_term("released"))
    number = len(list_publications()) + 1
    wanted = f"{release_request.request.epsilon:g}"
    said, place = st.columns([2, 3], vertical_alignment="bottom", gap="small")
    # The keys of one press are never those of the next: a second click cannot press again.
    typed = said.text_input(
        f"Type {wanted} to confirm ε",
        key=f"release:confirm:{number}",
        placeholder=wanted,
        disabled=bool(against),
    )
    confirmed = _is_same(typed or "", release_request.request.epsilon)
    is_pressed = place.button(
        f"Charge the account and release ε = {wanted}",
        type="primary",
        icon=":material/publish:",
        key=f"release:press:{number}",
        disabled=bool(against) or not confirmed,
        help=f"The account is charged first, then noise is drawn. It cannot be taken back. {explain_term('charge')}",
    )
    if against:
        stand = "stands" if len(against) == 1 else "stand"
        st.caption(
            f":material/block: {capitalize_first(format_things(len(against), 'thing'))} above {stand} against it."
        )
    elif number > 1:
        st.caption("This visit has released before: one more press is one more charge, and both add up.")
    if is_pressed and confirmed and not against and opened is not None:
        _publish(release_request, asked_of, opened)


def _publish(release_request: ReleaseRequest, asked_of: ReleaseSubject, opened: Opened) -> None:
    try:
        prepared = preflight(
            release_request, asked_of.content, asked_of.declaration, opened.account, opened=asked_of.table
        )
    except RequestError as error:
        st.error(escape_markdown(error), title="Nothing was charged", icon=":material/block:")
        return
    # One step that nothing interrupts: whoever runs the page again finds the press, not the button.
    list_publications().append(
        Publication(asked_of.title, asked_of.source_key, release_request, PublishJob(prepared, on_defect=log_defect))
    )
    st.rerun()


def _is_same(typed: str, epsilon: float) -> bool:
    """Whether this is that number, as it is shown or as it is."""
    try:
        return float(typed.strip().replace(",", ".")) in (epsilon, float(f"{epsilon:g}"))
    except ValueError:
        return False
