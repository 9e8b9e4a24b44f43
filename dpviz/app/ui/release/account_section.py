"""The account that a release is charged to, and the one button: one press is one charge, whatever runs again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from dpviz.app.charts.result_charts import draw_account, find_left
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import look_of, say_refusal, show_plot
from dpviz.app.ui.release.released_notice import list_publications
from dpviz.app.ui.release.subject import ReleaseSubject, find_refusal
from dpviz.app.ui.server_log import log_defect
from dpviz.app.ui.session import make_once, recall, remember
from dpviz.core import RequestError, check
from dpviz.releases import Account, AccountBalance, PublishJob, ReleaseRequest, State, preflight
from dpviz.words import format_number, format_small, glossary

_PATH, _TYPED, _ALIKE = "release:account", "release:account_path", "release:alike"
_NEW, _REFUSED = "release:new", "release:new_refused"
# A page does not wait long for another program.
_PATIENCE = 2.0
_SHOWN = 3
_ABOUT = glossary.explain_term("account", "There is no row in it.")


class Opened(NamedTuple):
    """An account, and how it stands now."""

    account: Account
    standing: AccountBalance


def draw_account_section(release_request: ReleaseRequest, asked_of: ReleaseSubject) -> tuple[Opened | None, list[str]]:
    """Draw the section of the account."""
    st.subheader("The account", divider="gray", anchor=False, help=_ABOUT)
    st.session_state.setdefault(_TYPED, recall(_PATH, ""))
    typed = st.text_input(**look_of("account_path", key=_TYPED))
    path = str(remember(_PATH, _expand_path(typed or "")))
    if not path:
        return None, ["No account is open: give the path of one, or of a new one."]
    if not Path(path).exists():
        if refused := st.session_state.pop(_REFUSED, ""):
            st.error(escape_markdown(refused), title="No account was made", icon=":material/block:")
        with st.form(_NEW, border=False):
            name, epsilon, delta, button = st.columns([3, 1, 1, 1], vertical_alignment="bottom", gap="small")
            name.text_input(**look_of("account_name", value=asked_of.title, key=f"{_NEW}:name"))
            epsilon.number_input(**look_of("cap_epsilon", key=f"{_NEW}:epsilon"))
            delta.number_input(**look_of("cap_delta", key=f"{_NEW}:delta"))
            button.form_submit_button("Make it", on_click=_make, width="stretch")
        return None, ["There is no account at this path yet: make it."]
    try:
        account = Account.open(path, patience=_PATIENCE)
        opened = Opened(Account(account.path), account.standing())
    except RequestError as error:
        st.error(escape_markdown(error), icon=":material/block:")
        return None, [str(error)]
    against = find_refusal(lambda: opened.standing.refuse(release_request.charge(asked_of.declaration)))
    _draw_standing(release_request, opened, against)
    _draw_look_alikes(opened, asked_of.declaration.columns)
    return opened, against


def _make() -> None:
    """Make the account that the form asks for; called before the page is drawn, which opens it."""
    name = st.session_state[f"{_NEW}:name"] or ""
    epsilon, delta = (float(st.session_state[f"{_NEW}:{cap}"]) for cap in ("epsilon", "delta"))
    try:
        Account.new(recall(_PATH, ""), name=name, cap_epsilon=epsilon, cap_delta=delta)
    except RequestError as error:
        st.session_state[_REFUSED] = str(error)


def _draw_standing(release_request: ReleaseRequest, opened: Opened, against: list[str]) -> None:
    standing, now = opened.standing, release_request.request.epsilon
    cap, before = standing.cap_epsilon, standing.spent_epsilon
    st.markdown(f"**{escape_markdown(standing.name)}**: ε", help=glossary.explain_term("epsilon"))
    show_plot(draw_account(cap, before, now), key="release:account_bar", bare=True)
    past, added = format_small(standing.spent_delta), format_small(release_request.delta)
    left_delta = standing.left_delta - release_request.delta
    left = f"{format_small(left_delta)} left after it" if left_delta >= 0 else "not enough left"
    delta = escape_markdown(f"{past} before, {added} now, {left} of {format_small(standing.cap_delta)}")
    spent, adds, rest, limit = map(format_number, (before, now, find_left(cap, before, now), cap))
    st.caption(f"ε: {spent} before, {adds} now, {rest} left of {limit}. δ: {delta}.")
    for words in against:
        st.error(escape_markdown(words), icon=":material/block:")
    _draw_last_releases(opened)


def _draw_last_releases(opened: Opened) -> None:
    """The last releases of the account, with what has become of each, and where its copy lies."""
    account, standing = opened
    entries = standing.entries[-_SHOWN:]
    lines = []
    for entry in reversed(entries):
        spent, copy = format_number(entry.charge.epsilon), account.locate_copy(entry.number)
        said = f"- release {entry.number:d}: ε = {spent}, {escape_markdown(entry.at[:10])}"
        # Whoever has reloaded the page finds here what was paid for.
        kept = f"; its zip lies beside the account as {escape_markdown(copy.name)}" if copy.is_file() else ""
        lines.append(f"{said}, {_describe_state(entry.state)}{kept}")
    if lines:
        st.markdown("\n".join(lines))
        st.caption(escape_markdown(" ".join(standing.remarks)))


def _describe_state(state: State) -> str:
    if state is State.RELEASED:
        return "released"
    failed = state is State.FAILED
    return ":red[charged, nothing released]" if failed else "charged; whether it was released is not known"


def _draw_look_alikes(opened: Opened, columns: tuple[str, ...]) -> None:
    account, standing = opened
    given = (str(account.path), len(standing.entries), columns)
    names = make_once(_ALIKE, given, lambda: account.look_alikes(columns=columns))
    for name in names:
        alike = f"The account {check.format_value(name)} beside it has a release of columns of this table"
        words = escape_markdown(f"{alike}: if it is about the same people, use one account for both.")
        st.warning(words, icon=":material/content_copy:")


def _expand_path(path: str) -> str:
    text = path.strip().strip('"')
    return str(Path(text).expanduser()) if text else ""


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
    """Draw the confirmation and the button, and publish if it was pressed."""
    st.subheader("Release", divider="gray", anchor=False, help=glossary.explain_term("released"))
    number = len(list_publications()) + 1
    wanted = f"{release_request.request.epsilon:g}"
    said, place = st.columns([2, 3], vertical_alignment="bottom", gap="small")
    # The keys of one press are never those of the next: a second click cannot press again.
    box: dict[str, Any] = {"key": f"release:confirm:{number}", "placeholder": wanted, "disabled": bool(against)}
    typed = str(said.text_input(f"Type {wanted} to confirm ε", **box) or "")
    confirmed = _is_same(typed, release_request.request.epsilon)
    look = look_of("press", key=f"release:press:{number}", disabled=bool(against) or not confirmed)
    is_pressed = place.button(f"Charge the account and release ε = {wanted}", **look)
    if against:
        st.caption(":material/block: Something above stands against it.")
    elif number > 1:
        st.caption("This visit has released before: one more press is one more charge, and both add up.")
    if is_pressed and confirmed and not against and opened is not None:
        _publish(release_request, asked_of, opened)


def _publish(release_request: ReleaseRequest, asked_of: ReleaseSubject, opened: Opened) -> None:
    content, declared = asked_of.content, asked_of.declaration
    with say_refusal("Nothing was charged"):
        prepared = preflight(release_request, content, declared, opened.account, opened=asked_of.table)
        # One step that nothing interrupts: whoever runs the page again finds the press, not the button.
        job = PublishJob(prepared, on_defect=log_defect)
        list_publications().append(Publication(asked_of.title, asked_of.source_key, release_request, job))
        st.rerun()


def _is_same(typed: str, epsilon: float) -> bool:
    """Whether this is that number, as it is shown or as it is."""
    try:
        return float(typed.strip().replace(",", ".")) in (epsilon, float(f"{epsilon:g}"))
    except ValueError:
        return False
