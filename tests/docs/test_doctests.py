"""Every example in a docstring holds, whatever module it stands in."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

from tests.house_rules import ROOT

FILES = sorted(path for path in (ROOT / "dpviz").rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_examples_of_a_module_hold(path) -> None:
    module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    assert doctest.testmod(module).failed == 0
