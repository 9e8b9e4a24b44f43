"""A file is packed in one way, which other programs unpack."""

from __future__ import annotations

import hashlib
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.releases import package
from dpviz.releases.package import TRANSCRIPT, pack
from tests.releases.forging import released

RNG = np.random.default_rng(1)
# Of each kind: what a block, a code or a match may have at most or at least.
KINDS = {
    "nothing": b"",
    "one byte": b"\0",
    "one byte, many times": b"\0" * 70_000,
    "every byte": bytes(range(256)),
    "noise": RNG.bytes(40_000),
    "a copy from as far as it may be": (far := RNG.bytes(200)) + RNG.bytes(32_768 - 200) + far,
    "a copy from farther": far + RNG.bytes(32_768) + far,
    "copies of every length": b"".join(RNG.bytes(3) + RNG.bytes(1) + b"abcdefghij" * 26 for _ in range(20)),
    "two bytes, one of them rare": b"a" * 5_000 + b"b",
    "counts that grow like those of rabbits": b"".join(
        bytes([one]) * int(many) for one, many in enumerate(1.6180339887 ** np.arange(22))
    ),
}


def unpack(data: bytes) -> bytes:
    return zlib.decompress(data, wbits=-15)


@pytest.mark.parametrize("kind", KINDS)
def test_another_program_unpacks_it(kind: str) -> None:
    assert unpack(pack(KINDS[kind])) == KINDS[kind]


@given(st.lists(st.sampled_from([b"a", b"segment,", b"0.0", b"\xff", b"\n"]), max_size=300))
def test_whatever_it_holds(parts: list[bytes]) -> None:
    data = b"".join(parts)
    assert unpack(pack(data)) == data


def test_a_code_that_would_be_too_long_is_not() -> None:
    counts = np.round(1.6180339887 ** np.arange(25)).astype(np.int64)
    assert package._find_lengths(counts).max() > 15
    lengths = package._make_code(counts).lengths
    assert lengths.max() <= 15 and np.sum(2.0 ** -lengths[lengths > 0]) == 1


def test_the_same_file_is_the_same_bytes() -> None:
    """As they were when this was written: another rule would refuse every release that was made before."""
    said = b"".join(f"{place},{place * place % 977},released\r\n".encode() for place in range(3_000))
    assert hashlib.sha256(pack(said)).hexdigest() == "f96e0fffca3a46b1f648ae2ea927c5bba5a9b946aa9feee36d3a939782ccf499"


def test_files_of_a_release_become_as_small_as_by_a_library() -> None:
    for name, data in released().items():
        assert len(pack(data)) <= 1.06 * len(zlib.compress(data, 9)) + 200, name
    assert len(pack(released()[TRANSCRIPT])) < 0.7 * len(released()[TRANSCRIPT])
