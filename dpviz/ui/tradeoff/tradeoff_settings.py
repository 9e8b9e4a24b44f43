"""The settings of the Trade-off page as a link and as a file, and back again."""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import urlencode

import streamlit as st

from dpviz.check import RequestError
from dpviz.runs.open_table import OpenTable
from dpviz.runs.study.grid import Grid
from dpviz.ui.controls import HIGHEST_DELTA, HIGHEST_EPSILON, LOWEST_EPSILON, MOST_CLUSTERS
from dpviz.ui.escape import plain
from dpviz.ui.session import choose, remember
from dpviz.ui.studies.contender_choice import contender_options
from dpviz.ui.studies.study_panel import Plan

_KEY, _QUERY, _WAITING, _LOADED = "tradeoff", "study", "link:study", "tradeoff:loaded"
MOST_REPEATS = 50


def remember_study_link() -> None:
    """Keep the settings of a link until a table is open: opening one changes the page, which drops the link."""
    asked = st.query_params.get(_QUERY)
    if asked is not None:
        st.session_state[_WAITING] = asked
        del st.query_params[_QUERY]


def apply_study_link() -> None:
    """Set the form to what a link asked for; call it before the form is drawn."""
    asked = cast("str | None", st.session_state.pop(_WAITING, None))
    if asked is None:
        return
    try:
        apply(Grid.from_yaml(asked))
    except RequestError as error:
        st.error(plain(error), title="The settings of this link cannot be used", icon=":material/link_off:")


def apply(settings: Grid) -> None:
    """Set the form to ``settings``; call it from a callback, or before the form is drawn.

    Raises
    ------
    RequestError
        If the form cannot show them.
    """
    offered = {contender.label for contender in contender_options()}
    labels = [contender.label for contender in settings.contenders]
    strange = [label for label in labels if label not in offered]
    if strange:
        raise RequestError(
            f"{strange[0]} cannot be chosen on this page: it offers algorithms with their presets, and `dpviz sweep` "
            "any parameters."
        )
    fits = (
        LOWEST_EPSILON <= min(settings.epsilons) <= max(settings.epsilons) <= HIGHEST_EPSILON
        and settings.ks[0] <= MOST_CLUSTERS
        and settings.deltas[0] <= HIGHEST_DELTA
        and settings.repeats <= MOST_REPEATS
    )
    if not fits:
        raise RequestError(
            f"This page allows ε from {LOWEST_EPSILON:g} to {HIGHEST_EPSILON:g}, k up to {MOST_CLUSTERS:,}, δ up to "
            f"{HIGHEST_DELTA:g} and up to {MOST_REPEATS} runs: these settings ask for more."
        )
    wanted: dict[str, Any] = {
        f"{_KEY}:contenders": labels,
        f"{_KEY}:repeats": settings.repeats,
        "k": settings.ks[0],
        "delta": settings.deltas[0],
    }
    for name, value in wanted.items():
        choose(name, value)
    remember(f"{_KEY}:range", (min(settings.epsilons), max(settings.epsilons)))
    st.session_state[_LOADED] = st.session_state.get(_LOADED, 0) + 1


def range_key() -> str:
    """The key of the slider over ε: whenever settings are loaded, a new slider takes its place."""
    loaded = int(st.session_state.get(_LOADED, 0))
    return f"{_KEY}:range" + (f":{loaded}" if loaded else "")


def settings_of(plan: Plan) -> Grid:
    """What the form asks for now."""
    return plan.grid


def settings_section(table: OpenTable, plan: Plan, source: OpenTable | None) -> None:
    """The link and the file of the form as it stands, and a place for a file of another day."""
    settings = settings_of(plan)
    st.markdown("**A link to these settings**")
    st.caption(
        "Algorithms, ε, k, δ and runs; nothing of the table, and not which rows losses are read from. Whoever follows "
        "it opens a table of their own."
    )
    base = (st.context.url or "").split("?")[0]
    st.code(f"{base}?{urlencode({_QUERY: settings.to_yaml()})}", language=None, wrap_lines=True)
    st.markdown("**The same as a file**")
    st.code(settings.to_yaml(), language="yaml")
    st.download_button(
        "Settings (YAML)",
        settings.to_yaml().encode("utf-8"),
        "trade-off-study.yaml",
        "application/yaml",
        icon=":material/download:",
        on_click="ignore",
        key=f"{_KEY}:settings:file",
    )
    st.file_uploader(
        "Settings to load",
        type=["yaml", "yml", "json"],
        key=f"{_KEY}:settings:upload",
        on_change=_load,
        max_upload_size=1,
    )
    said = cast("str | None", st.session_state.pop(f"{_KEY}:settings:said", None))
    if said:
        st.error(plain(said), title="These settings cannot be used", icon=":material/block:")


def _load() -> None:
    upload = st.session_state.get(f"{_KEY}:settings:upload")
    if upload is None:
        return
    try:
        apply(Grid.from_yaml(upload.getvalue().decode("utf-8", errors="replace")))
    except RequestError as error:
        st.session_state[f"{_KEY}:settings:said"] = str(error)
