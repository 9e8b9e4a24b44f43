"""Drawings come back from their text whole, or are refused in a sentence; as tables they are nobody's."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpviz.core.check import RequestError
from dpviz.tables import drawings as painted
from dpviz.tables.drawings import MOST_LETTERS, MOST_POINTS, SIDE, PointDrawing, decode_drawing, encode_drawing
from dpviz.tables.loaded_table import IntakeError
from tests.examples import examples

PLACES = st.integers(0, SIDE - 1)
SCATTERED = st.integers(0, MOST_POINTS).flatmap(lambda n: arrays(np.uint8, (n, 2)))
"""Anywhere, as hypothesis likes it: often many people on one spot."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def test_an_even_town_of_very_many_moves_a_little() -> None:
    even = PointDrawing(np.random.default_rng(7).integers(0, SIDE, (MOST_POINTS, 2)).astype(np.uint8))
    towns = (one.points.astype(int).sum(axis=1) for one in (decode_drawing(encode_drawing(even)), even))
    back, there = map(np.sort, towns)
    assert np.abs(back - there).max() <= 4, "at most half a place of the coarsest lattice on each axis"


def _refusal(text: str) -> str:
    """Why a text is refused; "" if it is not."""
    try:
        decode_drawing(text)
    except RequestError as refused:
        return str(refused)
    return ""


def _same(one: PointDrawing, other: PointDrawing) -> bool:
    return one.me == other.me and sorted(one.points.tolist()) == sorted(other.points.tolist())


@settings(deadline=None, max_examples=examples(60))
@given(SCATTERED, st.none() | st.tuples(PLACES, PLACES))
@example(np.zeros((0, 2), np.uint8), None)
@example(np.full((2_000, 2), 77, np.uint8), (77, 77))
@example(np.full((MOST_POINTS, 2), 255, np.uint8), (0, 255))
def test_a_drawing_comes_back_whole_and_fits_a_link(points, me):
    drawing = PointDrawing(points, me)
    text = encode_drawing(drawing)
    back = decode_drawing(text)
    assert len(text) <= MOST_LETTERS and set(text) <= set(LETTERS)
    assert len(back.points) == len(points) and back.me == me
    assert encode_drawing(back) == text, "what came out of a link goes into the same one"
    if len(text) < MOST_LETTERS // 2:
        assert _same(back, drawing)


def test_a_text_that_is_cut_or_changed_anywhere_is_refused():
    points = np.random.default_rng(0).normal(SIDE / 2, SIDE / 8, (40, 2)).clip(0, SIDE - 1).astype(np.uint8)
    text = encode_drawing(PointDrawing(points, (3, 255)))
    for place in range(len(text)):
        changed = text[:place] + LETTERS[(LETTERS.index(text[place]) + 1) % 64] + text[place + 1 :]
        for wrong in (text[:place], text[place + 1 :], changed):
            with pytest.raises(RequestError, match="cut or changed"):
                decode_drawing(wrong)


@settings(deadline=None, max_examples=150)
@given(st.text(LETTERS, min_size=3, max_size=120))
def test_a_text_with_a_right_check_that_nobody_wrote_is_refused_too(body: str):
    """As somebody would forge it: nothing but a sentence comes of it."""
    assert _refusal(body + painted._compute_check(body)) in ("", str(IntakeError.of("drawing_cut")))


def test_links_of_yesterday_are_read_tomorrow():
    text = "MAHBALgACqq_62A5P"
    drawing = PointDrawing(np.array([[0, 0], [255, 255], [128, 7]], np.uint8), (4, 2))
    assert encode_drawing(drawing) == text and _same(decode_drawing(text), drawing)


def test_too_many_people_and_a_me_beside_the_board_are_refused():
    with pytest.raises(RequestError, match="the board holds 3,000: erase some"):
        PointDrawing.of(np.zeros((MOST_POINTS + 1, 2), np.uint8))
    with pytest.raises(RequestError, match="not on the board"):
        PointDrawing.of(np.zeros((1, 2), np.uint8), (0, SIDE))
