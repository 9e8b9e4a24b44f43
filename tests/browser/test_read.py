"""The recipient's way: a zip that somebody published, dropped, seen, compared; forged ones say so before all else."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from dpviz.releases.account import Account
from dpviz.releases.example_release import make_example_release
from dpviz.releases.package import CENTERS, make_zip
from dpviz.releases.release_request import ReleaseRequest
from dpviz.releases.releasing import preflight, publish
from dpviz.runs.request import Contender, Request
from dpviz.tables.named import sample
from dpviz.tables.owner_words import find_words
from tests.browser.looks import LOOKS, WINDOW, offences, takes_on
from tests.browser.visitor import Visitor
from tests.releases.forging import rehashed

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def zips(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Two releases of people, six columns each, and a forged copy of the first."""
    source, declared = sample("people").load()
    folder = tmp_path_factory.mktemp("zips")
    account = Account.new(folder / "two.sqlite", name="people", cap_epsilon=9.0, cap_delta=1e-5)
    release_request = ReleaseRequest(
        Request(Contender("auto"), 5, 2.0, 1e-6), find_words(declared, today="2026-11-26"), 0.2, who="x"
    )
    two = publish(preflight(release_request, source, declared, account)).files
    made = {"one": make_example_release().files, "two": two}
    forged = rehashed({**made["one"], CENTERS: made["one"][CENTERS].replace(b"1", b"2")})
    return {name: make_zip(files) for name, files in {**made, "forged": forged}.items()}


def _drops(visit: Visitor, data: bytes, place: int = 0) -> None:
    box = visit.page.get_by_test_id("stFileUploader").nth(place).locator("input[type=file]")
    box.set_input_files({"name": f"release-{place}.zip", "mimeType": "application/zip", "buffer": data})


def test_from_a_zip_to_its_picture_in_at_most_three_actions(
    visitor: Callable[..., Visitor], zips: dict[str, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    visit, actions = visitor(viewport=WINDOW), 0
    visit.goes_to("/")
    visit.turns_to("Read")
    actions += 1
    _drops(visit, zips["one"])
    actions += 1
    visit.sees_figure("Five segments on a lane for each of six columns")
    visit.sees("is what it says")
    with capsys.disabled():
        sys.stdout.write(f"\nthe recipient's walk: {actions} actions from Home to the picture\n")
    assert actions <= 3
    found = {}
    for name, look in LOOKS.items():
        takes_on(visit, look)
        visit.sees("What not?")
        found[name] = offences(visit)
    takes_on(visit, LOOKS["light"])
    visit.page.get_by_role("tab", name="Compare with another").click()
    visit.waits()
    _drops(visit, zips["two"], 1)
    visit.sees("A difference counts beyond")
    found["two releases"] = offences(visit)
    takes_on(visit, LOOKS["dark telephone"])
    found["two releases, in the dark on a telephone"] = offences(visit)
    assert not {state: wrong for state, wrong in found.items() if wrong}


def test_a_forged_release_is_marked_and_nothing_is_concluded_from_it(
    visitor: Callable[..., Visitor], zips: dict[str, bytes]
) -> None:
    visit = visitor(viewport=WINDOW)
    visit.goes_to("/read")
    _drops(visit, zips["forged"])
    visit.sees("This release is not what it says")
    visit.sees_figure("Five segments on a lane")
    expect(visit.page.get_by_text("What may I conclude?")).to_have_count(0)
    expect(visit.page.locator(".js-plotly-plot").get_by_text("not what it says")).to_be_visible()
    found = {"forged": offences(visit)}
    takes_on(visit, LOOKS["dark telephone"])
    found["forged, in the dark on a telephone"] = offences(visit)
    assert not {state: wrong for state, wrong in found.items() if wrong}
