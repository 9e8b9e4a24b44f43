"""The page *Release*, top to bottom: what leaves, what it rests on, what it costs, and one button.

All on it is public or released. A row, a true count or a loss on the rows has no way here.
"""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from dpviz.glossary import explained
from dpviz.release.bought_bounds import open_columns
from dpviz.release.order import Order, words_for
from dpviz.ui.badges import badged
from dpviz.ui.data.large_table import serves_this_machine_alone
from dpviz.ui.escape import plain
from dpviz.ui.owner_path import owner_path
from dpviz.ui.release.account_section import account_section
from dpviz.ui.release.bounds_section import bounds_section
from dpviz.ui.release.command_line import by_command_line
from dpviz.ui.release.dry_run_section import dry_run_section
from dpviz.ui.release.hindrances import everything, standing
from dpviz.ui.release.looks_section import looks_section
from dpviz.ui.release.noise_section import noise_section
from dpviz.ui.release.press import last_pressed, press_section
from dpviz.ui.release.released_panel import pressed_panel
from dpviz.ui.release.subject import Subject, subject
from dpviz.ui.release.terms import terms_in_rail
from dpviz.ui.release.what_leaves import what_leaves
from dpviz.ui.release.words_form import in_plain_words, words_form
from dpviz.ui.session import require_table
from dpviz.ui.tradeoff.window_section import window_for


def release_page() -> None:
    """Draw it: the form, or the press that takes its place."""
    st.title("Release", anchor=False, help=explained("released"))
    owner_path(here="release")
    if (press := last_pressed()) is not None:
        pressed_panel(press)
        return
    asked_of = subject()
    if asked_of is None:
        require_table()
        return
    _form(asked_of)


def _why_epsilon(draft: Order, asked_of: Subject) -> str:
    """The argument for ε by the window of this visit, for the card; "" where nobody asked for one."""
    table, request = asked_of.table, draft.request
    window = None if table is None else window_for(table, k=request.k, delta=draft.delta)
    if window is None:
        return ""
    argument = window.argument(request.epsilon, of_algorithm=draft.of_algorithm(asked_of.declaration).epsilon)
    badged("public", plain(argument))
    return argument


def _form(asked_of: Subject) -> None:
    terms, today = terms_in_rail(buys=bool(open_columns(asked_of.declaration))), datetime.now(UTC).date().isoformat()
    draft = Order(
        terms.request, words_for(asked_of.declaration, today=today), terms.segments, terms.bounds, terms.missing
    )
    status = what_leaves(draft, asked_of)
    found: dict[str, list[str]] = {"Bounds": bounds_section(draft, asked_of)}
    told = looks_section(asked_of)
    words = words_form(asked_of.declaration, asked_of.source_key, today=today, chosen=told.chosen)
    found["Words of the card"] = [in_plain_words(one) for one in words.missing()]
    opened = None
    if serves_this_machine_alone():
        opened, found["Account"] = account_section(draft, asked_of)
    else:
        found["Account"] = by_command_line(draft)
    found["Noise"] = noise_section(draft, asked_of)
    expected = f"{dry_run_section(draft, asked_of)} {_why_epsilon(draft, asked_of)}".strip()
    order = Order(
        terms.request,
        words,
        terms.segments,
        terms.bounds,
        terms.missing,
        seen=told.seen,
        expected_loss=expected,
    )
    press_section(order, asked_of.saying(words), opened, everything(found))
    standing(status, found)
