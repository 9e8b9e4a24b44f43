"""``verify`` names whatever was changed, with and without the hashes changed to match, and needs no row."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import yaml

from dpviz import __version__
from dpviz.api.cli import read_command, verify_command
from dpviz.api.console import FoundWrong, read_arguments
from dpviz.core import Accounting, Entry
from dpviz.core.check import RequestError
from dpviz.core.mechanisms import Exponential, Gaussian, Peeling
from dpviz.releases import package, release_texts, verifying
from dpviz.releases.package import (
    ASSIGN,
    CANNOT_TELL,
    CARD,
    CENTERS,
    DECLARATION,
    DOSSIER,
    DRAWS_FILE,
    LEDGER,
    NEEDED,
    PAGE,
    SEGMENTS_FILE,
    SIGNATURE,
    TRANSCRIPT,
    VERIFY,
    Check,
    make_zip,
    read_members,
)
from dpviz.releases.playing import play
from dpviz.releases.promise import AccessCounts
from dpviz.releases.releasing import preflight, publish
from dpviz.releases.render import render
from dpviz.releases.transcript import AnswerRecording, Transcript, read_transcript
from dpviz.releases.verifying import PROGRAMS, Advisory, list_advisories, list_differences, read_advisories, verify
from dpviz.runs.request import Division
from dpviz.tables.named import open_file
from dpviz.words import render as fill_template
from tests.cases import about
from tests.releases.forging import Member, deflated, findings, is_named, npy, rehashed, released, verdict_on, written
from tests.releases.people import account_in, declare_people, order_for


@pytest.fixture(scope="module")
def files():
    return released()


def transcript_in(files) -> Transcript:
    return read_transcript(files[TRANSCRIPT]).whole


def legend_in(files) -> str:
    return read_transcript(files[TRANSCRIPT]).said_legend


def test_a_release_holds(files):
    verdict = verdict_on(files)
    assert verdict.holds and all(line.startswith("Yes: ") for line in verdict.checked)
    assert render(transcript_in(files)) == files


TEXTS = [name for name in (*NEEDED, SEGMENTS_FILE, DRAWS_FILE) if name not in (TRANSCRIPT, VERIFY)]


@pytest.mark.parametrize("name", [*TEXTS, TRANSCRIPT])
def test_any_changed_file_is_named_by_its_hash_and_without_it(files, name):
    more = {**files, name: files[name] + b" "}
    assert "hash" in findings(more, with_hashes=False)[name]
    assert findings(more).keys() == {name}


@pytest.mark.parametrize("name", TEXTS)
def test_another_file_in_its_place_is_named(files, name):
    for other in (b"", b"import os\nos.system('true')\n", b"\x00\xff" * 50, files[CARD if name != CARD else PAGE]):
        assert findings({**files, name: other}).keys() == {name} | ({TRANSCRIPT} if name == CARD else set())
    without = {one: data for one, data in files.items() if one != name}
    assert "is missing" in findings(without)[name]


def test_no_number_that_was_computed_has_more_than_nine_digits(files):
    for name in TEXTS:
        for found in re.findall(r"(?<![\w.])\d+\.\d+(?![\w.])", files[name].decode()):
            assert len(found.replace(".", "").lstrip("0")) <= 9, (name, found)


def test_a_missing_line_of_a_table_is_named(files):
    for name in (CENTERS, LEDGER, SEGMENTS_FILE):
        lines = files[name].splitlines(keepends=True)
        assert "lines" in findings({**files, name: b"".join(lines[:-1])})[name]


class Change(NamedTuple):
    """What was changed in a file, the file with it, and what has to be said of it."""

    said: str
    data: bytes
    due: str = ""


def changed_numbers(files, name: str, *, pattern: str = r"\d+", every: int = 1) -> Iterator[Change]:
    """Each number with another last digit; of a table its line is named."""
    text = files[name].decode()
    for found in [*re.finditer(pattern, text)][::every]:
        at = found.end() - 1
        line = text.count("\n", 0, at) + 1
        forged = f"{text[:at]}{(int(text[at]) + 1) % 10}{text[at + 1 :]}"
        yield Change(text[max(0, at - 30) : at + 1], forged.encode(), f"line {line} (" if name.endswith("csv") else "")


def left_out_sentences(files, name: str) -> Iterator[Change]:
    text = files[name].decode().replace("\r\n", "\n")
    body = text.split("</style>")[-1]
    sentences = re.split(r"(?<=[.:;>])\s+|<[^>]*>|\n", body)
    for said in dict.fromkeys(one for one in sentences if re.search(r"[a-z]{3}", one)):
        yield Change(said, (text.removesuffix(body) + body.replace(said, "", 1)).encode())


def check_all_are_named(files, changes: Mapping[str, Iterator[Change]], *, with_hashes: bool = True) -> None:
    """Each change of each file; as many files as have one left are changed at once, and each is named for itself."""
    for row in zip_longest(*changes.values()):
        changed = {name: change for name, change in zip(changes, row, strict=True) if change is not None}
        forged = {name: change.data for name, change in changed.items()}
        found = findings({**files, **forged}, with_hashes=with_hashes)
        for name, change in changed.items():
            with about(name, change.said):
                assert change.due in found[name]


def test_every_number_is_compared(files):
    changes = {name: changed_numbers(files, name) for name in (CARD, ASSIGN, DECLARATION)}
    changes[PAGE] = changed_numbers(files, PAGE, every=7)  # of some thousands
    for name in (CENTERS, LEDGER, SEGMENTS_FILE):
        changes[name] = changed_numbers(files, name, pattern=r"(?<=,)-?\d+")
    check_all_are_named(files, changes)


def test_every_sentence_is_compared(files):
    check_all_are_named(files, {name: left_out_sentences(files, name) for name in (CARD, PAGE, DOSSIER)})
    check_all_are_named(files, {VERIFY: left_out_sentences(files, VERIFY)}, with_hashes=False)


def test_the_first_line_that_differs_is_told_with_what_should_stand_in_it():
    due = "one\ntwo words\nthree 1.25\n"
    (told,) = list_differences(due.replace("two words", "two wards").encode(), due.encode(), table=False)
    assert told == "line 2 is not what the transcript comes to: “two words” should stand in it."


def test_text_after_the_known_parts_is_named(files):
    after = b"\nAudited by everybody.\n"
    assert VERIFY in findings({**files, VERIFY: files[VERIFY] + after}, with_hashes=False)
    hidden = files[VERIFY] + b"0" * 64 + b"  audited by everybody\n"
    assert "none of a release" in findings({**files, VERIFY: hidden}, with_hashes=False)[VERIFY]
    assert findings({**files, SIGNATURE: b"Signed by everybody.\n"}).keys() == {SIGNATURE}


def forged_answers(files, change) -> dict[str, bytes]:
    read = transcript_in(files)
    return {**files, TRANSCRIPT: change(read).to_bytes(legend_in(files))}


@pytest.mark.parametrize("part", ["algorithm", "segments"])
def test_any_changed_answer_of_the_transcript_is_named(files, part):
    recording = transcript_in(files).recordings[part]
    for place, answer in enumerate(recording.answers):
        other = np.array(answer, dtype=np.float64)
        other.flat[0] += 0.5
        answers = (*recording.answers[:place], other, *recording.answers[place + 1 :])
        forged = forged_answers(
            files,
            lambda read, now=answers: Transcript(
                read.asked, {**read.recordings, part: AnswerRecording(recording.coins, now)}
            ),
        )
        assert TRANSCRIPT in findings(forged), place


@pytest.mark.parametrize("part", ["algorithm", "segments"])
def test_an_answer_that_nobody_asks_for_is_named(files, part):
    read = transcript_in(files)
    recording = read.recordings[part]
    more = Transcript(
        read.asked, {**read.recordings, part: AnswerRecording(recording.coins, (*recording.answers, np.ones(3)))}
    )
    consistent = render(more)
    assert f"answers of the part {part} that the plan does not ask for" in findings(consistent)[TRANSCRIPT]
    swapped = dict(reversed(read.recordings.items()))
    for recordings in ({**read.recordings, "more": recording}, swapped):
        forged = {**files, TRANSCRIPT: Transcript(read.asked, recordings).to_bytes(legend_in(files))}
        assert "of the parts that were asked for, in their order" in findings(forged)[TRANSCRIPT]


def rebuilt(npz: bytes, change) -> bytes:
    """A transcript's file with its arrays changed by ``change``, as members of bytes."""
    members = package.read_members(npz).files
    change(members)
    return make_zip(members, packed=False)


