"""Two processes for all of these tests, in whose children tests meet a changed module."""

from collections.abc import Iterator

import pytest

from benchmarks.mutation.forked import Nurseries


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nurseries]:
    with Nurseries() as made:
        yield made
