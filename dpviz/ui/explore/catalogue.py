"""All algorithms on one sheet: what each needs and gives, when to use it, and what it would do with the open table."""

from __future__ import annotations

import streamlit as st

from dpviz.algorithms.card import Card
from dpviz.algorithms.registry import CARDS
from dpviz.ui.escape import plain
from dpviz.ui.explore.algorithm_choice import badges, choose, families, members_of, needs
from dpviz.ui.explore.foresight import Foresee, in_short, light, warned

# Two beside each other on a desktop, one on a phone.
_LEAST_WIDTH = 330


def catalogue(foresee: Foresee) -> None:
    """The sheet, folded away until it is asked for."""
    sheet = st.expander(
        f"All {len(CARDS)} algorithms: what each needs and gives, and what it would do with this table",
        icon=":material/menu_book:",
        key="catalogue",
        on_change="rerun",
    )
    if not sheet.open:
        return
    with sheet:
        for family in families():
            st.subheader(plain(family), divider="gray")
            with st.grid(min_column_width=_LEAST_WIDTH):
                for card in members_of(family):
                    with st.container(border=True, height="stretch", gap="xsmall"):
                        _entry(card, foresee)


def _entry(card: Card, foresee: Foresee) -> None:
    prospect = foresee(card)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(f"**{card.title}**", width="content")
        st.button("Choose", key=f"catalogue:{card.id}", on_click=choose, args=(card.id,), type="tertiary")
    badges(card, light(prospect))
    st.markdown(card.summary)
    st.caption(f"**When:** {card.when}")
    st.caption(needs(card))
    caution = in_short(prospect)
    if caution:
        st.caption(warned(caution))