def told_of(held) -> str:
    """The legend among the members of a transcript."""
    return str(np.load(io.BytesIO(held["legend.npy"])))


@pytest.mark.parametrize(("by", "said"), [(-1, "older dpviz"), (1, "newer dpviz than this one: update")])
def test_a_transcript_of_another_format_says_whether_it_is_older_or_newer(files, by, said):
    def other(held):
        asked = json.loads(str(np.load(io.BytesIO(held["asked.npy"]))))
        held["asked.npy"] = npy(np.array(json.dumps({**asked, "format": asked["format"] + by})))

    (found,) = verify(make_zip(rehashed({**files, TRANSCRIPT: rebuilt(files[TRANSCRIPT], other)}))).findings
    assert found.file == TRANSCRIPT and said in found.what


def test_every_array_of_a_transcript_is_named_with_its_axes_and_its_unit(files):
    legend, recordings = json.loads(legend_in(files)), transcript_in(files).recordings
    assert list(legend) == [
        f"{part}/{j:04d}" for part, recording in recordings.items() for j in range(len(recording.answers))
    ]
    for name, told in legend.items():
        part, place = name.split("/")
        with about(name):
            assert told["part"] == part and told["shape"] == list(np.shape(recordings[part].answers[int(place)]))
            assert told["question"] and told["for"] and told["unit"] and len(told["axes"]) == len(told["shape"])
            assert told["noise_scale"] > 0
    histograms = [told for told in legend.values() if "column" in told]
    assert [told["column"] for told in histograms] == ["age", "income"]
    assert all(len(told["edges"]) == told["shape"][1] + 1 for told in histograms)


