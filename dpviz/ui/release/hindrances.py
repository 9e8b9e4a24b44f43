"""What stands against a release, part by part, in words that say what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.charts.wording import things
from dpviz.ui.escape import plain

Hindrances = Mapping[str, Sequence[str]]
"""By part of the page, each sentence that stands against the release."""


def everything(found: Hindrances) -> list[str]:
    """All of them, in the order of the page."""
    return [words for of_part in found.values() for words in of_part]


def standing(place: DeltaGenerator, found: Hindrances) -> None:
    """Say in ``place`` which parts are ready, and what to do first about those that are not."""
    against = everything(found)
    with place.container(gap="xsmall"):
        with st.container(horizontal=True, gap="xsmall"):
            for part, of_part in found.items():
                if of_part:
                    st.badge(f"{plain(part)}: {len(of_part):d} to do", icon=":material/block:", color="red")
                else:
                    st.badge(plain(part), icon=":material/check:", color="green")
        if not against:
            st.markdown(":green[:material/check_circle: **Ready.**] Type ε at the foot of this page, and press.")
            return
        more = f" And {things(len(against) - 1, 'more thing')} below." if len(against) > 1 else ""
        st.markdown(f":red[:material/block: **Nothing can leave yet.**] {plain(against[0])}{more}")
