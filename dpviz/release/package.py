"""The zip of a release: every file is made of one ``Published``, so that no two of them can disagree."""

from __future__ import annotations

import csv
import hashlib
import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpviz import __version__
from dpviz.check import RequestError
from dpviz.privacy.ledger import Entry
from dpviz.release.assign_script import assign_script
from dpviz.release.card_facts import CardFacts
from dpviz.release.card_page import card_page
from dpviz.release.registry_card import card_yaml
from dpviz.release.rounding import Rounded
from dpviz.release.transcript import Transcript
from dpviz.table.declaration import Declaration
from dpviz.table.domain import Domain
from dpviz.table.sidecar import to_json

CENTERS, SEGMENTS, CARD, PAGE = "centers.csv", "segments.csv", "card.yaml", "card.html"
LEDGER, DECLARATION, ASSIGN, TRANSCRIPT, VERIFY = (
    *("ledger.csv", "declaration.json", "assign.py", "transcript.npz", "VERIFY.txt"),
)
SIGNATURE = "SIGNATURE.txt"
NEEDED = (CENTERS, CARD, PAGE, LEDGER, DECLARATION, ASSIGN, TRANSCRIPT, VERIFY)
"""What every zip of a release holds; ``segments.csv`` and ``SIGNATURE.txt`` may be with it."""

_LEDGER_COLUMNS = (
    *("part", "mechanism", "loss", "query", "note", "epsilon", "delta", "sensitivity", "scale", "draws", "amount"),
    "unit",
)
# One day for all files, so that the same release is the same bytes.
_DAY = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, eq=False)
class Published:
    """All that leaves with a release.

    Attributes
    ----------
    entries : mapping of str to sequence of Entry
        The ledger of each part, in the order of spending.
    segments : str
        What ``segments.csv`` holds; "" without segments.
    """

    facts: CardFacts
    declaration: Declaration
    domain: Domain
    rounded: Rounded
    entries: Mapping[str, Sequence[Entry]]
    segments: str
    transcript: Transcript


def files_of(published: Published) -> dict[str, bytes]:
    """Every file of the zip by its name, ``VERIFY.txt`` last."""
    texts = {
        CENTERS: centers_csv(published.domain.columns, published.rounded, published.facts.sizes),
        SEGMENTS: published.segments,
        CARD: card_yaml(published.facts),
        PAGE: card_page(published.facts),
        LEDGER: ledger_csv(published.entries),
        DECLARATION: to_json(published.declaration),
        ASSIGN: assign_script(
            published.domain,
            published.rounded.centers,
            title=published.facts.table,
            file=published.declaration.file,
        ),
    }
    files = {name: text.encode("utf-8") for name, text in texts.items() if text}
    files[TRANSCRIPT] = published.transcript.to_bytes()
    files[VERIFY] = verify_text(files).encode("utf-8")
    return files


def zip_of(files: Mapping[str, bytes]) -> bytes:
    """The files in one zip."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, _DAY), data, zipfile.ZIP_DEFLATED)
    return held.getvalue()


def centers_csv(columns: Sequence[str], rounded: Rounded, sizes: Any) -> str:
    """Released centres, data units, on their grid; beside each the noisy size, where the run measured one."""
    names = ["segment", *columns, *(["noisy_size"] if sizes is not None else [])]
    lines = [
        [str(place), *center, *([f"{size:.0f}"] if size is not None else [])]
        for place, (center, size) in enumerate(
            zip(rounded.texts, sizes if sizes is not None else [None] * len(rounded.texts), strict=True), start=1
        )
    ]
    return _csv([names, *lines])


def ledger_csv(entries: Mapping[str, Sequence[Entry]]) -> str:
    """Every charge, a row each, with the part of the release that it belongs to."""
    lines = [
        [part, *(_number(told[name]) for name in _LEDGER_COLUMNS[1:])]
        for part, charged in entries.items()
        for told in (entry.to_dict() for entry in charged)
    ]
    return _csv([list(_LEDGER_COLUMNS), *lines])


def verify_text(files: Mapping[str, bytes]) -> str:
    """What a reader can check, and the hashes of all files."""
    hashes = "\n".join(f"{hashlib.sha256(data).hexdigest()}  {name}" for name, data in files.items())
    return (
        "How to check this release, without the rows\n"
        "===========================================\n\n"
        "    python -m dpviz verify release.zip\n\n"
        f"with dpviz {__version__} checks the hashes below, adds the ledger up, plays the algorithm again on the\n"
        "released answers of transcript.npz and compares every noise scale, the centres and their grid, and checks\n"
        "the card. What nobody can tell from these files: that the noise was honestly drawn, and that the bounds and\n"
        "other declarations came from nowhere near the rows.\n\n"
        f"SHA-256\n-------\n{hashes}\n"
    )


def hashes_in(text: str) -> dict[str, str]:
    """The hashes that a ``VERIFY.txt`` lists, by file.

    Raises
    ------
    RequestError
        If it lists none.
    """
    lines = [line.split("  ", 1) for line in text.splitlines()]
    found = {parts[1]: parts[0] for parts in lines if len(parts) == 2 and len(parts[0]) == 64}
    if not found:
        raise RequestError("It lists no hashes: it is not as a release writes it.")
    return found


def _csv(lines: Iterable[Sequence[str]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerows(lines)
    return text.getvalue()


def _number(value: str | float) -> str:
    return value if isinstance(value, str) else repr(value)