@pytest.mark.parametrize(
    "change",
    [
        lambda held: held.update({"algorithm/0000/more.npy": npy(np.ones(3))}),
        lambda held: held.update({"asked.npy": npy(np.array("{}"))}),
        lambda held: held.update({"legend.npy": npy(np.array("{}"))}),
        lambda held: held.update({"legend.npy": npy(np.array(told_of(held).replace('"rows"', '"persons"', 1)))}),
        lambda held: held.pop("asked.npy"),
        lambda held: held.pop("algorithm/0000/array.npy"),
        lambda held: held.update({"algorithm/coins.npy": npy(np.array([None]).astype(str))}),
    ],
)
def test_whatever_else_a_transcript_holds_is_named(files, change):
    forged = rebuilt(files[TRANSCRIPT], change)
    assert TRANSCRIPT in findings({**files, TRANSCRIPT: forged})


def test_what_is_no_release_is_refused(tmp_path):
    with pytest.raises(RequestError, match="no file"):
        verify(tmp_path / "nothing.zip")
    for rubbish in (b"", b"PK\x03\x04", b"text"):
        with pytest.raises(RequestError):
            verify(rubbish)
    with pytest.raises(RequestError, match="not the zip of a release"):
        verify(make_zip({"../evil.txt": b"x"}))


