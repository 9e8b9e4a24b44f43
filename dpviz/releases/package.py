"""The files of a release by their names, and the one that says how to check the others."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from dpviz import __version__
from dpviz.releases.checks import CANNOT_TELL, Check
from dpviz.releases.zips import make_zip as make_zip

CENTERS, SEGMENTS_FILE, CARD, PAGE, DOSSIER = "centers.csv", "segments.csv", "card.yaml", "card.html", "dossier.html"
LEDGER, DECLARATION, ASSIGN, TRANSCRIPT, VERIFY = (
    *("ledger.csv", "declaration.json", "assign.py", "transcript.npz", "VERIFY.txt"),
)
SIGNATURE = "SIGNATURE.txt"
NEEDED = (CENTERS, CARD, PAGE, DOSSIER, LEDGER, DECLARATION, ASSIGN, TRANSCRIPT, VERIFY)
"""What every zip of a release holds; ``segments.csv`` and ``SIGNATURE.txt`` may be with it."""

MAY_BE_THERE = frozenset({*NEEDED, SEGMENTS_FILE, SIGNATURE})
"""All names that a file in it may have."""


def format_verify(files: Mapping[str, bytes], *, version: str = __version__) -> str:
    """What is checked, what nobody can tell, and the hashes of all ``files``.

    Parameters
    ----------
    files : mapping of str to bytes
        Bytes by name.
    version : str
        Of dpviz.

    Returns
    -------
    str
        The text of ``VERIFY.txt``.
    """
    return add_hashes({name: hashlib.sha256(data).hexdigest() for name, data in files.items()}, version=version)


def add_hashes(hashes: Mapping[str, str], *, version: str) -> str:
    """``VERIFY.txt`` with these ``hashes`` of files, by their names.

    Parameters
    ----------
    hashes : mapping of str to str
        SHA-256 in hexadecimal digits by name.
    version : str
        Of dpviz.

    Returns
    -------
    str
        The text of ``VERIFY.txt``.
    """
    checked = "".join(f"  * {check.value};\n" for check in Check)
    untold = "".join(f"  * {untold};\n" for untold in CANNOT_TELL)
    lines = "".join(f"{digits}  {name}\n" for name, digits in hashes.items())
    return (
        "How to check this release, without the rows\n"
        "===========================================\n\n"
        "    python -m dpviz verify release.zip\n\n"
        f"with dpviz {version} checks that\n\n{checked}\n"
        f"What nobody can tell from these files:\n\n{untold}\n"
        f"SHA-256\n-------\n{lines}"
    )


def read_hashes(text: str) -> dict[str, str]:
    """The hashes that a ``VERIFY.txt`` lists, by file; none where it lists none."""
    lines = [line.split("  ", 1) for line in text.splitlines()]
    return {parts[1]: parts[0] for parts in lines if len(parts) == 2 and len(parts[0]) == 64}
