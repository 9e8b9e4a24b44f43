"""For all contract tests."""

import pytest


@pytest.fixture(autouse=True)
def _quick_packing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starts need not be well packed here: they are public, and packing them is most of the time of a small run."""
    monkeypatch.setattr("dpviz.algorithms.tools.solvers._HALVINGS", 2)
