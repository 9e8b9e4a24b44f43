"""A study as one HTML file: its picture in both themes, what was asked, and the numbers behind it."""

from __future__ import annotations

from dpviz.charts.player.player_page import Figured, Scene, player_page
from dpviz.runs.export import REVEALED_NOTE
from dpviz.table.declaration import FileKind
from dpviz.ui.studies.study_job import StudyJob
from dpviz.ui.studies.study_picture import StudyPicture


def study_page(study: StudyJob, picture: StudyPicture) -> bytes:
    """The page, which needs no network and no server.

    Raises
    ------
    RequestError
        For losses read from a private file.
    """
    study.refuse_to_export_private()
    simulated = study.source.kind is FileKind.SIMULATED
    figure = Figured.of(picture.draw, picture.words(), "public" if simulated else "revealed")
    scene = Scene(figures=[figure], paragraphs=[_asked(study)], note=REVEALED_NOTE, numbers=picture.table())
    return player_page([scene], title=f"{picture.finding} · {study.source.title}").encode("utf-8")


def _asked(study: StudyJob) -> str:
    """What was run, on what, and whom ε protects."""
    grid, source = study.grid, study.source
    epsilons = ", ".join(f"{epsilon:g}" for epsilon in grid.epsilons)
    ks = ", ".join(map(str, grid.ks))
    deltas = ", ".join(f"{delta:g}" for delta in grid.deltas)
    who = ", ".join(contender.label for contender in grid.contenders)
    return (
        f"Losses on {source.title}, {len(study.rows):,} runs: {who}; ε = {epsilons}; δ = {deltas}; k = {ks}; "
        f"protects {source.private.unit}."
    )
