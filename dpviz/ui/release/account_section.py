"""The account of the data set: opened or made by its path, and how it stands before and after this release."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import streamlit as st

from dpviz.charts.account_bar import AccountBar
from dpviz.charts.theme import palette
from dpviz.charts.wording import number
from dpviz.check import RequestError, shown
from dpviz.glossary import explained
from dpviz.release.account import Account, Standing, State
from dpviz.release.order import Order
from dpviz.release.pressing import copy_of
from dpviz.release.promise import small
from dpviz.release.releasing import unit_of
from dpviz.ui.escape import plain
from dpviz.ui.figure import show
from dpviz.ui.release.subject import Subject
from dpviz.ui.session import once, remember, remembered

_PATH, _TYPED, _ALIKE = "release:account", "release:account_path", "release:alike"
_NEW, _REFUSED = "release:new", "release:new_refused"
# A page does not wait long for another program.
_PATIENCE = 2.0
_SHOWN = 3
_ABOUT = explained("account", "There is no row in it.")
_CAP = "The most that all releases of this data set together may ever cost."


class Opened(NamedTuple):
    """An account, and how it stands now."""

    account: Account
    standing: Standing


def account_section(order: Order, asked_of: Subject) -> tuple[Opened | None, list[str]]:
    """Draw it; the account, if one is open, and what stands against the release."""
    st.subheader("The account", divider="gray", anchor=False, help=_ABOUT)
    _ways()
    path = remembered(_PATH, "")
    if not path:
        return None, ["No account is open: give the path of one, or make a new one."]
    try:
        opened = _opened(path)
    except RequestError as error:
        st.error(plain(error), icon=":material/block:")
        return None, [str(error)]
    against = _against(order, asked_of, opened.standing)
    _stands(order, opened, against)
    _alike(opened)
    return opened, against


def _ways() -> None:
    """By its path: one that is there, or a new one."""
    path_place, open_place, new_place = st.columns([5, 1, 2], vertical_alignment="bottom", gap="small")
    st.session_state.setdefault(_TYPED, remembered(_PATH, ""))
    typed = path_place.text_input(
        "Account file on this machine", placeholder="/home/me/people.sqlite", key=_TYPED, help=_ABOUT
    )
    remember(_PATH, _expanded(typed or ""))
    open_place.button("Open", key="release:account_open", width="stretch")
    with new_place.popover("New account", icon=":material/add:", width="stretch"), st.form(_NEW, border=False):
        st.text_input("Path of the new file", placeholder="/home/me/people.sqlite", key=f"{_NEW}:path")
        st.text_input("What the data set is called", key=f"{_NEW}:name")
        left, right = st.columns(2)
        left.number_input("cap on ε", 0.001, 1000.0, 2.0, format="%g", key=f"{_NEW}:epsilon", help=_CAP)
        right.number_input("cap on δ", 0.0, 0.1, 1e-5, step=1e-6, format="%.1e", key=f"{_NEW}:delta", help=_CAP)
        st.form_submit_button("Make it", on_click=_make)
    if refused := st.session_state.pop(_REFUSED, ""):
        st.error(plain(refused), title="No account was made", icon=":material/block:")


def _make() -> None:
    """Make the account that the form asks for, and open it; called before the page is drawn."""
    path = _expanded(st.session_state[f"{_NEW}:path"] or "")
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


def _opened(path: str) -> Opened:
    account = Account.open(path, patience=_PATIENCE)
    return Opened(Account(account.path), account.standing())


def _against(order: Order, asked_of: Subject, standing: Standing) -> list[str]:
    try:
        standing.refuse(order.charge(asked_of.declaration, unit=unit_of(asked_of.declaration)))
    except RequestError as error:
        return [str(error)]
    return []


def _stands(order: Order, opened: Opened, against: list[str]) -> None:
    standing = opened.standing
    bar = AccountBar(standing.cap_epsilon, standing.spent_epsilon, order.request.epsilon)
    figure = bar.draw(palette(st.context.theme.type)).figure()
    st.markdown(f"**{plain(standing.name)}**: ε", help=explained("epsilon"))
    show(figure, alt=bar.words(), key="release:account_bar", stem="account", bare=True)
    left_delta = standing.left_delta - order.delta
    after = f"{plain(small(left_delta))} left after it" if left_delta >= 0 else "not enough left"
    st.caption(
        f"ε: {number(standing.spent_epsilon)} before, {number(order.request.epsilon)} now, {number(bar.left)} left of "
        f"{number(standing.cap_epsilon)}. δ: {plain(small(standing.spent_delta))} before, {plain(small(order.delta))} "
        f"now, {after} of {plain(small(standing.cap_delta))}."
    )
    for words in against:
        st.error(plain(words), icon=":material/block:")
    _before(opened)


def _before(opened: Opened) -> None:
    """The last releases of the account, with what has become of each, and where its copy lies."""
    account, standing = opened
    entries = standing.entries[-_SHOWN:]
    lines = [
        f"- release {entry.number:d}: ε = {number(entry.charge.epsilon)}, {plain(entry.at[:10])}, "
        f"{_become(entry.state)}{_copy(account.path, entry.number)}"
        for entry in reversed(entries)
    ]
    if lines:
        st.markdown("\n".join(lines))


def _become(state: State) -> str:
    if state is State.RELEASED:
        return "released"
    return (
        ":red[charged, nothing released]" if state is State.FAILED else "charged; whether it was released is not known"
    )


def _copy(account: Path, number: int) -> str:
    """Whoever has reloaded the page finds here what was paid for."""
    path = copy_of(account, number)
    return f"; its zip lies beside the account as {plain(path.name)}" if path.is_file() else ""


def _alike(opened: Opened) -> None:
    account, standing = opened
    names = once(_ALIKE, (str(account.path), len(standing.entries)), account.look_alikes)
    for name in names:
        st.warning(
            plain(
                f"The account {shown(name)} beside it has a release of the same columns and bounds: if it is about the "
                "same people, use one account for both."
            ),
            icon=":material/content_copy:",
        )


def _expanded(path: str) -> str:
    text = path.strip().strip('"')
    return str(Path(text).expanduser()) if text else ""
