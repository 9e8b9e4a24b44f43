"""The sample of fifteen clusters, and what runs on it lose over k-means++."""

from collections.abc import Iterator
from functools import cache
from itertools import count

from dpviz.core.private_session import PrivateTable
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import find_reference, nicv
from dpviz.runs.one_run import run
from dpviz.runs.open_table import declare
from dpviz.tables.named import sample


@cache
def _judged() -> tuple[PrivateTable, object, float]:
    loaded = sample("fifteen").load()
    table = declare(loaded.table, loaded.declaration).private
    revealed = clip_rows(table.reveal(note="test"), table.domain.region)
    return table, revealed.points, find_reference(revealed, 15).nicv


def ratios(algorithm: str, **request: object) -> Iterator[float]:
    """Of one run after the other, without end."""
    table, points, best = _judged()
    for seed in count():
        yield nicv(points, run(algorithm, table, k=15, seed=seed, **request).unit_centers) / best
