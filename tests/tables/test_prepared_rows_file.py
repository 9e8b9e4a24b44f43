"""Rows in a file without a name: they come back, nobody else finds them, and nothing stays behind."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest

from dpviz.core.domain import Region
from dpviz.tables.loaded_table import IntakeError
from dpviz.tables.prepared_rows import LatticeFile

REGION = Region.ball(3, 2.0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("radius", [2.0, 40.0])
def test_rows_come_back_as_they_went_in(radius: float) -> None:
    region = Region.ball(3, radius)
    rows = region.rows(np.random.default_rng(0).normal(size=(1000, 3)) * radius)
    file = LatticeFile(region)
    for part in np.array_split(rows, 7):
        file.append(part)
    assert file.shape == (1000, 4)
    for first, end in ((0, 1000), (17, 18), (990, 2000), (5, 5), (2000, 3000)):
        chunk = file[first:end]
        np.testing.assert_array_equal(chunk[:, :-1], rows[first:end])
        assert (chunk[:, -1] == 1).all()


def test_nobody_finds_the_file(folder: Path) -> None:
    file = LatticeFile(REGION)
    file.append(np.zeros((10, 3)))
    assert list(folder.iterdir()) == []
    assert os.fstat(file.fd).st_mode & 0o077 == 0


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    file = LatticeFile(REGION)

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(IntakeError, match=r"do not fit .* TMPDIR") as told:
        file.append(np.full((1, 3), 0.123))
    assert "123" not in str(told.value)


def test_a_folder_that_is_gone_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(IntakeError, match="TMPDIR"):
        LatticeFile(REGION)


def test_a_file_that_was_cut_is_told() -> None:
    file = LatticeFile(REGION)
    file.append(np.zeros((10, 3)))
    os.truncate(file.fd, 40)
    with pytest.raises(IntakeError, match="open the table again"):
        file[0:10]


def test_rows_that_another_process_appended_have_to_be_there() -> None:
    file = LatticeFile(REGION)
    file.append(np.zeros((10, 3)))
    file.note_rows(10)
    assert file.shape == (10, 4)
    for rows in (9, 11):
        with pytest.raises(IntakeError, match="open the table again"):
            file.note_rows(rows)
