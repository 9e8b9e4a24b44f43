"""Home: the picture, and three ways in."""

from __future__ import annotations

import json

import pytest

from dpviz.table.samples import SAMPLES
from tests.pages.site import everything_shown, fine, press, visit


def test_the_pictures_show_three_budgets_side_by_side():
    at = visit()
    layouts = [json.loads(chart.proto.spec)["layout"] for chart in at.get("plotly_chart")]
    titles = [layout["annotations"][0]["text"] for layout in layouts]
    assert [title.split("<br>")[0] for title in titles] == ["<b>ε = 0.02</b>", "<b>ε = 0.1</b>", "<b>ε = 0.5</b>"]
    found = [int(title.split("finds ")[1].split(" of")[0]) for title in titles]
    assert found[0] < found[1] < found[2] == 15


def test_every_sample_has_a_tile():
    at = visit()
    tiles = {button.key for button in at.button if (button.key or "").startswith("open:")}
    assert tiles == {f"open:{sample.id}" for sample in SAMPLES}


@pytest.mark.some(3)
@pytest.mark.parametrize("sample", [s.id for s in SAMPLES if s.id not in {"mixture64", "thermometers"}])
def test_one_click_opens_a_sample_and_goes_to_explore(sample):
    at = visit()
    fine(at.button(key=f"open:{sample}").click().run())
    assert "run:result" in at.session_state
    table = at.session_state["visit:table"]
    assert table.kind.value == "public" and table.n_public == table.loaded.n_rows


def test_a_sample_brings_its_own_k():
    at = visit()
    fine(at.button(key="open:outlier").click().run())
    assert at.session_state["k"] == 3


def test_bring_a_file_leads_to_data():
    assert press(visit(), "Bring a file").title[0].value == "Data"


def test_a_stand_in_is_simulated_opened_and_explored():
    at = visit()
    for label, value in {"n, rows": 300, "d, columns": 3, "lower bound": -5.0, "upper bound": 5.0}.items():
        next(box for box in at.number_input if box.label == label).set_value(value)
    press(at, "Simulate and open")
    table = at.session_state["visit:table"]
    assert (table.kind.value, table.n_public, table.domain.dim) == ("simulated", 300, 3)
    assert (table.domain.lower == -5).all() and (table.domain.upper == 5).all()
    assert at.get("bidi_component")


def test_a_stand_in_with_bounds_upside_down_is_refused_in_a_sentence():
    at = visit()
    next(box for box in at.number_input if box.label == "lower bound").set_value(100.0)
    press(at, "Simulate and open")
    assert at.error[0].value.startswith("The bounds are not finite with lower")
    assert "visit:table" not in at.session_state
    assert "Traceback" not in everything_shown(at)
