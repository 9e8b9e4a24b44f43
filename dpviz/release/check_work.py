"""What a worker process does to check the zip of a release: whatever it holds, the page lives on."""

from __future__ import annotations

from collections.abc import Iterator

from dpviz.release.verify import Verdict, verify
from dpviz.runs.seats import brief
from dpviz.runs.worker import Progress


@brief
def check_work(data: bytes) -> Iterator[Progress | Verdict]:
    """The verdict on the bytes of a zip; a ``RequestError`` if it is none of a release."""
    yield Progress(0, 1, "every file is made anew and compared")
    yield verify(data)
