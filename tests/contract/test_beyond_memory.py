"""Every algorithm on rows that are not in memory: the same bytes as in memory, or refused before anything is spent."""

import numpy as np
import pytest

from dpviz.algorithms.registry import CARDS
from dpviz.core.check import RequestError
from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable
from dpviz.core.rows import Rows
from dpviz.runs.one_run import run
from dpviz.tables.prepared_rows import Batch, Preparation
from tests.cases import about

DOMAIN = Domain.of(("x", "y", "z"), -1, 1)


def rows(n: int = 6000) -> np.ndarray:
    rng = np.random.default_rng(0)
    centers = rng.uniform(-0.8, 0.8, (4, 3))
    return centers[rng.integers(0, 4, n)] + rng.normal(0, 0.05, (n, 3))


def in_file(values: np.ndarray) -> PrivateTable:
    prepared = Preparation(DOMAIN, drop_incomplete=True)
    for part in np.array_split(values, 5):
        prepared.take(Batch(part, None, 1.0))
    kept = Rows(prepared.finish(), DOMAIN.region, block_numbers=2**14)
    return PrivateTable.over(kept, DOMAIN, n_public=len(values))


@pytest.mark.parametrize("algorithm", CARDS)
def test_the_same_bytes_or_a_sentence(algorithm: str) -> None:
    values = rows()
    large = in_file(values)
    for delta in (0.0, 1e-6):
        with about(f"δ = {delta}"):
            check_alike(algorithm, values, large, k=4, epsilon=2.0, delta=delta, seed=3)


def check_alike(algorithm: str, values: np.ndarray, large: PrivateTable, **asked: float) -> None:
    if CARDS[algorithm].at_once:
        with pytest.raises(RequestError, match=r"rows at once|needs delta"):
            run(algorithm, large, **asked)
        return
    small = PrivateTable(values, DOMAIN, n_public=len(values))
    try:
        expected = run(algorithm, small, **asked)
    except RequestError:
        with pytest.raises(RequestError, match="needs delta"):
            run(algorithm, large, **asked)
        return
    assert run(algorithm, large, **asked).centers.tobytes() == expected.centers.tobytes()


def test_blocks_are_read_from_a_file_in_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    values = rows(900)
    monkeypatch.setattr("dpviz.core.rows.BLOCKED_NUMBERS", 3 * 200)  # five passes
    for algorithm in ("gkm", "sample-aggregate"):
        check_alike(algorithm, values, in_file(values), k=2, epsilon=2.0, delta=0.0, seed=3)


def test_persons_are_dealt_out_in_memory_only() -> None:
    table = PrivateTable.over(in_file(rows(900))._rows, DOMAIN, with_persons=True)
    with pytest.raises(RequestError, match=r"deals out persons.*choose one of auto") as refused:
        run("gkm", table, k=2, epsilon=2.0)
    assert "sample-aggregate" not in str(refused.value) and table.accesses == []


def test_what_is_revealed_is_a_sample_inside_the_bounds() -> None:
    table = in_file(rows())
    revealed = table.reveal(note="a test")
    assert revealed.inside and len(revealed.points) == 6000 and table.accesses == ["a test"]
