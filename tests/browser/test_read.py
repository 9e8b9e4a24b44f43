"""The recipient's way: a zip that somebody published, dropped, seen, compared; forged ones say so before all else."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from dpviz.releases.package import CENTERS, make_zip
from tests.browser.looks import ALL_IN_TWO, WINDOW, offences_in, out_of_reach
from tests.browser.visitor import Visitor
from tests.releases.forging import rehashed, released

pytestmark = [pytest.mark.browser, pytest.mark.slow]


GOOD = make_zip(released())
FORGED = make_zip(rehashed({**released(), CENTERS: released()[CENTERS].replace(b"1", b"2")}))


def _drops(visit: Visitor, data: bytes, place: int = 0) -> None:
    box = visit.page.get_by_test_id("stFileUploader").nth(place).locator("input[type=file]")
    box.set_input_files({"name": f"release-{place}.zip", "mimeType": "application/zip", "buffer": data})


def test_from_a_zip_to_its_picture_in_two_actions_and_a_forged_one_is_marked(visitor: Callable[..., Visitor]) -> None:
    visit = visitor(viewport=WINDOW)
    visit.goes_to("/")
    visit.turns_to("Read")
    _drops(visit, GOOD)
    visit.sees_figure("Three segments on a lane for each of two columns")
    visit.sees("is what it says")
    visit.sees("What not?")
    assert not out_of_reach(visit)
    found = {"one release": offences_in(visit, *ALL_IN_TWO)}
    visit.page.get_by_role("tab", name="Compare with another").click()
    visit.waits()
    _drops(visit, GOOD, 1)
    visit.sees("A difference counts beyond")

    # A forged one in its place is marked, and nothing is concluded from it.
    _drops(visit, FORGED)
    visit.sees("This release is not what it says")
    visit.sees_figure("Three segments on a lane")
    expect(visit.page.get_by_text("What may I conclude?")).to_have_count(0)
    expect(visit.page.locator(".js-plotly-plot").get_by_text("not what it says").first).to_be_visible()
    found["a forged release"] = offences_in(visit, "light")
    assert not {state: wrong for state, wrong in found.items() if wrong}
