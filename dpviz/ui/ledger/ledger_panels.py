"""The parts of the Ledger page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pandas as pd
import streamlit as st

from dpviz.charts.wording import number
from dpviz.privacy.readdition import independent_epsilon
from dpviz.runs.export import frame_csv
from dpviz.ui.badges import badge, badge_text
from dpviz.ui.escape import plain
from dpviz.ui.ledger.ledger_books import AGREES, NO_GUARANTEE, RELATION_WORDS, charges, file_name, together, totals
from dpviz.ui.session import Booked

_READDED = "ledger:readded"
_WEAK = 5.0
# What matters most comes first: a page of 800 pixels shows it without scrolling.
_CHARGE_ORDER = [
    *("run", "step", "what for", "question", "mechanism", "sensitivity", "noise scale", "amount", "unit"),
    *("epsilon alone", "delta alone", "algorithm", "table"),
]
_ROW_PIXELS, _MOST_PIXELS = 35, 420
# Pixels of a column for the longest number of four digits, 0.000001234: a narrower one would cut its first digits off.
# Only a cost or a δ is that small; other numbers begin at 0.00001234.
_NUMBER, _SHORT_NUMBER = 106, 96


def together_panel(entries: Sequence[Booked]) -> None:
    """What all releases of this visit promise together, table by table."""
    groups = together(entries)
    if not groups:
        return
    st.subheader("Together", divider="gray")
    with st.grid(min_column_width=260):
        for group in groups:
            runs = f"{group.runs:d} release{'' if group.runs == 1 else 's'}"
            with st.container(border=True, height="stretch"):
                st.markdown(f"{badge_text('released')} **{plain(group.table_title)}**")
                st.metric(
                    "ε of all releases together",
                    f"{number(group.epsilon)}",
                    help="Simple composition: the ε of all runs on these rows are added, and so are their δ.",
                )
                protected = f"protects {plain(group.unit)}, {RELATION_WORDS[group.relation]}"
                st.caption(f"δ = {number(group.delta)}, over {runs}  \n{protected}")
    if any(group.runs > 1 for group in groups):
        st.warning(
            "Running again adds up. If the results of several runs on the same rows are given away, what they promise "
            "together is the sum above, not the ε of one of them; this also holds for runs that are only looked at in "
            "order to choose one.",
            icon=":material/functions:",
        )
    if any(group.epsilon >= _WEAK for group in groups):
        st.caption("ε of 5 or more is weak: the odds of a result may change by a factor of 148 and more.")


def totals_panel(entries: Sequence[Booked]) -> None:
    """One line a run, and its independent re-addition."""
    st.subheader("Runs", divider="gray")
    with st.spinner("dp-accounting adds up…"):
        again = [_readded(entry) for entry in entries]
    table = totals(entries, again)
    st.dataframe(
        table,
        hide_index=True,
        height=_height(len(table)),
        column_order=_shown_columns(table),
        column_config={
            "run": st.column_config.NumberColumn(width=48, pinned=True),
            "table": st.column_config.TextColumn(width=120),
            "algorithm": st.column_config.TextColumn(width=120),
            "k": st.column_config.NumberColumn(width=44),
            "kind": st.column_config.TextColumn(width=76),
            "ε asked": st.column_config.NumberColumn(width=72, format="%.4g"),
            "ε spent": st.column_config.NumberColumn(width=_SHORT_NUMBER, format="%.4g"),
            "ε by dp-accounting": st.column_config.NumberColumn(
                "ε again",
                width=_SHORT_NUMBER,
                format="%.4g",
                help="By dp-accounting: added up from sensitivity and noise scale of every charge, never above what "
                "was asked.",
            ),
            "agrees": st.column_config.TextColumn(
                width=62, help="Whether ε by dp-accounting stays within what was asked."
            ),
            "δ": st.column_config.NumberColumn(width=_NUMBER, format="%.2g"),
            "accounting": st.column_config.TextColumn(
                "adds up", width=68, help="What adds up over the charges: pure ε, μ² (gdp) or ρ (zcdp)."
            ),
            "charges": st.column_config.NumberColumn(width=66),
            "n": st.column_config.TextColumn(
                width=64, help="Where the number of rows is from: declared, the replace relation, bought, or not used."
            ),
        },
        alt=f"{len(table)} runs with ε asked, ε spent and ε by dp-accounting.",
    )
    if table["agrees"].isin((AGREES, NO_GUARANTEE)).all():
        st.caption(":green[✓] dp-accounting, which sees sensitivities and scales only, finds no run above its request.")
    else:
        st.error("dp-accounting does not confirm a run marked ✗: do not use it, and report this.", icon="🛑")


def _shown_columns(table: pd.DataFrame) -> list[str]:
    """What a narrow page shows of the runs, the most telling first; their kind only where kinds differ."""
    first = ["run", "table", "algorithm", "k", "ε asked", "ε spent", "ε by dp-accounting", "agrees", "δ"]
    kind = ["kind"] if table["kind"].nunique() > 1 else []
    return [*first[:1], *kind, *first[1:], "accounting", "charges", "n", "noise", "protects"]


def charges_panel(entries: Sequence[Booked]) -> None:
    """Every charge, and the file of all charges."""
    st.subheader("Charges", divider="gray")
    badge("released")
    charged = charges(entries)
    st.dataframe(
        charged,
        hide_index=True,
        height=_height(len(charged)),
        column_order=_CHARGE_ORDER,
        column_config={
            "run": st.column_config.NumberColumn(width=44, pinned=True),
            "step": st.column_config.NumberColumn(width=44),
            "what for": st.column_config.TextColumn(width=122),
            "question": st.column_config.TextColumn(width=100),
            "mechanism": st.column_config.TextColumn(width=112),
            "sensitivity": st.column_config.NumberColumn(
                width=_SHORT_NUMBER,
                format="%.4g",
                help="The most one unit of privacy changes the answer, unit coordinates.",
            ),
            "noise scale": st.column_config.NumberColumn(
                width=_SHORT_NUMBER, format="%.4g", help="Of the mechanism, in the units of the answer."
            ),
            "amount": st.column_config.NumberColumn(
                "cost", width=_NUMBER, format="%.4g", help="In the accounting of its run; the costs of a run add up."
            ),
            "unit": st.column_config.TextColumn(
                "unit", width=44, help="Of the cost: ε (pure), μ² (Gaussian DP) or ρ (zCDP)."
            ),
            "epsilon alone": st.column_config.NumberColumn(
                "ε alone",
                width=_SHORT_NUMBER,
                format="%.4g",
                help="The guarantee of this charge by itself, at the run's δ.",
            ),
            "delta alone": st.column_config.NumberColumn("δ alone", width=_NUMBER, format="%.2g"),
        },
        alt=f"{len(charged)} charges with mechanism, sensitivity, scale and amount.",
    )
    for note in dict.fromkeys(entry.record.note for entry in entries if entry.record.private and entry.record.note):
        st.caption(f":material/warning: {plain(note)}")
    st.download_button(
        "Ledger (CSV)",
        frame_csv(charged),
        file_name(entries),
        "text/csv",
        key="ledger_csv",
        icon=":material/download:",
        on_click="ignore",
    )


def looks_panel(seen: Sequence[str]) -> None:
    """Every look at rows."""
    st.subheader("Looks", divider="gray")
    badge("revealed")
    if not seen:
        st.caption("Nobody has looked at any row in this visit.")
        return
    st.markdown("\n".join(f"- {plain(look)}" for look in seen))
    st.caption("Looks cost no ε because they are no release. Whatever is chosen after a look at private rows leaks.")


def _readded(entry: Booked) -> float | None:
    """The independent total of a run, computed once a visit."""
    if not entry.record.private:
        return None
    known = cast("dict[int, float | None]", st.session_state.setdefault(_READDED, {}))
    key = id(entry.record.entries)  # the entries of a run stay alive, and the same object, as long as the books do
    if key not in known:
        known[key] = independent_epsilon(entry.record.entries, delta=entry.record.delta)
    return known[key]


def _height(rows: int) -> int:
    return min(_MOST_PIXELS, _ROW_PIXELS * (rows + 1) + 3)
