"""``verify`` names whatever was changed, with and without the hashes changed to match, and needs no row."""

from __future__ import annotations

import csv
import io
import zipfile

import numpy as np
import pytest

from dpviz.check import RequestError
from dpviz.release.package import (
    CARD,
    CENTERS,
    DECLARATION,
    LEDGER,
    NEEDED,
    SEGMENTS,
    TRANSCRIPT,
    VERIFY,
    verify_text,
    zip_of,
)
from dpviz.release.releasing import press
from dpviz.release.transcript import Playback, Tape, Transcript, read_transcript
from dpviz.release.verify import verify
from tests.release.people import ready_in


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    return press(ready_in(tmp_path_factory.mktemp("release"), segments=0.2)).files


def findings(files, *, rehashed: bool = True) -> dict[str, str]:
    """What is found in ``files``, by file; with the hashes made to match."""
    files = dict(files)
    if rehashed:
        files[VERIFY] = verify_text({name: data for name, data in files.items() if name != VERIFY}).encode()
    verdict = verify(zip_of(files))
    assert verdict.holds == (not verdict.findings)
    found: dict[str, str] = {}
    for finding in verdict.findings:
        found[finding.file] = f"{found.get(finding.file, '')} {finding.what}"
    return found


def changed(text: bytes, row: int, column: str, change) -> bytes:
    """A CSV with one cell changed."""
    rows = list(csv.reader(io.StringIO(text.decode())))
    place = rows[0].index(column)
    rows[row][place] = change(rows[row][place])
    out = io.StringIO(newline="")
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


def test_a_release_holds(released):
    assert findings(released, rehashed=False) == {}


@pytest.mark.parametrize("name", [name for name in NEEDED if name != VERIFY])
def test_any_changed_file_is_named_by_its_hash(released, name):
    assert "hash" in findings({**released, name: released[name] + b" "}, rehashed=False)[name]


@pytest.mark.parametrize("column", ["scale", "sensitivity", "epsilon", "amount"])
def test_a_changed_number_of_the_ledger_is_named(released, column):
    ledger = changed(released[LEDGER], 2, column, lambda value: repr(float(value) * 1.01))
    assert column in findings({**released, LEDGER: ledger})[LEDGER]


def test_a_missing_row_of_the_ledger_is_named(released):
    lines = released[LEDGER].splitlines(keepends=True)
    assert LEDGER in findings({**released, LEDGER: b"".join(lines[:-1])})


def test_a_changed_bound_is_named(released):
    declaration = released[DECLARATION].replace(b"[0, 90000]", b"[0, 91000]")
    assert declaration != released[DECLARATION]
    assert "'income'" in findings({**released, DECLARATION: declaration})[DECLARATION]


def test_another_declaration_is_named(released):
    declaration = released[DECLARATION].replace(b'"n_public": 900', b'"n_public": 901')
    assert declaration != released[DECLARATION]
    assert DECLARATION in findings({**released, DECLARATION: declaration})


@pytest.mark.parametrize("by", [1e-3, 1.0, 200.0])
def test_a_changed_centre_is_named(released, by):
    centers = changed(released[CENTERS], 2, "age", lambda value: f"{float(value) + by}")
    assert "centre 2" in findings({**released, CENTERS: centers})[CENTERS]


def test_a_centre_outside_its_bounds_is_named(released):
    centers = changed(released[CENTERS], 1, "age", lambda value: "-5")
    assert CENTERS in findings({**released, CENTERS: centers})


@pytest.mark.parametrize("part", ["algorithm", "segments"])
def test_any_changed_answer_of_the_transcript_is_named(released, part):
    read = read_transcript(released[TRANSCRIPT]).whole
    tape = read.tapes[part]
    for place, answer in enumerate(tape.answers):
        other = np.array(answer, dtype=np.float64)
        other.flat[0] += 0.5
        answers = (*tape.answers[:place], other, *tape.answers[place + 1 :])
        forged = Transcript(read.asked, {**read.tapes, part: Tape(tape.coins, answers)})
        assert TRANSCRIPT in findings({**released, TRANSCRIPT: forged.to_bytes()}), place


def test_a_changed_line_about_segments_is_named(released):
    segments = changed(released[SEGMENTS], 1, "value", lambda value: f"{float(value) + 50}")
    assert "line 2 (1, size)" in findings({**released, SEGMENTS: segments})[SEGMENTS]
    without = {name: data for name, data in released.items() if name != SEGMENTS}
    assert SEGMENTS in findings(without)


def test_a_changed_card_is_named(released):
    card = released[CARD].replace(b"status: Draft", b"status: Great")
    assert card != released[CARD] and CARD in findings({**released, CARD: card})


@pytest.mark.parametrize("name", [name for name in NEEDED if name != VERIFY])
def test_a_missing_file_is_named(released, name):
    left = {one: data for one, data in released.items() if one != name}
    assert name in findings(left) or name in findings(left, rehashed=False)


@pytest.mark.parametrize("name", [TRANSCRIPT, DECLARATION, CENTERS, LEDGER, CARD])
def test_rubbish_in_a_file_is_a_finding_and_no_error(released, name):
    for rubbish in (b"", b"\x00\xff" * 50, b"{]", b"a,b\n1"):
        assert findings({**released, name: rubbish})


def test_what_is_no_release_is_refused(tmp_path):
    with pytest.raises(RequestError, match="no file"):
        verify(tmp_path / "nothing.zip")
    for rubbish in (b"", b"PK\x03\x04", b"text"):
        with pytest.raises(RequestError):
            verify(rubbish)
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("../evil.txt", "x")
    with pytest.raises(RequestError, match="not the zip of a release"):
        verify(other.getvalue())


def test_a_transcript_too_long_for_the_zip_is_known_by_its_hash(released, monkeypatch):
    whole = read_transcript(released[TRANSCRIPT]).whole
    monkeypatch.setattr("dpviz.release.transcript.MOST_BYTES", 10)
    short = read_transcript(whole.to_bytes())
    assert short.tapes is None and short.sha256 == whole.sha256
    assert TRANSCRIPT not in findings({**released, TRANSCRIPT: whole.to_bytes()})


def test_a_transcript_that_unpacks_to_more_than_any_is_not_unpacked(released, monkeypatch):
    monkeypatch.setattr("dpviz.release.transcript._MOST_UNPACKED", 1_000)
    with pytest.raises(RequestError, match="damaged"):
        read_transcript(released[TRANSCRIPT])


def test_a_tape_that_is_too_short_says_so():
    player = Playback(Tape(1, ()))
    with pytest.raises(RequestError, match="ends before"):
        player.answer(None, None, None)
    assert player.is_over
