"""What leaves, in one sentence with the odds."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.charts.wording import opening, things
from dpviz.glossary import words_of
from dpviz.release.order import Order
from dpviz.release.promise import odds_moved, one_in, small
from dpviz.ui.badges import badged
from dpviz.ui.escape import plain
from dpviz.ui.release.subject import Subject

_MOST_NAMES = 8


def what_leaves(order: Order, asked_of: Subject) -> DeltaGenerator:
    """Draw the sentence; the place below it that tells what stands against the release."""
    declared = asked_of.declaration
    st.subheader(plain(sentence(order, asked_of)), anchor=False, help=words_of("ε, odds, centre, unit of privacy"))
    names = ", ".join(map(plain, declared.columns[:_MOST_NAMES]))
    rest = f" and {len(declared.columns) - _MOST_NAMES} more" if len(declared.columns) > _MOST_NAMES else ""
    slack = f"The exception is δ = {small(order.delta)}, {one_in(order.delta)}." if order.delta else ""
    badged("public", f"Of **{plain(asked_of.title)}**: {names}{rest}. {plain(slack)}")
    return st.container()


def sentence(order: Order, asked_of: Subject) -> str:
    """What is published, and what one person changes in it at most."""
    request, declared = order.request, asked_of.declaration
    columns = things(len(declared.columns), "column")
    segments = ", and what their segments are" if order.segments else ""
    missing = ", and how many values are missing" if order.missing else ""
    centers = opening(things(request.k, "centre"))
    moved = odds_moved(declared.relation, request.epsilon, has_id=declared.id_column is not None)
    return f"{centers} of {columns}{segments}{missing}: {moved}"
