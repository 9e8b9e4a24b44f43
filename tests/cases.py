"""Several cases in one test: what fails says of which it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def about(*what: object) -> Iterator[None]:
    """Whatever is raised inside is noted to be about this."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"about {', '.join(map(str, what))}")
        raise
