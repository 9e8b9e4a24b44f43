"""A plane to look at: it holds the whole public domain, keeps distances, and reads in the columns' own units."""

import numpy as np
import pytest

from dpviz.app.charts.view import make_view, make_view_along_centers
from dpviz.core import Domain, Region
from dpviz.tables.codings import Nominal, Stretched, make_coded_domain
from tests.cases import for_each


def domain(dim: int, **more: object) -> Domain:
    places = np.arange(1, dim + 1)
    return Domain.of([f"c{j}" for j in range(dim)], -10.0 * places, 30.0 * places, **more)  # type: ignore[arg-type]


@for_each(("dim", "k"), [(3, 4), (100, 2)])
def test_the_plane_along_centres_holds_all_of_them_and_keeps_their_distances_best(dim: int, k: int) -> None:
    centers = np.random.default_rng(k).normal(0, 0.1, (k, dim))
    view = make_view_along_centers(domain(dim), centers)
    np.testing.assert_allclose(view.projection @ view.projection.T, np.eye(2), atol=1e-12)
    gaps = centers - centers.mean(axis=0)
    along, first = (float((gaps @ plane.T).std(axis=0).max()) for plane in (view.projection, np.eye(dim)[:2]))
    assert along >= first and view.count_beyond(centers) == 0
    if k == 2:
        shown, true = (np.linalg.norm(np.diff(points, axis=0)) for points in (view.plane(centers), centers))
        assert shown == pytest.approx(true)
    assert view.boxes().window is None and view.with_space(Region.ball(3, 2.0)).window is None
    for lying in (np.zeros((1, dim)), np.full((3, dim), 0.2)):
        assert make_view_along_centers(domain(dim), lying) is None, "centres that do not spread have no plane"
    assert make_view_along_centers(domain(1), centers[:, :1]) is None


def test_a_log_column_is_drawn_evenly_with_amounts_at_its_ticks_and_shares_from_nothing_to_all():
    codings = {"pay": Stretched("log"), "debt": Stretched("root")}
    domain = make_coded_domain(["age", "pay", "debt"], [0, 100, -400], [80, 1e6, 900], codings=codings, weights={})
    view = make_view(domain, (0, 1))
    assert view.name == ("age", "pay, log scale") and view.extent == ((0.0, 80.0), (-1.0, 1.0))
    points = domain.to_unit(np.array([[40.0, 100.0, 0.0], [80.0, 1e4, 0.0], [0.0, 1e6, 0.0]]))
    np.testing.assert_allclose(view.plane(points), [[40, -1], [80, 0], [0, 1]], atol=1e-9)
    across, up = view.ticks
    assert across == {} and up["ticktext"] == ["100", "1k", "10k", "100k", "1M"]
    np.testing.assert_allclose(up["tickvals"], [-1, -0.5, 0, 0.5, 1], atol=1e-9)
    root = make_view(domain, (0, 2)).ticks[1]["ticktext"]
    assert view.count_beyond(points) == 0 and (root[0], root[-1]) == ("−400", "900")
    named = make_coded_domain(["age", "c"], [0, 0], [80, 3], codings={"c": Nominal(("a", "b"))}, weights={})
    assert make_view(named, (0, 1)).extent == ((0.0, 80.0), (0.0, 1.0))
