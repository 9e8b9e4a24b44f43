"""What stands below the picture of a run, each in a tab: what it found, its ledger, its story, numbers and files."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dpviz.charts.picture import Look
from dpviz.charts.registry import picture_of
from dpviz.charts.spent import Counted, describe_spent, draw_spent, shares_of
from dpviz.charts.theme import palette
from dpviz.glossary import words_of
from dpviz.privacy.accounting import Accounting
from dpviz.runs.export import picture_stem
from dpviz.runs.open_table import OpenTable
from dpviz.runs.profile import profile_of
from dpviz.runs.run import Run
from dpviz.ui.badges import badge_text
from dpviz.ui.escape import plain
from dpviz.ui.explore.algorithm_choice import about, catalogue
from dpviz.ui.explore.clusters_found import found
from dpviz.ui.explore.foresight import foresight
from dpviz.ui.explore.read_k import read_k
from dpviz.ui.explore.scores import Judged
from dpviz.ui.explore.take_away import take_away
from dpviz.ui.figure import data_table, show_wide
from dpviz.ui.profile_panel import profile_panel
from dpviz.ui.runner import Result

# How the charges of a run add up, after its accounting.
_ADDS_UP = {
    Accounting.PURE: "Their ε add up to the ε of the run.",
    Accounting.GDP: "Their costs μ² add up (Gaussian privacy), and the sum is worth the ε and δ of the run.",
    Accounting.ZCDP: "Their costs ρ add up (zero-concentrated privacy), and the sum is worth the ε and δ of the run.",
    Accounting.BASIC: "Their ε add up to the ε of the run, and their δ to its δ (basic composition).",
    Accounting.PLD: "Their privacy losses are composed as distributions, which costs less than their ρ (a common "
    "currency of the charges) would add up to; the bar shows what each added to ε in its turn.",
    Accounting.NONE: "",
}


# From so many columns on a plane shows little: centres are drawn as profiles, too.
_PROFILED = 3
_TABS = ("What was found", "Ledger", "How it works", "Table", "Take away")


def empty_panel(table: OpenTable) -> None:
    """What to do when nothing has run yet on this table."""
    st.info(
        f"Set ε at the left and press **Run**. The steps of the run on {plain(table.title)} appear here, each with "
        "what it spent.",
        title="Nothing has run yet",
        icon=":material/play_circle:",
    )


def below(table: OpenTable, result: Result, look: Look, judged: Judged | None) -> None:
    """The tabs; only the open one is drawn. ``look`` is that of the pictures above."""
    run = result.run
    found_tab, ledger, story, numbers, files = st.tabs(_TABS, key="explore:below", on_change="rerun")
    if found_tab.open:
        with found_tab:
            if run.private and run.domain.dim >= _PROFILED:
                reference = None if look.reference is None else look.reference.centers
                mark = "refused (⊥)" if _refused(run) else ""
                profile_panel(profile_of(run, reference=reference), "explore", mark=mark, table=False)
            found(table, run, judged, result.request)
            read_k(result)
    if ledger.open:
        with ledger:
            _ledger(run)
    if story.open:
        with story:
            about(result.request.card)
            catalogue(foresight(table))
    if numbers.open:
        with numbers:
            _numbers(run)
    if files.open:
        with files:
            take_away(table, result, look, judged)


def _refused(run: Run) -> bool:
    """Whether a private test did not pass, so that the last centres know no data, or come from ones that do not."""
    step = run.frames[-1].step
    return step.public or "⊥" in step.title


def _numbers(run: Run) -> None:
    """The numbers behind the picture of any step."""
    last = len(run.frames) - 1
    place = st.selectbox(
        "Step",
        range(len(run.frames)),
        index=last,
        format_func=lambda i: f"{i + 1}/{last + 1} {run.frames[i].step.title}",
        key=f"explore:table:{run.algorithm}:{last}",
    )
    picture = picture_of(run.frames[last if place is None else place].step)
    st.markdown(badge_text(picture.kind))
    data_table(picture.table(run.domain), alt="The numbers behind the picture")


def _ledger(run: Run) -> None:
    """Every charge of a run, and how the budget was divided between the stages of the algorithm."""
    if not run.private:
        st.markdown(f"{badge_text('revealed')} No ledger: k-means++ has no privacy to account for.")
        return
    st.markdown(
        f"{badge_text('released')} Every charge of this run. {_ADDS_UP[run.accounting]}",
        help=words_of("ledger, charge, accounting"),
    )
    meter = [Counted(frame.entries, frame.spent_fraction) for frame in run.frames]
    shares = shares_of(run.entries, spent_fraction=run.spent_fraction, meter=meter)
    bar = draw_spent(shares, palette=palette(st.context.theme.type), epsilon=run.epsilon)
    words = describe_spent(shares, epsilon=run.epsilon)
    show_wide(bar, alt=words, key="explore:shares", stem=f"{picture_stem(run)}-budget")
    charges = [
        {
            "": place,
            "for": entry.note,
            "mechanism": entry.mechanism,
            "query": entry.query,
            "sensitivity": entry.sensitivity,
            "scale": entry.scale,
            f"cost ({run.accounting.unit.symbol})": entry.amount,
            "ε alone": entry.epsilon,
        }
        for place, entry in enumerate(run.entries, start=1)
    ]
    data_table(pd.DataFrame(charges), alt="Every charge of this run", height="auto")
