"""Files of a run: what is in them, and what never is."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from dpviz.check import RequestError
from dpviz.privacy.room import PrivateTable
from dpviz.runs.export import SEEDED, centers_csv, file_stem, run_json
from dpviz.runs.run import run
from dpviz.table.domain import Domain
from tests.contract.tables import blobs, small_table


def test_the_centres_come_back_from_the_file_in_data_units() -> None:
    table = PrivateTable(1000 + 100 * blobs(), Domain.of(["x", "y"], 900.0, 1100.0), n_public=400)
    finished = run("dplloyd", table, k=3, epsilon=1.0, seed=0)
    lines = list(csv.DictReader(centers_csv(finished).splitlines()))
    read = [[float(line["x"]), float(line["y"])] for line in lines]
    assert np.array_equal(read, finished.centers) and np.min(read) >= 900
    assert [float(line["noisy_size"]) for line in lines] == list(finished.noisy_weights)
    assert [line["cluster"] for line in lines] == ["1", "2", "3"]


def test_revealed_centres_do_not_leave() -> None:
    finished = run("kmeans++", small_table(), k=3, epsilon=1.0, seed=0)
    with pytest.raises(RequestError):
        centers_csv(finished)
    assert json.loads(run_json(finished))["released"]["centers"] is None


def test_column_names_cannot_be_formulas() -> None:
    domain = Domain.of(['=cmd|"x"', "-y"], -1.0, 1.0)
    finished = run("dplloyd", PrivateTable(blobs(), domain, n_public=400), k=2, epsilon=1.0, seed=0)
    header = next(csv.reader(centers_csv(finished).splitlines()))
    assert header[1:3] == ['\'=cmd|"x"', "'-y"]


def test_a_seeded_run_says_so() -> None:
    finished = run("dplloyd", small_table(n_public=400), k=2, epsilon=0.5, seed=0)
    assert SEEDED in json.loads(run_json(finished, seeded=True))["warnings"]
    assert SEEDED not in json.loads(run_json(finished))["warnings"]
    assert file_stem(finished) == "dplloyd_k2_eps0.5"
