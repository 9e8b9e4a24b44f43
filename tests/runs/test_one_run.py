"""A run: its frames, what it says about itself, what it refuses, and what it never contains."""

import pickle

import numpy as np
import pytest

from dpviz.core.check import RequestError
from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable
from dpviz.runs.one_run import Run, run, run_steps
from dpviz.runs.request import Contender, Request
from tests.cases import about, for_each
from tests.contract.sessions import exploding_session, open_as
from tests.contract.tables import BOUGHT, SETTINGS, is_fast, make_blobs, make_small_table

FAST = [setting for place, setting in enumerate(SETTINGS) if is_fast(place, 0)]
REST = [setting for place, setting in enumerate(SETTINGS) if not is_fast(place, 0)]


@pytest.mark.parametrize(
    "settings", [pytest.param(FAST, id="one of each card"), pytest.param(REST, id="the others", marks=pytest.mark.slow)]
)
def test_spending_only_grows_from_frame_to_frame_and_ends_at_the_run_whose_weights_are_finite(settings):
    for card, params, delta in settings:
        with about(card.id, params, delta):
            *grown, done = run_steps(Request(Contender.of(card, params), 3, 1.0, delta, 0), BOUGHT.table())
            assert isinstance(done, Run)
            frames = [one.frames[-1] for one in grown]
            assert list(done.frames) == frames
            for field in ("spent_epsilon", "spent_fraction", "entries"):
                values = [getattr(frame, field) for frame in frames]
                assert values == sorted(values)
            assert frames[-1].spent_epsilon == done.spent_epsilon
            assert frames[-1].entries == len(done.entries) and all(frame.step.title for frame in frames)
            np.testing.assert_array_equal(done.unit_centers, frames[-1].step.centers)
            weights = done.noisy_weights
            assert weights is None or (np.isfinite(weights).all() and weights.shape == (3,))


@for_each(("card", "params", "delta"), FAST)
def test_nothing_in_a_run_depends_on_how_long_it_took(card, params, delta):
    """The same run twice is the same to the last byte, though no two take equally long."""
    once, again = (
        pickle.dumps(run(card, BOUGHT.table(), k=3, epsilon=1.0, delta=delta, params=params, seed=0)) for _ in range(2)
    )
    assert once == again and b"seconds" not in once


BAD = [
    ({"k": 0}, "k is 0"),
    ({"k": 2.5}, "k is 2.5"),
    ({"epsilon": 0.0}, "epsilon is 0"),
    ({"epsilon": float("nan")}, "epsilon is nan"),
    ({"epsilon": float("inf")}, "epsilon is inf"),
    ({"delta": -0.1}, "delta is -0.1"),
    ({"delta": 0.1}, "delta is 0.1"),
    ({"k": 51}, "k is 51 but there are 50 records"),
    ({"params": {"presett": "su"}}, "no parameter 'presett'"),
    ({"params": {"preset": "best"}}, "preset is 'best'"),
]


@for_each(("wrong", "said"), BAD)
def test_requests_that_are_refused_before_anything_is_read(wrong, said):
    request = {"k": 3, "epsilon": 1.0, "delta": 0.0, **wrong}
    table = make_small_table(make_blobs(50), n_public=50)
    with pytest.raises(RequestError, match=said):
        run("dplloyd", open_as(table, exploding_session()), **request)


def test_no_error_carries_a_value_of_the_data():
    secret = 123456.789
    values = np.full((7, 2), secret)
    domain = Domain.of(["a", "b"], 0.0, 1.0)
    table = PrivateTable(values, domain)
    for wrong, _ in BAD:
        if wrong.get("k") != 51 and wrong.get("delta") != 0.1:
            with pytest.raises(RequestError) as refused:
                run("dplloyd", table, **{"k": 3, "epsilon": 1.0, **wrong})
            assert "123456" not in str(refused.value) and "7" not in str(refused.value)
    for wrong in (lambda: PrivateTable(values[:, :1], domain), lambda: run("dplloyd", values, k=3, epsilon=1.0)):
        with pytest.raises(RequestError) as refused:
            wrong()
        assert "123456" not in str(refused.value)
    assert "of type ndarray: run takes what dpviz.open_table" in str(refused.value)


def test_a_warning_speaks_of_public_numbers_only():
    poor = run("dplloyd", make_small_table(make_blobs(60), n_public=60), k=5, epsilon=0.1, seed=0)
    assert "there are 60" in poor.warnings[0]
    unknown = run("dplloyd", make_small_table(make_blobs(61)), k=5, epsilon=0.1, seed=0)
    assert not any("61" in warning for warning in unknown.warnings)
