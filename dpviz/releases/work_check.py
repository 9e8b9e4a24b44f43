"""What a worker process does to check the zip of a release: whatever it holds, the page lives on."""

from __future__ import annotations

from collections.abc import Iterator

from dpviz.releases.release_reader import ReadRelease, read_release
from dpviz.runs import Progress, brief


@brief
def check_work(data: bytes) -> Iterator[Progress | ReadRelease]:
    """The release in the bytes of a zip, checked and read; a ``RequestError`` if it is none."""
    yield Progress(0, 1, "every file is made anew and compared")
    yield read_release(data)
