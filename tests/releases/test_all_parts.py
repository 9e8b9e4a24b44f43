"""A release of all parts at once: bounds, missing cells, centres, segments. Each spends its share, all is checked."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest

from dpviz.releases.package import CENTERS, TRANSCRIPT, make_zip, read_members
from dpviz.releases.promise import AccessCounts
from dpviz.releases.releasing import preflight, publish
from dpviz.releases.transcript import AnswerRecording, Transcript, read_transcript
from dpviz.tables.named import open_file
from tests.releases.forging import changed, findings
from tests.releases.people import account_in, declare_people, order_for

EPSILON, DELTA = 20.0, 1e-6
PARTS = ("bounds", "missing cells", "algorithm", "segments")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    data, said = declare_people(folder, bounds={"age": [None, None], "income": [None, None]}, n_public=None)
    release_request = order_for(said, epsilon=EPSILON, delta=DELTA, segments=0.2)
    release_request = replace(release_request, bounds=0.1, missing=0.1, seen=AccessCounts({"rows": 2}, 1))
    return preflight(release_request, open_file(data), said, account_in(folder, cap_epsilon=EPSILON))


@pytest.fixture(scope="module")
def release(prepared):
    return publish(prepared)


@pytest.mark.parametrize("part", PARTS)
def test_answers_that_nobody_asked_for_are_named(release, part):
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
    other = io.BytesIO()
    np.save(other, np.load(io.BytesIO(held[name])) + 1)
    forged = make_zip({**held, name: other.getvalue()}, packed=False)
    assert "its hash is not the one that card.yaml names" in findings({**release.files, TRANSCRIPT: forged})[TRANSCRIPT]


@pytest.mark.parametrize("beyond", [-1e9, 1e9])
def test_a_centre_beyond_either_bound_is_named(release, beyond):
    forged = changed(release.files[CENTERS], 1, "age", lambda value: str(beyond))
    assert "line 2 (1, " in findings({**release.files, CENTERS: forged})[CENTERS]
