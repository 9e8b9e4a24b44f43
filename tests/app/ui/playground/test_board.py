"""The board: what a browser may ask of it, that its answers are real runs, and that it says what they cost."""

import base64
import json
from math import fsum, inf, nan
from typing import Any

import numpy as np
import pytest

from dpviz.app.charts.animation import Animation
from dpviz.app.lessons.lesson import BOARD_ALGORITHMS
from dpviz.app.ui.playground import board
from dpviz.app.ui.playground.board import WORLD_DRAWS, Ask, Board, BoardAnswer, draw, make_answer
from dpviz.core import RequestError
from dpviz.runs import Contender, Request, declare, run
from dpviz.tables.drawings import MOST_POINTS, PointDrawing, load_preset, make_painted_table
from dpviz.words import choose_palette
from tests.cases import for_each

HERMIT = load_preset("hermit").drawing
SPOT = PointDrawing(np.full((2_000, 2), 77, np.uint8))
FULL = PointDrawing(np.random.default_rng(5).integers(0, 256, (MOST_POINTS, 2)).astype(np.uint8))
ONE, NOBODY = PointDrawing(np.array([[3, 200]], np.uint8)), load_preset("empty").drawing


def said(drawing: PointDrawing = HERMIT, **more: Any) -> dict[str, Any]:
    """What a browser says of a drawing."""
    usual = {"token": 1, "draw": 1, "me": drawing.me, "k": 3, "epsilon": 1, "algorithm": "eugkm", "step": None}
    return {**usual, "points": base64.b64encode(drawing.points.tobytes()).decode(), "view": "run", **more}


