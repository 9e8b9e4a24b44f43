"""A press in a thread of its own: once, to its end, with a copy beside the account; and what it says when it fails."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from dpviz.check import RequestError
from dpviz.release.account import Account, State
from dpviz.release.package import zip_of
from dpviz.release.pressing import Pressing, keep_beside
from dpviz.release.releasing import press
from dpviz.release.verify import verify
from dpviz.runs.jobs import JobState
from tests import waiting
from tests.release.charges import a_charge
from tests.release.people import ready_in


def pressed(prepared) -> tuple[Pressing, list[Exception]]:
    defects: list[Exception] = []
    pressing = Pressing(prepared, on_defect=defects.append)
    assert pressing.wait(waiting.SECONDS)
    return pressing, defects


def test_it_charges_releases_and_keeps_a_copy(tmp_path):
    prepared = ready_in(tmp_path)
    pressing, defects = pressed(prepared)
    assert (pressing.state, pressing.number, defects) == (JobState.DONE, 1, [])
    kept = tmp_path / pressing.kept
    assert kept.read_bytes() == zip_of(pressing.release.files) and verify(kept).holds
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert [entry.state for entry in prepared.account.standing().entries] == [State.RELEASED]


def test_nobody_can_cancel_what_is_paid_for(tmp_path):
    pressing = Pressing(ready_in(tmp_path), on_defect=lambda error: None)
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

    monkeypatch.setattr("dpviz.release.releasing.draw", broken)
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

    monkeypatch.setattr("dpviz.release.pressing.keep_beside", full)
    monkeypatch.setattr(Account, "released", locked)
    prepared = ready_in(tmp_path)
    pressing, defects = pressed(prepared)
    assert (pressing.state, pressing.kept, defects) == (JobState.DONE, "", [])
    assert verify(zip_of(pressing.release.files)).holds
    assert prepared.account.standing().entries[0].state is State.CHARGED


@pytest.fixture(params=["links", "no links"])
def left(request, tmp_path, monkeypatch):
    """A release, and the account that it is to lie beside, on a disk with links or without."""

    def no_links(*_):
        raise PermissionError(1, "Operation not permitted")

    if request.param == "no links":
        monkeypatch.setattr(Path, "hardlink_to", no_links)
    prepared = ready_in(tmp_path)
    return prepared.account.path, press(prepared)


def test_a_copy_never_takes_the_place_of_another_file(tmp_path, left):
    there = tmp_path / "people-release-1.zip"
    there.write_text("mine")
    with pytest.raises(FileExistsError):
        keep_beside(*left)
    assert there.read_text() == "mine"
    assert not list(tmp_path.glob(".dpviz-*"))


def test_a_copy_is_whole_as_soon_as_it_has_its_name(tmp_path, monkeypatch, left):
    named, to_disk = [], os.fsync

    def looks_on(descriptor):
        to_disk(descriptor)
        named.append((tmp_path / "people-release-1.zip").exists())

    monkeypatch.setattr("dpviz.release.pressing.os.fsync", looks_on)
    kept = tmp_path / keep_beside(*left)
    assert named == [False]
    assert kept.read_bytes() == zip_of(left[1].files) and stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert not list(tmp_path.glob(".dpviz-*"))
