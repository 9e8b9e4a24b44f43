"""Runs on tables with categories: shares are shares, and who cannot serve them says why and what to choose."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from dpviz.algorithms.steps import CentersStep
from dpviz.core.check import RequestError
from dpviz.core.private_session import PrivateTable
from dpviz.runs.audits.neighboring_tables import MIXED, make_mixed_rows
from dpviz.runs.one_run import run
from dpviz.runs.open_table import declare
from dpviz.runs.request import Contender, Request
from dpviz.tables.arrow_intake import ParquetTable
from dpviz.tables.codings import NUMBER, Coding, Nominal, Ordinal, make_coded_domain
from dpviz.tables.csv_intake import CsvOnDisk, open_csv
from dpviz.tables.declarations import apply_declaration
from dpviz.tables.prepared_rows import LatticeFile, Preparation
from tests.cases import about, for_each
from tests.contract.tables import make_blobs

ABLE = ("auto", "lsh-coreset", "balcan", "balcan-kmedian", "balcan-sparse", "dplloyd", "sulq")


def mixed() -> PrivateTable:
    return PrivateTable(make_mixed_rows(make_blobs(400, 4)), MIXED, n_public=400)


def table_of(codings: dict[str, Coding], n: int = 50, n_public: int | None = None, **bounds: float) -> PrivateTable:
    ends = [(coding.ends or (0.0, 1.0)) for coding in codings.values()]
    lower, upper = zip(*ends, strict=True)
    used = {name: coding for name, coding in codings.items() if coding != NUMBER}
    domain = make_coded_domain(list(codings), lower, upper, codings=used, weights={})
    return PrivateTable(np.tile(np.array(lower), (n, 1)), domain, n_public=n_public)


@for_each("algorithm", ABLE)
def test_released_shares_are_shares_whatever_the_noise(algorithm):
    for epsilon in (0.05, 5.0):
        done = run(algorithm, mixed(), k=3, epsilon=epsilon, delta=1e-6, seed=0)
        with about(epsilon):
            shares = done.centers[:, MIXED.places[1]]
            np.testing.assert_allclose(shares.sum(axis=1), 1)
            assert (shares >= 0).all() and (np.abs(done.unit_centers) <= MIXED.region.half).all()
            assert (np.linalg.norm(done.centers[:, MIXED.places[3]], axis=1) <= 1 + 1e-12).all()
            for frame in done.frames:
                if isinstance(frame.step, CentersStep):
                    centers = frame.step.centers
                    np.testing.assert_allclose(MIXED.region.settle_points(centers), centers, atol=1e-12)


def test_a_grid_over_many_categories_is_refused_and_over_few_it_is_laid():
    few = table_of({"x": NUMBER, "c": Nominal(("a", "b", "d", "e"))}, n_public=50)
    many = table_of({"x": NUMBER, "c": Nominal(("a", "b", "d", "e", "f"))}, n_public=50)
    for algorithm in ("eugkm", "hybrid"):
        with about(algorithm):
            Request(Contender(algorithm), 2).check(few)
            with pytest.raises(RequestError, match="make 7 coordinates; a grid over them says nothing: choose auto"):
                run(algorithm, many, k=2, epsilon=1.0)
    tuples = Request(Contender("k-noisy-centers", {"rows": "tuples"}), 2, 1.0, 1e-6)
    with pytest.raises(RequestError, match="plain numbers only"):
        tuples.check(PrivateTable(np.zeros((5, 2)), few.domain, relation="replace"))


def test_more_clusters_than_different_rows_are_refused():
    # Two names, any other, and empty, times three ranks; a column of numbers makes any number of rows.
    values = {"c": Nominal(("a", "b")), "s": Ordinal(("I", "II", "III"))}
    with pytest.raises(RequestError, match="k is 13, but the declared values make only 12 different rows"):
        run("auto", table_of(values), k=13, epsilon=1.0, delta=1e-6)
    Request(Contender("auto"), 12, delta=1e-6).check(table_of(values))
    Request(Contender("auto"), 13, delta=1e-6).check(table_of({**values, "x": NUMBER}))


def test_the_same_rows_from_lines_in_memory_and_on_disk_and_from_parquet(tmp_path):
    frame = pd.DataFrame(
        {
            "id": np.arange(300) // 2,
            "pay": np.exp(np.linspace(0, 9, 300)).round(2),
            "region": np.array(["N", "S", "elsewhere", None], dtype=object)[np.arange(300) % 4],
            "on": pd.date_range("2024-01-01", periods=300),
            "hour": np.arange(300) % 24,
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    said = {
        "bounds": {
            "pay": {"bounds": [1, 1000], "scale": "log"},
            "region": {"categories": ["N", "S"]},
            "on": {"dates": ["2024-01-01", "2024-06-30"]},
            "hour": {"cycle": 24},
        }
    }
    for more in ({}, {"id_column": "id", "rows_per_person": 1}):
        declared = apply_declaration(json.dumps({**said, **more})).validate()
        sources = (open_csv(tmp_path / "t.csv"), CsvOnDisk(tmp_path / "t.csv"), ParquetTable(tmp_path / "t.parquet"))
        tables = [declare(source, declared) for source in sources]
        domain, file = tables[2].domain, LatticeFile(tables[2].domain.region)
        rows = Preparation(domain, drop_incomplete=True, rows_per_person=1, file=file)
        for batch in sources[2].read_batches(declared.columns, codings=declared.coded, id_column=declared.id_column):
            rows.take(batch)
        chunks = [np.asarray(table.private._rows._stored[: len(table.private._rows)])[:, :-1] for table in tables]
        chunks.append(np.asarray(rows.finish()[: len(chunks[0])])[:, :-1])
        first, *others = (chunk[np.lexsort(chunk.T)] for chunk in chunks)
        assert len(first) == (150 if more else 300)
        for other in others:
            np.testing.assert_array_equal(other, first)
