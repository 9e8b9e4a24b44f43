"""What the page that reads a release waits for: a zip is checked, or an example made for whoever has none.

The example is of a public sample, drawn when it is asked for; a check is given the bytes of a zip and never a row.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from dpviz.releases.account import Account
from dpviz.releases.release_reader import ReadRelease, read_release
from dpviz.releases.release_request import ReleaseRequest
from dpviz.releases.releasing import preflight, publish
from dpviz.runs import Contender, Progress, Request, brief
from dpviz.tables import declarations, sample

_SAMPLE, _K, _EPSILON, _DELTA = "people", 5, 2.0, 1e-6


@brief
def check_work(data: bytes) -> Iterator[Progress | ReadRelease]:
    """The release in the bytes of a zip, checked and read; a ``RequestError`` if it is none."""
    yield Progress(0, 1, "every file is made anew and compared")
    yield read_release(data)


@brief
def example_work() -> Iterator[Progress | ReadRelease]:
    """A release of the sample *people*, checked and read as any is; its account goes with its folder."""
    yield Progress(0, 2, "a public sample is released")
    source, declared = sample(_SAMPLE).load()
    words = declarations.find_words(declared, today=datetime.now(UTC).date().isoformat())
    words = replace(words, name=f"{words.name} (an example)", intended_use="Show what a release looks like")
    request = ReleaseRequest(Request(Contender("auto"), _K, _EPSILON, _DELTA), words, who="an example")
    with TemporaryDirectory(prefix="dpviz-example-") as folder:
        account = Account.new(
            Path(folder) / "example.sqlite", name="example", cap_epsilon=_EPSILON, cap_delta=10 * _DELTA
        )
        data = publish(preflight(request, source, declared, account)).data
    yield Progress(1, 2, "every file is made anew and compared")
    yield read_release(data)
