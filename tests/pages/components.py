"""Streamlit's search for components, done once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
import streamlit.components.v2.manifest_scanner as scanner


@pytest.fixture(scope="session", autouse=True)
def _components_are_looked_for_once() -> Iterator[None]:
    """Every simulated visit would read the descriptions of all installed packages: a fifth of its time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanner, "scan_component_manifests", cache(scanner.scan_component_manifests))
        yield
