"""The example for whoever has no release at hand: one that holds, says that it is an example, and leaves no account."""

from __future__ import annotations

import tempfile
from pathlib import Path

from dpviz.releases.read_work import example_work
from dpviz.releases.release_reader import ReadRelease


def test_the_example_holds_says_what_it_is_and_leaves_nothing_behind(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    *_, example = example_work()
    assert isinstance(example, ReadRelease) and example.holds
    assert example.name == "People of a town (an example)" and example.report is not None
    assert example.received is not None and example.received.finding.failed != "failed"
    assert not list(tmp_path.iterdir())
