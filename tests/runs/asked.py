"""Requests and grids of any kind, for tests of what is said about them."""

from __future__ import annotations

from hypothesis import strategies as st

from dpviz.algorithms.card import ParamField
from dpviz.algorithms.registry import CARDS, list_private_cards
from dpviz.core import check
from dpviz.runs.request import Contender, Request
from dpviz.runs.study.grid import StudyGrid

_EPSILONS = st.floats(check.LEAST_EPSILON, check.MOST_EPSILON)
_DELTAS = st.just(0.0) | st.floats(check.LEAST_DELTA, 0.1)


def _values(param_field: ParamField) -> st.SearchStrategy[object]:
    if param_field.choices is not None:
        return st.sampled_from(param_field.choices)
    if param_field.kind is bool:
        return st.booleans()
    low, high = (
        param_field.low if param_field.low is not None else -1e300,
        param_field.high if param_field.high is not None else 1e300,
    )
    return st.integers(int(low), int(high)) if param_field.kind is int else st.floats(low, high)


@st.composite
def contenders(draw: st.DrawFn, *, cards: tuple = tuple(CARDS.values())) -> Contender:
    """Any algorithm with any of its parameters, each allowed."""
    card = draw(st.sampled_from(cards))
    param_fields = card.params.param_fields()
    named = (
        draw(st.lists(st.sampled_from(param_fields), unique_by=lambda param_field: param_field.name))
        if param_fields
        else []
    )
    return Contender(
        card.id,
        {
            param_field.name: draw(_values(param_field) | st.none() if param_field.optional else _values(param_field))
            for param_field in named
        },
    )


@st.composite
def requests(draw: st.DrawFn) -> Request:
    """Any request without a seed."""
    return Request(draw(contenders()), draw(st.integers(1, check.MOST_CLUSTERS)), draw(_EPSILONS), draw(_DELTAS))


@st.composite
def grids(draw: st.DrawFn) -> StudyGrid:
    """Any small grid of algorithms that need a delta and find one."""
    judged = tuple(card for card in list_private_cards() if card.params().points_per_row(2) == 1)
    of_rows = contenders(cards=judged).filter(lambda contender: contender.settings.points_per_row(2) == 1)
    return StudyGrid(
        tuple(draw(st.lists(of_rows, min_size=1, max_size=3, unique=True))),
        tuple(draw(st.lists(st.integers(1, 99), min_size=1, max_size=3, unique=True))),
        tuple(draw(st.lists(st.floats(0.01, 1e3), min_size=1, max_size=3, unique=True))),
        tuple(draw(st.lists(st.floats(1e-12, 0.1), min_size=1, max_size=3, unique=True))),
        tuple(draw(st.lists(st.none() | st.integers(100, 10**6), min_size=1, max_size=3, unique=True))),
        repeats=draw(st.integers(1, 3)),
        seed=draw(st.integers(0, check.MOST_SEED)),
    )
