"""Studies that pages open: computed once for all readers, gone on with later, and nothing of them left behind."""

import csv
import gc
import os
import stat
from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from shutil import rmtree

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from dpviz.core.check import RequestError
from dpviz.runs import jobs
from dpviz.runs.clipped_rows import JudgedTable
from dpviz.runs.jobs import JobState, Scheduler
from dpviz.runs.request import Contender
from dpviz.runs.study import open_study as opening
from dpviz.runs.study.folder import StudyFolder
from dpviz.runs.study.grid import StudyGrid
from dpviz.runs.study.open_study import FOLDER_VARIABLE, JobRegistry, Study
from dpviz.runs.study.study import Yardstick, compute_study_rows, tidy
from tests.contract.tables import make_blobs, make_small_table
from tests.runs.jobs_at_home import Gate, stay_at_home
from tests.waiting import SECONDS, eventually

ROOT = Path(__file__).resolve().parents[3]
GRID = StudyGrid((Contender("dplloyd"), Contender("eugkm", {"preset": "su"})), (2, 3), (1.0,), repeats=2)


def judged(n: int = 400) -> JudgedTable:
    table = make_small_table(make_blobs(n), n_public=n)
    return JudgedTable.of(table, table.reveal(note="test"), None)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Where studies are kept in this test; all of them have stopped before the next one."""
    monkeypatch.setattr(jobs, "_MORE_POLITE", 0)  # nobody draws pages here
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "studies"))
    monkeypatch.setattr(opening, "_KEPT", OrderedDict())
    yield tmp_path / "studies"
    engines = list(opening._ENGINES.values())
    for engine in engines:
        engine.stop()
    assert eventually(lambda: not any(engine._thread.is_alive() for engine in engines))


@pytest.fixture
def gate(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Studies of this test are computed in threads."""
    return stay_at_home(monkeypatch)


def rows(study: Study) -> list[dict]:
    return [item for item in study.items if isinstance(item, dict)]


def done(study: Study) -> list[dict]:
    assert study.wait(SECONDS) and study.state is JobState.DONE, study.error
    return rows(study)


@cache
def alone(grid: StudyGrid) -> pd.DataFrame:
    """What one process finds by itself."""
    with threadpool_limits(1):
        return tidy([item for item in compute_study_rows(judged(), grid) if isinstance(item, dict)])


def same(found: list[dict], grid: StudyGrid = GRID) -> bool:
    """Whether they are the rows that one process would have found, in whatever order."""
    expected = alone(grid)
    ours = tidy(found).set_index("trial").loc[expected["trial"]].reset_index()
    pd.testing.assert_frame_equal(ours[expected.columns].drop(columns="seconds"), expected.drop(columns="seconds"))
    return len(found) == len(expected)


def lines(folder: Path) -> Counter[str]:
    """How often each trial stands in the results."""
    (file,) = folder.glob("*/results.csv")
    with file.open(newline="") as results:
        return Counter(line["trial"] for line in csv.DictReader(results))


@pytest.mark.slow
def test_a_study_by_several_processes_is_that_of_one_and_gives_its_seats_back(folder: Path) -> None:
    scheduler = Scheduler(4)
    registry = JobRegistry(scheduler=scheduler)
    study = registry.start_study(judged(), GRID, key="a")
    assert same(done(study))
    assert {(stick.k, stick.n) for stick in study.items if isinstance(stick, Yardstick)} == {(2, None), (3, None)}
    assert study.progress is not None and study.progress.fraction == 1 and study.elapsed > 0
    assert not scheduler._taken and not scheduler._waiting and not opening._ENGINES


def test_what_its_reader_left_is_gone_on_with(folder: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "count_cores", lambda: 1)
    registry, grid = JobRegistry(), replace(GRID, repeats=20)
    gate.hold_after(5)
    study = registry.start_study(judged(), grid, key="a")
    assert eventually(lambda: len(rows(study)) == 5)
    del registry
    gc.collect()
    assert study.state is JobState.CANCELLED
    assert eventually(lambda: not opening._ENGINES)
    kept = lines(folder)
    assert len(kept) == 5
    (results,) = folder.glob("*/results.csv")
    with results.open("a") as torn:
        torn.write("DPLloyd,dpll")
    other = JobRegistry()  # it stays until the end of the test
    gate.hold_after(3)
    again = other.start_study(judged(), grid, key="a")
    assert eventually(lambda: len(rows(again)) == 8)
    assert [row["trial"] for row in rows(again)[:5]] == [t.key for t in grid.list_trials() if t.key in kept]
    again.cancel()
    assert eventually(lambda: not opening._ENGINES)
    assert set(lines(folder).values()) == {1} and kept.keys() < lines(folder).keys()


