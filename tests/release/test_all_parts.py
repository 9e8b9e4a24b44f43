"""A release of all parts at once: bounds, missing cells, centres, segments. Each spends its share, all is checked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpviz.privacy.ledger import total_epsilon
from dpviz.release.package import TRANSCRIPT, VERIFY, verify_text, zip_of
from dpviz.release.playing import play
from dpviz.release.releasing import press, ready
from dpviz.release.render import facts_of
from dpviz.release.seen import Seen
from dpviz.release.transcript import read_transcript
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
    order = replace(order, bounds=0.1, missing=0.1, seen=Seen({LookKind.ROWS: 2}, studies=1))
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
    entries, shares = release.played.parts.entries, prepared.shares
    assert (*entries,) == PARTS and {*shares} == {*PARTS}
    for part, own in entries.items():
        spent = total_epsilon(own[0].accounting, own, delta=shares[part].delta)
        assert shares[part].epsilon * 0.999 < spent <= shares[part].epsilon * (1 + 1e-9), part
    assert sum(share.epsilon for share in shares.values()) == pytest.approx(EPSILON, rel=1e-12)
    (charge,) = prepared.account.standing().charges
    assert (charge.epsilon, charge.delta) == (EPSILON, DELTA)


def test_the_card_names_the_table_as_declared_and_every_look(release):
    facts = facts_of(play(read_transcript(release.files[TRANSCRIPT]).whole))
    assert facts.table == "Visitors"
    assert (facts.looks, facts.studies) == ({str(LookKind.ROWS): 2}, 1)


def test_it_holds(release):
    assert found_in(release.files) == {}
