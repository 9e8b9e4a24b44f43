"""Two processes for all of these tests, in whose children tests meet a changed module."""

from collections.abc import Iterator

import pytest

from benchmarks.auditing.outside_mistakes import list_test_files
from benchmarks.mutation.forked import Nurseries


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nurseries]:
    with Nurseries(list_test_files()) as made:
        yield made
