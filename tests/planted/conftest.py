"""Two processes for all of these tests, in whose children tests meet a changed module."""

from collections.abc import Iterator

import pytest

from benchmarks.auditing.outside_mistakes import TESTS
from benchmarks.mutation.forked import Nurseries
from benchmarks.mutation.planted import mistakes


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nurseries]:
    with Nurseries([*(one.caught_by.partition("::")[0] for one in mistakes()), TESTS]) as made:
        yield made
