"""Rows prepared batch by batch are those that a session holds in memory; in a file that nobody finds, or a sentence."""

import errno
import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpviz.core.content import order_by_content
from dpviz.core.domain import Domain, Region
from dpviz.core.private_session import PrivateTable
from dpviz.core.rows import Rows
from dpviz.tables.loaded_table import IntakeError, hash_ids
from dpviz.tables.prepared_rows import Batch, LatticeFile, Preparation

DOMAIN = Domain.of(("x", "y", "z"), (-2, -1, 0), (2, 1, 3), radius=1.5)


def table(seed: int = 0, n: int = 3000) -> tuple[np.ndarray, pd.Series]:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, 3)) * 2
    values[rng.random((n, 3)) < 0.01] = np.nan
    values[::500] = np.inf
    ids = pd.Series(rng.integers(0, n // 8, n)).astype("str").where(rng.random(n) > 0.01)
    return values, ids


def prepared(values: np.ndarray, ids: pd.Series | None, size: int, **declared: object) -> Rows:
    rows = Preparation(DOMAIN, **declared)
    for first in range(0, len(values), size):
        part = slice(first, first + size)
        rows.take(Batch(values[part], None if ids is None else ids[part], first / len(values)))
    return Rows(rows.finish(), DOMAIN.region)


def all_of(rows: Rows) -> np.ndarray:
    found = np.concatenate([chunk.values.copy() for chunk in rows.chunks(1)])
    return found[order_by_content(found)]


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("size", [1, 700])
def test_the_rows_are_those_in_memory(relation: str, size: int) -> None:
    values, _ = table(n=200 if size == 1 else 3000)
    in_file = prepared(values, None, size, drop_incomplete=relation == "add_remove")
    in_memory = PrivateTable(values, DOMAIN, relation=relation)._rows
    assert not in_file.in_memory
    np.testing.assert_array_equal(all_of(in_file), all_of(in_memory))


@pytest.mark.parametrize("most", [1, 3, 100])
def test_so_many_rows_of_a_person_are_the_same_ones(most: int) -> None:
    values, ids = table(n=1500)
    values = np.sign(values)  # many are equal
    in_file = prepared(values, ids, 400, drop_incomplete=True, rows_per_person=most)
    in_memory = PrivateTable(values, DOMAIN, persons=hash_ids(ids), rows_per_person=most)._rows
    np.testing.assert_array_equal(all_of(in_file), all_of(in_memory))


REGION = Region.ball(3, 2.0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_nobody_finds_the_file(folder: Path) -> None:
    file = LatticeFile(REGION)
    file.append(np.zeros((10, 3)))
    assert list(folder.iterdir()) == [] and os.fstat(file.fd).st_mode & 0o077 == 0


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    file = LatticeFile(REGION)

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(IntakeError, match=r"do not fit .* TMPDIR") as told:
        file.append(np.full((1, 3), 0.123))
    assert "123" not in str(told.value)


def test_a_file_that_was_cut_is_told() -> None:
    file = LatticeFile(REGION)
    file.append(np.zeros((10, 3)))
    for rows in (9, 11):  # of another process
        with pytest.raises(IntakeError, match="open the table again"):
            file.note_rows(rows)
    os.truncate(file.fd, 40)
    with pytest.raises(IntakeError, match="open the table again"):
        file[0:10]
