"""What a user sends and what the server counts, as pictures."""

from __future__ import annotations

import numpy as np

from dpviz.algorithms.hashes.lsh_local import MessageStep, ServerTreeStep
from dpviz.app.charts.pictures.prefixes import place_server_nodes
from dpviz.app.charts.registry import draw_picture
from tests.app.charts.gallery import draw, look, title_of
from tests.app.charts.laws import is_sound

MESSAGE = MessageStep(
    title="one user",
    **{"bits": np.array([2, 3, 3]), "truths": np.array([2, 5, 5]), "sent": np.array([2, 1, 5])},
    **{"honest": np.array([0.48, 0.28, 0.19]), "users": np.array([25, 25, 50]), "epsilon": 1.0},
    **{"point": np.array([0.3, 0.4]), "noisy_point": np.array([3.0, -4.0])},
)
SERVER = ServerTreeStep(
    title="the server",
    nodes=np.array([4, 5, 6, 7, 8, 9]),
    noisy_counts=np.array([70.0, 5.0, -9.0, 30.0, 40.0, 33.0]),
    count_sd=np.array([8.0, 8.0, 8.0, 8.0, 12.0, 12.0]),
    kept=np.array([True, False, False, True, True, False]),
    threshold=3.0,
    n=100,
)


def test_own_and_sent_prefixes_stand_beside_their_chances() -> None:
    figure = draw(MESSAGE)
    is_sound(figure)
    bars, guess = figure.data
    assert list(bars.text) == ["own 10, sent 10", "own 101, sent 001", "own 101, sent 101"]
    np.testing.assert_allclose(guess.x, [0.25, 0.125, 0.125])
    assert "lies in 1 of 3" in title_of(figure)
    # Made up from public coins: nothing in the picture is a release.
    assert {trace.meta for trace in figure.data} == {"public"} == {draw_picture(MESSAGE, look()).kind}
    assert draw_picture(MESSAGE, look()).table()["own prefix"].tolist() == ["10", "101", "101"]


def test_prefixes_stand_in_the_order_of_their_codes_level_by_level() -> None:
    places = place_server_nodes(SERVER)
    assert (np.diff(places) > 0).all()
    assert (np.abs(places[:4]) < 0.5).all() and (np.abs(places[4:] - 1) < 0.5).all()


def test_the_threshold_of_a_level_is_three_standard_deviations() -> None:
    figure = draw(SERVER)
    is_sound(figure)
    dropped, kept, wall = figure.data
    assert len(kept.x) == 3 and len(dropped.x) == 3
    heights = {round(float(height), 6) for height in wall.y if np.isfinite(height)}
    assert heights == {0.24, 0.36}
    assert title_of(figure).startswith("3 of 6 prefixes")
