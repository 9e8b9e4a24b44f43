"""How an ε is divided: the parts are the whole, none is below 0, and what leaves nothing for the centres is refused."""

from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.core.check import RequestError
from dpviz.runs.request import Division
from tests.cases import for_each

PARTS = st.builds(Division, st.floats(0, 0.9), st.floats(0, 0.05), st.floats(0, 0.3))


@given(PARTS, st.floats(0.01, 35.0), st.integers(0, 10))
def test_the_parts_are_the_whole_and_the_share_is_that_of_any_epsilon(parts: Division, epsilon: float, n: int) -> None:
    divided = parts.divide(epsilon, bought=n)
    assert fsum(divided) == pytest.approx(epsilon) and min(divided) >= 0
    assert divided.centers == pytest.approx(epsilon * parts.find_share(bought=n))


@for_each(
    ("parts", "bought"),
    [(Division(segments=0.95), 0), (Division(bounds=0.51), 1), (Division(missing=-0.1), 0), (Division(bounds=0.5), 2)],
)
def test_what_leaves_nothing_or_is_no_part_is_refused(parts: Division, bought: int) -> None:
    with pytest.raises(RequestError):
        parts.find_share(bought=bought)
