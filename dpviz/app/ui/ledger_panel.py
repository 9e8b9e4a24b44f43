"""The books of a visit: one line a charge, one line a run, one line a group of runs that add up, and the looks."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import fsum
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from dpviz.app.ui import figure
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.session import Booked, describe_accesses, list_booked, make_once
from dpviz.app.ui.table_words import RELATION_WORDS
from dpviz.runs import compute_independent_epsilon, export
from dpviz.words import format_number, format_small, format_things, glossary

_READDED, _MOST_READDED = "ledger:readded", 10_000
_ADDED = "Those of all runs on these rows are added, and so are their δ."
_WEAK = 5.0  # e^5 < 149: what an ε means, said on the page
_ROW_PIXELS, _MOST_PIXELS = 35, 420
# A page of 1440 pixels has no room for them beside the others: what holds of all runs is said in a line below.
_OF_ALL = {"noise": "Noise", "protects": "Each protects", "accounting": "Charges add up", "n": "Number of rows"}

AGREES, NO_GUARANTEE = "✓", "no guarantee"
# The independent total may differ by the rounding of its grid; above the request it may never be.
_ROUNDING = 1e-9


class JointPromise(NamedTuple):
    """Runs on the same rows with the same relation and unit: what they promise together, by simple composition."""

    table_title: str
    relation: str
    unit: str
    runs: int
    epsilon: float
    delta: float


def tabulate_charges(booked: Sequence[Booked]) -> pd.DataFrame:
    """Every entry of every run; numbers in their own columns, units in words."""
    told = figure.read_tables()["file of charges"]
    charged = []
    for run, entry in enumerate(booked, start=1):
        # How often the rows of the run were looked at, by kind.
        looks = " ".join(f"{kind}: {number}" for kind, number in entry.record.looks.items())
        of_run = partial(SimpleNamespace, run=run, entry=entry, looks=looks)
        charges = entry.record.entries if entry.record.private else ()
        charged += [of_run(step=step, charge=charge) for step, charge in enumerate(charges, start=1)]
    return pd.DataFrame([[attrgetter(path)(one) for path in told.values()] for one in charged], columns=[*told])


def tabulate_totals(booked: Sequence[Booked], independent: Sequence[float | None]) -> pd.DataFrame:
    """What each run asked for, what it spent, and what another library adds up."""
    return pd.DataFrame(
        [
            {
                "run": number,
                "table": entry.record.declaration.title,
                "algorithm": entry.record.algorithm,
                "k": entry.record.k,
                "kind": "released" if entry.record.private else "revealed",
                "ε asked": entry.record.epsilon if entry.record.private else None,
                "ε spent": entry.record.spent_epsilon if entry.record.private else None,
                "ε by dp-accounting": again,
                "agrees": describe_agreement(entry, again),
                "δ": entry.record.delta if entry.record.private else None,
                "charges": len(entry.record.entries) if entry.record.private else 0,
                "accounting": figure.SENTENCES.fill(f"adding_{entry.record.accounting.value}"),
                "protects": f"{entry.record.unit}, {RELATION_WORDS[entry.record.relation]}",
                "n": entry.record.n_origin,
                "noise": describe_noise(entry),
            }
            for number, (entry, again) in enumerate(zip(booked, independent, strict=True), start=1)
        ]
    )


def describe_agreement(entry: Booked, again: float | None) -> str:
    """Whether the independent total is there and stays within what was asked for."""
    if not entry.record.private:
        return NO_GUARANTEE
    if again is None:
        return AGREES if not entry.record.entries else "✗ not added up"
    return AGREES if again <= entry.record.epsilon * (1 + _ROUNDING) else "✗ more than asked"


def describe_noise(entry: Booked) -> str:
    """Whether the noise is fit for a release."""
    if not entry.record.private:
        return "none"
    if entry.record.seeded:
        return "seeded: simulation only"
    return "release-grade" if entry.record.hardened else "simulation only"


def compose_together(booked: Sequence[Booked]) -> list[JointPromise]:
    """Releases added up where they are about the same rows under the same promise, whatever was declared about them."""
    groups: dict[tuple[str, str, str], list[Booked]] = {}
    for entry in booked:
        if entry.record.private:
            groups.setdefault((entry.source_key, entry.record.relation, entry.record.unit), []).append(entry)
    joint = []
    for (_, relation, unit), entries in groups.items():
        epsilon = fsum(entry.record.spent_epsilon or 0.0 for entry in entries)
        delta = fsum(entry.record.delta for entry in entries)
        joint.append(JointPromise(entries[-1].record.declaration.title, relation, unit, len(entries), epsilon, delta))
    return joint


def format_file_name(booked: Sequence[Booked]) -> str:
    """The name of the file of all charges, with the marks of every run in it."""
    marks = dict.fromkeys(mark for entry in booked if entry.record.private for mark in entry.record.marks)
    return "_".join((*marks, "ledger.csv"))


def draw_ledger() -> None:
    """All that this visit has spent and looked at, as a part of any page."""
    about = "Every answer about the rows costs privacy. Here is what this visit has spent, checked by a second library."
    st.markdown(about, help=glossary.explain_term("ledger"))
    if entries := list_booked():
        _draw_together(entries)
        _draw_totals(entries)
        st.subheader("Charges", divider="gray", anchor=False, help=glossary.explain_term("charge"))
        figure.draw_badge("released")
        charged = tabulate_charges(entries)
        alt = f"{format_things(len(charged), 'charge')} with the kind and width of their noise, and their costs."
        _draw_shown(charged, figure.read_columns("charges of the ledger"), alt=alt)
        for note in dict.fromkeys(entry.record.note for entry in entries if entry.record.private and entry.record.note):
            st.caption(f":material/warning: {escape_markdown(note)}", help=glossary.explain_words(note))
        figure.draw_download(
            "Ledger (CSV)", export.format_frame_csv(charged), format_file_name(entries), key="ledger_csv"
        )
    else:
        st.info("The charges of a run appear here.", title="Nothing is booked yet", icon=":material/receipt_long:")
    if (accesses := describe_accesses()) or entries:
        st.subheader("Looks", divider="gray", anchor=False, help=glossary.explain_term("look"))
        figure.draw_badge("revealed")
        if not accesses:
            st.caption("Nobody has looked at any row in this visit.")
            return
        figure.draw_bullets(accesses, help=glossary.explain_words("loss, k-means++"))


def _draw_together(entries: Sequence[Booked]) -> None:
    """What all runs and releases of this visit promise together, table by table."""
    groups = compose_together(entries)
    if not groups:
        return
    st.subheader(describe_total(groups), divider="gray", anchor=False)
    with st.grid(min_column_width=260):
        for group in groups:
            runs = f"{group.runs:d} run{'' if group.runs == 1 else 's'}"
            with st.container(border=True, height="stretch"):
                st.markdown(f"{figure.format_badge('released')} **{escape_markdown(group.table_title)}**")
                added = glossary.explain_term("epsilon", _ADDED)
                st.metric("ε of all runs together", format_number(group.epsilon), help=added)
                protected = f"protects {escape_markdown(group.unit)}, {RELATION_WORDS[group.relation]}"
                about = glossary.explain_words("δ, unit of privacy")
                st.caption(f"δ = {escape_markdown(format_small(group.delta))}, over {runs}  \n{protected}", help=about)
    if any(group.runs > 1 for group in groups):
        sums = "Whoever gives away several results, or one chosen from several, promises the sum above."
        st.warning(f"Running again adds up. {sums}", icon=":material/functions:")
    if any(group.epsilon >= _WEAK for group in groups):
        about = glossary.explain_term("epsilon")
        st.caption("At ε = 5 the odds of a result may change by a factor of up to 149.", help=about)


def describe_total(groups: Sequence[JointPromise]) -> str:
    """What was spent, and on which rows most of it."""
    most = max(groups, key=lambda group: group.epsilon)
    runs = f"{most.runs:d} run{'' if most.runs == 1 else 's'}"
    rest = f"; {len(groups) - 1:d} more below" if len(groups) > 1 else ""
    both = " together" if most.runs > 1 else ""
    return f"{escape_markdown(most.table_title)}: {runs} spent ε = {format_number(most.epsilon)}{both}{rest}"


def _draw_totals(entries: Sequence[Booked]) -> None:
    """One line a run, and its independent re-addition."""
    st.subheader("Runs", divider="gray", anchor=False)
    with st.spinner("A second library checks…"):
        again = [_add_again(entry) for entry in entries]
    table = tabulate_totals(entries, again)
    shared = {name: str(table[name].iloc[0]) for name in ("kind", *_OF_ALL) if table[name].nunique() == 1}
    words = f"{format_things(len(table), 'run')} with ε asked, ε spent and ε checked by dp-accounting."
    shown = {name: column for name, column in figure.read_columns("runs of the ledger").items() if name not in shared}
    _draw_shown(table, shown, alt=words)
    if of_all := [f"{_OF_ALL[name]}: {escape_markdown(words)}" for name, words in shared.items() if name in _OF_ALL]:
        st.caption(". ".join(of_all) + ".", help=glossary.explain_words("noise, unit of privacy, accounting"))
    answers = {*table["agrees"]} - {NO_GUARANTEE}  # of runs without one nothing is compared
    if answers == {AGREES}:
        st.caption(":green[✓] A second library, dp-accounting, finds no run above its request.")
    elif answers:
        icon = ":material/dangerous:"
        st.error("dp-accounting does not confirm a run marked ✗: do not use it, and report this.", icon=icon)


def _add_again(entry: Booked) -> float | None:
    """The independent total of a run, computed once a visit."""
    record = entry.record
    if not record.private:
        return None
    add = partial(compute_independent_epsilon, record.entries, delta=record.delta)
    # The entries of a run stay alive, and the same object, as long as the books do.
    return make_once(_READDED, id(record.entries), add, most=_MOST_READDED)


def _draw_shown(table: pd.DataFrame, columns: Mapping[str, Any], *, alt: str) -> None:
    """These columns of a table, in this order."""
    height = min(_MOST_PIXELS, _ROW_PIXELS * (len(table) + 1) + 3)
    st.dataframe(table, hide_index=True, height=height, column_order=list(columns), column_config=columns, alt=alt)