def test_damage_inside_a_zip_is_a_finding_and_no_error(files):
    whole = make_zip(files)
    for at in range(200, len(whole), len(whole) // 60):
        broken = bytearray(whole)
        broken[at] ^= 0xFF
        assert is_named(bytes(broken)), at


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


def with_answer(files, place: int, change) -> Transcript:
    """The transcript with one answer of the part of segments changed."""
    read = transcript_in(files)
    recording = read.recordings["segments"]
    answers = list(recording.answers)
    answers[place] = change(answers[place])
    return Transcript(read.asked, {**read.recordings, "segments": AnswerRecording(recording.coins, tuple(answers))})


# What each check claims, forged, with the hashes made to match unless they are what is claimed.
FORGED = {
    Check.FILES: lambda files: {**files, PAGE: files[PAGE].replace(b"2.72", b"1.01", 1)},
    Check.PLAYED: lambda files: rehashed(
        forged_answers(
            files, lambda read: Transcript(read.asked, {**read.recordings, "algorithm": AnswerRecording(1, ())})
        )
    ),
    Check.SAME: lambda files: rehashed({**files, ASSIGN: files[ASSIGN] + b"print(1)\n"}),
    Check.NOISE: lambda files: render(
        with_answer(files, 0, lambda sizes: np.where(sizes == np.max(sizes), sizes + 5000.0, sizes))
    ),
    Check.CODE: lambda files: render(
        Transcript({**transcript_in(files).asked, "code": 64 * "0"}, transcript_in(files).recordings)
    ),
    Check.SIGNATURE: lambda files: {**files, SIGNATURE: b"Ed25519 public key: 00\nSignature of VERIFY.txt: 00\n"},
}


def test_what_could_not_be_checked_is_said(files):
    said = verdict_on({**files, TRANSCRIPT: b""}).checked
    assert [line.split(":")[0] for line in said] == ["Not so", "Not so", *["Not checked"] * 5]


@pytest.mark.parametrize("check", FORGED)
def test_what_is_said_to_be_checked_is_checked(files, check):
    said = verdict_on(FORGED[check](files)).checked
    assert f"Not so: {check.value}" in said


def test_a_card_that_the_registry_would_refuse_is_named(files, monkeypatch):
    made = release_texts.make_registry_card(play(transcript_in(files)))
    made["deployment"]["basic"] = {"name": 3}
    fill = release_texts.fill_yaml
    monkeypatch.setattr(
        release_texts, "fill_yaml", lambda of, *on, **more: made if of.startswith("registry") else fill(of, *on, **more)
    )
    consistent = render(transcript_in(files))
    assert yaml.safe_load(consistent[CARD])["deployment"]["basic"] == {"name": 3}
    assert f"Not so: {Check.CARD.value}" in verify(make_zip(consistent)).checked


def test_what_the_ledgers_spend_is_compared_with_what_is_charged(files, monkeypatch):
    monkeypatch.setattr("dpviz.releases.playing.compute_total_epsilon", lambda *given, **more: 1.1)
    verdict = verify(make_zip(files))
    assert f"Not so: {Check.SUMS.value}" in verdict.checked
    assert any("more ε than the account was charged" in finding.what for finding in verdict.findings)


def test_another_version_is_told_and_is_no_finding(files):
    asked = {**transcript_in(files).asked, "version": "0.0.1", "code": 64 * "0"}
    verdict = verdict_on(render(Transcript(asked, transcript_in(files).recordings)))
    assert verdict.holds and f"Cannot be told: {Check.CODE.value}" in verdict.checked


def test_no_text_claims_another_check_than_those_that_are_forged_here(files):
    assert {*FORGED, Check.CARD, Check.SUMS} == set(Check)
    text = files[VERIFY].decode()
    claimed = re.findall(r"^  \* (.*);$", text, flags=re.MULTILINE)
    assert claimed == [*(check.value for check in Check), *CANNOT_TELL]
    rest = re.sub(r"^  \* .*;$|^[0-9a-f]{64}  .*$", "", text, flags=re.MULTILINE)
    assert "checks that\n" in rest and len(re.findall("check", rest.lower())) == 2  # that, and the heading
    page = re.sub("<[^>]+>", " ", files[PAGE].decode().split("How to check it")[1])
    follows = (
        "checks that every file follows from the released answers, that no more was spent than was charged, and that "
        "the answers are as noisy as is claimed, where they can tell"
    )
    assert sorted(re.findall(r"check\w*[^.;]*", page)) == ["checks", follows]  # as SAME and NOISE are forged, and SUMS


def test_a_file_that_is_damaged_is_named_and_those_behind_it_are_read(files):
    forged = written(Member(name, data, method=12 * (name == CENTERS)) for name, data in files.items())
    read, wrong = package.read_members(forged, frozenset(files))
    assert read == {name: data for name, data in files.items() if name != CENTERS}
    assert wrong == (f"{CENTERS} cannot be unpacked: it is damaged",)


def test_the_security_policy_says_in_the_same_words_what_nobody_can_tell():
    policy = (Path(__file__).parents[2] / "SECURITY.md").read_text(encoding="utf-8")
    listed = policy.split("What nobody can tell from the files of a release")[1].split("\n\n")[1]
    assert [line.removeprefix("- ").rstrip(";.") for line in listed.splitlines()] == list(CANNOT_TELL)


# A release of all parts at once: bounds, missing cells, centres, segments. Each spends its share, all is checked.


EPSILON, DELTA = 20.0, 1e-6


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    data, said = declare_people(folder, bounds={"age": [None, None], "income": [None, None]}, n_public=None)
    release_request = order_for(said, epsilon=EPSILON, delta=DELTA)
    release_request = replace(release_request, division=Division(0.2, 0.1, 0.1), seen=AccessCounts({"rows": 2}, 1))
    return preflight(release_request, open_file(data), said, account_in(folder, cap_epsilon=EPSILON))


@pytest.fixture(scope="module")
def release(prepared):
    return publish(prepared)


@pytest.mark.parametrize("part", ["bounds", "missing cells"])
def test_answers_that_nobody_asked_for_are_named_of_parts_that_are_bought(release, part):
    read, legend = read_transcript(release.files[TRANSCRIPT])
    recording = read.recordings[part]
    longer = {**read.recordings, part: AnswerRecording(recording.coins, (*recording.answers, np.zeros(1)))}
    forged = Transcript(read.asked, longer)
    card = {name: data.replace(read.sha256.encode(), forged.sha256.encode()) for name, data in release.files.items()}
    found = findings({**card, TRANSCRIPT: forged.to_bytes(legend)})
    assert f"of the part {part} that the plan does not ask for" in found[TRANSCRIPT]


def test_an_answer_that_was_changed_under_the_same_hash_is_named(release):
    held = read_members(release.files[TRANSCRIPT]).files
    name = next(name for name in held if name.startswith("segments/") and name.endswith("/array.npy"))
    other = npy(np.load(io.BytesIO(held[name])) + 1)
    forged = make_zip({**held, name: other}, packed=False)
    assert "its hash is not the one that card.yaml names" in findings({**release.files, TRANSCRIPT: forged})[TRANSCRIPT]


# What releases of faulty versions promise today: a table that ``verify`` consults, and a bound on faulty libraries.


ROOT = Path(__file__).parents[2]
ADDED = {
    "name": "2099-1",
    "program": "dpviz",
    "before": "99",
    "fault": "sizes were drawn with half of their noise",
    "promise": "twice the ε of the card",
}


def _serve(command, path):
    name = command.__name__.rpartition(".")[2].removesuffix("_command")
    return command.serve(read_arguments([name, str(path)]))


@pytest.fixture
def added(monkeypatch):
    table = (*read_advisories(), Advisory.of(ADDED))
    monkeypatch.setattr(verifying, "read_advisories", lambda: table)


def test_an_advisory_that_is_added_is_named_wherever_a_release_is_checked(added, tmp_path):
    verdict = verdict_on(released())
    assert verdict.holds, "the release is what it says"
    (said,) = verdict.advisories
    assert ADDED["fault"] in said and ADDED["promise"] in said and ADDED["name"] in said
    assert json.loads(json.dumps(verdict.to_dict()))["advisories"] == [said]
    assert said in verify_command.format_verdict(verdict)
    path = tmp_path / "release.zip"
    path.write_bytes(make_zip(released()))
    with pytest.raises(FoundWrong, match=ADDED["fault"]):
        _serve(verify_command, path)
    assert ADDED["fault"] in _serve(read_command, path)


def test_of_a_release_that_none_concerns_nothing_is_said():
    verdict = verdict_on(released())
    assert verdict.advisories == () and "promises less" not in verify_command.format_verdict(verdict)
    assert "promises less" not in fill_template("verdict.txt.j2", verdict=verdict, untold=())


def _booked(mechanism, accounting):
    return Entry.of(mechanism, "Count", accounting, delta=1e-6, note="x")


def test_choices_that_another_law_drew_are_named_by_library_accounting_and_kind_of_draw():
    choice, noise = Exponential(1.0, 2.0), Gaussian(1.0, 2.0)
    for library, mechanism, accounting, named in (
        ("OpenDP 0.15.1", choice, Accounting.ZCDP, True),
        ("OpenDP 0.15.1", Peeling(choice, 3), Accounting.PLD, True),
        ("OpenDP 0.16.0rc1", choice, Accounting.ZCDP, True),
        ("OpenDP 0.16.0", choice, Accounting.ZCDP, False),
        ("OpenDP 0.16", choice, Accounting.ZCDP, False),
        ("OpenDP 0.20.1", choice, Accounting.ZCDP, False),
        ("OpenDP 0.15.1", choice, Accounting.PURE, False),
        ("OpenDP 0.15.1", noise, Accounting.ZCDP, False),
    ):
        with about(library, mechanism.name, accounting.value):
            entries = [_booked(noise, Accounting.ZCDP), _booked(mechanism, accounting)]
            assert bool([*list_advisories(version=__version__, noise=library, entries=entries)]) is named


def test_a_version_concerns_an_advisory_from_since_on_and_before_it_was_mended():
    one = Advisory("1", "dpviz", "1.10", "f", "p", since="1.2")
    for version, concerned in (("1.1.9", False), ("1.2", True), ("1.2.0", True), ("1.9.3", True), ("1.10.0", False)):
        assert one.concerns({"dpviz": version}, []) is concerned, version
    assert one.concerns({"dpviz": "1.10.0.dev1"}, [])


def test_the_table_is_whole_and_every_name_in_it_stands_once():
    names = [one.name for one in read_advisories()]
    assert names == sorted(names, key=lambda name: [*map(int, name.split("-"))]) and len(set(names)) == len(names)
    for one in read_advisories():
        with about(one.name):
            assert re.fullmatch(r"20\d\d-\d+", one.name) and one.program in PROGRAMS
            assert one.fault and one.promise and not one.promise.endswith(".")


def test_no_library_that_an_advisory_is_about_can_be_installed():
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    (place,) = (at for at, line in enumerate(lines) if line.startswith("opendp"))
    assert "security bound" in lines[place - 1]
    lower = re.search(r">=([\d.]+)", lines[place])[1]
    versions = {"dpviz": __version__, "OpenDP": lower}
    for one in read_advisories():
        with about(one.name):
            assert not Advisory(one.name, one.program, one.before, "f", "p").concerns(versions, [])


def test_the_policy_and_the_guide_name_the_table():
    for page in ("SECURITY.md", "docs/howto/advisories.md"):
        assert "dpviz/releases/advisories.yaml" in (ROOT / page).read_text("utf-8"), page
