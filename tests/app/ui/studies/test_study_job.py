"""What is said of a study before it runs: as long for a private table with a row less."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpviz.app.ui.studies.study_job import StudyQuestion
from dpviz.runs.open_table import OpenTable
from dpviz.runs.request import Contender
from dpviz.runs.study.grid import StudyGrid
from dpviz.tables.declarations import FileKind
from tests.pages.tables import open_blobs

GRID = StudyGrid((Contender("auto"), Contender("dplloyd")), (3, 9), (0.3, 1.0), (0.0,), repeats=20)


def private(n: int, n_public: int | None = None) -> OpenTable:
    table = open_blobs(FileKind.PRIVATE, n=n)
    table.private.n_public = n_public
    return table


def told(table: OpenTable, grid: StudyGrid = GRID) -> tuple[float, str]:
    asked = StudyQuestion("compare", table, table, grid)
    return asked.seconds, asked.provided


def test_how_long_a_study_takes_is_told_without_the_number_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    public = told(open_blobs(n=2_000))
    assert public[1] == "" and told(open_blobs(n=1_000))[0] < public[0]
    assert told(private(2_000)) == told(private(1_999)) == told(private(40))
    assert told(private(2_000))[1] == " if it has 10,000 rows"
    # What is declared is told of, whatever is there; so is what is asked for.
    assert told(private(40, n_public=2_000)) == public
    asked = [told(private(n), replace(GRID, ns=(1_000,))) for n in (2_000, 1_999)]
    assert asked[0] == asked[1] == told(open_blobs(n=1_000))
