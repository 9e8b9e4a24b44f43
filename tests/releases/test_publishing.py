"""A press in a thread of its own: once, to its end, with a copy beside the account; and what it says when it fails."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from dpviz.core.check import RequestError
from dpviz.releases.account import Account, State
from dpviz.releases.package import CARD, Finding, make_zip
from dpviz.releases.publishing import PublishJob, keep_copy
from dpviz.releases.releasing import publish
from dpviz.releases.verifying import verify
from dpviz.runs.jobs import JobState
from tests import waiting
from tests.releases.charges import a_charge
from tests.releases.people import ready_in


def pressed(prepared) -> tuple[PublishJob, list[Exception]]:
    defects: list[Exception] = []
    pressing = PublishJob(prepared, on_defect=defects.append)
    assert pressing.wait(waiting.SECONDS)
    return pressing, defects


def test_it_charges_releases_and_keeps_a_copy(tmp_path):
    prepared = ready_in(tmp_path)
    pressing, defects = pressed(prepared)
    assert (pressing.state, pressing.number, defects) == (JobState.DONE, 1, [])
    kept = tmp_path / pressing.kept
    assert kept.read_bytes() == make_zip(pressing.release.files) and verify(kept).holds
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert [entry.state for entry in prepared.account.standing().entries] == [State.RELEASED]


def test_nobody_can_cancel_what_is_paid_for(tmp_path):
    pressing = PublishJob(ready_in(tmp_path), on_defect=lambda error: None)
    pressing.cancel()
    assert pressing.wait(waiting.SECONDS) and pressing.state is JobState.DONE and pressing.release is not None


def test_a_refusal_says_why_and_charges_nothing(tmp_path):
    prepared = ready_in(tmp_path)
    Account.open(prepared.account.path).charge(replace(a_charge(1.5), unit="1 row"))
    pressing, defects = pressed(prepared)
    assert (pressing.state, pressing.number, defects) == (JobState.FAILED, None, [])
    assert "left in the account" in pressing.error.message
    assert len(prepared.account.standing().entries) == 1


def test_a_defect_keeps_its_words_to_itself_and_the_charge_stays(tmp_path, monkeypatch):
    def broken(*_, **__):
        raise ValueError("row 17")

    monkeypatch.setattr("dpviz.releases.releasing.draw", broken)
    prepared = ready_in(tmp_path)
    pressing, defects = pressed(prepared)
    assert (pressing.state, pressing.number) == (JobState.FAILED, 1)
    assert (pressing.error.kind, pressing.error.message) == ("ValueError", "")
    assert [str(error) for error in defects] == ["row 17"]
    assert prepared.account.standing().entries[0].state is State.FAILED


def test_a_release_leaves_even_where_neither_the_copy_nor_the_account_can_be_written_any_more(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    def locked(*_, **__):
        raise RequestError("the account is locked")

    monkeypatch.setattr("dpviz.releases.publishing.keep_copy", full)
    monkeypatch.setattr(Account, "note_released", locked)
    prepared = ready_in(tmp_path)
    pressing, defects = pressed(prepared)
    assert (pressing.state, pressing.kept, defects) == (JobState.DONE, "", [])
    assert verify(make_zip(pressing.release.files)).holds
    assert prepared.account.standing().entries[0].state is State.CHARGED


@pytest.mark.parametrize(("check", "charged"), [(1, 0), (2, 1)])
def test_what_would_not_pass_a_check_does_not_leave(tmp_path, monkeypatch, check, charged):
    def fails(data):
        given.append(data)
        wrong = (Finding(CARD, "it is another."),) if len(given) == check else ()
        return replace(verify(data), findings=wrong)

    given: list[bytes] = []
    monkeypatch.setattr("dpviz.releases.releasing.verify", fails)
    prepared = ready_in(tmp_path)
    pressing, defects = pressed(prepared)
    assert (pressing.state, pressing.release, defects) == (JobState.FAILED, None, [])
    assert "card.yaml would not pass a check" in pressing.error.message and "defect of dpviz" in pressing.error.message
    assert [entry.state for entry in prepared.account.standing().entries] == [State.FAILED] * charged
    assert not list(tmp_path.glob("*.zip"))


@pytest.fixture(params=["links", "no links"])
def left(request, tmp_path, monkeypatch):
    """A release, and the account that it is to lie beside, on a disk with links or without."""

    def no_links(*_):
        raise PermissionError(1, "Operation not permitted")

    if request.param == "no links":
        monkeypatch.setattr(Path, "hardlink_to", no_links)
    prepared = ready_in(tmp_path)
    return prepared.account, publish(prepared)


def test_a_copy_never_takes_the_place_of_another_file(tmp_path, left):
    there = tmp_path / "people-release-1.zip"
    there.write_text("mine")
    with pytest.raises(FileExistsError):
        keep_copy(*left)
    assert there.read_text() == "mine"
    assert not list(tmp_path.glob(".dpviz-*"))


def test_a_copy_is_whole_as_soon_as_it_has_its_name(tmp_path, monkeypatch, left):
    named, to_disk = [], os.fsync

    def looks_on(descriptor):
        to_disk(descriptor)
        named.append((tmp_path / "people-release-1.zip").exists())

    monkeypatch.setattr("dpviz.runs.owner_files.os.fsync", looks_on)
    kept = tmp_path / keep_copy(*left)
    assert named == [False]
    assert kept.read_bytes() == make_zip(left[1].files) and stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert not list(tmp_path.glob(".dpviz-*"))
