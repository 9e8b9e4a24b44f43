"""A release of all parts at once: bounds, missing cells, centres, segments. Each spends its share, all is checked."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from dpviz.privacy.ledger import total_epsilon
from dpviz.release.package import CENTERS, DECLARATION, TRANSCRIPT, VERIFY, verify_text, zip_of
from dpviz.release.releasing import press, published, ready
from dpviz.release.transcript import Tape, Transcript, read_transcript
from dpviz.release.verify import verify
from dpviz.runs.record import LookKind
from dpviz.table.named import file_at
from dpviz.table.sidecar import declaration_in_file
from tests.release.people import account_in, order_for, write_people

EPSILON, DELTA = 20.0, 1e-6
PARTS = ("bounds", "missing cells", "algorithm", "segments")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    data, declaration = write_people(folder, bounds={"age": [None, None], "income": [None, None]}, n_public=None)
    said = declaration_in_file(declaration).checked()
    order = order_for(said, epsilon=EPSILON, delta=DELTA, segments=0.2)
    order = replace(order, bounds=0.1, missing=0.1, looks={LookKind.ROWS: 2}, studies=1)
    return ready(order, file_at(data), said, account_in(folder, cap_epsilon=EPSILON))


@pytest.fixture(scope="module")
def release(prepared):
    return press(prepared)


def found_in(files, **changed) -> dict[str, str]:
    """What a check finds, by file, where files are changed and the hashes made to match."""
    files = {**files, **changed}
    files[VERIFY] = verify_text({name: data for name, data in files.items() if name != VERIFY}).encode()
    findings = verify(zip_of(files)).findings
    return {name: " ".join(one.what for one in findings if one.file == name) for name in {one.file for one in findings}}


def test_every_part_spends_its_share_and_all_together_what_is_charged(prepared, release):
    entries, shares = release.drawn.parts.entries, prepared.shares
    assert (*entries,) == PARTS and {*shares} == {*PARTS}
    for part, own in entries.items():
        spent = total_epsilon(own[0].accounting, own, delta=shares[part].delta)
        assert shares[part].epsilon * 0.999 < spent <= shares[part].epsilon * (1 + 1e-9), part
    assert sum(share.epsilon for share in shares.values()) == pytest.approx(EPSILON, rel=1e-12)
    (charge,) = prepared.account.standing().charges
    assert (charge.epsilon, charge.delta) == (EPSILON, DELTA)


def test_the_card_names_the_table_as_declared_and_every_look(prepared, release):
    facts = published(prepared, release.drawn).facts
    assert facts.table == "Visitors"
    assert (facts.looks, facts.studies) == ({str(LookKind.ROWS): 2}, 1)


def test_it_holds(release):
    assert found_in(release.files) == {}


def test_bounds_that_were_not_bought_are_named(release):
    read = read_transcript(release.files[TRANSCRIPT]).whole
    said = json.loads(read.asked["declaration"])
    said["bounds"]["age"][1] += 1
    forged = Transcript({**read.asked, "declaration": json.dumps(said)}, read.tapes)
    found = found_in(release.files, **{TRANSCRIPT: forged.to_bytes(), DECLARATION: json.dumps(said).encode()})
    assert "not those that were declared or bought" in found[TRANSCRIPT]


@pytest.mark.parametrize("part", PARTS)
def test_answers_that_nobody_asked_for_are_named(release, part):
    read = read_transcript(release.files[TRANSCRIPT]).whole
    tape = read.tapes[part]
    longer = {**read.tapes, part: Tape(tape.coins, (*tape.answers, np.zeros(1)))}
    forged = Transcript(read.asked, longer)
    card = {name: data.replace(read.sha256.encode(), forged.sha256.encode()) for name, data in release.files.items()}
    found = found_in({**card, TRANSCRIPT: forged.to_bytes()})
    assert f"of the part {part} that the plan does not ask for" in found[TRANSCRIPT]


def test_an_answer_that_was_changed_under_the_same_hash_is_named(release):
    with np.load(io.BytesIO(release.files[TRANSCRIPT])) as file:
        held = {name: file[name] for name in file.files}
    name = next(name for name in held if name.startswith("segments/") and name.endswith("/array"))
    held[name] = held[name] + 1
    forged = io.BytesIO()
    np.savez_compressed(forged, **held)
    assert "an answer in it is not the one" in found_in({**release.files, TRANSCRIPT: forged.getvalue()})[TRANSCRIPT]


@pytest.mark.parametrize("beyond", [-1e9, 1e9])
def test_a_centre_beyond_either_bound_is_named_as_such(release, beyond):
    rows = list(csv.reader(io.StringIO(release.files[CENTERS].decode())))
    rows[1][1] = str(beyond)
    text = "\n".join(",".join(row) for row in rows) + "\n"
    assert "lies outside its bounds" in found_in({**release.files, CENTERS: text.encode()})[CENTERS]
