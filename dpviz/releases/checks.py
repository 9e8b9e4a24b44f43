"""What ``verify`` checks of a release, and what nobody can tell from its files: the one place where that is said."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Check(Enum):
    """One thing that is checked, in words: whatever says what is checked prints these, and tests forge each."""

    FILES = "every file is the one whose SHA-256 VERIFY.txt lists, and the zip holds nothing else"
    PLAYED = (
        "the plan, played again without a row on the released answers of transcript.npz, asks for every one of them "
        "and for no other"
    )
    SAME = "every other file, made anew from transcript.npz, is the same: words to the letter, numbers to nine digits"
    SUMS = (
        "what all ledgers spend adds up to no more than the account was charged, and no part to more than its share, "
        "by dp-accounting, too"
    )
    CARD = "card.yaml is an entry as the public registry of deployments wants it"
    SIGNATURE = "SIGNATURE.txt, where there is one, is a signature of VERIFY.txt by the key that it names"


CANNOT_TELL = (
    "that the noise was honestly drawn, by the library and the version that are named, and on the day",
    "that bounds, n and the other declarations came from nowhere near the rows",
    "that the owner's own words are true, and that no more was seen of the rows than is counted",
    "that the account stood as is said, and that nothing else was released about the same people",
)
"""What nobody can tell from the files."""


class Finding(NamedTuple):
    """Something that is wrong: in which file, and what."""

    file: str
    what: str
