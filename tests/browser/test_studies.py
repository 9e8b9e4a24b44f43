"""Studies in a real browser: they fill while they compute, stay when the page changes, and stop when told to."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.visitor import PATIENCE, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_two_algorithms_are_compared_and_the_result_outlives_a_change_of_page(visitor: Callable[..., Visitor]) -> None:
    visit = visitor()
    visit.goes_to("/")
    visit.opens_sample("Fifteen clusters")
    visit.turns_to("Compare")
    visit.keeps("DPLloyd", "EUGkM")
    visit.presses("Compute")
    expect(visit.button("Cancel")).to_be_hidden(timeout=PATIENCE)
    visit.waits()
    visit.page.get_by_role("tab", name="Take away").click()
    visit.sees("All 20 runs (CSV)")
    first = visit.page.get_by_role("figure").first
    expect(first).to_be_visible(timeout=PATIENCE)
    said = first.get_attribute("aria-label")
    for name in ("DPLloyd", "EUGkM"):
        visit.sees(name)
    visit.turns_to("Ledger")
    visit.sees("compare: losses of 20 study runs")
    visit.turns_to("Compare")
    visit.sees("matches the settings")
    expect(visit.page.get_by_role("figure").first).to_have_attribute("aria-label", said or "", timeout=PATIENCE)


def test_a_trade_off_is_drawn_live_goes_on_elsewhere_and_is_cancelled_in_the_middle(
    visitor: Callable[..., Visitor],
) -> None:
    visit = visitor()
    visit.goes_to("/")
    visit.opens_sample("Fifteen clusters")
    visit.turns_to("Trade-off")
    visit.keeps("DPLloyd", "Balcan et al.")
    visit.slider("Runs of each at every ε").press("End")
    visit.waits()
    visit.sees("900 runs")
    visit.presses("Compute")
    figure = visit.page.get_by_role("figure").first
    expect(figure).to_be_visible(timeout=PATIENCE)
    expect(visit.button("Cancel")).to_be_visible()
    visit.turns_to("Ledger")
    visit.turns_to("Trade-off")
    expect(figure).to_be_visible(timeout=PATIENCE)
    visit.presses("Cancel")
    visit.sees("what had arrived is kept")
    expect(figure).to_be_visible(timeout=PATIENCE)
    expect(visit.button("Compute")).to_be_enabled()