def told(drawn: BoardAnswer, **more: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(make_answer(drawn, "light", **more))
    return answer


@for_each("algorithm", BOARD_ALGORITHMS)
def test_what_is_shown_is_a_run_of_the_same_table_and_seed_and_its_ledger(algorithm: str) -> None:
    """No imitation: every step, every centre and every charge."""
    table = declare(*make_painted_table(HERMIT))
    drawn = draw(Ask.read(said(algorithm=algorithm)), seed=11)
    alike = run(algorithm, table.private, k=3, epsilon=1.0, seed=11)
    other = run(algorithm, table.private, k=3, epsilon=1.0, seed=12)
    assert drawn.run is not None and drawn.run.entries == alike.entries
    np.testing.assert_array_equal(drawn.run.centers, alike.centers)
    assert not np.array_equal(other.centers, alike.centers), "a twin with another seed"
    animation = Animation.of_run(alike, board._look_at(alike, HERMIT, choose_palette("light")))
    for place, frame in enumerate(alike.frames):
        answer = told(draw(Ask.read(said(algorithm=algorithm, step=place)), drawn))
        assert answer["picture"] == json.loads(json.dumps(animation.draw_still(place)))
        assert answer["at"] == place and len(answer["steps"]) == len(alike.frames)
        assert answer["picture"]["spent"] == f"ε {frame.spent_epsilon:.3g} of 1 spent"
    assert fsum(frame["cost"] for frame in animation.to_data()["steps"]) == pytest.approx(
        drawn.run.spent_epsilon, abs=1e-5
    )
    assert drawn.run.spent_epsilon == pytest.approx(1.0) and drawn.run.delta == 0.0
    assert answer["final"] == np.round(alike.centers, 1).tolist()


@for_each(
    ("drawing", "k", "epsilon", "seed", "kind", "title"),
    [
        (HERMIT, 3, 1.0, 0, "noise", "At ε = 1, the loss is 1.13× that of k-means++"),
        (HERMIT, 3, 1.0, 2, "fine", "At ε = 1, noise may move a centre 2.92 % of the width"),
        (load_preset("blobs").drawing, 10, 0.05, 1, "failed", "At ε = 0.05, this run failed: it shows noise"),
    ],
)
def test_nothing_is_called_noise_over_centres_about_as_good_as_those_of_k_means(
    drawing: PointDrawing, k: int, epsilon: float, seed: int, kind: str, title: str
) -> None:
    drawn = draw(Ask.read(said(drawing, k=k, epsilon=epsilon, algorithm="dplloyd")), seed=seed)
    assert drawn.run is not None and drawn.run.verdict is not None and drawn.run.verdict.kind == kind
    assert told(drawn)["picture"]["title"] == title


def test_each_draw_has_noise_of_its_own_and_a_step_of_it_has_none() -> None:
    first = draw(Ask.read(said(draw=1)))
    again = draw(Ask.read(said(token=2, draw=2)), first)
    stepped = draw(Ask.read(said(token=3, draw=2, step=0)), again)
    assert first.run is not None and again.run is not None
    assert not np.array_equal(first.run.centers, again.run.centers)
    assert stepped.run is again.run


@for_each("drawing", [NOBODY, ONE, SPOT, FULL])
def test_none_one_all_on_one_spot_and_a_full_board_are_answered(drawing: PointDrawing) -> None:
    for place, algorithm in enumerate(BOARD_ALGORITHMS):
        for epsilon, k in ((0.05, 10), (10, 2))[place % 2 :]:
            answer = told(draw(Ask.read(said(drawing, algorithm=algorithm, epsilon=epsilon, k=k))))
            assert not answer["refused"] and np.isfinite(answer["final"]).all(), (algorithm, epsilon)
            assert len(answer["final"]) == k and answer["found"].startswith("centre 1 at x ")
    assert ("is full" in answer["fine"]) == (drawing is FULL)


RELOAD, SLIDER, CHOOSE = "reload the page", "take the slider", "choose one of them"
REFUSED = {
    RELOAD: [None, [], *(said(points=points) for points in ("AAA", "AA\n==", "QQ=="))],
    "3,000 points": [said(points=None)],
    "the board holds no more: erase some": [said(points="A" * (4 * MOST_POINTS + 4))],
    "3,001 points are painted": [said(points=base64.b64encode(b"\0" * (2 * MOST_POINTS + 2)).decode())],
    "not on the board": [said(me=[0, 256])],
    "draws 2 to 10 centres": [said(k=1), said(k=11)],
    SLIDER: [said(epsilon=epsilon) for epsilon in (inf, -1, [1])],
    CHOOSE: [said(algorithm="kmeans++"), said(algorithm=["eugkm"])],
}
REFUSED[RELOAD] += [said(me=me) for me in ([1, 2, 3], "ab", [0.5, 1], [nan, 1])]
REFUSED[RELOAD] += [said(k="3"), said(k=True), said(token=-1), said(draw=2**40), said(step=inf)]


@for_each(("sentence", "asked"), [(sentence, asked) for sentence, all_ in REFUSED.items() for asked in all_])
def test_what_no_board_says_is_refused_in_a_sentence(sentence: str, asked: Any) -> None:
    with pytest.raises(RequestError, match=sentence):
        Ask.read(asked)


def test_a_refusal_goes_back_to_the_question_and_the_draw_before_stays() -> None:
    begins = Board(HERMIT, Request(Contender.of("eugkm"), 3, 1.0))
    first = board._answer(begins, None, None)
    refused = board._answer(begins, said(token=5, k=99), first)
    answer = told(refused)
    assert answer["token"] == 5 and answer["refused"].startswith("The board draws 2 to 10 centres")
    assert "picture" not in answer and refused.run is first.run
    # What is asked again for another reason, such as another theme, is no new draw.
    assert board._answer(begins, said(token=5), refused) is refused
    mended = board._answer(begins, said(token=6, draw=1), refused)
    assert not mended.refused and mended.run is not first.run


def test_two_worlds_are_as_many_draws_each_and_only_mine(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = list[int]()
    honest = board.run_on

    def counted(rows: Any, request: Request, seed: int | None = None) -> Any:
        sizes.append(len(rows))
        assert seed is None, "fresh noise"
        return honest(rows, request, seed)

    monkeypatch.setattr(board, "run_on", counted)
    drawn = draw(Ask.read(said(load_preset("rich").drawing, view="worlds", algorithm="dplloyd", k=2)))
    with_me, without = np.array(told(drawn)["worlds"])
    assert with_me.shape == without.shape == (WORLD_DRAWS, 2, 2)
    assert len(np.unique(np.concatenate([with_me, without]), axis=0)) == 2 * WORLD_DRAWS, "each has noise of its own"
    assert sizes == [81] + [81] * WORLD_DRAWS + [80] * WORLD_DRAWS
    assert drawn.twin_draws is drawn.twin_draws, "the same cloud, however often the page is drawn"
    nobody = draw(Ask.read(said(load_preset("blobs").drawing, view="worlds")))
    assert not nobody.twin_draws and "worlds" not in told(nobody)
