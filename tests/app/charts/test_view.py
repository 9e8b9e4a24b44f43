import numpy as np
import pytest

from dpviz.app.charts.view import list_choices, make_view, make_view_along_centers
from dpviz.core.check import RequestError
from dpviz.core.domain import Domain, Region
from dpviz.tables.codings import Nominal, Stretched, make_coded_domain
from tests.cases import about


def domain(dim: int, **more: object) -> Domain:
    places = np.arange(1, dim + 1)
    return Domain.of([f"c{j}" for j in range(dim)], -10.0 * places, 30.0 * places, **more)  # type: ignore[arg-type]


def test_column_pairs_are_drawn_in_data_units() -> None:
    where = domain(3)
    points = np.random.default_rng(0).uniform(-1, 1, (20, 3))
    np.testing.assert_allclose(make_view(where, (2, 0)).plane(points), where.from_unit(points)[:, [2, 0]])


def test_ranges_hold_the_whole_public_domain_and_no_more_than_some_air() -> None:
    view = make_view(domain(2))
    (x0, x1), (y0, y1) = view.range
    assert x0 < -10 and x1 > 30 and y0 < -20 and y1 > 60
    assert x1 - x0 < 1.2 * 40 and y1 - y0 < 1.2 * 80


def test_a_projection_keeps_distances_in_its_plane_and_depends_on_its_seed_only() -> None:
    view = make_view(domain(7), projection_seed=4)
    assert view.projection is not None
    np.testing.assert_allclose(view.projection @ view.projection.T, np.eye(2), atol=1e-12)
    again, other = make_view(domain(7), projection_seed=4), make_view(domain(7), projection_seed=5)
    np.testing.assert_array_equal(view.projection, again.projection)
    assert not np.allclose(view.projection, other.projection)


def test_a_projection_shows_every_corner_of_the_box() -> None:
    for dim in (2, 6):
        corners = np.stack(np.meshgrid(*[[-1.0, 1.0]] * dim), axis=-1).reshape(-1, dim)
        assert make_view(domain(dim), projection_seed=0).count_beyond(corners) == 0


def test_choices() -> None:
    for dim, expected in {1: 1, 2: 1, 3: 4, 8: 29, 9: 9, 100: 100}.items():
        offered = list_choices(domain(dim))
        assert len(offered) == len({choice.label for choice in offered}) == expected
        for choice in offered:
            assert make_view(domain(dim), axes=choice.axes, projection_seed=choice.projection_seed).name[0]


def test_axes_that_do_not_exist_are_refused() -> None:
    for axes in ((0, 0), (0, 3), (-1, 0), (0,), (0, 1, 2)):
        with about(axes), pytest.raises(RequestError, match="2 different column numbers"):
            make_view(domain(3), axes)


def test_one_column_lies_on_a_line_with_a_lane_for_each_kind_of_mark() -> None:
    view = make_view(domain(1))
    points = np.array([[-1.0], [0.0], [1.0]])
    np.testing.assert_allclose(view.plane(points)[:, 0], [-10, 10, 30])
    heights = [set(view.plane(points, lane)[:, 1]) for lane in ("rows", "centers", "reference")]
    assert all(len(height) == 1 for height in heights)
    assert len(set.union(*heights)) == 3


def test_true_to_scale_only_where_columns_share_a_unit() -> None:
    assert make_view(domain(2)).aspect is None
    common = make_view(domain(2, scaling="common"))
    assert common.aspect == pytest.approx(1.0)
    oblong = Domain.of(["a", "b"], [0, 0], [100, 1], scaling="common")
    assert make_view(oblong).aspect is None


def test_a_ball_in_many_dimensions_is_seen_where_its_points_are() -> None:
    ball = Domain.of([f"c{j}" for j in range(100)], -1.0, 1.0, radius=1.0, scaling="common")
    rng = np.random.default_rng(0)
    points = rng.normal(size=(2000, 100))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    for view in (make_view(ball, (0, 1)), make_view(ball, projection_seed=1)):
        assert view.range[0][1] < 0.5
        assert view.count_beyond(points) <= 2


