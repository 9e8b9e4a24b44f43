"""Texts that must not change unawares, in a file beside the tests that make them: a change shows them in its diff.

    RENEW_PROOF=1 python -m pytest tests/app/charts

writes such files anew, as it does the hashes of ``tests/proof``.
"""

import os
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from tests.cases import about

_HEAD = "=== "


def compare_texts(path: Path, told: Iterable[tuple[str, str]]) -> None:
    """Every text is what it was, in the same order, and none is new or gone."""
    now = [(name, text.strip("\n")) for name, text in told]
    assert len(dict(now)) == len(now), "two texts have one name"
    if os.environ.get("RENEW_PROOF") == "1":
        path.write_text("\n".join(f"{_HEAD}{name}\n{text}" for name, text in now) + "\n", encoding="utf-8")
    kept = dict(_read_texts(path))
    for name, text in now:
        with about(name):
            assert text.splitlines() == kept.get(name, "").splitlines()
    assert [name for name, _ in now] == list(kept)


def _read_texts(path: Path) -> Iterator[tuple[str, str]]:
    name, heads = "", path.read_text(encoding="utf-8").splitlines()
    for is_head, lines in groupby(heads, key=lambda line: line.startswith(_HEAD)):
        if is_head:
            (name,) = (line.removeprefix(_HEAD) for line in lines)
        else:
            yield name, "\n".join(lines)
