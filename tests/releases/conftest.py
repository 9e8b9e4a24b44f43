"""An account to charge."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpviz.releases.account import Account


@pytest.fixture
def account(tmp_path: Path) -> Account:
    return Account.new(tmp_path / "people.sqlite", name="people", cap_epsilon=1.0, cap_delta=1e-5)