def test_a_slanted_plane_gives_boxes_its_first_two_columns_and_a_projected_space_its_own_axes() -> None:
    slanted = make_view(domain(5), projection_seed=0)
    assert slanted.boxes().axes == (0, 1) and slanted.boxes().name == ("c0", "c1")
    inner = slanted.with_space(Region.ball(3, 2.0))
    assert inner.name == ("projected axis 1", "projected axis 2")
    points = np.random.default_rng(1).normal(size=(4, 3))
    np.testing.assert_array_equal(inner.plane(points), points[:, :2])
    assert inner.extent == ((-2.0, 2.0), (-2.0, 2.0))


@pytest.mark.parametrize(("dim", "k"), [(3, 4), (100, 2)])
def test_the_plane_along_centres_holds_all_of_them_and_keeps_their_distances_best(dim: int, k: int) -> None:
    centers = np.random.default_rng(k).normal(0, 0.1, (k, dim))
    view = make_view_along_centers(domain(dim), centers)
    assert view is not None and view.projection is not None
    np.testing.assert_allclose(view.projection @ view.projection.T, np.eye(2), atol=1e-12)
    assert view.count_beyond(centers) == 0
    gaps = centers - centers.mean(axis=0)
    spread = [float((gaps @ plane.T).std(axis=0).max()) for plane in (view.projection, np.eye(dim)[:2])]
    assert spread[0] >= spread[1]
    if k == 2:
        assert np.linalg.norm(np.diff(view.plane(centers), axis=0)) == pytest.approx(
            np.linalg.norm(np.diff(centers, axis=0))
        )
    assert view.boxes().window is None and view.with_space(Region.ball(3, 2.0)).window is None


def test_centres_that_do_not_spread_have_no_plane() -> None:
    assert make_view_along_centers(domain(4), np.zeros((1, 4))) is None
    assert make_view_along_centers(domain(4), np.full((3, 4), 0.2)) is None
    assert make_view_along_centers(domain(1), np.array([[0.1], [0.3]])) is None


def test_a_projected_space_of_one_axis_is_a_line() -> None:
    view = make_view(domain(3)).with_space(Region(np.array([0.5]), 0.5), ("the axis",))
    assert view.flat and view.name == ("the axis", "")
    (low, high), lanes = view.extent
    assert (low, high) == (-0.5, 0.5) and lanes == (-1.0, 1.0)


def test_a_log_column_is_drawn_evenly_with_amounts_at_its_ticks():
    codings = {"pay": Stretched("log"), "debt": Stretched("root")}
    domain = make_coded_domain(["age", "pay", "debt"], [0, 100, -400], [80, 1e6, 900], codings=codings, weights={})
    view = make_view(domain, (0, 1))
    assert view.name == ("age", "pay, log scale") and view.extent == ((0.0, 80.0), (-1.0, 1.0))
    points = domain.to_unit(np.array([[40.0, 100.0, 0.0], [80.0, 1e4, 0.0], [0.0, 1e6, 0.0]]))
    np.testing.assert_allclose(view.plane(points), [[40, -1], [80, 0], [0, 1]], atol=1e-9)
    across, up = view.ticks
    assert across == {} and up["ticktext"] == ["100", "1k", "10k", "100k", "1M"]
    np.testing.assert_allclose(up["tickvals"], [-1, -0.5, 0, 0.5, 1], atol=1e-9)
    assert view.count_beyond(points) == 0
    _, root = make_view(domain, (0, 2)).ticks
    assert root["ticktext"][0] == "−400" and root["ticktext"][-1] == "900"
    assert make_view(Domain.of(["a", "b"], 0, 1)).ticks == ({}, {})


def test_shares_are_drawn_from_nothing_to_all():
    domain = make_coded_domain(["age", "c"], [0, 0], [80, 3], codings={"c": Nominal(("a", "b"))}, weights={})
    assert make_view(domain, (0, 1)).extent == ((0.0, 80.0), (0.0, 1.0))
