"""The account of the data set: opened or made by its path, and how it stands before and after this release."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import streamlit as st

from dpviz.app.charts.account_bar import AccountBar
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import show
from dpviz.app.ui.release.subject import ReleaseSubject
from dpviz.app.ui.session import make_once, recall, remember
from dpviz.core import RequestError, format_value
from dpviz.releases import Account, AccountBalance, ReleaseRequest, State, describe_unit, format_small, read_copy
from dpviz.words import choose_palette, explain_term, format_number

_PATH, _TYPED, _ALIKE = "release:account", "release:account_path", "release:alike"
_NEW, _REFUSED = "release:new", "release:new_refused"
# A page does not wait long for another program.
_PATIENCE = 2.0
_SHOWN = 3
_ABOUT = explain_term("account", "There is no row in it.")
_CAP = "The most that all releases of this data set together may ever cost."


class Opened(NamedTuple):
    """An account, and how it stands now."""

    account: Account
    standing: AccountBalance


def draw_account_section(release_request: ReleaseRequest, asked_of: ReleaseSubject) -> tuple[Opened | None, list[str]]:
    """Draw the section of the account.

    Parameters
    ----------
    release_request : ReleaseRequest
        What is to be released.
    asked_of : ReleaseSubject
        The table, and what is declared of it.

    Returns
    -------
    Opened or None, list of str
        The account, if one is open, and what stands against the release, a sentence each.
    """
    st.subheader("The account", divider="gray", anchor=False, help=_ABOUT)
    _draw_ways()
    path = recall(_PATH, "")
    if not path:
        return None, ["No account is open: give the path of one, or make a new one."]
    try:
        opened = _open_account(path)
    except RequestError as error:
        st.error(escape_markdown(error), icon=":material/block:")
        return None, [str(error)]
    against = _list_hindrances(release_request, asked_of, opened.standing)
    _draw_standing(release_request, opened, against)
    _draw_look_alikes(opened)
    return opened, against


def _draw_ways() -> None:
    """By its path: one that is there, or a new one."""
    path_place, open_place, new_place = st.columns([5, 1, 2], vertical_alignment="bottom", gap="small")
    st.session_state.setdefault(_TYPED, recall(_PATH, ""))
    typed = path_place.text_input(
        "Account file on this machine", placeholder="/home/me/people.sqlite", key=_TYPED, help=_ABOUT
    )
    remember(_PATH, _expand_path(typed or ""))
    open_place.button("Open", key="release:account_open", width="stretch")
    with new_place.popover("New account", icon=":material/add:", width="stretch"), st.form(_NEW, border=False):
        st.text_input("Path of the new file", placeholder="/home/me/people.sqlite", key=f"{_NEW}:path")
        st.text_input("What the data set is called", key=f"{_NEW}:name")
        left, right = st.columns(2)
        left.number_input("cap on ε", 0.001, 1000.0, 2.0, format="%g", key=f"{_NEW}:epsilon", help=_CAP)
        right.number_input("cap on δ", 0.0, 0.1, 1e-5, step=1e-6, format="%.1e", key=f"{_NEW}:delta", help=_CAP)
        st.form_submit_button("Make it", on_click=_make)
    if refused := st.session_state.pop(_REFUSED, ""):
        st.error(escape_markdown(refused), title="No account was made", icon=":material/block:")


def _make() -> None:
    """Make the account that the form asks for, and open it; called before the page is drawn."""
    path = _expand_path(st.session_state[f"{_NEW}:path"] or "")
    name = st.session_state[f"{_NEW}:name"] or ""
    epsilon, delta = (float(st.session_state[f"{_NEW}:{cap}"]) for cap in ("epsilon", "delta"))
    try:
        if not path:
            raise RequestError("No path is given: say where the new file is to lie.")
        Account.new(path, name=name, cap_epsilon=epsilon, cap_delta=delta)
    except RequestError as error:
        st.session_state[_REFUSED] = str(error)
        return
    st.session_state[_TYPED] = remember(_PATH, path)


def _open_account(path: str) -> Opened:
    account = Account.open(path, patience=_PATIENCE)
    return Opened(Account(account.path), account.standing())


def _list_hindrances(release_request: ReleaseRequest, asked_of: ReleaseSubject, standing: AccountBalance) -> list[str]:
    try:
        standing.refuse(release_request.charge(asked_of.declaration, unit=describe_unit(asked_of.declaration)))
    except RequestError as error:
        return [str(error)]
    return []


def _draw_standing(release_request: ReleaseRequest, opened: Opened, against: list[str]) -> None:
    standing = opened.standing
    bar = AccountBar(standing.cap_epsilon, standing.spent_epsilon, release_request.request.epsilon)
    plot = bar.draw(choose_palette(st.context.theme.type))
    st.markdown(f"**{escape_markdown(standing.name)}**: ε", help=explain_term("epsilon"))
    show(plot, alt=bar.words(), key="release:account_bar", stem="account", bare=True)
    left_delta = standing.left_delta - release_request.delta
    after = f"{escape_markdown(format_small(left_delta))} left after it" if left_delta >= 0 else "not enough left"
    st.caption(
        f"ε: {format_number(standing.spent_epsilon)} before, {format_number(release_request.request.epsilon)} now, "
        f"{format_number(bar.left)} left of "
        f"{format_number(standing.cap_epsilon)}. δ: {escape_markdown(format_small(standing.spent_delta))} "
        f"before, {escape_markdown(format_small(release_request.delta))} "
        f"now, {after} of {escape_markdown(format_small(standing.cap_delta))}."
    )
    for words in against:
        st.error(escape_markdown(words), icon=":material/block:")
    _draw_last_releases(opened)


def _draw_last_releases(opened: Opened) -> None:
    """The last releases of the account, with what has become of each, and where its copy lies."""
    account, standing = opened
    entries = standing.entries[-_SHOWN:]
    lines = [
        f"- release {entry.number:d}: ε = {format_number(entry.charge.epsilon)}, {escape_markdown(entry.at[:10])}, "
        f"{_describe_state(entry.state)}{_draw_copy(account.path, entry.number)}"
        for entry in reversed(entries)
    ]
    if lines:
        st.markdown("\n".join(lines))


def _describe_state(state: State) -> str:
    if state is State.RELEASED:
        return "released"
    return (
        ":red[charged, nothing released]" if state is State.FAILED else "charged; whether it was released is not known"
    )


def _draw_copy(account: Path, number: int) -> str:
    """Whoever has reloaded the page finds here what was paid for."""
    path = read_copy(account, number)
    return f"; its zip lies beside the account as {escape_markdown(path.name)}" if path.is_file() else ""


def _draw_look_alikes(opened: Opened) -> None:
    account, standing = opened
    names = make_once(_ALIKE, (str(account.path), len(standing.entries)), account.look_alikes)
    for name in names:
        st.warning(
            escape_markdown(
                f"The account {format_value(name)} beside it has a release of the same columns and bounds: "
                f"if it is about the "
                "same people, use one account for both."
            ),
            icon=":material/content_copy:",
        )


def _expand_path(path: str) -> str:
    text = path.strip().strip('"')
    return str(Path(text).expanduser()) if text else ""
