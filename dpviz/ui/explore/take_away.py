"""Files of a run: its centres, its record, and the walk itself as one page that plays anywhere."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dpviz.charts.picture import Look
from dpviz.charts.player.player_page import Scene, filmed, player_page
from dpviz.runs.export import centers_csv, file_stem, page_name, run_json
from dpviz.runs.open_table import OpenTable
from dpviz.runs.record import ReleaseRecord
from dpviz.ui.badges import badged
from dpviz.ui.escape import plain
from dpviz.ui.explore.scores import Judged
from dpviz.ui.explore.walk import beside_title
from dpviz.ui.reference import found_later
from dpviz.ui.runner import Result
from dpviz.ui.session import record_at


def take_away(table: OpenTable, result: Result, look: Look, judged: Judged | None) -> None:
    """The buttons, and what is in the files; without privacy there is nothing to take away."""
    record = record_at(result.place)
    if not record.private:
        badged("revealed", "k-means++ is never a release: there is nothing to download.")
        return
    stem, shown = file_stem(record), what_may_leave(table, result, look)
    scores = judged if shown.reveals else None
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "Play it anywhere (HTML)",
            lambda: run_page(table, result, record, shown, scores),  # made when it is asked for
            page_name(record, revealed=shown.reveals),
            "text/html",
            type="primary",
            icon=":material/play_circle:",
            key="download_page",
            on_click="ignore",
            help="All steps in one file of about 2 MB: it opens in any browser, without network or server.",
        )
        st.download_button(
            "Centres (CSV)",
            centers_csv(record).encode("utf-8"),
            f"{stem}_centres.csv",
            "text/csv",
            icon=":material/download:",
            key="download_centers",
            on_click="ignore",
        )
        st.download_button(
            "Run (JSON)",
            run_json(record).encode("utf-8"),
            f"{stem}_run.json",
            "application/json",
            icon=":material/data_object:",
            key="download_run",
            on_click="ignore",
        )
    if shown.reveals:
        badged(
            "revealed",
            f"The page shows the rows and k-means++ in orange, as here: {plain(table.title)} may be shown. Switch off "
            "*Show truth* for a page of released values only.",
        )
    badged(
        "released",
        f"{'The other two files' if shown.reveals else 'All files'} hold released values only: centres in data units, "
        "noisy sizes; the JSON also what was declared, the ledger, and how often anybody looked at the rows. How long "
        "the run took is in none: it depends on the rows.",
    )
    if record.note:
        st.caption(f":material/warning: {plain(record.note)} Each file says so inside and by its name.")


def what_may_leave(table: OpenTable, result: Result, look: Look) -> Look:
    """What a page of its own may show: of a private table nothing but the release, whatever its owner sees here."""
    if not (table.kind.may_be_shown and look.reveals):
        return look.released()
    # Earlier draws stand in no ledger of this file.
    shown = replace(look, ghosts=(), reference_coming=False)
    if look.found is None or look.reference is None:
        return shown
    return replace(shown, found=found_later(table, look.reference, points_per_row=result.run.points_per_row))


def run_page(table: OpenTable, result: Result, record: ReleaseRecord, look: Look, judged: Judged | None) -> bytes:
    """The walk through a run as one HTML file."""
    film = filmed(result.run, look, list(beside_title(table, result, judged)))
    return player_page([Scene(film=film, run=record, table=table.title)]).encode("utf-8")
