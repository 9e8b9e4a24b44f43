"""Tables that a link can name: opened at once where that costs little, else made by a job that somebody pressed for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import streamlit as st

from dpviz.app.ui.controls import suggest_delta, suggest_k
from dpviz.app.ui.job_panel import draw_job_panel, open_job_registry
from dpviz.app.ui.session import Source, find_source, find_table, find_undeclared, open_table, recall, remember
from dpviz.runs import Job, make_work
from dpviz.tables import Declaration, LoadedTable, Sample, SyntheticTable, drawings, make_painted_table

PAINTED = "painted."
"""What the name of a drawing in a link begins with; its text follows."""

_NAMED, _MAKING = "ways_in:named", "ways_in:making"
# What may be opened without being asked for: a cell costs some 50 bytes until a page has shown it.
_MOST_CELLS, _MOST_SECONDS = 1_500_000, 0.7


@dataclass(frozen=True, eq=False)
class _Making:
    """A synthetic table that is being made, and what was open and waited when that began."""

    told: SyntheticTable
    job: Job[Any]
    before: tuple[object, object]


def is_cheap(named: Sample | SyntheticTable) -> bool:
    """Whether a link may open it by itself; told by numbers that are known before anything is made."""
    if isinstance(named, Sample):
        return named.cells <= _MOST_CELLS
    return named.n * named.d <= _MOST_CELLS and named.seconds <= _MOST_SECONDS


def open_sample(sample: Sample) -> None:
    """Make a sample the table of this visit, with what its declaration file declares."""
    open_table(*sample.load())
    _set_name_in_links(sample.id)
    suggest_k(sample.clusters)
    suggest_delta()


def open_synthetic_table(told: SyntheticTable) -> None:
    """Make a simulated table the table of this visit: at once, or as soon as a job has made it."""
    _leave_making()
    if is_cheap(told):
        _open_made(told, *told.make())
        return
    job = open_job_registry().submit(make_work, told)
    st.session_state[_MAKING] = _Making(told, job, (find_table(), find_undeclared()))


def claim_made() -> None:
    """Open a synthetic table that is complete, whatever page is shown; another one that was opened meanwhile stays."""
    making = find_making()
    for made in (item for item in (making.job.items if making else ()) if isinstance(item, tuple)):
        assert making is not None
        del st.session_state[_MAKING]
        if all(now is then for now, then in zip((find_table(), find_undeclared()), making.before, strict=True)):
            _open_made(making.told, *made)


def draw_making_panel() -> bool:
    """Show the table that is being made, or why it was not; whether it is under way."""
    making = find_making()
    if making is None:
        return False
    draw_job_panel(making.job, label="Making a synthetic table", key="making")
    return not making.job.state.final


def find_making() -> _Making | None:
    """The synthetic table that was asked for, if it is not open yet."""
    return cast("_Making | None", st.session_state.get(_MAKING))


def open_painted(drawing: drawings.PointDrawing, k: int) -> None:
    """Make what was painted the table of this visit, as a link says it: after a reload it is the same."""
    text = drawings.encode_drawing(drawing)
    table, declared = make_painted_table(drawings.decode_drawing(text))
    open_table(table, replace(declared, n_public=table.n_rows))  # as of a synthetic table: nobody is in it
    _set_name_in_links(f"{PAINTED}{text}")
    suggest_k(k)
    suggest_delta()


def find_named_in_links(source: Source | None) -> str | SyntheticTable | None:
    """The id of the sample, the numbers of the synthetic table, or the drawing that ``source`` was made of."""
    number, name = recall(_NAMED, (0, None))
    return name if source is not None and source.number == number else None


def _open_made(told: SyntheticTable, loaded: LoadedTable, declared: Declaration) -> None:
    open_table(loaded, declared)
    _set_name_in_links(told)
    suggest_k(told.k)
    suggest_delta()


def _leave_making() -> None:
    if (making := find_making()) is not None:
        making.job.cancel()
        del st.session_state[_MAKING]


def _set_name_in_links(name: str | SyntheticTable) -> None:
    source = find_source()
    assert source is not None
    remember(_NAMED, (source.number, name))
