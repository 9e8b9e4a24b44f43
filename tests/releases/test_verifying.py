"""``verify`` names whatever was changed, with and without the hashes changed to match, and needs no row."""

import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from dpviz import __version__
from dpviz.core import Accounting, Entry
from dpviz.core.check import RequestError
from dpviz.core.mechanisms import Exponential, Gaussian, Peeling
from dpviz.releases import package, release_texts, verifying
from dpviz.releases.package import CARD, PAGE, SIGNATURE, TRANSCRIPT, VERIFY, Check, make_zip
from dpviz.releases.playing import play
from dpviz.releases.render import render
from dpviz.releases.transcript import AnswerRecording, Transcript, read_transcript
from dpviz.releases.verifying import Advisory, list_advisories, list_differences, read_advisories, verify
from tests.cases import about
from tests.command_line import told_by
from tests.releases.forging import Member, deflated, findings, npy, rehashed, released, verdict_on, written


@pytest.fixture(scope="module")
def files():
    return released()


@pytest.fixture(scope="module")
def read(files) -> Transcript:
    return read_transcript(files[TRANSCRIPT]).whole


def answered(read: Transcript, part: str, *answers: Any) -> Transcript:
    """The same transcript, with these answers of a part."""
    recording = AnswerRecording(read.recordings[part].coins, answers)
    return Transcript(read.asked, {**read.recordings, part: recording})


def test_a_release_holds(files, read):
    verdict = verdict_on(files)
    assert verdict.holds and all(line.startswith("Yes: ") for line in verdict.checked)
    assert render(read) == files


TEXTS = [
    name for name in (*package.NEEDED, package.SEGMENTS_FILE, package.DRAWS_FILE) if name not in (TRANSCRIPT, VERIFY)
]


@pytest.mark.parametrize("name", [*TEXTS, TRANSCRIPT])
def test_any_changed_file_is_named_by_its_hash_and_without_it(files, name):
    more = {**files, name: files[name] + b" "}
    assert "hash" in findings(more, with_hashes=False)[name] and findings(more).keys() == {name}


@pytest.mark.parametrize("name", TEXTS)
def test_another_file_in_its_place_is_named(files, name):
    for other in (b"", b"import os\nos.system('true')\n", b"\x00\xff" * 50, files[CARD if name != CARD else PAGE]):
        assert findings({**files, name: other}).keys() == {name} | ({TRANSCRIPT} if name == CARD else set())
    assert "is missing" in findings({one: data for one, data in files.items() if one != name})[name]


def test_the_first_line_that_differs_is_told_with_what_should_stand_in_it():
    due = "one\ntwo words\nthree 1.25\n"
    (told,) = list_differences(due.replace("two words", "two wards").encode(), due.encode(), table=False)
    assert told == "line 2 is not what the transcript comes to: “two words” should stand in it."
    table = "segment,age\n1,20.5\n2,30\n"
    for other, said in (
        (table.replace("20.5", "20.6"), "line 2 (1, 20.5): age is not what was released."),
        (table.replace("2,30\n", ""), "it has 2 lines, and the transcript comes to 3."),
        (table.replace("age", "pay"), "its columns are not those of the release."),
    ):
        assert [*list_differences(other.encode(), table.encode(), table=True)] == [said]


def test_text_after_the_known_parts_is_named(files):
    after = b"\nAudited by everybody.\n"
    assert VERIFY in findings({**files, VERIFY: files[VERIFY] + after}, with_hashes=False)
    hidden = files[VERIFY] + b"0" * 64 + b"  audited by everybody\n"
    assert "none of a release" in findings({**files, VERIFY: hidden}, with_hashes=False)[VERIFY]
    fewer = b"".join(line for line in files[VERIFY].splitlines(keepends=True) if CARD.encode() not in line)
    assert "not listed" in findings({**files, VERIFY: fewer}, with_hashes=False)[CARD]
    assert findings({**files, SIGNATURE: b"Signed by everybody.\n"}).keys() == {SIGNATURE}


@pytest.mark.parametrize("part", ["algorithm", "segments"])
def test_an_answer_that_nobody_asks_for_is_named(files, read, part):
    more = render(answered(read, part, *read.recordings[part].answers, np.ones(3)))
    assert f"answers of the part {part} that the plan does not ask for" in findings(more)[TRANSCRIPT]
    legend = read_transcript(files[TRANSCRIPT]).said_legend
    for recordings in ({**read.recordings, "more": read.recordings[part]}, dict(reversed(read.recordings.items()))):
        forged = {**files, TRANSCRIPT: Transcript(read.asked, recordings).to_bytes(legend)}
        assert "of the parts that were asked for, in their order" in findings(forged)[TRANSCRIPT]


