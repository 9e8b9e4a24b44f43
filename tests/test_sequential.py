"""The tools of other tests: decisions keep their stated error, and a looped case that fails is named."""

import numpy as np
import pytest

from tests.cases import for_each
from tests.sequential import usually


@for_each(("often", "rarely"), [(0.9, 0.3), (0.9, 0.7)])
def test_a_decision_is_wrong_no_more_than_stated(often: float, rarely: float) -> None:
    for share, right in ((often, True), (rarely, False)):
        draws = np.random.default_rng(0).random((1000, 400)) < share
        wrong = sum(usually(map(bool, line), often=often, rarely=rarely, error=0.05) != right for line in draws)
        assert wrong <= 75  # five in a hundred are stated; more than 75 of 1,000 come once in 5,000 times
    assert usually(iter([True] * 5)) and not usually(iter([False] * 3))
    with pytest.raises(AssertionError, match="decide nothing"):
        usually([True, False])


def test_a_case_that_fails_is_named_and_fixtures_are_passed_on() -> None:
    @for_each("number", [1, 2, 3])
    def looped(number: int, most: int) -> None:
        assert number < most

    looped(most=9)
    with pytest.raises(AssertionError) as failed:
        looped(most=2)
    assert failed.value.__notes__ == ["about 2"]
