"""Runs on tables with categories: shares are shares, and who cannot serve them says why and what to choose."""

import numpy as np
import pytest

from dpviz.algorithms.steps import CentersStep
from dpviz.core.check import RequestError
from dpviz.core.private_session import PrivateTable
from dpviz.runs.audits.neighboring_tables import MIXED, make_mixed_rows
from dpviz.runs.one_run import run
from dpviz.runs.request import Contender, Request
from dpviz.tables.codings import NUMBER, Coding, Nominal, Ordinal, make_coded_domain
from tests.cases import about, for_each
from tests.contract.tables import make_blobs

ABLE = ("auto", "lsh-coreset", "balcan", "balcan-kmedian", "balcan-sparse", "dplloyd", "sulq")


def table_of(codings: dict[str, Coding], n: int = 50, n_public: int | None = None, **bounds: float) -> PrivateTable:
    ends = [(coding.ends or (0.0, 1.0)) for coding in codings.values()]
    lower, upper = zip(*ends, strict=True)
    used = {name: coding for name, coding in codings.items() if coding != NUMBER}
    domain = make_coded_domain(list(codings), lower, upper, codings=used, weights={})
    return PrivateTable(np.tile(np.array(lower), (n, 1)), domain, n_public=n_public)


@for_each("algorithm", ABLE)
def test_released_shares_are_shares_whatever_the_noise(algorithm):
    mixed = PrivateTable(make_mixed_rows(make_blobs(400, 4)), MIXED, n_public=400)
    for epsilon in (0.05, 5.0):
        done = run(algorithm, mixed, k=3, epsilon=epsilon, delta=1e-6, seed=0)
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