def rebuilt(files, **texts: Callable[[str], str]) -> dict[str, bytes]:
    """The release with these texts changed in its transcript."""
    held = dict(package.read_members(files[TRANSCRIPT]).files)
    for name, change in texts.items():
        held[f"{name}.npy"] = npy(np.array(change(str(np.load(io.BytesIO(held[f"{name}.npy"]))))))
    return {**files, TRANSCRIPT: make_zip(held, packed=False)}


@pytest.mark.parametrize(("by", "said"), [(-1, "older dpviz"), (1, "newer dpviz than this one: update")])
def test_a_transcript_of_another_format_says_whether_it_is_older_or_newer(files, by, said):
    other = rebuilt(files, asked=lambda text: re.sub(r'(?<="format": )\d+', lambda one: f"{int(one[0]) + by}", text))
    (found,) = verify(make_zip(rehashed(other))).findings
    assert found.file == TRANSCRIPT and said in found.what


def test_whatever_else_a_transcript_tells_is_named(files):
    for said in (
        *({"legend": lambda text: text.replace('"rows"', '"persons"', 1)}, {"legend": lambda text: "{}"}),
        *({"asked": lambda text: "{}"}, {"algorithm/coins": lambda text: "None"}),
    ):
        assert TRANSCRIPT in findings(rebuilt(files, **said)), said


def test_what_is_no_release_is_refused(tmp_path):
    with pytest.raises(RequestError, match="no file"):
        verify(tmp_path / "nothing.zip")
    for rubbish in (b"", b"PK\x03\x04", b"text"):
        with pytest.raises(RequestError):
            verify(rubbish)
    with pytest.raises(RequestError, match="not the zip of a release"):
        verify(make_zip({"../evil.txt": b"x"}))


def test_a_zip_that_unpacks_to_more_than_any_release_is_refused(files, monkeypatch):
    monkeypatch.setattr(package, "MOST_BYTES", 100_000)
    bomb = deflated(Member(PAGE, b" " * 10_000_000))
    with pytest.raises(RequestError, match="unpacks to more"):
        verify(written([bomb]))
    with pytest.raises(RequestError, match="unpacks to more"):
        read_transcript(written([replace(bomb, name="asked.npy")]))


def test_an_array_that_says_it_is_larger_than_its_file_is_not_made_room_for():
    head = npy(np.zeros(1))[:-8].replace(b"(1,)", b"(10000000000000,)")
    head = head.replace(b"                \n", b"  \n")
    with pytest.raises(RequestError, match="damaged"):
        read_transcript(make_zip({"asked.npy": head}, packed=False))


# What each check claims, forged, with the hashes made to match unless they are what is claimed.
FORGED = {
    Check.FILES: lambda files, read: {**files, PAGE: files[PAGE].replace(b"2.72", b"1.01", 1)},
    Check.PLAYED: lambda files, read: rehashed(
        {**files, TRANSCRIPT: answered(read, "algorithm").to_bytes(read_transcript(files[TRANSCRIPT]).said_legend)}
    ),
    Check.SAME: lambda files, read: rehashed({**files, package.ASSIGN: files[package.ASSIGN] + b"print(1)\n"}),
    Check.NOISE: lambda files, read: render(with_a_size(read, 5000.0)),
    Check.CODE: lambda files, read: render(Transcript({**read.asked, "code": 64 * "0"}, read.recordings)),
    Check.SIGNATURE: lambda files, read: {**files, SIGNATURE: b"Ed25519 public key: 00\nSignature of VERIFY.txt: 00\n"},
}


def with_a_size(read: Transcript, more: float) -> Transcript:
    """The transcript with the largest segment larger by so much."""
    sizes, *others = read.recordings["segments"].answers
    return answered(read, "segments", np.where(sizes == np.max(sizes), sizes + more, sizes), *others)


def test_what_could_not_be_checked_is_said(files):
    said = verdict_on({**files, TRANSCRIPT: b""}).checked
    assert [line.split(":")[0] for line in said] == ["Not so", "Not so", *["Not checked"] * 5]


@pytest.mark.parametrize("check", FORGED)
def test_what_is_said_to_be_checked_is_checked(files, read, check):
    assert f"Not so: {check.value}" in verdict_on(FORGED[check](files, read)).checked


def test_a_card_that_the_registry_would_refuse_is_named(read, monkeypatch):
    made = release_texts.make_registry_card(play(read))
    made["deployment"]["basic"] = {"name": 3}
    fill = release_texts.fill_yaml
    monkeypatch.setattr(
        release_texts, "fill_yaml", lambda of, *on, **more: made if of.startswith("registry") else fill(of, *on, **more)
    )
    consistent = render(read)
    assert yaml.safe_load(consistent[CARD])["deployment"]["basic"] == {"name": 3}
    assert f"Not so: {Check.CARD.value}" in verify(make_zip(consistent)).checked


def test_what_the_ledgers_spend_is_compared_with_what_is_charged(files, monkeypatch):
    monkeypatch.setattr("dpviz.releases.playing.compute_total_epsilon", lambda *given, **more: 1.1)
    verdict = verify(make_zip(files))
    assert f"Not so: {Check.SUMS.value}" in verdict.checked
    assert any("more ε than the account was charged" in finding.what for finding in verdict.findings)


