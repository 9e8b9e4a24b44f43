"""Requests and grids of any kind, for tests of what is said about them."""

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
    low, high = (none if end is None else end for end, none in ((param_field.low, -1e300), (param_field.high, 1e300)))
    return st.integers(int(low), int(high)) if param_field.kind is int else st.floats(low, high)


@st.composite
def contenders(draw: st.DrawFn, *, cards: tuple = tuple(CARDS.values())) -> Contender:
    """Any algorithm with any of its parameters, each allowed."""
    card = draw(st.sampled_from(cards))
    param_fields = card.params.param_fields()
    some = st.lists(st.sampled_from(param_fields), unique_by=lambda one: one.name) if param_fields else st.just([])
    values = {one.name: _values(one) | st.none() if one.optional else _values(one) for one in draw(some)}
    return Contender(card.id, {name: draw(value) for name, value in values.items()})


@st.composite
def requests(draw: st.DrawFn) -> Request:
    """Any request without a seed."""
    return Request(draw(contenders()), draw(st.integers(1, check.MOST_CLUSTERS)), draw(_EPSILONS), draw(_DELTAS))


@st.composite
def grids(draw: st.DrawFn) -> StudyGrid:
    """Any small grid of algorithms that need a delta and find one."""
    judged = tuple(card for card in list_private_cards() if card.params().points_per_row(2) == 1)
    of_rows = contenders(cards=judged).filter(lambda contender: contender.settings.points_per_row(2) == 1)
    sizes = st.none() | st.integers(100, 10**6)
    axes = (of_rows, st.integers(1, 99), st.floats(0.01, 1e3), st.floats(1e-12, 0.1), sizes)
    values = [tuple(draw(st.lists(axis, min_size=1, max_size=3, unique=True))) for axis in axes]
    return StudyGrid(*values, repeats=draw(st.integers(1, 3)), seed=draw(st.integers(0, check.MOST_SEED)))