@pytest.mark.some(1)
@pytest.mark.parametrize("kept", ["in memory", "in the folder", "nowhere"])
def test_a_study_that_is_done_is_read_and_not_computed(
    folder: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch, kept: str
) -> None:
    if kept == "in memory":
        monkeypatch.delenv(FOLDER_VARIABLE)
    registry = JobRegistry()
    done(registry.start_study(judged(), GRID, key="a"))
    if kept != "in memory":
        opening._KEPT.clear()
    if kept == "nowhere":
        rmtree(folder)
    gate.jobs = 0
    again = registry.start_study(judged(), GRID, key="a")
    found = done(again)
    assert (gate.jobs > 0) == (kept == "nowhere")
    assert same(found) and sum(isinstance(item, Yardstick) for item in again.items) == 2
    assert folder.exists() == (kept != "in memory")


def test_two_who_open_it_at_once_read_one_study_and_either_may_leave(folder: Path, gate: Gate) -> None:
    registry, another = JobRegistry(), JobRegistry()
    gate.hold_after(3)
    first, second = (each.start_study(judged(), GRID, key="a") for each in (registry, another))
    assert len(opening._ENGINES) == 1
    assert eventually(lambda: len(rows(first)) == 3)
    third = registry.start_study(judged(), GRID, key="a")
    first.cancel()
    assert first.state is JobState.CANCELLED and second.state is not JobState.CANCELLED
    gate.open()
    assert same(done(second)) and same(done(third)) and len(rows(first)) == 3
    assert set(lines(folder).values()) == {1}


def test_another_table_grid_or_seed_is_another_study(folder: Path, gate: Gate) -> None:
    gate.hold_after(0)
    registry = JobRegistry()
    asked = [(GRID, "a", False), (GRID, "b", False), (replace(GRID, seed=1), "a", False), (GRID, "a", True)]
    for grid, key, with_centers in asked:
        registry.start_study(judged(), grid, key=key, with_centers=with_centers)
    assert len(opening._ENGINES) == 4


def test_a_grid_that_cannot_be_served_is_refused_before_anything_is_begun(folder: Path) -> None:
    with pytest.raises(RequestError, match="401"):
        JobRegistry().start_study(judged(), replace(GRID, ks=(401,)), key="a")
    assert not opening._ENGINES and not folder.exists()


posix = pytest.mark.skipif(os.name != "posix", reason="modes and owners of files")


@posix
@pytest.mark.slow
def test_losses_are_for_the_owner_of_the_server_alone(folder: Path, gate: Gate) -> None:
    registry = JobRegistry()
    done(registry.start_study(judged(), replace(GRID, repeats=1), key="a"))
    assert {stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())} == {0o700}
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.glob("*/*")} == {0o600}


@posix
@pytest.mark.parametrize("wrong", ["open to others", "of another user", "a file"])
def test_a_folder_that_is_not_ones_own_is_refused_in_a_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    if wrong == "a file":
        folder.write_text("")
    else:
        folder.mkdir(mode=0o700)
    if wrong == "open to others":
        folder.chmod(0o750)
    if wrong == "of another user":
        monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(RequestError, match=r"^DPVIZ_STUDIES"):
        JobRegistry().start_study(judged(), GRID, key="a")


@pytest.mark.slow
def test_a_folder_in_use_by_another_server_or_damaged_fails_with_a_sentence(folder: Path, gate: Gate) -> None:
    registry, grid = JobRegistry(), replace(GRID, repeats=1)
    done(registry.start_study(judged(), grid, key="a"))
    (inner,) = folder.iterdir()
    with StudyFolder(inner, resume=True):
        held = registry.start_study(judged(), grid, key="a")
        assert held.wait(SECONDS) and held.state is JobState.FAILED
        assert "Another command is writing into DPVIZ_STUDIES" in str(held.error)
    (inner / "results.csv").write_text("a,b\n1,2\n")
    damaged = registry.start_study(judged(), grid, key="a")
    assert damaged.wait(SECONDS) and "is damaged" in str(damaged.error)


def test_of_studies_that_nobody_reads_those_that_fit_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_KEPT", OrderedDict())
    row = {"trial": "x", "centers": np.zeros((10, 10))}
    monkeypatch.setattr(opening, "_MOST_KEPT_BYTES", 3 * (opening._ROW_BYTES + 800))
    for name in "abc":
        opening._keep(name, [row])
    opening._keep("d", [row, row])
    assert list(opening._KEPT) == ["c", "d"]
