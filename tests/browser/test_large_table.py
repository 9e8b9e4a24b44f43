"""A table that memory does not hold, in a browser: named by its path, prepared, run step by step, cancelled."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import expect

from tests.browser.server import HELD
from tests.browser.visitor import Visitor

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="no run is held where the app is as users start it"),
]

# To the app of these tests (small_app) more than memory is to hold, and a run of so many clusters waits. It is forecast
# to take more than the second for which a page would wait itself.
ROWS, DIM, CLUSTERS = 60_000, 10, HELD


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    middles = rng.uniform(-60, 60, (6, DIM))[rng.integers(0, 6, ROWS)]
    rows = rng.normal(middles, 5).clip(-99, 99).astype(np.float32)
    path = tmp_path / "trips.parquet"
    pq.write_table(pa.table({f"x{j}": rows[:, j] for j in range(DIM)}), path)
    return path


def test_a_large_file_is_prepared_and_its_run_arrives_step_by_step(
    visitor: Callable[..., Visitor], parquet: Path, steps: Path
) -> None:
    visit = visitor(viewport={"width": 1440, "height": 900})
    visit.goes_to("/")
    visit.opens_word("table")
    visit.button("A file on this machine").click()
    visit.page.get_by_label("Path", exact=True).fill(str(parquet))
    visit.presses("Bring it")
    visit.sees("Say what is missing")
    visit.opens_word("table")
    visit.presses("Use a declaration (JSON)")
    visit.page.get_by_label("or paste it", exact=True).fill('{"lower": -100, "upper": 100}')
    visit.presses("Use these")
    visit.says("rows", "unknown")
    visit.opens_word("person")
    visit.presses("So it is")
    visit.turns_to("Read")  # it is prepared meanwhile
    visit.turns_to("Bench")
    run = visit.page.get_by_role("button", name=re.compile("^Run at"))
    expect(run).to_be_visible()
    visit.says("k", str(CLUSTERS))
    visit.opens_word("algorithm")
    visit.chooses("Algorithm", "Rounds: DPLloyd")
    steps.write_bytes(b"..")
    run.click()
    expect(visit.page.get_by_text("made-up rows")).to_have_count(0)
    progress = visit.page.get_by_test_id("stProgress")
    where = visit.page.locator(".animation .where")
    expect(progress).to_contain_text("so far")
    expect(where).to_have_text(re.compile(r"\d+/\d+"))
    held = where.inner_text()
    steps.write_bytes(b"...")
    expect(where).not_to_have_text(held)  # the next one has come
    assert progress.count() == 1, "the run was still under way"
    visit.presses("Cancel")
    visit.sees("cancelled")
    expect(where).to_be_visible()
    visit.text("Ledger of this visit").click()
    visit.sees("1 run spent")
    visit.is_content()
