"""The noise: which library draws it and from what, how ε is divided, and why a setting cannot be released."""

from __future__ import annotations

import streamlit as st

from dpviz.charts.wording import number, percent
from dpviz.check import RequestError
from dpviz.glossary import explained
from dpviz.privacy.exact_draws import library
from dpviz.release.order import Order
from dpviz.ui.escape import plain
from dpviz.ui.release.subject import Subject


def noise_section(order: Order, asked_of: Subject) -> list[str]:
    """Draw it; what in it stands against the release."""
    st.subheader("The noise", divider="gray", anchor=False, help=explained("noise"))
    against = _against(order, asked_of)
    st.markdown(
        f"Drawn by **{plain(library())}** on whole numbers, discrete, from the randomness of the operating system: no "
        "seed gives it again, and its last digits tell nothing."
    )
    for words in against:
        st.error(plain(words), icon=":material/block:")
    if not against:
        shares = order.shares(asked_of.declaration)
        epsilon = order.request.epsilon
        parts = [
            f"{plain(name)} ε = {number(part.epsilon)} ({percent(part.epsilon / epsilon)})"
            for name, part in shares.items()
        ]
        st.caption(f"ε is divided: {'; '.join(parts)}. The parts add up.", help=explained("accounting"))
    return against


def _against(order: Order, asked_of: Subject) -> list[str]:
    declared = asked_of.declaration
    try:
        order.request.check_numbers()
        if not order.request.card.private:
            raise RequestError(f"{order.request.card.title} reads the rows as they are: it is never released.")
        if not min(part.epsilon for part in order.shares(declared).values()) > 0:
            raise RequestError("Bounds and segments leave nothing of ε: buy fewer bounds, or give segments less.")
        if asked_of.table is not None:
            request = order.of_algorithm(declared)
            request.check(asked_of.table.private)
            request.check_releasable(asked_of.table.private)
    except RequestError as error:
        return [str(error)]
    return []
