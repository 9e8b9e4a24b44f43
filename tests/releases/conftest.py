"""An account to charge; and of what is packed again and again, each content packed once."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from unittest.mock import patch

import pytest

from dpviz.releases import package
from dpviz.releases.account import Account


@pytest.fixture
def account(tmp_path: Path) -> Account:
    return Account.new(tmp_path / "people.sqlite", name="people", cap_epsilon=1.0, cap_delta=1e-5)


@pytest.fixture(scope="session", autouse=True)
def _each_content_is_packed_once() -> Iterator[None]:
    """What is packed follows from the bytes alone, and most files of a forged release are those of the genuine one."""
    with patch.object(package, "pack", lru_cache(maxsize=2_000)(package.pack)):
        yield
