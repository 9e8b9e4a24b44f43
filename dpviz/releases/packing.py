"""Files packed by one rule that fixes every bit, so that a packed file has one form, too.

A library packs the same file in other ways in its next version, and a release is compared byte for byte. What comes out
is DEFLATE, which every program for zips unpacks.

References
----------
Deutsch 1996, RFC 1951. Huffman 1952.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from dpviz.core import Array, Codes

# Tokens of a block, which has codes of its own; how far back and how long a match may be; how many are tried.
_BLOCK, _FARTHEST, _LONGEST, _TRIED = 1 << 14, 1 << 15, 258, 8
_KEY = 5  # bytes that a match has at least
_LONGEST_CODE = 15
_END, _LENGTHS_FROM = 256, 257
# Extra bits behind the codes of lengths from 3 on, and of distances from 1 on.
_LENGTH_BITS = np.array([0] * 8 + [bits for bits in range(1, 6) for _ in range(4)] + [0])
_DISTANCE_BITS = np.array([0, 0] + [bits for bits in range(14) for _ in range(2)])
_LENGTH_STARTS = np.r_[3 + np.r_[0, np.cumsum(2 ** _LENGTH_BITS[:-2])], _LONGEST]
_DISTANCE_STARTS = 1 + np.r_[0, np.cumsum(2 ** _DISTANCE_BITS[:-1])]


class _Matches(NamedTuple):
    """Where a part of a file is a copy of what stands before it: starts, lengths and distances back, (m,) each."""

    starts: Codes
    lengths: Codes
    distances: Codes


@lru_cache(maxsize=64)
def pack(data: bytes) -> bytes:
    """The file as DEFLATE; the same bytes on every machine.

    >>> import zlib
    >>> said = b"a release, a release, a release"
    >>> zlib.decompress(pack(said), wbits=-15) == said
    True
    """
    found = np.frombuffer(data, dtype=np.uint8).astype(np.int64)
    matches = _find_matches(data, found)
    covered = np.zeros(len(data) + 1, dtype=np.int64)
    covered[matches.starts + 1] += 1
    covered[matches.starts + matches.lengths] -= 1
    places = np.flatnonzero(np.cumsum(covered)[:-1] == 0)
    length, distance = np.zeros((2, len(data)), dtype=np.int64)
    length[matches.starts], distance[matches.starts] = matches.lengths, matches.distances
    parts = [places[at : at + _BLOCK] for at in range(0, len(places), _BLOCK)] or [places]
    bits = [
        one
        for number, at in enumerate(parts, start=1)
        for one in _write_block(found[at], length[at], distance[at], last=number == len(parts))
    ]
    return np.packbits(np.concatenate(bits), bitorder="little").tobytes()


def _find_matches(data: bytes, found: Codes) -> _Matches:
    """The first and longest of few tried matches at each place, one behind the other."""
    before = _find_earlier(found)
    upcoming = [*np.flatnonzero(before >= 0).tolist(), len(data)]
    earlier = before.tolist()
    starts, lengths, distances = [], [], []
    at = place = 0
    while at < len(data):
        while upcoming[place] < at:
            place += 1
        at = upcoming[place]
        best, length, here = 0, 0, at
        ahead = int.from_bytes(data[at : at + _LONGEST], "little")
        most = min(_LONGEST, len(data) - at)
        for _ in range(_TRIED if at < len(data) else 0):
            here = earlier[here]
            if here < 0 or at - here > _FARTHEST:
                break
            differs = ahead ^ int.from_bytes(data[here : here + most], "little")
            same = ((differs & -differs).bit_length() - 1) // 8 if differs else most
            if same > length:
                best, length = here, same
        if length:
            starts.append(at)
            lengths.append(length)
            distances.append(at - best)
        at += max(length, 1)
    return _Matches(*(np.array(one, dtype=np.int64) for one in (starts, lengths, distances)))


def _find_earlier(found: Codes) -> Codes:
    """The last place before each that begins with the same few bytes, shape (n,); -1 where there is none."""
    before = np.full(len(found), -1, dtype=np.int64)
    if len(found) > _KEY:
        keys = np.lib.stride_tricks.sliding_window_view(found, _KEY) @ 256 ** np.arange(_KEY)
        order = np.argsort(keys, kind="stable")
        same = keys[order][1:] == keys[order][:-1]
        before[order[1:][same]] = order[:-1][same]
    return before


def _write_block(found: Codes, length: Codes, distance: Codes, *, last: bool) -> Iterator[Array]:
    """The bits of a block: its codes, then each byte or match by them, and its end."""
    of_length = np.searchsorted(_LENGTH_STARTS, length, side="right") - 1
    of_distance = np.searchsorted(_DISTANCE_STARTS, distance, side="right") - 1
    copied = length > 0
    symbols = np.r_[np.where(copied, _LENGTHS_FROM + of_length, found), _END]
    main = _make_code(np.bincount(symbols))
    far = _make_code(np.bincount(of_distance[copied], minlength=1))
    told = np.r_[len(main) - _LENGTHS_FROM, len(far) - 1, 15]
    yield _write_bits(np.r_[int(last), 2, told], np.array([1, 2, 5, 5, 4]))
    # Lengths of codes are said in four bits each: sixteen of equal length, in the order that the format has for them.
    yield _write_bits(np.r_[[0] * 3, [4] * 16], np.full(19, 3))
    yield _write_bits(_reverse(np.r_[main.lengths, far.lengths], 4), np.full(len(main) + len(far), 4))
    values = np.zeros((len(symbols), 4), dtype=np.int64)
    widths = np.zeros_like(values)
    values[:, 0], widths[:, 0] = main.codes[symbols], main.lengths[symbols]
    at = np.flatnonzero(copied)
    values[at, 1], widths[at, 1] = (length - _LENGTH_STARTS[of_length])[at], _LENGTH_BITS[of_length[at]]
    values[at, 2], widths[at, 2] = far.codes[of_distance[at]], far.lengths[of_distance[at]]
    values[at, 3], widths[at, 3] = (distance - _DISTANCE_STARTS[of_distance])[at], _DISTANCE_BITS[of_distance[at]]
    yield _write_bits(values.ravel(), widths.ravel())


class _Code(NamedTuple):
    """The code of each symbol, as it is written, and how many bits it has; 0 where a symbol does not occur."""

    codes: Codes
    lengths: Codes

    def __len__(self) -> int:
        return len(self.lengths)


def _make_code(counts: Codes) -> _Code:
    """A Huffman code for symbols that occur so often; rare ones count more where a code would be too long."""
    lengths = _find_lengths(counts)
    while lengths.max() > _LONGEST_CODE:
        counts = (counts + 1) // 2
        lengths = _find_lengths(counts)
    codes = np.zeros(len(counts), dtype=np.int64)
    code = 0
    for width in range(1, int(lengths.max()) + 1):
        code <<= 1
        these = np.flatnonzero(lengths == width)
        codes[these] = _reverse(code + np.arange(len(these)), width)
        code += len(these)
    return _Code(codes, lengths)


def _find_lengths(counts: Codes) -> Codes:
    """How deep each symbol lies in the tree of Huffman, ties by their order."""
    lengths = np.zeros(len(counts), dtype=np.int64)
    heap = [(int(counts[one]), one, [one]) for one in np.flatnonzero(counts).tolist()]
    if len(heap) == 1:
        lengths[heap[0][1]] = 1
    heapify(heap)
    made = len(counts)
    while len(heap) > 1:
        (one, _, left), (two, _, right) = heappop(heap), heappop(heap)
        lengths[left + right] += 1
        heappush(heap, (one + two, made, left + right))
        made += 1
    return lengths


def _reverse(codes: Codes, width: int) -> Codes:
    """Codes with their first bit last, as they are written."""
    return sum((codes >> at & 1) << (width - 1 - at) for at in range(width)) + np.zeros_like(codes)


def _write_bits(values: Codes, widths: Codes) -> Array:
    """Numbers of so many bits each, the lowest bit first."""
    ends = np.cumsum(widths)
    place = np.arange(int(ends[-1])) - np.repeat(ends - widths, widths)
    return (np.repeat(values, widths) >> place & 1).astype(np.uint8)
