"""What Streamlit would do anew for every simulated visit, done once, and waiting that costs nothing."""

from collections.abc import Iterator
from functools import cache

import pytest
import streamlit.components.v2.manifest_scanner as scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import app_test, local_script_runner
from streamlit.testing.v1.local_script_runner import LocalScriptRunner


def _wait(runner: LocalScriptRunner, timeout: float) -> None:
    """Until the script has ended; Streamlit would look a thousand times a second."""
    assert runner._script_thread is not None
    runner._script_thread.join(timeout)
    assert runner.script_stopped(), f"the page was not drawn within {timeout:g} seconds"


@pytest.fixture(scope="session", autouse=True)
def _visits_are_cheap() -> Iterator[None]:
    """Descriptions of components are read and pages compiled once: two fifths of the time of a visit."""
    compiled = ScriptCache()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanner, "scan_component_manifests", cache(scanner.scan_component_manifests))
        patch.setattr(local_script_runner, "require_widgets_deltas", _wait)
        for module in (app_test, local_script_runner):
            patch.setattr(module, "ScriptCache", lambda: compiled)
        yield