def test_another_version_is_told_and_is_no_finding(read):
    verdict = verdict_on(render(Transcript({**read.asked, "version": "0.0.1", "code": 64 * "0"}, read.recordings)))
    assert verdict.holds and f"Cannot be told: {Check.CODE.value}" in verdict.checked


def test_no_text_claims_another_check_than_those_that_are_forged_here(files):
    assert {*FORGED, Check.CARD, Check.SUMS} == set(Check)
    claimed = re.findall(r"^  \* (.*);$", files[VERIFY].decode(), flags=re.MULTILINE)
    assert claimed == [*(check.value for check in Check), *package.CANNOT_TELL]


def test_the_security_policy_says_in_the_same_words_what_nobody_can_tell():
    policy = (Path(__file__).parents[2] / "SECURITY.md").read_text(encoding="utf-8")
    listed = policy.split("What nobody can tell from the files of a release")[1].split("\n\n")[1]
    assert [line.removeprefix("- ").rstrip(";.") for line in listed.splitlines()] == list(package.CANNOT_TELL)


def test_an_answer_that_was_changed_under_the_same_hash_is_named(files):
    held = package.read_members(files[TRANSCRIPT]).files
    name = next(name for name in held if name.startswith("segments/") and name.endswith("/array.npy"))
    forged = make_zip({**held, name: npy(np.load(io.BytesIO(held[name])) + 1)}, packed=False)
    assert "its hash is not the one that card.yaml names" in findings({**files, TRANSCRIPT: forged})[TRANSCRIPT]


# What releases of faulty versions promise today: a table that ``verify`` consults, and a bound on faulty libraries.


ROOT = Path(__file__).parents[2]
ADDED = {
    "name": "2099-1",
    "program": "dpviz",
    "before": "99",
    "fault": "sizes were drawn with half of their noise",
    "promise": "twice the ε of the card",
}


def test_an_advisory_that_is_added_is_named_wherever_a_release_is_checked(files, monkeypatch, tmp_path):
    path = tmp_path / "release.zip"
    path.write_bytes(make_zip(files))
    assert verdict_on(files).advisories == () and "promises less" not in told_by("verify", path).out
    table = (*read_advisories(), Advisory.of(ADDED))
    monkeypatch.setattr(verifying, "read_advisories", lambda: table)
    verdict = verdict_on(files)
    assert verdict.holds, "the release is what it says"
    (said,) = verdict.advisories
    assert ADDED["fault"] in said and ADDED["promise"] in said and ADDED["name"] in said
    assert json.loads(json.dumps(verdict.to_dict()))["advisories"] == [said]
    verified = told_by("verify", path)
    assert verified.code == 1 and said in verified.out and ADDED["fault"] in told_by("read", path).out


def test_choices_that_another_law_drew_are_named_by_library_accounting_and_kind_of_draw():
    choice, noise = Exponential(1.0, 2.0), Gaussian(1.0, 2.0)
    for library, mechanism, accounting, named in (
        ("OpenDP 0.15.1", choice, Accounting.ZCDP, True),
        ("OpenDP 0.15.1", Peeling(choice, 3), Accounting.PLD, True),
        ("OpenDP 0.16.0rc1", choice, Accounting.ZCDP, True),
        ("OpenDP 0.16.0", choice, Accounting.ZCDP, False),
        ("OpenDP 0.20.1", choice, Accounting.ZCDP, False),
        ("OpenDP 0.15.1", choice, Accounting.PURE, False),
        ("OpenDP 0.15.1", noise, Accounting.ZCDP, False),
    ):
        booked = ((noise, Accounting.ZCDP), (mechanism, accounting))
        entries = [Entry.of(one, "Count", by, delta=1e-6, note="x") for one, by in booked]
        with about(library, mechanism.name, accounting.value):
            assert bool([*list_advisories(version=__version__, noise=library, entries=entries)]) is named


def test_a_version_concerns_an_advisory_from_since_on_and_before_it_was_mended():
    one = Advisory("1", "dpviz", "1.10", "f", "p", since="1.2")
    for version, concerned in (("1.1.9", False), ("1.2", True), ("1.2.0", True), ("1.9.3", True), ("1.10.0", False)):
        assert one.concerns({"dpviz": version}, []) is concerned, version
    assert one.concerns({"dpviz": "1.10.0.dev1"}, [])


def test_no_library_that_an_advisory_is_about_can_be_installed():
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    (place,) = (at for at, line in enumerate(lines) if line.startswith("opendp"))
    versions = {"dpviz": __version__, "OpenDP": re.search(r">=([\d.]+)", lines[place])[1]}
    for one in read_advisories():
        assert not Advisory(one.name, one.program, one.before, "f", "p").concerns(versions, []), one.name
