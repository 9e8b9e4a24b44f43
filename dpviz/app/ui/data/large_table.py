"""Tables that memory does not hold: named by their path on this machine, prepared by a job that can be cancelled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import streamlit as st

from dpviz.app.ui.controls import suggest_delta
from dpviz.app.ui.job_panel import draw_job_panel, open_job_registry
from dpviz.app.ui.session import Source, open_table, put_to_use
from dpviz.core import Rows
from dpviz.runs import Job, Plan, Prepared, prepare_work
from dpviz.tables import Content, CsvOnDisk, Declaration, IntakeError, LatticeFile, ParquetTable, SparseTable

_PREPARING = "large_table:preparing"


@dataclass(frozen=True, eq=False)
class _Preparing:
    """A table that is on its way into its file."""

    plan: Plan
    file: LatticeFile
    job: Job[Any]


def take_brought(content: Content) -> Content:
    """``content`` as the pages have it: Parquet is read into memory at once where that holds all its numbers."""
    if isinstance(content, SparseTable):
        raise IntakeError("The pages open CSV and Parquet: use `dpviz run` for a sparse file.")
    if isinstance(content, ParquetTable) and content.fits(len(content.numeric_columns)):
        text = [name for name in content.columns if name not in content.numeric_columns and content.holds_text(name)]
        return content.read(content.numeric_columns, text=text)
    return content


def is_large(content: Content) -> bool:
    """Whether memory does not hold the table."""
    return isinstance(content, CsvOnDisk | ParquetTable)


def bring_to_use(content: Content, declaration: Declaration) -> None:
    """Open the table that is declared, or begin to prepare it;
    ``draw_preparation_panel`` then shows how far that is.
    """
    plan = Plan.of(content, declaration)
    if (before := _find_preparation()) is not None:
        before.job.cancel()
        del st.session_state[_PREPARING]
    if plan.in_memory:
        open_table(content, declaration)
        suggest_delta()
        return
    file = LatticeFile(plan.domain.region)
    st.session_state[_PREPARING] = _Preparing(plan, file, open_job_registry().submit(prepare_work, plan, file))


def claim_prepared() -> None:
    """Open a table whose file is complete, whatever page is shown."""
    preparing = _find_preparation()
    for done in (item for item in (preparing.job.items if preparing else ()) if isinstance(item, Prepared)):
        assert preparing is not None
        del st.session_state[_PREPARING]
        preparing.file.note_rows(done.rows)
        rows = Rows(preparing.file, preparing.plan.domain.region)
        put_to_use(preparing.plan.source, preparing.plan.over(rows, done.sample))
        suggest_delta()


def is_preparing(source: Source) -> bool:
    """Whether the rows of ``source`` are on their way."""
    preparing = _find_preparation()
    return preparing is not None and preparing.plan.source is source.content and not preparing.job.state.final


def draw_preparation_panel(source: Source) -> bool:
    """Show the preparation of ``source`` if it is under way or went wrong; whether it is under way."""
    preparing = _find_preparation()
    if preparing is None or preparing.plan.source is not source.content:
        return False
    draw_job_panel(preparing.job, label=f"Preparing {preparing.plan.source.name}", key="preparation")
    return is_preparing(source)


def _find_preparation() -> _Preparing | None:
    return cast("_Preparing | None", st.session_state.get(_PREPARING))
